// quickjs-emscripten on request: `SCENARIO CALLS` in, that many timings in nanoseconds out. Each call is a
// fresh runtime and context in one instance of the module, with a tool as its users write one.
import { createInterface } from "node:readline";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(process.argv[2] + "/"));
const { getQuickJS } = await import(pathToFileURL(require.resolve("quickjs-emscripten")).href);
const quickjs = await getQuickJS();

function program(name) {
  if (name === "nothing") return "(async () => {})()";
  const count = Number(name.slice(3));
  return name.startsWith("seq")
    ? `(async () => { let s = 0; for (let i = 0; i < ${count}; i++) s += (await t.echo({n: 1})).n; return s })()`
    : `(async () => { const all = await Promise.all(Array.from({length: ${count}}, () => t.echo({n: 1}))); return all.length })()`;
}

function run(code) {
  const runtime = quickjs.newRuntime();
  const context = runtime.newContext();
  const call = context.newFunction("__call", (input) => context.newString(context.getString(input)));
  context.setProp(context.global, "__call", call);
  call.dispose();
  context.unwrapResult(context.evalCode("globalThis.t = {echo: async (input) => JSON.parse(__call(JSON.stringify(input)))};")).dispose();
  const promise = context.unwrapResult(context.evalCode(code));
  runtime.executePendingJobs();
  const state = context.getPromiseState(promise);
  const result = context.dump(state.value);
  state.value.dispose();
  promise.dispose();
  context.dispose();
  runtime.dispose();
  return result;
}

for await (const line of createInterface({ input: process.stdin })) {
  const [name, calls] = line.trim().split(" ");
  const code = program(name);
  const wanted = name === "nothing" ? undefined : Number(name.slice(3));
  const nanos = [];
  for (let call = 0; call < Number(calls); call++) {
    const started = process.hrtime.bigint();
    const result = run(code);
    nanos.push(process.hrtime.bigint() - started);
    if (result !== wanted) {
      console.error(`quickjs-emscripten answered ${result}`);
      process.exit(1);
    }
  }
  console.log(nanos.join(" "));
}
