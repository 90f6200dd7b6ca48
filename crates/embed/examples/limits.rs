//! Limits for one call: `cargo run -p drydock-embed --example limits`.

use std::{error::Error, path::Path, time::Duration};

use drydock_embed::{Dock, contract::Limits, line_limits};

/// Three lines that would not end, or not soon.
pub async fn example(home: &Path) -> Result<String, Box<dyn Error>> {
    let dock = Dock::open(home)?;
    let slow = dock.exec("sleep 1000").timeout(Duration::from_millis(50)).await?;
    let long = dock.exec("yes").limits(Limits { stdout_bytes_max: 1000, ..line_limits() }).await?;
    let ends = [&slow, &long].map(|it| format!("{} {}", it.status, it.limit.as_deref().unwrap_or("none")));
    Ok(ends.join(", "))
}

#[tokio::main(flavor = "current_thread")]
#[allow(clippy::print_stdout)]
async fn main() -> Result<(), Box<dyn Error>> {
    println!("{}", example(&std::env::temp_dir().join("drydock-example")).await?);
    Ok(())
}
