//! What this machine's owner configured for the tools that a run must be trusted with (`git`, `publish`, `image`): the table
//! `[exec]` in the user's own `drydock.toml`. A project's is ignored: whoever wrote it must not choose what runs natively.

use std::path::Path;

use anyhow::Context as _;
use drydock_embed::agent::tools::exec::ExecSettings;

use crate::config;

/// What is configured; nothing is the default, and then `git` commits and pushes nowhere.
pub(crate) fn configured() -> anyhow::Result<ExecSettings> {
    let Some(path) = config::user_place() else { return Ok(ExecSettings::default()) };
    let mut settings = match path.exists() {
        true => read(&path)?,
        false => ExecSettings::default(),
    };
    // Whoever writes this file, or makes it, says what the next run starts natively.
    settings.guarded.push(path);
    Ok(settings)
}

fn read(path: &Path) -> anyhow::Result<ExecSettings> {
    let bad = || format!("[{}] in `{}` cannot be used; correct or remove it", config::EXEC, path.display());
    let told = |error: toml::de::Error| anyhow::anyhow!("{error}");
    let mut table: toml::Table = config::text(path)?.parse().map_err(told).with_context(bad)?;
    let Some(exec) = table.remove(config::EXEC) else { return Ok(ExecSettings::default()) };
    exec.try_into().map_err(told).with_context(bad)
}
