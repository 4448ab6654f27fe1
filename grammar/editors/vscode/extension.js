// Starts `pipe lsp` and shows the texts of library modules. Everything else comes from the server.

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function start() {
  const command = vscode.workspace.getConfiguration("pipe").get("path") || "pipe";
  client = new LanguageClient(
    "pipe",
    "Pipewright",
    { command, args: ["lsp"] },
    {
      documentSelector: [
        { scheme: "file", language: "pipe" },
        { scheme: "untitled", language: "pipe" },
      ],
      initializationOptions: { libraryDocuments: true },
    },
  );
  try {
    await client.start();
  } catch (error) {
    vscode.window.showErrorMessage(
      `\`${command} lsp\` did not start: ${error.message}. Set "pipe.path" to the program.`,
    );
  }
}

async function activate(context) {
  const library = {
    provideTextDocumentContent: (uri) =>
      client.sendRequest("pipe/libraryText", { uri: uri.toString() }),
  };
  context.subscriptions.push(
    vscode.workspace.registerTextDocumentContentProvider("pipe-library", library),
    vscode.commands.registerCommand("pipe.restart", async () => {
      await deactivate();
      await start();
    }),
  );
  await start();
}

async function deactivate() {
  if (client) {
    await client.stop();
  }
  client = undefined;
}

module.exports = { activate, deactivate };
