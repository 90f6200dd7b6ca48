//! The guest `jq`.

#[cfg(target_family = "wasm")]
#[global_allocator]
static HEAP: heap::SmallBlocks = heap::SmallBlocks::new();

fn main() {
    place::enter();
    let valued = [("--arg", 2), ("--argjson", 2), ("--indent", 1), ("--slurpfile", 2), ("--rawfile", 2)];
    let args = match first_line::arguments(&["jq"], &valued) {
        Some(Ok(args)) => args,
        Some(Err(cause)) => {
            jq::stdio::complain(&format!("jq: error: could not read the first line: {cause}"));
            jq::halt(2)
        }
        None => std::env::args_os().skip(1).map(|it| it.to_string_lossy().into_owned()).collect(),
    };
    let status = match jq::run(&args) {
        Ok(status) => status,
        Err(failure) => {
            jq::stdio::complain(&failure.to_string());
            failure.status()
        }
    };
    jq::halt(status)
}
