//! The guest `find`, and by its other names `xargs`, `env`, `timeout`, `time`, `nice`, `nohup`,
//! `setsid`, `stdbuf` and `watch`: the commands that start others. They do so through the host, as `child`
//! tells. `envsubst` looks at the environment as `env` does.

mod env;
mod envsubst;
mod find;
mod glob;
mod timeout;
mod watch;
mod wrap;
mod xargs;

use std::io::Write as _;

#[cfg(target_family = "wasm")]
#[global_allocator]
static HEAP: heap::SmallBlocks = heap::SmallBlocks::new();

fn main() {
    place::enter();
    let args = options::arguments();
    let children = &child::System;
    let status = match options::called().as_str() {
        "xargs" => xargs::run(&args, children),
        "env" => env::run(&args, child::environment(), children),
        "envsubst" => envsubst::run(&args, &child::environment()),
        "timeout" => timeout::run(&args, children),
        "time" => wrap::time(&args, children),
        "nice" => wrap::nice(&args, children),
        "nohup" => wrap::nohup(&args, children),
        "setsid" => wrap::setsid(&args, children),
        "stdbuf" => wrap::stdbuf(&args, children),
        "watch" => watch::run(&args),
        // Names may be any bytes, also those it is given.
        _ => find::run(
            &std::env::args_os().skip(1).map(|it| facts::name::text(&it)).collect::<Vec<_>>(),
            children,
        ),
    };
    let _ = std::io::stdout().flush();
    std::process::exit(status)
}

/// Prints what a person asked for; the status says whether anybody could read it.
fn print(text: &str) -> i32 {
    i32::from(std::io::stdout().write_all(text.as_bytes()).is_err())
}

fn complain(program: &str, problem: &str) {
    let _ = writeln!(std::io::stderr(), "{program}: {problem}");
}
