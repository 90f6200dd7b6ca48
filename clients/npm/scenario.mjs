// What a builder does with the npm client, end to end, with the installed package; fails loudly.

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DrydockError, Sandbox } from "drydock";

const code = (wanted) => (error) => error instanceof DrydockError && error.code === wanted;
const folder = mkdtempSync(join(tmpdir(), "drydock-"));
writeFileSync(join(folder, "a.txt"), "b\na\n");

const box = new Sandbox({ dir: `${folder}:/data`, workspace: "node-scenario", allowCommit: true, env: { A: "1" } });
assert.equal((await box.sh("sort /data/a.txt | tr a-z A-Z")).stdout, "A\nB\n");
assert.equal((await box.sh("exit 3")).status, 3);
assert.equal((await box.sh("cat", { stdin: "hi" })).stdout, "hi");
assert.equal((await box.run("printf", ["%s", "a; b | c"])).stdout, "a; b | c");
assert.deepEqual([...(await box.run("printf", ["\\377\\0"])).stdoutBytes], [255, 0]);
assert.equal((await box.js("args.n + 1", { n: 41 })).value, 42);
await box.write("/workspace/deep/x.bin", new Uint8Array([0, 255]));
assert.deepEqual([...(await box.readBytes("/workspace/deep/x.bin"))], [0, 255]);
await box.write("/data/new.txt", "new\n");
assert.deepEqual((await box.changes()).map((it) => [it.path, it.kind]), [["/data/new.txt", "added"]]);
assert.match(await box.diff(), /\+new/);
assert.equal(existsSync(join(folder, "new.txt")), false);
assert.equal((await box.commit()).length, 1);
assert.equal(existsSync(join(folder, "new.txt")), true);
const seen = [];
for await (const item of box.stream("echo one; echo two >&2")) seen.push(item);
assert.equal(seen.at(-1).result.status, 0);
assert.equal(seen.filter((it) => it.stream === "stdout").map((it) => it.text).join(""), "one\n");
for await (const _ of box.stream("while true; do echo x; sleep 0.01; done")) break;
await assert.rejects(box.read("/workspace/nothing"), code("not_found"));
await assert.rejects(box.js("throw new Error('no')"), code("runtime_error"));
await assert.rejects(box.py("1 + 1"), code("not_installed"));
assert.equal((await box.sh("sleep 20", { timeoutMs: 200 })).status, 124);
const answers = await Promise.all([...Array(8).keys()].map((n) => box.sh(`echo ${n}`)));
assert.deepEqual(answers.map((it) => it.stdout), [...Array(8).keys()].map((n) => `${n}\n`));
const abort = new AbortController();
setTimeout(() => abort.abort(), 200);
await assert.rejects(box.sh("sleep 60", { signal: abort.signal }), code("cancelled"));
assert.equal((await box.sh("echo fine")).stdout, "fine\n");
await box.close();
await assert.rejects(box.sh("echo"), code("closed"));
const wrong = new Sandbox({ flags: ["--no-such-flag"] });
await assert.rejects(wrong.sh("echo"), /--no-such-flag/);
rmSync(folder, { recursive: true });
console.log("npm client: fine");
