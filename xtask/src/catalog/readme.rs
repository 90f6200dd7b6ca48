//! README's tour, as written: its `sh` blocks about Python, the catalog, C and git are executed line by line by a shell of
//! the machine, with `drydock` on its path, in one directory. Each must end well, and print what is listed here.

use std::{collections::BTreeMap, env, fs, path::Path, process::Command};

use anyhow::{Context as _, bail};

use super::py_cases::said;

/// A block is known by a word of the text before it.
const BLOCKS: [&str; 4] =
    ["`drydock py` runs Python", "**Catalog.**", "**C.**", "A repository lives in such a tree"];

/// Rows that the blocks need.
pub(super) const NEEDS: [&str; 3] = ["python", "clang", "sqlite3"];

/// What a line must print, by something that is in the line.
const PRINTS: [(&str, &str); 6] = [
    ("import glob", "{\"NOTES.md\": \"2\"}\n"),
    ("report.py", "['report.py', '2026']\n"),
    ("os.listdir(\".\")", "['NOTES.md', 'report.py']\n"),
    ("select 6 * 7", "42\n"),
    ("gcc hello.c", "hello\n"),
    ("build c hello.c", "hello\n"),
];

/// Answers which lines went otherwise.
pub(super) fn run(root: &Path, binary: &Path, home: &Path) -> anyhow::Result<Vec<String>> {
    let readme = fs::read_to_string(root.join("README.md"))?;
    let scratch = tempfile::tempdir()?;
    fs::write(scratch.path().join("NOTES.md"), "one\ntwo\n")?;
    fs::write(scratch.path().join("report.py"), "import sys\nprint(sys.argv)\n")?;
    let folder = binary.parent().context("the binary lies somewhere")?;
    let paths = env::split_paths(&env::var_os("PATH").unwrap_or_default()).collect::<Vec<_>>();
    let paths = env::join_paths(std::iter::once(folder.to_path_buf()).chain(paths))?;
    let mut failed = Vec::new();
    let mut expected: BTreeMap<&str, &str> = PRINTS.into_iter().collect();
    let mut count = 0;
    for block in BLOCKS {
        for line in lines_after(&readme, block)? {
            count += 1;
            let mut shell = Command::new("bash");
            shell
                .args(["-c", line])
                .current_dir(scratch.path())
                .env("PATH", &paths)
                .env("DRYDOCK_HOME", home);
            let (stdout, stderr, status) = said(&mut shell, "")?;
            let known = expected.keys().copied().find(|it| line.contains(it));
            let want = known.and_then(|it| expected.remove(it));
            if status != Some(0) || want.is_some_and(|want| !stdout.ends_with(want)) {
                failed.push(format!(
                    "README: `{line}`: status {status:?}, stdout {stdout:?}, stderr {stderr:?}"
                ));
            }
        }
    }
    failed.extend(expected.keys().map(|it| format!("README has no line with `{it}` any more")));
    println!("README: {count} lines");
    Ok(failed)
}

/// The lines of the first `sh` block behind a text.
fn lines_after<'a>(readme: &'a str, text: &str) -> anyhow::Result<Vec<&'a str>> {
    let after = readme.split_once(text).with_context(|| format!("README has no `{text}`"))?.1;
    let block = after.split_once("```sh\n").and_then(|it| it.1.split_once("```"));
    let lines: Vec<&str> = block.context("a block is not closed")?.0.lines().collect();
    if lines.is_empty() {
        bail!("the block behind `{text}` is empty");
    }
    Ok(lines)
}
