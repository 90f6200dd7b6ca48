//! A command of a toolkit, as its manifest declares it.

use drydock_contract::{ArgMode, CommandName, Digest, GrantSpec};

use super::{ToolkitError, ask, folder::Folder, may_run, reserved};
use crate::text::{Drawer, shown};

/// Where the module of a command comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandSource {
    /// A module in the folder.
    Module {
        /// Its path.
        path: String,
        /// Its hash.
        sha256: Digest,
    },
    /// A source in the folder, to be built in the sandbox.
    Source {
        /// Its path.
        path: String,
        /// The language it is in, if the manifest says it.
        lang: Option<String>,
    },
}

/// One command.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolkitCommand {
    /// What it is called.
    pub name: CommandName,
    /// How it takes arguments.
    pub mode: ArgMode,
    /// Where its module comes from.
    pub source: CommandSource,
    /// What it asks for: to be run at all, and what it needs then.
    pub grants: Vec<GrantSpec>,
    /// A directory that it wants to see, as the manifest says it; a command sees the files of its session.
    pub preopen: Option<String>,
}

/// Prefixes of the seed's that no lane stands behind, here as there.
const LANES: &[&str] = &["crate", "archive", "git+", "gobuild", "zigbuild", "script"];

/// Reads the keywords of a manifest, or the drawer of a heading, that declare a command; nothing if they declare none.
pub(super) fn read(
    said: &Drawer<'_>,
    folder: &Folder,
    is_taken: &dyn Fn(&str) -> bool,
) -> Result<Option<ToolkitCommand>, ToolkitError> {
    let Some(name) = said.get("CLI_BIN") else {
        return match said.get("BUILD_SRC").or(said.get("WASM_PATH")).or(said.get("CAPS")) {
            Some(_) => {
                let why = "a command wants a name; write `CLI_BIN: NAME`".to_owned();
                Err(ToolkitError::BadKeyword { keyword: "CLI_BIN", why })
            }
            None => Ok(None),
        };
    };
    // Before anything else of it is read: the name is its author's, and says whose calls it would answer.
    if reserved::is_reserved(name) || is_taken(name) {
        return Err(ToolkitError::ReservedName { name: shown(name) });
    }
    let name = CommandName::registrable(name)
        .map_err(|_| ToolkitError::BadName { what: "the command", shown: shown(name) })?;
    match said.get("EXEC").map(str::to_ascii_lowercase).as_deref() {
        None | Some("command" | "posix") => {}
        Some(other) => {
            let why = format!("`{}` is no shape of a command; write `command`", shown(other));
            return Err(ToolkitError::BadKeyword { keyword: "EXEC", why });
        }
    }
    let bad_mode = |_| ToolkitError::BadKeyword { keyword: "ARG_MODE", why: "write argv or stdin1".into() };
    let mode = said.get("ARG_MODE").map(|it| it.to_ascii_lowercase().parse::<ArgMode>());
    let mode = mode.transpose().map_err(bad_mode)?.unwrap_or_default();
    let mut grants: Vec<GrantSpec> = may_run(name.as_str()).into_iter().collect();
    grants.extend(ask::read(said.get("CAPS").unwrap_or_default())?);
    let source = source(said, folder)?;
    Ok(Some(ToolkitCommand { name, mode, source, grants, preopen: said.get("PREOPEN").map(shown) }))
}

fn source(said: &Drawer<'_>, folder: &Folder) -> Result<CommandSource, ToolkitError> {
    let bad = |keyword, why: &str| ToolkitError::BadKeyword { keyword, why: why.to_owned() };
    let lang = said.get("BUILD_LANG").map(shown);
    let path = match (said.get("WASM_PATH"), said.get("BUILD_SRC")) {
        (Some(path), None) => path,
        (None, Some(source)) => match source.split_once(':') {
            Some(("wasm", path)) => path,
            Some(("path", path)) => {
                folder.get(path)?;
                return Ok(CommandSource::Source { path: path.to_owned(), lang });
            }
            Some((lane, _)) if LANES.iter().any(|it| lane.starts_with(it)) => {
                return Err(ToolkitError::LaneUnavailable { lane: shown(lane) });
            }
            _ => return Err(bad("BUILD_SRC", "write `wasm:FILE` for a module, or `path:FILE` for a source")),
        },
        (None, None) => return Err(bad("BUILD_SRC", "a command wants a module; write `wasm:FILE`")),
        // The seed has both where a module was built and kept; which of them runs must not be a guess.
        (Some(path), Some(source)) if source.strip_prefix("wasm:") == Some(path) => path,
        (Some(_), Some(_)) => {
            return Err(bad("WASM_PATH", "BUILD_SRC says something else; keep one of them"));
        }
    };
    let got = Digest::of(folder.get(path)?);
    let bad_digest = |_| bad("SHA256", "write 64 hexadecimal digits in lower case");
    match said.get("SHA256").map(str::parse::<Digest>).transpose().map_err(bad_digest)? {
        Some(expected) if expected != got => {
            Err(ToolkitError::ShaMismatch { path: shown(path), expected, got })
        }
        _ => Ok(CommandSource::Module { path: path.to_owned(), sha256: got }),
    }
}
