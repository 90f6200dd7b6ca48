// What a command written in JavaScript finds before its first line, over QuickJS's own modules.
import * as std from "qjs:std";
import * as os from "qjs:os";

const writer = (file) => ({
  write(text) {
    file.puts(String(text));
    file.flush();
    return true;
  },
});

const shown = (value) => {
  if (typeof value === "string") return value;
  if (value instanceof Error) return value.stack ? `${value}\n${value.stack}` : String(value);
  try {
    return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
  } catch {
    return String(value);
  }
};

const say = (file) => (...values) => writer(file).write(values.map(shown).join(" ") + "\n");

globalThis.args = scriptArgs.slice(1);
globalThis.readStdin = () => std.in.readAsString();
globalThis.console = {
  ...globalThis.console,
  log: say(std.out),
  info: say(std.out),
  debug: say(std.out),
  warn: say(std.err),
  error: say(std.err),
};
globalThis.process = {
  argv: ["qjs", ...scriptArgs],
  env: std.getenviron(),
  platform: "wasi",
  version: "",
  versions: {},
  cwd: () => os.getcwd()[0],
  exit: (status) => std.exit(status ?? 0),
  stdout: writer(std.out),
  stderr: writer(std.err),
};
