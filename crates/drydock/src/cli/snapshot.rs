//! `drydock commands snapshot NAME RECIPE`: keeps a registered program as it is after its initialisation.

use std::{path::Path, process::ExitCode};

use anyhow::Context as _;
use drydock_embed::contract::port::SnapshotRecipe;
use serde_json::json;

use crate::{home, show};

/// The longest recipe: it is a page of text.
const RECIPE_BYTES_MAX: u64 = 1 << 20;

pub(crate) fn run(name: &str, recipe: &Path, json: bool) -> anyhow::Result<ExitCode> {
    let recipe = read(recipe)?;
    let dock = home::dock()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let entry = runtime.block_on(dock.snapshot(name, &recipe))?;
    let image = entry.options.image.as_ref().map(|it| it.module);
    if json {
        show::json(&json!({ "name": entry.name, "sha256": entry.digest, "image": image }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let image = image.map(|it| it.to_string()).unwrap_or_default();
    show::line(&format!("{} starts from its snapshot ({image})", entry.name))?;
    Ok(ExitCode::SUCCESS)
}

fn read(file: &Path) -> anyhow::Result<SnapshotRecipe> {
    let shown = file.display();
    let found = std::fs::metadata(file).with_context(|| format!("could not open `{shown}`"))?;
    if !found.is_file() || found.len() > RECIPE_BYTES_MAX {
        anyhow::bail!("`{shown}` is not a regular file of at most 1 MiB");
    }
    let text = std::fs::read_to_string(file).with_context(|| format!("could not read `{shown}`"))?;
    toml::from_str(&text).with_context(|| format!("`{shown}` is not a recipe"))
}
