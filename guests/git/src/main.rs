//! The guest `git`: what its arguments ask for.
//!
//! A repository may be damaged in ways that a reader of others did not expect. What it then says is told as
//! git tells such things, with 128, instead of a trap.

#[cfg(target_family = "wasm")]
#[global_allocator]
static HEAP: heap::SmallBlocks = heap::SmallBlocks::new();

fn main() {
    place::enter();
    std::panic::set_hook(Box::new(|problem| {
        git::out::note(format!("fatal: this repository cannot be read: {problem}"));
        std::process::exit(128);
    }));
    let args: Vec<String> = std::env::args_os().skip(1).map(|it| facts::name::text(&it)).collect();
    let status = git::command::run(&args);
    std::process::exit(status)
}
