//! The search of the web of this machine: the table `[search]` in the user's own `drydock.toml`. The file is read when somebody
//! searches; a run that does not looks at nothing. One of a project is ignored: whoever wrote it must not choose where words
//! and a key go.

use std::sync::Arc;

use anyhow::Context as _;
use drydock_embed::{SearchSettings, SearchSource};

use crate::{config, extensions};

/// What is configured, if anything is.
fn configured() -> anyhow::Result<Option<SearchSettings>> {
    let Some(path) = config::user_file() else { return Ok(None) };
    let bad = || format!("[{}] in `{}` cannot be used; correct or remove it", config::SEARCH, path.display());
    let told = |error: toml::de::Error| anyhow::anyhow!("{error}");
    let mut table: toml::Table = config::text(&path)?.parse().map_err(told).with_context(bad)?;
    let Some(search) = table.remove(config::SEARCH) else { return Ok(None) };
    search.try_into().map(Some).map_err(told).with_context(bad)
}

/// Looks the provider up for sessions.
pub(crate) fn source() -> Arc<SearchSource> {
    Arc::new(|| {
        let Some(settings) = configured().map_err(|error| format!("{error:#}"))? else { return Ok(None) };
        let opened = settings.open(Some(Arc::new(extensions::key)));
        opened.map(|it| Some(Arc::new(it))).map_err(|error| {
            let cause = std::error::Error::source(&error).map(|it| format!(": {it}")).unwrap_or_default();
            format!("[{}] in {} cannot be used: {error}{cause}", config::SEARCH, config::NAME)
        })
    })
}
