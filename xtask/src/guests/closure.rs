//! The part of `guests/Cargo.lock` and `guests/Cargo.toml` that one guest is built from, so that a
//! new dependency of one guest does not make every other one look stale.

use std::collections::BTreeMap;

/// The lock file's blocks of `package` and of all it depends on, in the order of their names. Dependencies are without
/// the versions that cargo adds once another guest brings a second one: which are taken, the blocks themselves tell.
pub fn lock_of(lock: &str, package: &str) -> String {
    let blocks: Vec<_> = blocks_of(lock, package).into_values().map(without_versions).collect();
    blocks.join("\n\n")
}

fn without_versions(block: &str) -> String {
    let names = |line: &str| match line.strip_prefix(" \"").and_then(|it| it.split_once(' ')) {
        Some((name, _)) => format!(" \"{name}\","),
        None => line.to_owned(),
    };
    block.lines().map(names).collect::<Vec<_>>().join("\n")
}

/// The packages of `guests/` itself among them.
pub fn own_packages<'l>(lock: &'l str, package: &'l str) -> Vec<&'l str> {
    let blocks = blocks_of(lock, package).into_iter();
    blocks.filter(|it| field(it.1, "source").is_none()).map(|it| it.0.0).collect()
}

/// By name and version.
fn blocks_of<'l>(lock: &'l str, package: &'l str) -> BTreeMap<(&'l str, &'l str), &'l str> {
    let mut blocks: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for block in lock.split("[[package]]\n").skip(1) {
        if let (Some(name), Some(version)) = (field(block, "name"), field(block, "version")) {
            blocks.entry(name).or_default().push((version, block.trim_end()));
        }
    }
    let mut taken = BTreeMap::new();
    let mut wanted = vec![(package, None)];
    while let Some((name, version)) = wanted.pop() {
        let all = blocks.get(name).into_iter().flatten();
        for (this, block) in all.filter(|it| version.is_none_or(|version| version == it.0)) {
            if taken.insert((name, *this), *block).is_none() {
                wanted.extend(dependencies(block));
            }
        }
    }
    taken
}

/// The workspace's manifest as far as it counts for `package`: how other packages are optimised changes nothing of it.
pub fn workspace_that_counts(manifest: &str, lock: &str, package: &str) -> String {
    let own = blocks_of(lock, package);
    let mut concerns = true;
    let counts = |line: &&str| {
        if let Some(section) = line.strip_prefix('[') {
            let named = section.split_once(".package.").and_then(|it| it.1.strip_suffix(']'));
            concerns = named.is_none_or(|name| own.keys().any(|it| it.0 == name.trim_matches('"')));
        }
        concerns
    };
    manifest_that_counts(manifest).lines().filter(counts).map(|line| format!("{line}\n")).collect()
}

/// A manifest without what changes no module: the list of members, the lints, comments and blank lines.
pub fn manifest_that_counts(manifest: &str) -> String {
    let without_members = match manifest.split_once("members = [") {
        Some((before, rest)) => format!("{before}{}", rest.split_once(']').map_or("", |it| it.1)),
        None => manifest.to_owned(),
    };
    let mut lints = false;
    let counts = |line: &&str| {
        if line.starts_with('[') {
            lints = line.starts_with("[lints") || line.starts_with("[workspace.lints");
        }
        !lints && !line.trim().is_empty() && !line.starts_with('#')
    };
    without_members.lines().filter(counts).map(|line| format!("{line}\n")).collect()
}

fn field<'l>(block: &'l str, name: &str) -> Option<&'l str> {
    block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = \"")?.strip_suffix('"'))
}

/// Names, with the version where the lock file holds more than one of that name.
fn dependencies(block: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let list = block.split_once("dependencies = [").map_or("", |it| it.1);
    let entries = list.lines().filter_map(|line| line.trim().strip_prefix('"')?.split('"').next());
    entries.filter_map(|entry| {
        let mut words = entry.split(' ');
        Some((words.next()?, words.next()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\ndependencies = [\n \"b\",\n \"c 2.0.0\",\n]\n\n\
        [[package]]\nname = \"b\"\nversion = \"1.0.0\"\ndependencies = [\n \"a\",\n]\n\n\
        [[package]]\nname = \"c\"\nversion = \"1.0.0\"\n\n[[package]]\nname = \"c\"\nversion = \"2.0.0\"\n\n\
        [[package]]\nname = \"d\"\nversion = \"1.0.0\"\n";

    #[test]
    fn only_what_a_package_depends_on_counts() {
        let part = lock_of(LOCK, "a");
        assert!(part.contains("\n \"c\",\n") && !part.contains("\"c 2.0.0\""), "{part}");
        assert_eq!(part.matches("name = ").count(), 3);
        assert!(part.contains("name = \"c\"\nversion = \"2.0.0\"") && !part.contains("name = \"d\""));
        assert_eq!(lock_of(LOCK, "a"), lock_of(&LOCK.replace("name = \"d\"", "name = \"e\""), "a"));
        assert_ne!(lock_of(LOCK, "a"), lock_of(&LOCK.replace("2.0.0", "2.0.1"), "a"));
    }

    #[test]
    fn a_package_without_a_source_is_our_own() {
        let lock = LOCK.replace("version = \"2.0.0\"\n", "version = \"2.0.0\"\nsource = \"elsewhere\"\n");
        assert_eq!(own_packages(&lock, "a"), ["a", "b"]);
    }

    #[test]
    fn a_new_member_changes_no_other_guest() {
        let text = "[workspace]\nmembers = [\n  \"a\",\n]\n[profile.release]\nlto = true\n";
        let more = text.replace("\"a\",", "\"a\", \"b\",");
        assert_eq!(manifest_that_counts(text), manifest_that_counts(&more));
        assert_ne!(manifest_that_counts(text), manifest_that_counts(&text.replace("true", "false")));
    }

    #[test]
    fn how_a_package_is_optimised_concerns_those_who_are_made_of_it() {
        let text = "[profile.release]\nlto = true\n[profile.release.package.c]\nopt-level = 3\n[profile.dev]\ndebug = 1\n";
        let of = |text: &str, package: &str| workspace_that_counts(text, LOCK, package);
        let other = text.replace("opt-level = 3", "opt-level = 2");
        assert_ne!(of(text, "a"), of(&other, "a"));
        assert_eq!(of(text, "d"), of(&other, "d"));
        assert_eq!(of(text, "d"), "[profile.release]\nlto = true\n[profile.dev]\ndebug = 1\n");
    }

    #[test]
    fn lints_make_no_module_stale() {
        let text = "[package]\nname = \"a\"\n\n[dependencies]\nb = \"1\"\n";
        let linted =
            format!("{text}\n# why\n[workspace.lints.clippy]\npanic = \"warn\"\n[lints]\nworkspace = true\n");
        assert_eq!(manifest_that_counts(text), manifest_that_counts(&linted));
        assert_ne!(
            manifest_that_counts(text),
            manifest_that_counts(&format!("{linted}[features]\nx = []\n"))
        );
    }
}
