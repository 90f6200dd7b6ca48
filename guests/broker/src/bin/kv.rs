//! The guest `kv`. The program is in the library, where its tests are.

#[cfg(target_family = "wasm")]
#[global_allocator]
static HEAP: heap::SmallBlocks = heap::SmallBlocks::new();

fn main() {
    place::enter();
    std::process::exit(broker::kv::run(&options::arguments()))
}
