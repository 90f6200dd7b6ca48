//! The guest `make`.

#[cfg(target_family = "wasm")]
#[global_allocator]
static HEAP: heap::SmallBlocks = heap::SmallBlocks::new();

fn main() {
    place::enter();
    let args: Vec<String> = std::env::args_os().skip(1).map(|it| facts::name::text(&it)).collect();
    std::process::exit(make::cli::run(&args))
}
