//! The guest `curl`, and by its other names `wget`, `http` and `https`. The program is in the library, where the fuzzer finds it as well.

#[cfg(target_family = "wasm")]
#[global_allocator]
static HEAP: heap::SmallBlocks = heap::SmallBlocks::new();

fn main() {
    place::enter();
    std::process::exit(curl::run(&options::called(), &options::arguments()))
}
