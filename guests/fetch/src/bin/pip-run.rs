//! The guest `pip-run`: it imports the power to start commands, which `pip-fetch` does not. The program is in the library.

#[cfg(target_family = "wasm")]
#[global_allocator]
static HEAP: heap::SmallBlocks = heap::SmallBlocks::new();

fn main() {
    place::enter();
    std::process::exit(fetch::pip_run::run(&options::arguments()))
}
