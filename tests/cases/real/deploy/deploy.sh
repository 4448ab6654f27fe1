# Stands for a real deployment: writes down what it was given.
echo "deployed $(basename "$1")" > receipt.txt
