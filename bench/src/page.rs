//! Rewrites docs/benchmarks.md from a whole run.

use std::{fs, path::Path};

use anyhow::Context as _;

use crate::{
    figure::Figure,
    report::{HEAD, Report},
};

const METHOD: &str = "\
Contenders take turns within one run: A, B, C, A, B, C, each a block of 20 calls, 40 blocks each after one that does not
count. A figure is the median over blocks of the ratio of the block medians, with its interquartile range; absolute times are
given for orientation and do not carry over to another machine. A figure whose range exceeds 40 % of its median is called
inconclusive, whatever the median says. The machine is shared, and the load average is printed for that reason.

- **Tiny command**: 1 KiB uppercased by `upper` through the library: gate with all its rungs, journal on (records written
  behind), registry, a fresh wasm instance with fuel and limits. Against it: spawning native `tr` with pipes; the `tr` of one
  bashkit shell that is kept (in a process of its own that times itself); wasmtime alone with the same pool, no fuel and no WASI,
  instantiating, calling and dropping an empty module, without a memory and with one. Only the second needs a pool and a
  page-map scan at all, and no command can read or write without a memory.
- **64 callers**: commands a second on two workers, rounds of one second that alternate. `tr` is spawned from tasks or from
  threads, whichever is faster here.
- **Process**: from spawn to exit with a warm code cache, stdin from a file and stdout to a pipe, both sides alike.
- **First use**: a new home each time, so compilation, the cache entry and the journal included; median of three. The seconds
  of CPU, of all threads together, tell what remains when nobody else wants the cores.
- **Programs**: `python` and `clang` of the catalog, installed once below `target/bench`. A start is a process of `drydock run`
  over a copy-on-write directory, or a line of the library in a sandbox that is new each time; against it the interpreter itself,
  not a shim. The script is xtask/python/cpu.py. Installing is `catalog add --offline` into a new data directory that has the archive.
- **Server**: the product and a bare axum router of the benchmark on the same listener code, in one process, and connections of that process that ask again as soon as they are answered; CPU time is of both ends together. The native router answers what the echo guest is shown; node's
  `http` does the same in its own process, which has cores to itself. A run over HTTP is on a connection that is kept, the library's on a session that is.
- **Egress**: a connection for each request, both sides alike, on loopback.
- **Memory**: VmRSS of a fresh process.
- **Tight loop**: the same module in four engines, 1 MiB byte by byte, no branch inside (decision 0003).
";

pub(crate) fn write(root: &Path, report: &Report) -> anyhow::Result<()> {
    let path = root.join("docs/benchmarks.md");
    fs::write(&path, page(report)).with_context(|| format!("could not write {}", path.display()))
}

fn page(report: &Report) -> String {
    let mut page = String::from("# Benchmarks\n\nWritten by `cargo xtask bench --write`. ");
    page.push_str(&format!("Measured on {}.\n\n", report.circumstances()));
    page.push_str(&line(&HEAD.map(String::from)));
    page.push_str("|---|---|---|---|---|---|\n");
    report.figures.iter().map(Figure::row).for_each(|row| page.push_str(&line(&row)));
    if !report.failures.is_empty() {
        page.push_str("\nNot measured:\n\n");
        report.failures.iter().for_each(|it| page.push_str(&format!("- {it}\n")));
    }
    page.push_str("\n## Method\n\n");
    page.push_str(METHOD);
    page
}

fn line(cells: &[String; 6]) -> String {
    format!("| {} |\n", cells.join(" | "))
}
