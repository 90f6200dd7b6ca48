//! Runs `jq` on a line of JSON: `cargo run -p drydock-embed --example run`.

use drydock_embed::{Dock, Setup};

#[tokio::main(flavor = "current_thread")]
#[allow(clippy::print_stdout)]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dock = Dock::open(std::env::temp_dir().join("drydock-example"))?;
    let session = dock.session("example", Setup::allowing(["jq"])?)?;
    let run = session.run("jq", &["-r", ".name"], r#"{"name":"ada"}"#).await?;
    println!("{} in {} µs", String::from_utf8_lossy(&run.stdout).trim(), run.report.duration.as_micros());
    Ok(())
}
