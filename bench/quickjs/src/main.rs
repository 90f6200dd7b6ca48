//! Native QuickJS on request: `SCENARIO CALLS` in, that many timings in nanoseconds out.
//!
//! Each call is a fresh runtime and context, with a tool as an embedder would write one: a host
//! function that takes and gives JSON as text, behind an asynchronous function of the guest.

use std::{
    io::{BufRead as _, Write as _},
    time::Instant,
};

use anyhow::{Context as _, ensure};
use rquickjs::{Context, Function, Promise, Runtime};

const TOOL: &str = "globalThis.t = {echo: async (input) => JSON.parse(__call(JSON.stringify(input)))};";

fn main() -> anyhow::Result<()> {
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (name, calls) = line.trim().split_once(' ').context("a question is `SCENARIO CALLS`")?;
        let (program, wanted) = program(name).with_context(|| format!("no scenario `{name}`"))?;
        let mut words = Vec::new();
        for _ in 0..calls.parse::<usize>()? {
            let started = Instant::now();
            let result = run(&program)?;
            words.push(started.elapsed().as_nanos().to_string());
            ensure!(result == wanted, "QuickJS answered {result:?}");
        }
        let mut stdout = std::io::stdout().lock();
        writeln!(stdout, "{}", words.join(" "))?;
        stdout.flush()?;
    }
    Ok(())
}

/// The program of a scenario and its result.
fn program(name: &str) -> Option<(String, Option<i32>)> {
    if name == "nothing" {
        return Some(("(async () => {})()".into(), None));
    }
    let (kind, count) = name.split_at_checked(3)?;
    let count: i32 = count.parse().ok()?;
    Some(match kind {
        "seq" => (
            format!(
                "(async () => {{ let s = 0; for (let i = 0; i < {count}; i++) s += (await t.echo({{n: 1}})).n; return s }})()"
            ),
            Some(count),
        ),
        "par" => (
            format!(
                "(async () => {{ const all = await Promise.all(Array.from({{length: {count}}}, () => t.echo({{n: 1}}))); return all.length }})()"
            ),
            Some(count),
        ),
        _ => return None,
    })
}

fn run(program: &str) -> anyhow::Result<Option<i32>> {
    let runtime = Runtime::new()?;
    let context = Context::full(&runtime)?;
    Ok(context.with(|ctx| -> rquickjs::Result<Option<i32>> {
        let call = Function::new(ctx.clone(), |input: String| input)?;
        ctx.globals().set("__call", call)?;
        ctx.eval::<(), _>(TOOL)?;
        let promise: Promise<'_> = ctx.eval(program)?;
        promise.finish::<Option<i32>>()
    })?)
}
