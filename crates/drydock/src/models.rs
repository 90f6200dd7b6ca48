//! The models of this machine: tables `[models.NAME]` in the user's own `drydock.toml`. The file is read when a model is
//! asked for, and a key when it is needed; a run that asks none looks at neither.

use std::{
    collections::BTreeMap,
    fmt,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::Context as _;
use drydock_embed::{Model, ModelSettings, ModelSource};

use crate::{config, extensions, show};

/// As much of a script as is read.
const SCRIPT_BYTES_MAX: u64 = 64 << 20;

/// Every model that is configured, by name.
pub(crate) fn configured() -> anyhow::Result<BTreeMap<String, ModelSettings>> {
    let Some(path) = config::user_file() else { return Ok(BTreeMap::new()) };
    let bad = || format!("[{}] in `{}` cannot be used; correct or remove it", config::MODELS, path.display());
    let mut table: toml::Table = config::text(&path)?
        .parse()
        .map_err(|error: toml::de::Error| anyhow::anyhow!("{error}"))
        .with_context(bad)?;
    let Some(models) = table.remove(config::MODELS) else { return Ok(BTreeMap::new()) };
    models.try_into().map_err(|error: toml::de::Error| anyhow::anyhow!("{error}")).with_context(bad)
}

/// No model of that name is configured.
#[derive(Debug)]
pub(crate) struct Unknown {
    name: String,
    place: Option<PathBuf>,
}

impl std::error::Error for Unknown {}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = show::plain(&self.name);
        write!(f, "no model `{name}` is configured: ")?;
        match &self.place {
            Some(place) if place.exists() => write!(f, "`{}` has no [models.{name}]", place.display())?,
            Some(place) => write!(f, "there is no `{}` to have [models.{name}]", place.display())?,
            None => write!(f, "nobody's home is known here, which would have drydock.toml")?,
        }
        write!(f, " (see `drydock models`)")
    }
}

/// The settings of one of them.
pub(crate) fn named(name: &str) -> anyhow::Result<ModelSettings> {
    let found = configured()?.remove(name);
    Ok(found.ok_or_else(|| Unknown { name: name.to_owned(), place: config::user_place() })?)
}

/// A project's file that has models, which nobody asks: whoever wrote it must not choose where a key goes.
pub(crate) fn ignored() -> Option<PathBuf> {
    let path = config::project_file().ok()??;
    let table: toml::Table = config::text(&path).ok()?.parse().ok()?;
    (table.contains_key(config::MODELS) && config::user_file().as_ref() != Some(&path)).then_some(path)
}

/// Opens one of them.
pub(crate) fn open(name: &str, settings: &ModelSettings) -> Result<Model, String> {
    let read = |path: &str| {
        use std::io::Read as _;
        let mut text = String::new();
        std::fs::File::open(path)?.take(SCRIPT_BYTES_MAX).read_to_string(&mut text)?;
        Ok(text)
    };
    let opened = settings.open(name, Some(Arc::new(extensions::key)), read);
    opened.map_err(|error| {
        let cause = std::error::Error::source(&error).map(|it| format!(": {it}")).unwrap_or_default();
        format!("[{}.\"{name}\"] in {} cannot be used: {error}{cause}", config::MODELS, config::NAME)
    })
}

/// Looks models up for sessions; one that was found stays as it is to the end of the process.
pub(crate) fn source() -> Arc<ModelSource> {
    let found: Mutex<BTreeMap<String, Arc<Model>>> = Mutex::default();
    Arc::new(move |name| {
        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = found.get(name) {
            return Ok(Some(Arc::clone(model)));
        }
        let all = configured().map_err(|error| format!("{error:#}"))?;
        let Some(settings) = all.get(name) else { return Ok(None) };
        let model = Arc::new(open(name, settings)?);
        found.insert(name.to_owned(), Arc::clone(&model));
        Ok(Some(model))
    })
}
