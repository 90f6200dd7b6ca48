//! `cargo xtask guests`: builds the built-in commands from `guests/` into `crates/commands/wasm/`.
//!
//! ```text
//! cargo xtask guests [--only NAME]      build, and write the modules and their lock file;
//!                                        NAME may be several, with commas between
//! cargo xtask guests --check            build elsewhere and compare with what is committed
//! cargo xtask guests --check --no-build compare the committed modules with their lock file only
//! ```
//!
//! The modules are committed, so that a plain `cargo build` needs no wasm toolchain. The lock file
//! says what each was made of; a build from another folder gives the same bytes.

mod build;
mod catalogue;
mod check;
mod closure;
mod lock;
mod sources;
mod toolchain;

use anyhow::{Context as _, Result, bail};
use catalogue::{GUESTS, Guest};
use lock::Lock;
use std::path::{Path, PathBuf};

pub use toolchain::{TARGET, Toolchain};

/// The packages of `guests/` that become modules.
pub fn packages() -> std::collections::BTreeSet<&'static str> {
    GUESTS.iter().map(|guest| guest.package).collect()
}

/// Runs the task with the arguments after its name.
pub fn run(args: &[String]) -> Result<()> {
    let options = Options::parse(args)?;
    let places = Places::new()?;
    match options.mode {
        Mode::Verify => check::files(&places),
        Mode::Check => {
            check::files(&places)?;
            check::rebuilt(&places, &options.guests)
        }
        Mode::Build => {
            // One after the other, so that a guest that fails does not undo those before it.
            for guest in options.guests {
                let entries = build::all(&places, &[guest], &places.modules)?;
                // A lock that is there and cannot be read is not replaced: two builds at once would lose entries.
                let lock = match places.lock().exists() {
                    true => Lock::read(&places.lock())?,
                    false => Lock::default(),
                };
                lock.with(entries).write(&places.lock())?;
            }
            Ok(())
        }
    }
}

struct Options {
    mode: Mode,
    guests: Vec<&'static Guest>,
}

enum Mode {
    Build,
    Check,
    Verify,
}

impl Options {
    fn parse(args: &[String]) -> Result<Self> {
        let (mut check, mut no_build, mut only) = (false, false, None);
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--check" => check = true,
                "--no-build" => no_build = true,
                "--only" => only = Some(args.next().context("--only takes the name of a guest")?.as_str()),
                other => bail!("unknown argument `{other}`; known are --check, --no-build and --only NAME"),
            }
        }
        let mode = match (check, no_build) {
            (false, false) => Mode::Build,
            (true, false) => Mode::Check,
            (true, true) => Mode::Verify,
            (false, true) => bail!("--no-build only makes sense with --check"),
        };
        let guests: Vec<&Guest> = GUESTS
            .iter()
            .filter(|guest| {
                only.is_none_or(|names| {
                    names.split(',').any(|name| name == guest.name || name == guest.package)
                })
            })
            .collect();
        if guests.is_empty() {
            let known: Vec<&str> = GUESTS.iter().map(|guest| guest.name).collect();
            bail!("no guest `{}`; there are {}", only.unwrap_or_default(), known.join(", "));
        }
        Ok(Self { mode, guests })
    }
}

/// Where things are.
struct Places {
    guests: PathBuf,
    /// The host's own crates, of which the shell's guest is made.
    crates: PathBuf,
    modules: PathBuf,
}

impl Places {
    fn new() -> Result<Self> {
        let repository =
            Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in the repository")?;
        Ok(Self {
            guests: repository.join("guests"),
            crates: repository.join("crates"),
            modules: repository.join("crates/commands/wasm"),
        })
    }

    fn lock(&self) -> PathBuf {
        self.modules.join("guests.lock.json")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Options::parse(&args)
    }

    #[test]
    fn only_takes_a_guest_or_all_parts_of_a_package() {
        let count = |line| parse(line).map(|it| it.guests.len()).unwrap_or_default();
        assert_eq!(count(""), GUESTS.len());
        assert_eq!(count("--only jq"), 1);
        assert_eq!(count("--only jq,sed"), 2);
        assert!(count("--only wbox") > 1);
        assert_eq!(count("--only wbox-text"), 1);
    }

    #[test]
    fn wrong_arguments_are_refused() {
        for line in ["--only", "--only nobody", "--no-build", "--fast"] {
            assert!(parse(line).is_err(), "{line:?}");
        }
    }
}
