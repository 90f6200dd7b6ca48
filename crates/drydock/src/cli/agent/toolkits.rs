//! Toolkits and skills of a run, from the folders that a person named: which they are, and what they ask for: that is told and not
//! given, `--grants` or a review gives it.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use drydock_embed::{
    Dock,
    agent::{
        ToolkitPlaces,
        toolkit::{Origin, Trust, grants_file},
    },
};

use crate::exit;

/// What is asked of a folder that a person named.
pub(super) fn own() -> Trust {
    Trust { origin: Origin::Own, authors: None }
}

/// The toolkits of these folders and those that a definition names, by their ids. What is missing and what they ask for is
/// told.
pub(super) fn of(dock: &Dock, folders: &[PathBuf], named: Vec<String>) -> anyhow::Result<Vec<String>> {
    let mut wanted = named;
    for folder in folders {
        let id = id(folder)?;
        if !wanted.contains(&id) {
            wanted.push(id);
        }
    }
    let places = ToolkitPlaces { roots: Vec::new(), folders: folders.to_vec(), trust: own() };
    let set = dock.load_toolkits(&wanted, &places)?;
    for missing in set.missing() {
        exit::warn(&format!("the definition names the toolkit `{missing}`, and no --toolkit has it"));
    }
    if set.asks().next().is_some() {
        let file = grants_file(set.asks());
        exit::warn(&format!(
            "its toolkits ask for this, which nothing grants by itself (--grants FILE):\n{file}"
        ));
    }
    Ok(wanted)
}

fn id(folder: &Path) -> anyhow::Result<String> {
    let name = folder.file_name().and_then(|it| it.to_str());
    Ok(name
        .with_context(|| format!("`{}` has no name that a toolkit could have", folder.display()))?
        .to_owned())
}
