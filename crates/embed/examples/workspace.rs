//! Files that stay, and a directory that changes only when it is told to: `cargo run -p drydock-embed --example workspace`.

use std::{error::Error, path::Path};

use drydock_embed::{Dock, Setup, ShellSetup, store::IfChanged};

/// Opens, snapshots, forks, compares and commits.
pub async fn example(home: &Path) -> Result<String, Box<dyn Error>> {
    let dock = Dock::open(home)?;
    let project = home.join("project");
    std::fs::create_dir_all(&project)?;
    std::fs::write(project.join("a.txt"), "one\n")?;

    let nonce = std::time::UNIX_EPOCH.elapsed()?.as_nanos();
    let (name, copy) = (format!("example-{nonce}"), format!("copy-{nonce}"));
    let workspace = dock.workspace(&name)?.mount(&project, "project")?;
    let setup = Setup { files: Some(workspace.files()?), ..Setup::profile("minimal") };
    let shell = ShellSetup { roots: vec!["/project".into(), "/workspace".into()], ..ShellSetup::default() };
    workspace.snapshot("before")?;
    dock.exec("echo two >> /project/a.txt; echo kept > note").with("me", setup).shell(shell).await?;
    assert_eq!(std::fs::read_to_string(project.join("a.txt"))?, "one\n");
    let fork = workspace.fork(&copy)?;
    assert_eq!(fork.diff()?.len(), 0);

    let since: Vec<String> = workspace.diff_since("before")?.into_iter().map(|it| it.path).collect();
    let changed: Vec<String> = workspace.diff()?.into_iter().map(|it| it.path).collect();
    workspace.commit(IfChanged::Refuse)?;
    let after = std::fs::read_to_string(project.join("a.txt"))?;
    Ok(format!("{since:?} {changed:?} {after:?}"))
}

#[tokio::main(flavor = "current_thread")]
#[allow(clippy::print_stdout)]
async fn main() -> Result<(), Box<dyn Error>> {
    println!("{}", example(&std::env::temp_dir().join("drydock-example")).await?);
    Ok(())
}
