//! The guest `jq`.

#[cfg(target_family = "wasm")]
#[global_allocator]
static HEAP: heap::SmallBlocks = heap::SmallBlocks::new();

fn main() {
    place::enter();
    let args: Vec<String> = std::env::args_os().skip(1).map(|it| it.to_string_lossy().into_owned()).collect();
    let status = match jq::run(&args) {
        Ok(status) => status,
        Err(failure) => {
            jq::stdio::complain(&failure.to_string());
            failure.status()
        }
    };
    jq::halt(status)
}
