//! A row from TOML, strictly: what is unknown, missing or contradictory is refused by name. Past this file there
//! is no row that lacks a hash, a licence or a check.

use crate::{
    row::{Lane, Row},
    source::{Packing, is_inside},
};

/// Longest row that is read.
const ROW_BYTES_MAX: usize = 64 << 10;

/// A row cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("row `{row}`: {why}")]
pub struct BadRow {
    /// The file it came from.
    pub row: String,
    /// What is wrong.
    pub why: String,
}

impl BadRow {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        "bad_row"
    }
}

/// Reads the row that the file `name` holds.
pub fn read(name: &str, text: &str) -> Result<Row, BadRow> {
    let bad = |why: String| BadRow { row: name.to_owned(), why };
    if text.len() > ROW_BYTES_MAX {
        return Err(bad(format!("it is longer than {ROW_BYTES_MAX} bytes")));
    }
    let row: Row = toml::from_str(text).map_err(|error| bad(error.to_string()))?;
    match flaw(name, &row) {
        Some(why) => Err(bad(why.to_owned())),
        None => Ok(row),
    }
}

/// What is wrong with a row whose fields can all be read.
fn flaw(name: &str, row: &Row) -> Option<&'static str> {
    let said = |text: &str| !text.trim().is_empty() && !text.contains(char::is_control);
    let plain = row.sources.iter().all(|it| it.from.packing() == Packing::Plain);
    let rules = [
        (row.name.as_str() == name, "its name is not that of its file"),
        (said(&row.version), "it has no version"),
        (said(&row.summary), "it has no summary"),
        (said(&row.licence), "it has no licence"),
        (!row.commands.is_empty(), "it registers no command"),
        (!row.sources.is_empty(), "it has no source"),
        (row.unavailable.is_some() || !row.checks.is_empty(), "it has no check"),
        (row.lane == Lane::C || row.sha256.is_some(), "a prebuilt row has the sha256 of its module"),
        ((row.lane == Lane::C) == row.recipe.is_some(), "a recipe belongs to lane c, and lane c to a recipe"),
        (row.lane != Lane::C || !plain, "lane c builds from an archive"),
        (
            row.sources.iter().all(|it| hashed(it.from.packing(), it.sha256.is_some())),
            "an archive has a sha256",
        ),
        (row.dirs.iter().all(|it| is_inside(&it.path)), "the path of a directory is a plain relative one"),
        (
            row.dirs.iter().all(|it| it.at.starts_with('/') && is_inside(it.at.trim_start_matches('/'))),
            "a directory is mounted at a plain absolute path",
        ),
        (row.checks.iter().all(|it| it.argv.is_empty() != it.line.is_none()), "a check has `argv` or `line`"),
        (row.checks.iter().all(|it| !it.stdout.is_empty()), "a check compares no bytes"),
        (
            row.checks.iter().all(|it| it.argv.first().is_none_or(|first| row.answers_to(first))),
            "a check runs another command",
        ),
        (
            row.checks.iter().all(|it| it.files.keys().all(|path| is_inside(path))),
            "a check has a file outside of its directory",
        ),
    ];
    rules.into_iter().find(|(holds, _)| !holds).map(|(_, why)| why)
}

/// The bytes of a plain source are the module, which has a hash of its own.
fn hashed(packing: Packing, has_hash: bool) -> bool {
    packing == Packing::Plain || has_hash
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
name = "x"
version = "1"
summary = "an x"
licence = "MIT"
lane = "prebuilt"
sha256 = "e5dc5a398b07b54ea8fdb503bf68fb583d533f10ec3f930963e02b9505f7a763"
[[commands]]
name = "x"
[[sources]]
from = "npm:x@1.0.0#package/x.wasm"
sha256 = "e5dc5a398b07b54ea8fdb503bf68fb583d533f10ec3f930963e02b9505f7a763"
[[checks]]
argv = ["x", "-v"]
stdout = "1\n"
"#;

    #[test]
    fn a_whole_row_is_read() {
        let row = read("x", GOOD).unwrap();
        assert_eq!((row.commands[0].name.as_str(), row.checks[0].status), ("x", 0));
    }

    #[test]
    fn what_is_missing_unknown_or_contradictory_is_named() {
        let hash = "sha256 = \"e5dc5a398b07b54ea8fdb503bf68fb583d533f10ec3f930963e02b9505f7a763\"\n";
        for (from, to, want) in [
            ("name = \"x\"\nversion", "name = \"y\"\nversion", "not that of its file"),
            ("licence = \"MIT\"", "", "missing field `licence`"),
            ("licence = \"MIT\"", "licence = \" \"", "no licence"),
            ("licence", "license", "unknown field `license`"),
            (hash, "", "sha256"),
            ("e5dc5a", "E5DC5", "not a sha256"),
            ("name = \"x\"\n[[sources]]", "name = \"a/b\"\n[[sources]]", "not a command name"),
            ("npm:x@1.0.0#", "npm:x@1.0.0#../", "plain relative"),
            ("lane = \"prebuilt\"", "lane = \"c\"", "a recipe belongs to lane c"),
            ("lane = \"prebuilt\"", "lane = \"rust\"", "unknown variant `rust`"),
            ("lane = ", "features = [\"threads\"]\nlane = ", "unknown variant `threads`"),
            ("[\"x\", \"-v\"]", "[\"jq\", \".\"]", "runs another command"),
            ("argv = [\"x\", \"-v\"]", "", "`argv` or `line`"),
            ("stdout = \"1\\n\"", "stdout = \"\"", "compares no bytes"),
            ("stdout = \"1\\n\"", "", "missing field `stdout`"),
            ("[[checks]]", "[[checks]]\nfiles = { \"../a\" = \"\" }", "outside of its directory"),
            ("[[checks]]", "[[checks", "unclosed"),
        ] {
            let text = GOOD.replacen(from, to, 1);
            assert_ne!(text, GOOD, "{from}");
            let error = read("x", &text).unwrap_err().to_string();
            assert!(error.contains(want), "{from} -> {to}: {error}");
        }
        assert!(read("x", &format!("{GOOD}#{}", "x".repeat(ROW_BYTES_MAX))).is_err());
    }
}
