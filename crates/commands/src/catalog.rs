//! Names that people type and that are no command here: the one that was perhaps meant, or that there is
//! none of that kind yet.

/// Well-known programs that no module is there for yet.
const ABSENT: &[&str] = &[
    "brew",
    "cargo",
    "cmake",
    "composer",
    "dig",
    "docker",
    "dotnet",
    "emacs",
    "ffmpeg",
    "gh",
    "go",
    "gpg",
    "java",
    "javac",
    "kubectl",
    "mysql",
    "nano",
    "node",
    "npx",
    "openssl",
    "perl",
    "pnpm",
    "psql",
    "python2",
    "rsync",
    "rustc",
    "scp",
    "ssh",
    "sudo",
    "systemctl",
    "uv",
    "vim",
    "yarn",
];

/// Whether it is a well-known program that is in no catalog yet.
pub fn is_absent(name: &str) -> bool {
    ABSENT.binary_search(&name).is_ok()
}

/// Programs that make what there is none of here, and what does their work.
const WITHOUT_OBJECT: &[(&str, &str)] = &[("mknod", "there are no devices; mkfifo makes named pipes")];

/// What to say of a name that is no command, if there is something to say.
pub fn remedy<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<String> {
    if let Some((_, instead)) = WITHOUT_OBJECT.iter().find(|it| it.0 == name) {
        return Some((*instead).to_owned());
    }
    if is_absent(name) {
        return Some(format!("`{name}` is in no catalog yet; `drydock commands add` takes a module of it"));
    }
    nearest(name, known).map(|it| format!("did you mean `{it}`?"))
}

/// What a shell says of a name that is no command, after the name and a colon.
pub fn not_found<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    match remedy(name, known) {
        Some(remedy) => format!("command not found; {remedy}"),
        None => "command not found".to_owned(),
    }
}

/// The known name that is nearest, if one is near.
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let near = known.into_iter().filter(|it| is_near(name, it));
    near.map(|it| (strsim::damerau_levenshtein(name, it), it)).min().map(|it| it.1)
}

/// Whether a slip of the finger makes one name of the other: one edit, or two in a long name whose first
/// letter is right.
pub fn is_near(typed: &str, known: &str) -> bool {
    let length = typed.chars().count();
    if !(2..=64).contains(&length) || known.chars().count() < 2 {
        return false;
    }
    let sorted = |text: &str| {
        let mut letters: Vec<char> = text.chars().collect();
        letters.sort_unstable();
        letters
    };
    let same_first = typed.chars().next() == known.chars().next();
    match strsim::damerau_levenshtein(typed, known) {
        // Another first letter makes another word (`man`, `xan`), unless one is missing or two are swapped.
        1 => same_first || length != known.chars().count() || sorted(typed) == sorted(known),
        2 => length > 5 && same_first,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_for_a_device_is_told_what_there_is() {
        let text = not_found("mknod", ["mkdir"]);
        assert!(text.starts_with("command not found; there are no devices"), "{text}");
    }

    #[test]
    fn the_list_is_sorted_and_none_of_it_is_a_command() {
        assert!(ABSENT.is_sorted());
        for name in ABSENT {
            let there = crate::MODULES.iter().any(|it| it.name == *name || it.applets.contains(name));
            assert!(!there, "`{name}` is there by now");
        }
    }

    #[test]
    fn a_slip_finds_the_name_and_nonsense_finds_none() {
        let known = ["awk", "cat", "grep", "jq", "ls", "sort", "uniq"];
        let cases = [
            ("gerp", Some("grep")),
            ("sorrt", Some("sort")),
            ("jqq", Some("jq")),
            ("sl", Some("ls")),
            ("rep", Some("grep")),
            ("mat", None),
            ("port", None),
            ("nosuch", None),
            ("l", None),
            ("frobnicate", None),
            ("", None),
        ];
        for (typed, want) in cases {
            assert_eq!(nearest(typed, known), want, "{typed}");
        }
        assert!(nearest(&"x".repeat(100_000), known).is_none());
        assert!(remedy("psql", known).unwrap().contains("in no catalog yet"));
    }
}
