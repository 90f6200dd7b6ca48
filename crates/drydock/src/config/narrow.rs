//! What a project's file may say: whoever wrote it may be whoever wrote the code that is to be caged.
//!
//! Everything that is not listed here is ignored. Directories lie inside the project and are not
//! writable; limits are no higher than without the file; lists of what may be called only get shorter.

use std::{collections::BTreeSet, path::Path};

use drydock_embed::{contract::Limits, gate::LINE_MEMORY_BYTES_MAX, line_limits};

use super::Entry;
use crate::{cli, units};

/// Flags that take nothing away and give nothing.
const HARMLESS: [&str; 5] = ["env", "seed", "now", "posix-unknown", "literal-unknown"];

/// Flags that name what may be called.
const LISTS: [&str; 2] = ["allow", "allow-tool"];

/// From the least to the most that is given without the file.
const PROFILES: [&str; 2] = ["compute", "minimal"];

/// Why an entry of a project's file does not count; `said` is what the user's own file has about it.
pub(super) fn refuse(
    subcommand: &str,
    entry: &Entry,
    said: Option<&Entry>,
    root: Option<&Path>,
) -> Option<String> {
    let flag = entry.flag.as_str();
    if HARMLESS.contains(&flag) || entry.off {
        return None;
    }
    if LISTS.contains(&flag) {
        let wider = said.filter(|said| !names(entry).is_subset(&names(said)));
        return wider.map(|_| "it allows more than your own file".into());
    }
    match flag {
        "dir" => entry.values.iter().find_map(|it| root.and_then(|root| outside(it, root))),
        "profile" if entry.values.iter().all(|it| PROFILES.contains(&it.as_str())) => None,
        "profile" => Some("only `compute` or `minimal` may be chosen by a project".into()),
        _ => match (bound(subcommand, flag), entry.values.first()) {
            (Some(usual), Some(value)) => above(flag, value, said, usual),
            _ => Some("only a flag or your own file may say it".into()),
        },
    }
}

/// Whether what a project says about this flag stands although the user's file has it, too.
pub(super) fn counts_before_the_users(flag: &str) -> bool {
    LISTS.contains(&flag) || bound("run", flag).is_some()
}

fn names(entry: &Entry) -> BTreeSet<&str> {
    entry.values.iter().flat_map(|it| it.split(',')).map(str::trim).collect()
}

/// Why a directory may not be mounted.
fn outside(value: &str, root: &Path) -> Option<String> {
    if value.ends_with(":rw") {
        return Some(format!("`{value}` is writable"));
    }
    let host = value.split(':').next().unwrap_or_default();
    let inside = |path: &Path| Some(path.canonicalize().ok()?.starts_with(root.canonicalize().ok()?));
    match inside(Path::new(host)) {
        Some(true) => None,
        Some(false) => Some(format!("`{value}` lies outside of the project")),
        None => Some(format!("`{value}` cannot be found")),
    }
}

/// What a limit is without any file, as the number its flag would give.
fn bound(subcommand: &str, flag: &str) -> Option<u64> {
    let usual: Limits = match subcommand {
        "sh" => line_limits(),
        "mcp" | "stdio" => cli::sandbox::usual(),
        "js" => cli::js::usual(),
        "py" => cli::py::usual(),
        _ => cli::run::usual(),
    };
    match flag {
        "timeout" => u64::try_from(usual.wall_max.as_millis()).ok(),
        "fuel" => Some(usual.fuel_max),
        "memory" => Some(usual.memory_bytes_max),
        "line-memory" => Some(LINE_MEMORY_BYTES_MAX),
        "output-max" => Some(usual.stdout_bytes_max),
        "input-max" => Some(usual.stdin_bytes_max),
        _ => None,
    }
}

fn above(flag: &str, value: &str, said: Option<&Entry>, usual: u64) -> Option<String> {
    let number = |text: &str| match flag {
        "timeout" => units::duration(text).ok().and_then(|it| u64::try_from(it.as_millis()).ok()),
        "fuel" => text.parse().ok(),
        _ => units::size(text).ok(),
    };
    let most = said.and_then(|it| number(it.values.first()?)).unwrap_or(usual);
    match number(value) {
        Some(wanted) if wanted <= most => None,
        Some(_) => Some("it is above the limit without it".into()),
        // The flag's own parser will say what is wrong with it.
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{super::Origin, *};

    fn entry(flag: &str, values: &[&str]) -> Entry {
        let values = values.iter().map(|it| (*it).to_owned()).collect();
        Entry { origin: Origin::Project, file: "drydock.toml".into(), flag: flag.into(), values, off: false }
    }

    #[test]
    fn a_project_only_narrows() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("project");
        std::fs::create_dir_all(root.join("src")).unwrap();
        std::os::unix::fs::symlink("/", root.join("away")).unwrap();
        let inside = root.join("src").display().to_string();
        let away = root.join("away").display().to_string();
        let cases: [(&str, &str, &[&str], bool); 23] = [
            ("sh", "timeout", &["5s"], true),
            ("sh", "timeout", &["10m"], false),
            ("run", "timeout", &["2m"], false),
            ("sh", "fuel", &["1000"], true),
            ("sh", "fuel", &["999999999999999"], false),
            ("run", "memory", &["1GiB"], false),
            ("sh", "line-memory", &["1GiB"], false),
            ("sh", "line-memory", &["64MiB"], true),
            ("sh", "eval", &[], false),
            ("mcp", "allow-commit", &[], false),
            ("sh", "allow-host", &["a.test"], false),
            ("sh", "allow-private", &["127.0.0.1:80"], false),
            ("sh", "secret", &["T=env:TOKEN"], false),
            ("sh", "workspace", &["notes"], false),
            ("sh", "disk-max", &["1KiB"], false),
            ("sh", "allow", &["jq"], true),
            ("sh", "profile", &["compute"], true),
            ("sh", "profile", &["posix"], false),
            ("sh", "env", &["A=b"], true),
            ("sh", "dir", &[&inside], true),
            ("sh", "dir", &[&format!("{inside}:/x:rw")], false),
            ("sh", "dir", &["/etc"], false),
            ("sh", "dir", &[&away], false),
        ];
        for (subcommand, flag, values, counts) in cases {
            let why = refuse(subcommand, &entry(flag, values), None, Some(&root));
            assert_eq!(why.is_none(), counts, "{subcommand} {flag} {values:?}: {why:?}");
        }
    }

    #[test]
    fn a_project_is_bound_by_the_users_own_file_too() {
        let said = entry("allow", &["jq,grep"]);
        assert!(refuse("sh", &entry("allow", &["jq"]), Some(&said), None).is_none());
        assert!(refuse("sh", &entry("allow", &["jq", "sed"]), Some(&said), None).is_some());
        let said = entry("timeout", &["1s"]);
        assert!(refuse("sh", &entry("timeout", &["2s"]), Some(&said), None).is_some());
    }
}
