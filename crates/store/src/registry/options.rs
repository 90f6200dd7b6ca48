//! Whether an entry's options are ones that can be kept and honoured. Bounds on everything, because a file that
//! anyone may have written is read by the same rules.

use std::collections::BTreeSet;

use drydock_contract::port::EntryOptions;

use crate::{MountPoint, Volume};

/// Arguments and variables that an entry may bring.
const WORDS_MAX: usize = 64;
/// Their bytes together.
const WORDS_BYTES_MAX: usize = 16 << 10;
/// One word of what a snapshot serves.
const RULE_BYTES_MAX: usize = 64;
const DIRS_MAX: usize = 16;
/// A 32-bit memory and as much again for what the host holds for it.
const MEMORY_BYTES_MAX: u64 = 8 << 30;
const COMPILE_MEMORY_BYTES_MAX: u64 = 16 << 30;
const WALL_MS_MAX: u64 = 24 * 60 * 60 * 1000;

/// Options that cannot be registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("its {what} {why}")]
pub struct BadOptions {
    what: &'static str,
    why: String,
}

pub(super) fn check(options: &EntryOptions) -> Result<(), BadOptions> {
    let bad = |what, why: &str| Err(BadOptions { what, why: why.into() });
    let EntryOptions {
        argv0,
        argv,
        env,
        dirs,
        limits,
        compile,
        starts_in_pwd: _,
        lane: _,
        features: _,
        image,
    } = options;
    if argv0.as_ref().is_some_and(String::is_empty) {
        return bad("argv0", "is empty");
    }
    let words = || argv0.iter().chain(argv).chain(env);
    if words().count() > WORDS_MAX || words().map(|it| it.len() + 1).sum::<usize>() > WORDS_BYTES_MAX {
        return bad("arguments and variables", "are too many: 64 of them and 16 KiB are the limit");
    }
    if words().any(|it| it.contains('\0')) {
        return bad("arguments and variables", "have a NUL byte, which WASI cannot carry");
    }
    if env.iter().any(|it| it.find('=').is_none_or(|at| at == 0)) {
        return bad("variables", "are not all `NAME=value`");
    }
    let rules = || image.iter().flat_map(|it| it.first.iter().chain(&it.not_env).chain(&it.plain_paths));
    if rules().count() > WORDS_MAX || rules().any(|it| it.is_empty() || it.len() > RULE_BYTES_MAX) {
        return bad("snapshot", "has rules that are too many, empty or too long");
    }
    let figures = [
        ("memory limit", limits.memory_bytes_max, MEMORY_BYTES_MAX),
        ("time limit", limits.wall_ms_max, WALL_MS_MAX),
        ("compile memory", compile.memory_bytes_max, COMPILE_MEMORY_BYTES_MAX),
        ("compile time", compile.wall_ms_max, WALL_MS_MAX),
    ];
    for (what, figure, max) in figures {
        if figure.is_some_and(|it| it == 0 || it > max) {
            return bad(what, &format!("is not between 1 and {max}"));
        }
    }
    if dirs.len() > DIRS_MAX {
        return bad("directories", "are too many: 16 are the limit");
    }
    let mut places = BTreeSet::new();
    for dir in dirs {
        let place = place(&dir.path).map_err(|why| BadOptions { what: "directories", why })?;
        if !places.insert(place) {
            return bad("directories", &format!("have `{}` twice", dir.path));
        }
    }
    Ok(())
}

/// Where a directory is seen. What belongs to the caller is not hidden by one.
fn place(path: &str) -> Result<MountPoint, String> {
    let place: MountPoint = path.parse().map_err(|error: crate::MountError| format!("cannot be: {error}"))?;
    let first = place.names().next().unwrap_or_default();
    let callers = Volume::ALL.iter().any(|it| it.name() == first) || first == "dev";
    if !path.starts_with('/') || place.is_root() || callers {
        let shown: String = path.chars().take(80).collect();
        return Err(format!(
            "cannot be seen at `{}`: choose an absolute path such as /usr",
            shown.escape_default()
        ));
    }
    Ok(place)
}

#[cfg(test)]
mod tests {
    use drydock_contract::{
        Digest,
        port::{EntryDir, EntryLimits},
    };

    use super::*;

    fn with_dirs(paths: &[&str]) -> EntryOptions {
        let dirs = paths.iter().map(|it| EntryDir { tree: Digest::of(b"t"), path: (*it).into() }).collect();
        EntryOptions { dirs, ..EntryOptions::default() }
    }

    #[test]
    fn what_cannot_be_honoured_cannot_be_registered() {
        let limits = |memory| EntryLimits { memory_bytes_max: Some(memory), ..EntryLimits::default() };
        let usual = EntryOptions::default;
        let many = vec!["x".to_owned(); WORDS_MAX + 1];
        let cases = [
            (usual(), None),
            (with_dirs(&["/usr", "/opt/lib"]), None),
            (EntryOptions { env: vec!["A=".into()], ..usual() }, None),
            (EntryOptions { argv0: Some(String::new()), ..usual() }, Some("argv0")),
            (EntryOptions { argv: vec!["a\0".into()], ..usual() }, Some("NUL")),
            (EntryOptions { argv: vec!["x".repeat(WORDS_BYTES_MAX)], ..usual() }, Some("too many")),
            (EntryOptions { argv: many, ..usual() }, Some("too many")),
            (EntryOptions { env: vec!["=x".into()], ..usual() }, Some("NAME=value")),
            (EntryOptions { limits: limits(0), ..usual() }, Some("memory limit")),
            (EntryOptions { limits: limits(u64::MAX), ..usual() }, Some("memory limit")),
            (with_dirs(&["/usr", "/usr/"]), Some("twice")),
            (with_dirs(&["/"]), Some("cannot be seen")),
            (with_dirs(&["usr"]), Some("cannot be seen")),
            (with_dirs(&["/dev/x"]), Some("cannot be seen")),
            (with_dirs(&["/workspace"]), Some("cannot be seen")),
            (with_dirs(&["/tmp/x"]), Some("cannot be seen")),
            (with_dirs(&["/a/../workspace"]), Some("without `..`")),
            (with_dirs(&["/a"; DIRS_MAX + 1]), Some("too many")),
        ];
        for (options, want) in cases {
            let got = check(&options).err().map(|bad| bad.to_string());
            let right = match (&got, want) {
                (Some(got), Some(want)) => got.contains(want),
                (got, want) => got.is_none() && want.is_none(),
            };
            assert!(right, "{options:?}: {got:?} instead of {want:?}");
        }
    }
}
