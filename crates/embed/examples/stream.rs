//! Output as it is written, as an asynchronous iterator: `cargo run -p drydock-embed --example stream`.

use std::{error::Error, path::Path};

use drydock_embed::{Dock, ExecEvent, OutputStream};

/// Takes the output of an endless line until it is enough; dropping the stream ends the line.
pub async fn example(home: &Path) -> Result<String, Box<dyn Error>> {
    let dock = Dock::open(home)?;
    let mut first = String::new();
    let mut endless = dock.exec("seq 1000000000").stream()?;
    while let Some(ExecEvent::Output(OutputStream::Stdout, bytes)) = endless.next().await {
        first.push_str(&String::from_utf8_lossy(&bytes));
        if first.len() > 1000 {
            break;
        }
    }
    drop(endless);

    let mut events = Vec::new();
    let mut short = dock.exec("echo out; echo err >&2; exit 3").stream()?;
    while let Some(event) = short.next().await {
        events.push(match event {
            ExecEvent::Output(stream, bytes) => {
                format!("{stream:?} {}", String::from_utf8_lossy(&bytes).trim())
            }
            ExecEvent::End(end) => format!("status {}", end?.status),
            _ => continue,
        });
    }
    Ok(format!("{}, {}", first.lines().next().unwrap_or_default(), events.join(", ")))
}

#[tokio::main(flavor = "current_thread")]
#[allow(clippy::print_stdout)]
async fn main() -> Result<(), Box<dyn Error>> {
    println!("{}", example(&std::env::temp_dir().join("drydock-example")).await?);
    Ok(())
}
