//! Files out of texts, and back: `cargo run -p drydock-embed --example files`.

use std::{error::Error, path::Path};

use drydock_embed::{Dock, Setup};

/// A line over two files; a second line of the same setup sees what the first one wrote.
pub async fn example(home: &Path) -> Result<String, Box<dyn Error>> {
    let dock = Dock::open(home)?;
    let done = dock
        .exec("jq -r .name *.json | sort")
        .files([("a.json", r#"{"name":"ada"}"#), ("b.json", r#"{"name":"bob"}"#)])
        .await?;
    assert_eq!(done.text(), "ada\nbob\n");

    let setup = Setup::profile("minimal").with_files([("notes/todo.txt", "one\ntwo\n")])?;
    dock.exec("wc -l < notes/todo.txt > count.txt").with("me", setup.clone()).await?;
    let done = dock.exec("cat count.txt").with("me", setup).await?;
    Ok(done.text().trim().to_owned())
}

#[tokio::main(flavor = "current_thread")]
#[allow(clippy::print_stdout)]
async fn main() -> Result<(), Box<dyn Error>> {
    println!("{}", example(&std::env::temp_dir().join("drydock-example")).await?);
    Ok(())
}
