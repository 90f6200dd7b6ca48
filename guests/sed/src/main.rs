//! The guest `sed`. The program is in the library, where the fuzzer finds it as well.

#[cfg(target_family = "wasm")]
#[global_allocator]
static HEAP: heap::SmallBlocks = heap::SmallBlocks::new();

fn main() {
    place::enter();
    std::process::exit(sed::run(std::env::args_os().skip(1)))
}
