//! A line in one line: `cargo run -p drydock-embed --example exec`.

use std::{error::Error, path::Path};

use drydock_embed::Dock;

/// Counts words.
pub async fn example(home: &Path) -> Result<String, Box<dyn Error>> {
    let dock = Dock::open(home)?;
    let done =
        dock.exec("tr ' ' '\\n' | sort | uniq -c | sort -rn | head -n 1").stdin("to be or not to be").await?;
    assert_eq!((done.status, &done.stderr[..]), (0, &b""[..]));
    Ok(done.text().trim().to_owned())
}

#[tokio::main(flavor = "current_thread")]
#[allow(clippy::print_stdout)]
async fn main() -> Result<(), Box<dyn Error>> {
    println!("{}", example(&std::env::temp_dir().join("drydock-example")).await?);
    Ok(())
}
