/** An operation without a result: `code` is stable, the message is for people. */
export class DrydockError extends Error {
  readonly code: string;
  constructor(code: string, message: string);
}

export interface SandboxOptions {
  /** Directories of yours, copy-on-write: `"path"`, `"path:/place:ro"`. */
  dir?: string | string[];
  /** Files that stay, by name. */
  workspace?: string;
  /** The commands that may run; all of them if it is left out. */
  allow?: string[];
  /** Time of each call. */
  timeoutMs?: number;
  /** Memory of each command, such as `"64MiB"`. */
  memory?: string;
  /** Environment of each command. */
  env?: Record<string, string>;
  /** Whether `commit` may write into the directories; needs a workspace. */
  allowCommit?: boolean;
  /** Further flags of `drydock stdio`. */
  flags?: string[];
}

/** How a line or a command ended. A status that is not 0 is an answer, not an exception. */
export interface Result {
  status: number;
  stdout: string;
  stderr: string;
  stdoutBytes: Buffer;
  stderrBytes: Buffer;
  /** The limit that ended it, if one did, such as `timed_out`. */
  limit?: string;
}

/** Something that was written. */
export interface Chunk {
  stream: "stdout" | "stderr";
  text: string;
}

/** A file that differs from the mounted directory. */
export interface Change {
  path: string;
  kind: "added" | "modified" | "removed";
  size: number;
}

/** What a Python program answered, wrote, changed and displayed. */
export interface PyProgram<T = unknown> {
  value: T;
  status: number;
  stdout: string;
  stderr: string;
  files: (Change & { mediaType?: string })[];
  displays: { type: string; mediaType: string; [key: string]: unknown }[];
}

export interface CallOptions {
  stdin?: string;
  /** Less time than the sandbox would give. */
  timeoutMs?: number;
  /** Aborting it ends the guest. */
  signal?: AbortSignal;
}

/** A sandbox in a process of its own. Call `close()`, or declare it with `await using`. */
export class Sandbox {
  constructor(options?: SandboxOptions);
  /** Runs a script in bash's language. `onOutput` is told of what is written, as it is written. */
  sh(script: string, options?: CallOptions & { onOutput?: (chunk: Chunk) => void }): Promise<Result>;
  /** What a script writes, as it writes it; the last item has its result. Leaving the loop ends the script. */
  stream(script: string, options?: Omit<CallOptions, "signal">): AsyncGenerator<Chunk | { result: Result }, void, void>;
  /** Runs one command with a list of arguments that no shell looks at. */
  run(name: string, args?: string[], options?: CallOptions): Promise<Result>;
  /** Runs a JavaScript program; its last expression, or what it returns, is the value. */
  js<T = unknown>(code: string, args?: unknown, options?: CallOptions): Promise<{ value: T; logs: string[] }>;
  /** Runs a Python program; its last expression is the value. Wants `drydock catalog add python`. */
  py<T = unknown>(code: string, args?: unknown, options?: CallOptions): Promise<PyProgram<T>>;
  /** A file as text. */
  read(path: string): Promise<string>;
  /** A file as bytes. */
  readBytes(path: string): Promise<Buffer>;
  /** Writes a whole file, making its directories. */
  write(path: string, content: string | Uint8Array): Promise<void>;
  /** What was changed in the mounted directories, as a unified diff. */
  diff(): Promise<string>;
  /** What was changed in the mounted directories, as a list. */
  changes(): Promise<Change[]>;
  /** Writes the changes into the mounted directories; needs `allowCommit` and a workspace. */
  commit(options?: { force?: boolean }): Promise<Change[]>;
  /** Ends whatever runs, and the process. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
