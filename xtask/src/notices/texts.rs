//! The licence texts that a package carries.

use std::{collections::BTreeSet, fs, path::Path};

use anyhow::Context as _;

use crate::packages::Package;

/// How file names of such texts begin.
const BEGINNINGS: &[&str] = &["license", "licence", "copying", "notice", "unlicense", "copyright"];

/// How deep they may lie: bundled C sources have theirs beside them.
const DEPTH_MAX: usize = 2;

/// The texts, each once, white space at the ends of lines left out. A package that carries none is named
/// by its expression in the list, and that is all there is to say.
pub(super) fn of(package: &Package) -> anyhow::Result<BTreeSet<String>> {
    let mut texts = BTreeSet::new();
    collect(&package.folder, DEPTH_MAX, &mut texts)
        .with_context(|| format!("could not read the licence of {}", package.name))?;
    Ok(texts)
}

fn collect(folder: &Path, depth: usize, texts: &mut BTreeSet<String>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let name = entry.file_name().to_string_lossy().to_lowercase();
        if kind.is_dir() && depth > 0 && !["tests", "benches", "examples", "target"].contains(&name.as_str())
        {
            collect(&entry.path(), depth - 1, texts)?;
        }
        let is_code = name.ends_with(".rs") || name.ends_with(".c") || name.ends_with(".h");
        if kind.is_file() && !is_code && BEGINNINGS.iter().any(|it| name.starts_with(it)) {
            let text = String::from_utf8_lossy(&fs::read(entry.path())?).into_owned();
            let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
            texts.insert(lines.join("\n").trim_matches('\n').to_owned());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_beside_the_manifest_and_beside_bundled_sources() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("engine/tests")).unwrap();
        for (name, text) in [
            ("LICENSE-MIT", "one  \n"),
            ("COPYING", "one\n"),
            ("engine/LICENSE", "two\n"),
            ("license.rs", "code"),
            ("engine/tests/LICENSE", "three\n"),
        ] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let package = Package { folder: folder.path().into(), ..Package::default() };
        assert_eq!(of(&package).unwrap(), BTreeSet::from(["one".into(), "two".into()]));
    }
}
