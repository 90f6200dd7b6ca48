//! The guest `awk`. The program is in the library, where the fuzzer finds it as well.

#[cfg(target_family = "wasm")]
#[global_allocator]
static HEAP: heap::SmallBlocks = heap::SmallBlocks::new();

fn main() {
    place::enter();
    std::process::exit(awk::run(std::env::args_os()))
}
