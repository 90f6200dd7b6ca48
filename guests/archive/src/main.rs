//! The guest `tar`, which is also the compressors: the name it is called by decides.

#[cfg(target_family = "wasm")]
#[global_allocator]
static HEAP: heap::SmallBlocks = heap::SmallBlocks::new();

fn main() {
    place::enter();
    let mut args = std::env::args_os().map(|it| it.to_string_lossy().into_owned());
    let called = args.next().unwrap_or_default();
    let name = called.rsplit('/').next().unwrap_or_default().to_owned();
    let args: Vec<String> = args.collect();
    std::process::exit(match archive::gzip::Tool::named(&name) {
        Some(tool) => archive::gzip::run(tool, &args),
        None => archive::tar::run(&args),
    })
}
