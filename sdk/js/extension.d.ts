// What an extension in JavaScript is given, for an editor: /// <reference path="extension.d.ts" />
// The file itself is a script with a function `handler`; it imports and exports nothing.

/** One HTTP request. `context` and `http` are the Runner ABI's own; the rest is made of them. */
interface ExtensionRequest {
  readonly context: {
    readonly request_id: string | null;
    readonly tenant_id: string;
    readonly extension_id: string;
    readonly version_id: string | null;
    readonly limits: { readonly timeout_ms: number; readonly memory_mb: number; readonly fuel: number | null };
  };
  readonly http: {
    readonly method: string;
    readonly path: string;
    readonly query: Record<string, string>;
    readonly headers: Record<string, string>;
    readonly query_all?: [string, string][];
    readonly headers_all?: [string, string][];
    readonly body_b64: string | null;
  };
  readonly method: string;
  readonly path: string;
  readonly query: Record<string, string>;
  readonly headers: Record<string, string>;
  /** The body, empty where there is none. */
  bytes(): Uint8Array;
  text(): string;
  json(): unknown;
}

/** An answer. `body` is text, bytes, or anything that is JSON; `body_b64` is the ABI's own spelling of it. */
interface ExtensionAnswer {
  status?: number;
  headers?: Record<string, string>;
  headers_all?: [string, string][];
  body?: unknown;
  body_b64?: string | null;
}

/** What the file has. Text, bytes and arrays are bodies of a 200; nothing is an empty one. */
type ExtensionHandler = (
  request: ExtensionRequest,
) => Promise<ExtensionResult> | ExtensionResult;
type ExtensionResult = ExtensionAnswer | Response | string | Uint8Array | ArrayBuffer | unknown[] | null | undefined;

/** Lines for whoever runs it; `console.log` and `console.error` are the same. */
declare const log: { info(...words: unknown[]): void; error(...words: unknown[]): void };
