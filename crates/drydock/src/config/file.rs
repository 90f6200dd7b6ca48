//! One `drydock.toml`: bytes to entries, or a message that names the file and the place.

use std::{fs, io::Read as _, path::Path};

use anyhow::{Context as _, bail};
use clap::CommandFactory as _;
use drydock_embed::catalog;
use toml::Value;

use super::SUBCOMMANDS;
use crate::cli::Arguments;

/// How such a file is called.
pub(crate) const NAME: &str = "drydock.toml";

/// Longest file that is read.
const BYTES_MAX: u64 = 64 << 10;

/// The table of models.
pub(crate) const MODELS: &str = "models";
/// The table of who searches the web.
pub(crate) const SEARCH: &str = "search";
/// The table of what trusted tools of agents do.
pub(crate) const EXEC: &str = "exec";

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    User,
    Project,
}

/// What a file says about a flag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) origin: Origin,
    /// The file, as a person finds it.
    pub(crate) file: String,
    /// The long name, without dashes.
    pub(crate) flag: String,
    /// The values, as they would be typed; none for a switch that is on.
    pub(crate) values: Vec<String>,
    /// A switch that is off says nothing on the command line.
    pub(crate) off: bool,
}

impl Entry {
    /// As they would be typed.
    pub(crate) fn words(&self) -> Vec<String> {
        match (self.off, &self.values[..]) {
            (true, _) => Vec::new(),
            (false, []) => vec![format!("--{}", self.flag)],
            (false, values) => values.iter().map(|value| format!("--{}={value}", self.flag)).collect(),
        }
    }
}

/// What `path` says about a subcommand: its own table last, so that it wins over the general part.
pub(super) fn read(path: &Path, origin: Origin, subcommand: &str) -> anyhow::Result<Vec<Entry>> {
    entries(&text(path)?, path, origin, subcommand)
        .with_context(|| format!("`{}` cannot be used; correct or remove it", path.display()))
}

/// What such a file has.
pub(crate) fn text(path: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    let file = fs::File::open(path).with_context(|| format!("could not open `{}`", path.display()))?;
    file.take(BYTES_MAX + 1)
        .read_to_string(&mut text)
        .with_context(|| format!("could not read `{}`; correct or remove it", path.display()))?;
    if text.len() as u64 > BYTES_MAX {
        bail!("`{}` is longer than {} bytes; correct or remove it", path.display(), BYTES_MAX);
    }
    Ok(text)
}

fn entries(text: &str, path: &Path, origin: Origin, subcommand: &str) -> anyhow::Result<Vec<Entry>> {
    // The parser's own message shows the line with a mark under the place.
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| anyhow::anyhow!("{error}"))?;
    let mut entries: Vec<Entry> = Vec::new();
    for (key, value) in &table {
        match value {
            Value::Table(of) if SUBCOMMANDS.contains(&key.as_str()) => {
                for (flag, value) in of {
                    let Some(known) = flag_of(key, flag) else { bail!(unknown(&[key], flag)) };
                    if key == subcommand {
                        let entry = entry(path, origin, flag, value, known)?;
                        entries.retain(|it| it.flag != entry.flag);
                        entries.push(entry);
                    }
                }
            }
            // Not a flag of anything: `models`, `searches` and `trusted` read it where it is asked for. A project's is shown, and ignored.
            Value::Table(of) if [MODELS, SEARCH, EXEC].contains(&key.as_str()) => {
                if origin == Origin::Project {
                    let (flag, values) = (key.clone(), of.keys().cloned().collect());
                    entries.push(Entry {
                        origin,
                        file: path.display().to_string(),
                        flag,
                        values,
                        off: false,
                    });
                }
            }
            Value::Table(_) => {
                bail!("[{key}] is no subcommand with defaults; there are {}", SUBCOMMANDS.join(", "))
            }
            _ => {
                if !SUBCOMMANDS.iter().any(|it| flag_of(it, key).is_some()) {
                    bail!(unknown(&SUBCOMMANDS, key));
                }
                let special = entries.iter().any(|it| it.flag == *key);
                if let (Some(known), false) = (flag_of(subcommand, key), special) {
                    entries.push(entry(path, origin, key, value, known)?);
                }
            }
        }
    }
    Ok(entries)
}

/// What kind of flag it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    One,
    Many,
}

/// How a subcommand's flag of that name takes values, if there is one.
fn flag_of(subcommand: &str, name: &str) -> Option<Takes> {
    let all = Arguments::command();
    let of = all.find_subcommand(subcommand)?;
    let arg = of.get_arguments().find(|it| it.get_long() == Some(name))?;
    Some(match arg.get_action() {
        clap::ArgAction::SetTrue => Takes::Nothing,
        clap::ArgAction::Append => Takes::Many,
        _ if arg.get_value_delimiter().is_some() => Takes::Many,
        _ => Takes::One,
    })
}

fn unknown(subcommands: &[&str], flag: &str) -> String {
    let all = Arguments::command();
    let near = subcommands
        .iter()
        .filter_map(|it| all.find_subcommand(it))
        .flat_map(|it| it.get_arguments().filter_map(clap::Arg::get_long))
        .find(|known| *known == flag.replace('_', "-") || catalog::is_near(flag, known));
    match near {
        Some(near) => format!("there is no flag `{flag}`; did you mean `{near}`?"),
        None => format!("there is no flag `{flag}`; keys are long flags without the dashes"),
    }
}

fn entry(path: &Path, origin: Origin, flag: &str, value: &Value, takes: Takes) -> anyhow::Result<Entry> {
    let one = |value: &Value| match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        _ => Err(anyhow::anyhow!("`{flag}` takes text or a number, not {}", value.type_str())),
    };
    let (values, off): (Vec<String>, bool) = match (takes, value) {
        (Takes::Nothing, Value::Boolean(on)) => (Vec::new(), !on),
        (Takes::Nothing, _) => bail!("`{flag}` is true or false"),
        (Takes::Many, Value::Array(all)) => (all.iter().map(one).collect::<Result<_, _>>()?, all.is_empty()),
        (_, value) => (vec![one(value)?], false),
    };
    // In a project, `.` is the project, wherever in it somebody stands.
    let values = match (origin, flag, path.parent()) {
        (Origin::Project, "dir", Some(root)) => {
            values.iter().map(|it| root.join(it).display().to_string()).collect()
        }
        _ => values,
    };
    Ok(Entry { origin, file: path.display().to_string(), flag: flag.to_owned(), values, off })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, subcommand: &str) -> Result<Vec<String>, String> {
        let read = entries(text, Path::new("drydock.toml"), Origin::User, subcommand);
        read.map(|it| it.iter().flat_map(Entry::words).collect()).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn keys_are_flags_and_a_table_is_one_subcommands() {
        let text = "timeout = \"5s\"\ndir = [\".\", \"../x:ro\"]\n[sh]\neval = true\ntimeout = 9\n[js]\ntimeout = \"1s\"\n";
        assert_eq!(words(text, "run").unwrap(), ["--dir=.", "--dir=../x:ro", "--timeout=5s"]);
        assert_eq!(words(text, "sh").unwrap(), ["--dir=.", "--dir=../x:ro", "--eval", "--timeout=9"]);
        assert_eq!(words("[sh]\neval = false\n", "sh").unwrap(), [""; 0]);
        assert_eq!(words("", "sh").unwrap(), [""; 0]);
    }

    #[test]
    fn models_are_no_flags_and_a_projects_are_not_taken() {
        let text = "[models.\"a/b\"]\nbase-url = \"https://a.test\"\n";
        assert_eq!(words(text, "sh").unwrap(), [""; 0]);
        let read = entries(text, Path::new("drydock.toml"), Origin::Project, "sh").unwrap();
        let why = super::super::narrow::refuse("sh", &read[0], None, None);
        assert_eq!((read[0].flag.as_str(), why.is_some()), ("models", true));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, want) in [
            ("timout = 3", "did you mean `timeout`?"),
            ("[sh]\nevil = true", "there is no flag `evil`"),
            ("[bash]\neval = true", "[bash] is no subcommand with defaults"),
            ("eval = 3", "`eval` is true or false"),
            ("timeout = [1.5]", "takes text or a number"),
            ("timeout = ", "line 1"),
            ("output_max = 3", "did you mean `output-max`?"),
        ] {
            let error = words(text, "sh").unwrap_err();
            assert!(error.contains(want), "{text}: {error}");
        }
    }
}
