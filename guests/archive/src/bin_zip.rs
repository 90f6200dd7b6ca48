//! The guest `zip`, which is also `unzip`: the name it is called by decides. A module of its own,
//! without the other compressors, because the first use of a module compiles all of it.

#[cfg(target_family = "wasm")]
#[global_allocator]
static HEAP: heap::SmallBlocks = heap::SmallBlocks::new();

fn main() {
    place::enter();
    let mut args = std::env::args_os().map(|it| it.to_string_lossy().into_owned());
    let called = args.next().unwrap_or_default();
    let args: Vec<String> = args.collect();
    std::process::exit(archive::zip::run(called.rsplit('/').next().unwrap_or_default(), &args))
}
