// As much of node's fs as a command that reads and writes whole files needs.
import * as std from "qjs:std";
import * as os from "qjs:os";

const failed = (path, error) => {
  const problem = new Error(`${std.strerror(-error)}, '${path}'`);
  problem.code = error === -std.Error?.ENOENT ? "ENOENT" : undefined;
  return problem;
};

const opened = (path, mode) => {
  const reason = {};
  const file = std.open(path, mode, reason);
  if (!file) throw failed(path, -(reason.errno ?? 2));
  return file;
};

const all = (file) => {
  const parts = [];
  const buffer = new ArrayBuffer(65536);
  for (let count; (count = file.read(buffer, 0, buffer.byteLength)) > 0; )
    parts.push(new Uint8Array(buffer.slice(0, count)));
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
};

export const readFileSync = (path, options) => {
  const encoding = typeof options === "string" ? options : options?.encoding;
  const file = path === 0 || path === "/dev/stdin" ? std.in : opened(path, "rb");
  const content = encoding ? file.readAsString() : all(file);
  if (file !== std.in) file.close();
  return content;
};

const write = (mode) => (path, content) => {
  const file = opened(path, mode);
  if (typeof content === "string") {
    file.puts(content);
  } else {
    const bytes = new Uint8Array(content.buffer ?? content, content.byteOffset ?? 0, content.byteLength);
    file.write(bytes.slice().buffer, 0, bytes.length);
  }
  file.close();
};

export const writeFileSync = write("wb");
export const appendFileSync = write("ab");
export const existsSync = (path) => os.stat(path)[1] === 0;
export const unlinkSync = (path) => {
  const error = os.remove(path);
  if (error) throw failed(path, error);
};
export const mkdirSync = (path) => {
  const error = os.mkdir(path);
  if (error) throw failed(path, error);
};
export const readdirSync = (path) => {
  const [names, error] = os.readdir(path);
  if (error) throw failed(path, error);
  return names.filter((name) => name !== "." && name !== "..").sort();
};
export default { readFileSync, writeFileSync, appendFileSync, existsSync, unlinkSync, mkdirSync, readdirSync };
