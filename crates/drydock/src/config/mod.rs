//! `drydock.toml`: defaults for flags, of a user and of a project.
//!
//! A file holds flags by their long names, for every subcommand that has them, or in a table of one
//! subcommand's name. What it says is put in front of the words on the command line, so a file can say
//! nothing that a flag cannot, and is read by the same parser. A flag on the command line replaces what
//! the files say about it; the user's file comes after the project's, and wins.
//!
//! Its tables `[models.NAME]`, `[search]` and `[exec]` are no flags: they say where a model is served (`models`), who searches
//! the web (`searches`) and what trusted tools of agents do (`trusted`), in the user's file alone.
//!
//! A project's file comes with whatever was cloned, so it may only narrow: see [`narrow`].

mod file;
mod narrow;

use std::{ffi::OsString, path::PathBuf, sync::Once};

use anyhow::{Context as _, bail};
use clap::{ArgMatches, CommandFactory as _, parser::ValueSource};
use etcetera::BaseStrategy as _;

use crate::cli::Arguments;

pub(crate) use file::{EXEC, Entry, MODELS, NAME, Origin, SEARCH, text};

/// The subcommands whose flags have defaults in files.
pub(crate) const SUBCOMMANDS: [&str; 6] = ["run", "sh", "js", "py", "mcp", "stdio"];

/// What the files say about one flag of one subcommand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) entry: Entry,
    /// Why it does not count, if it does not.
    pub(crate) ignored: Option<String>,
}

/// Everything the files say about a subcommand, what is ignored included.
pub(crate) fn settings(subcommand: &str) -> anyhow::Result<Vec<Setting>> {
    let (user, project) = (user_file(), project_file()?);
    let of_user = match &user {
        Some(path) => file::read(path, Origin::User, subcommand)?,
        None => Vec::new(),
    };
    let of_project = match &project {
        Some(path) => file::read(path, Origin::Project, subcommand)?,
        None => Vec::new(),
    };
    let root = project.as_deref().and_then(std::path::Path::parent);
    let mut settings: Vec<Setting> = of_project
        .into_iter()
        .map(|entry| {
            let said = of_user.iter().find(|it| it.flag == entry.flag);
            let ignored = narrow::refuse(subcommand, &entry, said, root);
            Setting { entry, ignored }
        })
        .collect();
    for entry in of_user {
        // Lists of what may be called only ever get shorter, so the project's counts beside the user's.
        let replaced = |it: &&mut Setting| it.entry.flag == entry.flag && it.ignored.is_none();
        let narrower = settings.iter().any(|it| {
            it.entry.flag == entry.flag
                && it.ignored.is_none()
                && narrow::counts_before_the_users(&entry.flag)
        });
        if narrower {
            settings.push(Setting { entry, ignored: Some("the project's file narrows it".into()) });
            continue;
        }
        for setting in settings.iter_mut().filter(replaced) {
            setting.ignored = Some("your own file says otherwise".into());
        }
        settings.push(Setting { entry, ignored: None });
    }
    Ok(settings)
}

/// The command line with the defaults of the files put in after the subcommand. A line that does not
/// parse is left alone: the parser will say so.
pub(crate) fn with_defaults(words: Vec<OsString>) -> anyhow::Result<Vec<OsString>> {
    let Some(subcommand) = words.get(1).and_then(|it| it.to_str()).filter(|it| SUBCOMMANDS.contains(it))
    else {
        return Ok(words);
    };
    // Mostly there are no files, and a line need not be read for them.
    if user_file().is_none() && project_file()?.is_none() {
        return Ok(words);
    }
    let subcommand = subcommand.to_owned();
    let Ok(matches) = Arguments::command().try_get_matches_from(&words) else { return Ok(words) };
    let Some(given) = matches.subcommand_matches(&subcommand) else { return Ok(words) };
    let settings = settings(&subcommand)?;
    let counted = settings.iter().filter(|it| it.ignored.is_none() && !on_the_line(given, &it.entry));
    let mut defaults: Vec<OsString> = Vec::new();
    for Setting { entry, .. } in counted {
        let said: Vec<OsString> = entry.words().into_iter().map(OsString::from).collect();
        // Nobody typed it, so the message names the file and not the flag alone.
        if let Err(why) = Arguments::command().try_get_matches_from(with(&words, said.clone())) {
            let why = why.to_string();
            let first = why.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
            bail!("`{}` in `{}`: {first}; correct or remove it", entry.flag, entry.file);
        }
        defaults.extend(said);
    }
    Ok(with(&words, defaults))
}

/// The words with more of them behind the subcommand.
fn with(words: &[OsString], more: Vec<OsString>) -> Vec<OsString> {
    let mut all = words.to_vec();
    all.splice(2..2, more);
    all
}

/// Whether the person said it, and so the files do not count.
fn on_the_line(given: &ArgMatches, entry: &Entry) -> bool {
    let said = |flag: &str| {
        given.try_contains_id(flag).unwrap_or(false)
            && given.value_source(flag) == Some(ValueSource::CommandLine)
    };
    let id = entry.flag.replace('-', "_");
    let opposite = match id.as_str() {
        "posix_unknown" => said("literal_unknown"),
        "literal_unknown" => said("posix_unknown"),
        _ => false,
    };
    said(&id) || opposite
}

/// The user's own file, if there is one.
pub(crate) fn user_file() -> Option<PathBuf> {
    user_place().filter(|it| it.exists())
}

/// Where it would be. A place that is not absolute is nobody's, by the rules of such places: that is said, once.
pub(crate) fn user_place() -> Option<PathBuf> {
    static IS_TOLD: Once = Once::new();
    if let Some(ignored) = std::env::var_os("XDG_CONFIG_HOME").filter(relative) {
        IS_TOLD.call_once(|| {
            crate::exit::warn(&format!(
                "XDG_CONFIG_HOME is ignored, since `{}` is not absolute; say `$PWD/…`",
                ignored.to_string_lossy()
            ));
        });
    }
    Some(etcetera::choose_base_strategy().ok()?.config_dir().join("drydock").join(NAME))
}

fn relative(place: &OsString) -> bool {
    !place.is_empty() && !std::path::Path::new(place).is_absolute()
}

/// The nearest file from the working directory upwards.
pub(crate) fn project_file() -> anyhow::Result<Option<PathBuf>> {
    let here = std::env::current_dir().context("there is no working directory")?;
    Ok(here.ancestors().map(|it| it.join(NAME)).find(|it| it.is_file()))
}
