// One cursor through all plots: it shows where the same moment is in each.
for (const plot of document.querySelectorAll("svg.plot")) {
  plot.addEventListener("pointermove", (event) => {
    const box = plot.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * 1000;
    for (const line of document.querySelectorAll("svg.plot .cursor")) {
      const inside = x >= 58 && x <= 988;
      line.setAttribute("visibility", inside ? "visible" : "hidden");
      line.setAttribute("x1", x);
      line.setAttribute("x2", x);
    }
  });
  plot.addEventListener("pointerleave", () => {
    for (const line of document.querySelectorAll("svg.plot .cursor")) line.setAttribute("visibility", "hidden");
  });
}
