// A sandbox for what agents write: lines, commands, JavaScript and files, in one process beside yours.
// Starts the `drydock` binary of this package and speaks JSON lines with it. No dependencies.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { StringDecoder } from "node:string_decoder";

/** An operation without a result: `code` is stable, the message is for people. */
export class DrydockError extends Error {
  constructor(code, message) {
    super(`${code}: ${message}`);
    this.name = "DrydockError";
    this.code = code;
  }
}

const own = fileURLToPath(new URL("./bin/drydock", import.meta.url));

function binary() {
  return process.env.DRYDOCK_BINARY || (existsSync(own) ? own : "drydock");
}

function words({ dir, workspace, allow, timeoutMs, memory, env, allowCommit, flags = [] }) {
  const all = ["stdio"];
  for (const it of dir === undefined ? [] : [dir].flat()) all.push(`--dir=${it}`);
  if (workspace !== undefined) all.push(`--workspace=${workspace}`);
  if (allow !== undefined) all.push(`--allow=${allow.join(",")}`);
  if (timeoutMs !== undefined) all.push(`--timeout=${Math.round(timeoutMs)}ms`);
  if (memory !== undefined) all.push(`--memory=${memory}`);
  for (const [name, value] of Object.entries(env ?? {})) all.push(`--env=${name}=${value}`);
  if (allowCommit) all.push("--allow-commit");
  return [...all, ...flags];
}

function given(input, { stdin, timeoutMs } = {}) {
  if (stdin !== undefined) input.stdin = stdin;
  if (timeoutMs !== undefined) input.timeout_ms = Math.round(timeoutMs);
  return input;
}

function result(answer) {
  const exact = (name) =>
    answer[`${name}_base64`] === undefined ? Buffer.from(answer[name]) : Buffer.from(answer[`${name}_base64`], "base64");
  return {
    status: answer.status,
    stdout: answer.stdout,
    stderr: answer.stderr,
    stdoutBytes: exact("stdout"),
    stderrBytes: exact("stderr"),
    limit: answer.limit,
  };
}

export class Sandbox {
  #child;
  #next = 1;
  #waiting = new Map();
  #ready;
  #closed = false;
  #said = "";

  constructor(options = {}) {
    this.#child = spawn(binary(), words(options), { stdio: ["pipe", "pipe", "pipe"] });
    this.#ready = new Promise((resolve, reject) => this.#waiting.set(0, { resolve, reject, tell: resolve }));
    // Whoever calls something waits for this, too; without a call nobody would hear of it.
    this.#ready.catch(() => {});
    this.#child.stderr.on("data", (bytes) => (this.#said = (this.#said + bytes).slice(-8192)));
    this.#child.stdin.on("error", () => {});
    this.#child.on("error", (error) => this.#end(new DrydockError("no_binary", error.message)));
    this.#child.on("close", () => this.#end(new DrydockError("closed", this.#said.trim() || "the sandbox is closed")));
    createInterface({ input: this.#child.stdout }).on("line", (line) => this.#hear(JSON.parse(line)));
  }

  /** Runs a script in bash's language. `onOutput` is told of what is written, as it is written. */
  async sh(script, options = {}) {
    return result(await this.#call("sh", given({ script }, options), options.signal, options.onOutput));
  }

  /** What a script writes, as it writes it; the last item has its result. Leaving the loop ends the script. */
  async *stream(script, options = {}) {
    const abort = new AbortController();
    const chunks = [];
    let wake = () => {};
    const push = (item) => {
      chunks.push(item);
      wake();
    };
    const ended = this.#call("sh", given({ script }, options), abort.signal, push).then(
      (answer) => push({ result: result(answer) }),
      (error) => push({ error }),
    );
    try {
      for (;;) {
        while (chunks.length === 0) await new Promise((resolve) => (wake = resolve));
        const item = chunks.shift();
        if (item.error) throw item.error;
        yield item;
        if (item.result) return;
      }
    } finally {
      abort.abort();
      await ended;
    }
  }

  /** Runs one command with a list of arguments that no shell looks at. */
  async run(name, args = [], options = {}) {
    return result(await this.#call("run", given({ name, args }, options), options.signal));
  }

  /** Runs a JavaScript program; its last expression, or what it returns, is the value. */
  async js(code, args, options = {}) {
    const input = args === undefined ? { code } : { code, args };
    const answer = await this.#call("js", given(input, options), options.signal);
    if (!answer.ok) throw new DrydockError(answer.error.code, answer.error.message);
    return { value: answer.result, logs: answer.logs };
  }

  /** Runs a Python program; its last expression is the value. Wants `drydock catalog add python`. */
  async py(code, args, options = {}) {
    const input = args === undefined ? { code } : { code, args };
    const answer = await this.#call("py", given(input, options), options.signal);
    if (!answer.ok) throw new DrydockError(answer.error.code, answer.error.traceback ?? answer.error.message);
    const { status, stdout, stderr, files = [], displays = [] } = answer;
    return { value: answer.result, status, stdout, stderr, files, displays };
  }

  /** A file as text. */
  async read(path) {
    return (await this.readBytes(path)).toString("utf8");
  }

  /** A file as bytes. */
  async readBytes(path) {
    const answer = await this.#call("read_file", { path });
    return answer.text === undefined ? Buffer.from(answer.base64, "base64") : Buffer.from(answer.text);
  }

  /** Writes a whole file, making its directories. */
  async write(path, content) {
    const input = typeof content === "string" ? { path, text: content } : { path, base64: Buffer.from(content).toString("base64") };
    await this.#call("write_file", input);
  }

  /** What was changed in the mounted directories, as a unified diff. */
  async diff() {
    return (await this.#call("diff", {})).diff;
  }

  /** What was changed in the mounted directories, as a list. */
  async changes() {
    return (await this.#call("diff", { names_only: true })).changes;
  }

  /** Writes the changes into the mounted directories; needs `allowCommit` and a workspace. */
  async commit({ force = false } = {}) {
    return (await this.#call("commit", { force })).written;
  }

  /** Ends whatever runs, and the process. */
  async close() {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#closed = true;
    const over = new Promise((resolve) => this.#child.once("close", resolve));
    this.#child.stdin.end();
    const late = setTimeout(() => this.#child.kill("SIGKILL"), 5000);
    await over;
    clearTimeout(late);
  }

  async [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    await this.close();
  }

  async #call(op, input, signal, onOutput) {
    await this.#ready;
    if (this.#closed) throw new DrydockError("closed", this.#said.trim() || "the sandbox is closed");
    if (signal?.aborted) throw new DrydockError("cancelled", "cancelled by the caller");
    const id = this.#next++;
    const decoders = { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };
    const tell = (message) => {
      const bytes = message.text === undefined ? Buffer.from(message.base64, "base64") : Buffer.from(message.text);
      onOutput?.({ stream: message.stream, text: decoders[message.stream].write(bytes) });
    };
    const cancel = () => this.#send({ cancel: id });
    try {
      return await new Promise((resolve, reject) => {
        this.#waiting.set(id, { resolve, reject, tell });
        signal?.addEventListener("abort", cancel, { once: true });
        this.#send({ id, op, input, stream: onOutput !== undefined });
      });
    } finally {
      signal?.removeEventListener("abort", cancel);
      this.#waiting.delete(id);
    }
  }

  #send(message) {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  #hear(message) {
    const waits = this.#waiting.get(message.id ?? 0);
    if (message.ready || message.stream) return waits?.tell(message);
    if (message.error) return waits?.reject(new DrydockError(message.error.code, message.error.message));
    waits?.resolve(message.result);
  }

  #end(error) {
    this.#closed = true;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
