//! From what an import says to the path of a file: relative to the file that says it, and to nothing else.

use crate::prelude::*;

/// The folder of a path: what relative imports in it start from.
pub fn folder(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some(("", _)) => "/",
        Some((folder, _)) => folder,
        None => ".",
    }
}

/// The path of the file, absolute or from the working directory (`./…`, `../…`). None for a specifier that
/// is no path.
pub fn resolve(folder: &str, specifier: &str) -> Option<String> {
    if !["./", "../", "/"].iter().any(|it| specifier.starts_with(it)) {
        return None;
    }
    let base = if specifier.starts_with('/') { "/" } else { folder };
    let is_absolute = base.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in base.split('/').chain(specifier.split('/')) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|it| *it != "..") => drop(parts.pop()),
            // There is nothing above the root.
            ".." if is_absolute => {}
            part => parts.push(part),
        }
    }
    let start = match (is_absolute, parts.first()) {
        (true, _) => "/",
        (false, Some(&"..")) => "",
        (false, _) => "./",
    };
    Some(format!("{start}{}", parts.join("/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_specifier_is_relative_to_the_file_that_says_it() {
        let cases = [
            // folder      specifier         want
            (".", "./a.js", Some("./a.js")),
            (".", "../a.js", Some("../a.js")),
            (".", "/w/a.js", Some("/w/a.js")),
            ("./lib", "./a.js", Some("./lib/a.js")),
            ("./lib", "../a.js", Some("./a.js")),
            ("./lib", "../../a.js", Some("../a.js")),
            ("../x", "../../a.js", Some("../../a.js")),
            ("/w/src", "../lib/./a.js", Some("/w/lib/a.js")),
            ("/w", "../../../etc/x", Some("/etc/x")),
            ("/", "./a", Some("/a")),
            (".", "lodash", None),
            (".", "node:fs", None),
            (".", "https://x/a.js", None),
            (".", "", None),
        ];
        for (folder, specifier, want) in cases {
            assert_eq!(resolve(folder, specifier).as_deref(), want, "{folder} {specifier}");
        }
    }

    #[test]
    fn a_file_has_a_folder() {
        for (path, want) in
            [("./a.js", "."), ("/a.js", "/"), ("/w/s/a.js", "/w/s"), ("a.js", "."), ("../a", "..")]
        {
            assert_eq!(folder(path), want, "{path}");
        }
    }
}
