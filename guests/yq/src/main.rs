//! The guest `yq`: mikefarah's command line, jq's language. As `tomlq` and `xq` it reads TOML or XML
//! and writes JSON.

#[cfg(target_family = "wasm")]
#[global_allocator]
static HEAP: heap::SmallBlocks = heap::SmallBlocks::new();

fn main() {
    place::enter();
    let mut args = std::env::args_os().map(|it| it.to_string_lossy().into_owned());
    let called = args.next().unwrap_or_default();
    let name = called.rsplit('/').next().unwrap_or_default().to_owned();
    let args: Vec<String> = args.collect();
    jq::halt(yq::run(&name, &args))
}
