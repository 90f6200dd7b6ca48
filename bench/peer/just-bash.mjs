// The just-bash shell on request: `SCENARIO CALLS` in, that many timings in nanoseconds out. One shell
// is kept, as its users would. The scenarios come in a file of JSON, the first argument.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(process.argv[3] + "/"));
const { Bash } = await import(pathToFileURL(require.resolve("just-bash")).href);
const scenarios = JSON.parse(readFileSync(process.argv[2], "utf8"));
const limits = { maxCommandCount: 1e9, maxLoopIterations: 1e9 };
const shell = new Bash({ executionLimits: limits });

for await (const line of createInterface({ input: process.stdin })) {
  const [name, calls] = line.trim().split(" ");
  const { script, stdin, wanted } = scenarios[name];
  const nanos = [];
  for (let call = 0; call < Number(calls); call++) {
    const started = process.hrtime.bigint();
    const run = await shell.exec(script, { stdin });
    nanos.push(process.hrtime.bigint() - started);
    if (run.stdout !== wanted) {
      console.error(`just-bash answered ${run.stdout.length} bytes and ${run.stderr}`);
      process.exit(1);
    }
  }
  console.log(nanos.join(" "));
}
