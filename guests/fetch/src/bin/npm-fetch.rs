//! The guest `npm-fetch`, and by its other name `pip-fetch`. The programs are in the library, where their tests are.

#[cfg(target_family = "wasm")]
#[global_allocator]
static HEAP: heap::SmallBlocks = heap::SmallBlocks::new();

fn main() {
    place::enter();
    std::process::exit(match options::called().as_str() {
        "pip-fetch" => fetch::pip::run(&options::arguments()),
        _ => fetch::npm::run(&options::arguments()),
    })
}
