//! One command under its own grant: `cargo run -p drydock-embed --example run`.

use std::{error::Error, path::Path};

use drydock_embed::{Dock, Setup};

/// Runs `jq` on a line of JSON.
pub async fn example(home: &Path) -> Result<String, Box<dyn Error>> {
    let dock = Dock::open(home)?;
    let session = dock.session("example", Setup::allowing(["jq"])?)?;
    let run = session.run("jq", &["-r", ".name"], r#"{"name":"ada"}"#).await?;
    Ok(String::from_utf8(run.stdout)?.trim().to_owned())
}

#[tokio::main(flavor = "current_thread")]
#[allow(clippy::print_stdout)]
async fn main() -> Result<(), Box<dyn Error>> {
    println!("{}", example(&std::env::temp_dir().join("drydock-example")).await?);
    Ok(())
}
