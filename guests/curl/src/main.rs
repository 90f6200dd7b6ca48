//! The guest `curl`, and by its other name `wget`: HTTP requests, each of which the host judges and makes.
//!
//! Nothing here connects. A request goes to the host as JSON and its answer comes back in frames ([`wire`]); redirects are
//! followed by asking again, so every hop is judged. Bodies are passed on as they come.

mod cookie;
mod data;
mod failure;
mod flags;
mod form;
mod output;
mod request;
mod transfer;
mod url;
mod wget;
mod wire;
mod write_out;

#[cfg(target_family = "wasm")]
#[global_allocator]
static HEAP: heap::SmallBlocks = heap::SmallBlocks::new();

fn main() {
    place::enter();
    let args = options::arguments();
    std::process::exit(match options::called().as_str() {
        "wget" => wget::run(&args),
        _ => transfer::run(&args),
    })
}
