//! The guest `jq`: jq's command line, exit codes and printing around jaq's language.

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

/// Called once, when the module is built; what it leaves in memory is part of the module.
#[unsafe(export_name = "wizer-initialize")]
extern "C" fn initialize() {
    jq::library::prepare();
}
