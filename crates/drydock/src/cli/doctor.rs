//! `drydock doctor`: what boundary this machine really gives.

use std::{path::Path, process::ExitCode, time::Instant};

use clap::Args;
use drydock_embed::{
    CompileLimits, Dock, Setup,
    contract::Limits,
    engine::{Allocation, Facts},
};
use serde_json::{Value, json};

use crate::{home, show};

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// One fact: a key for machines, a sentence for people, and whether it is as good as it gets.
struct Finding {
    key: &'static str,
    good: bool,
    value: Value,
    words: String,
}

pub(crate) fn run(doctor: Doctor) -> anyhow::Result<ExitCode> {
    let dock = home::dock()?;
    let facts = dock.facts()?;
    let findings = [
        machine(),
        allocation(facts),
        page_map(facts),
        limits(facts),
        tier(),
        worker(),
        cache(&dock),
        trial(&dock)?,
    ];
    if doctor.json {
        let facts: serde_json::Map<String, Value> = findings
            .iter()
            .map(|it| (it.key.to_owned(), json!({ "good": it.good, "value": it.value })))
            .collect();
        show::json(&facts)?;
    } else {
        for it in &findings {
            show::line(&format!("{} {:<10} {}", if it.good { "ok  " } else { "note" }, it.key, it.words))?;
        }
        show::line(&format!("\ndata      {}", dock.home().root().display()))?;
    }
    let broken = findings.iter().any(|it| it.key == "trial" && !it.good);
    Ok(if broken { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn machine() -> Finding {
    let system = rustix::system::uname();
    let kernel = format!("{} {}", system.sysname().to_string_lossy(), system.release().to_string_lossy());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let words = format!("{kernel} on {}, {cores} cores", system.machine().to_string_lossy());
    Finding { key: "machine", good: true, value: json!({ "kernel": kernel, "cores": cores }), words }
}

fn allocation(facts: Facts) -> Finding {
    let (good, value, words) = match facts.allocation {
        Allocation::Pooling { slots } => (
            true,
            json!({ "slots": slots }),
            format!("pooling, {slots} instances at once, copy-on-write images"),
        ),
        Allocation::OnDemand => {
            let words = "on demand: the address space is too small for a pool, so each start costs more";
            (false, json!("on_demand"), words.to_owned())
        }
    };
    Finding { key: "memory", good, value, words }
}

fn page_map(facts: Facts) -> Finding {
    let good = facts.pagemap_scan;
    let words = match good {
        true => "the kernel tells which pages a guest dirtied; reuse is cheap",
        false => "the kernel cannot tell dirty pages apart (Linux 6.7 can); reuse costs more",
    };
    Finding { key: "pagemap", good, value: json!(good), words: words.into() }
}

fn limits(facts: Facts) -> Finding {
    let limits = Limits::default();
    let words = format!(
        "{} s, {} instructions, {} stack, stdin {}, argv {}, stdout and stderr {} each; memory by profile",
        limits.wall_max.as_secs(),
        limits.fuel_max,
        show::size(facts.stack_bytes_max as u64),
        show::size(limits.stdin_bytes_max),
        show::size(limits.argv_bytes_max),
        show::size(limits.stdout_bytes_max),
    );
    let value = json!({
        "wall_ms_max": limits.wall_max.as_millis() as u64, "fuel_max": limits.fuel_max,
        "stack_bytes_max": facts.stack_bytes_max, "fuel_between_yields": facts.fuel_between_yields,
        "tick_us": facts.tick.as_micros() as u64,
        "stdin_bytes_max": limits.stdin_bytes_max, "argv_bytes_max": limits.argv_bytes_max,
        "stdout_bytes_max": limits.stdout_bytes_max, "stderr_bytes_max": limits.stderr_bytes_max,
    });
    Finding { key: "limits", good: true, value, words }
}

fn tier() -> Finding {
    let words =
        "a WebAssembly instance in this process: one bug in the engine is enough to leave it (SECURITY.md)";
    Finding { key: "boundary", good: false, value: json!("instance"), words: words.into() }
}

/// What holds the process that compiles modules of others.
fn worker() -> Finding {
    let limits = CompileLimits::default();
    let (good, value, words) = match home::worker().confinement() {
        Ok(it) => {
            let stands = |wall: bool| if wall { "in force" } else { "not there" };
            let words = format!(
                "modules that are not built in are compiled in a process of their own, {} s and {} at most; \
                 seccomp {}, landlock {}{}",
                limits.wall_max.as_secs(),
                show::size(limits.memory_bytes_max),
                stands(it.seccomp),
                stands(it.landlock),
                match it.open.as_slice() {
                    [] => "; it can open no file and no socket".to_owned(),
                    open => format!("; it could still: {}", open.join(", ")),
                },
            );
            let value = json!({ "seccomp": it.seccomp, "landlock": it.landlock, "open": it.open });
            (it.seccomp && it.landlock && it.open.is_empty(), value, words)
        }
        Err(error) => (false, json!(null), error.to_string()),
    };
    Finding { key: "compiler", good, value, words }
}

fn cache(dock: &Dock) -> Finding {
    let (count, bytes) = folder(&dock.home().cache());
    let words = format!("{count} compiled modules, {}", show::size(bytes));
    Finding { key: "cache", good: true, value: json!({ "modules": count, "bytes": bytes }), words }
}

fn folder(path: &Path) -> (u64, u64) {
    let files = std::fs::read_dir(path).into_iter().flatten().flatten().filter_map(|it| it.metadata().ok());
    files.filter(|it| it.is_file()).fold((0, 0), |(count, bytes), it| (count + 1, bytes + it.len()))
}

/// Runs a command for real and tells what it took.
fn trial(dock: &Dock) -> anyhow::Result<Finding> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let session = dock.session("doctor", Setup::allowing(["upper"])?)?;
    let ran = runtime.block_on(async {
        session.run("upper", &[], "trial").await?;
        let mut best = u128::MAX;
        for _ in 0..20 {
            let started = Instant::now();
            let run = session.run("upper", &[], "trial").await?;
            if run.stdout != b"TRIAL" {
                return Ok((false, 0));
            }
            best = best.min(started.elapsed().as_micros());
        }
        anyhow::Ok((true, best))
    });
    Ok(match ran {
        Ok((true, micros)) => {
            let words = format!("`upper` ran in a fresh instance, best of 20 in {micros} µs");
            Finding { key: "trial", good: true, value: json!({ "best_us": micros as u64 }), words }
        }
        Ok((false, _)) => Finding {
            key: "trial",
            good: false,
            value: json!("wrong output"),
            words: "`upper` gave wrong output".into(),
        },
        Err(error) => Finding {
            key: "trial",
            good: false,
            value: json!(error.to_string()),
            words: format!("`upper` did not run: {error:#}"),
        },
    })
}
