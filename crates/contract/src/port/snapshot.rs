//! A program as it is after its own initialisation: how that is kept, and which runs start from it.
//!
//! Data only. A recipe is made for one module and is part of whatever names the module by its hash; with another
//! module its addresses mean nothing. The snapshot is a module too, with the powers of the run it is started in.

use serde::{Deserialize, Serialize};

use crate::Digest;

/// How one module is snapshotted. Addresses and indices are the module's own.
///
/// It is started with these arguments, variables and files, and stopped where it first asks for input: that is
/// when it is ready. What its memory holds then is the snapshot. A run of the snapshot calls the functions of
/// `before`, runs the text of `resume` in the program's own language, and then starts the program once more: it
/// finds that it is initialised already.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnapshotRecipe {
    /// Its arguments while it initialises, its name first.
    pub argv: Vec<String>,
    /// Its environment meanwhile, as `NAME=value`.
    #[serde(default)]
    pub env: Vec<String>,
    /// Its files meanwhile, which say what else to prepare.
    #[serde(default)]
    pub files: Vec<SnapshotFile>,
    /// Functions without arguments and results that come before the text, such as the one that reads the
    /// environment.
    #[serde(default)]
    pub before: Vec<u32>,
    /// The function that runs a text: it takes the text's address and zero, and returns a number.
    pub run: u32,
    /// Where the text stands: the far end of the program's stack.
    pub text_at: u32,
    /// The text.
    pub resume: String,
    /// Words of memory that are set in the snapshot, such as the mark that the program has started.
    #[serde(default)]
    pub words: Vec<SnapshotWord>,
    /// Memory from here, which nobody reads any more: the stack of the run that was stopped.
    pub dead_from: u32,
    /// To here.
    pub dead_to: u32,
    /// The stack that runs of the snapshot have, behind all other memory; 0 for the one that the program came with.
    #[serde(default)]
    pub stack_bytes: u32,
    /// Whether the module was compiled without optimisation. Variables in frames whose address goes nowhere are then
    /// made variables of the functions, and small functions part of their callers. Not for a program that looks for
    /// values in its own stack.
    #[serde(default)]
    pub unoptimised: bool,
    /// First arguments that begin with `-` and that runs of the snapshot understand as the program does.
    #[serde(default)]
    pub first: Vec<String>,
    /// Variables that the program looks at while it initialises, by how their names begin.
    #[serde(default)]
    pub not_env: Vec<String>,
    /// Lists of directories that the plain module has in its environment, as `NAME=directory`: what the text does for
    /// runs of the snapshot.
    #[serde(default)]
    pub plain_paths: Vec<String>,
}

/// A file that the program sees while it initialises.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnapshotFile {
    /// Where: an absolute path.
    pub path: String,
    /// What is in it.
    #[serde(default)]
    pub text: String,
    /// In the place of a text: the name of one that came with Drydock, such as `python/network`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
}

/// A word of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnapshotWord {
    /// Its address.
    pub at: u32,
    /// What it is set to.
    pub value: u32,
}

/// The snapshot of a registered program, and which of its runs start from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntryImage {
    /// The hash of the module that is the snapshot.
    pub module: Digest,
    /// First arguments that begin with `-` and that it understands. Others are the plain module's.
    #[serde(default)]
    pub first: Vec<String>,
    /// Variables with which the plain module is run, by how their names begin.
    #[serde(default)]
    pub not_env: Vec<String>,
    /// Lists of directories that runs of the plain module have, as `NAME=directory`; behind what the caller's list has.
    #[serde(default)]
    pub plain_paths: Vec<String>,
}

impl EntryImage {
    /// Whether a run with these arguments, the name first, and this environment starts from the snapshot.
    pub fn serves(&self, argv: &[Vec<u8>], env: &[Vec<u8>]) -> bool {
        let understood = match argv.get(1) {
            Some(first) if first.starts_with(b"-") => self.first.iter().any(|it| it.as_bytes() == *first),
            _ => true,
        };
        let initialised_by = |entry: &Vec<u8>| self.not_env.iter().any(|it| entry.starts_with(it.as_bytes()));
        understood && !env.iter().any(initialised_by)
    }

    /// The environment of a run that does not start from the snapshot.
    pub fn plain_env(&self, env: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let mut env = env.to_vec();
        for path in &self.plain_paths {
            let Some((name, directory)) = path.split_once('=') else { continue };
            let start = [name.as_bytes(), b"="].concat();
            match env.iter_mut().find(|it| it.starts_with(&start)) {
                Some(list) if list.len() > start.len() => {
                    list.push(b':');
                    list.extend_from_slice(directory.as_bytes());
                }
                Some(empty) => empty.extend_from_slice(directory.as_bytes()),
                None => env.push(path.as_bytes().to_vec()),
            }
        }
        env
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_whose_options_or_variables_belong_to_the_initialisation_is_the_plain_modules() {
        let image = EntryImage {
            module: Digest::of(b"x"),
            first: vec!["-c".into(), "-".into()],
            not_env: vec!["PYTHON".into()],
            plain_paths: Vec::new(),
        };
        let cases: [(&[&str], &[&str], bool); 9] = [
            (&["python"], &[], true),
            (&["python", "file.py", "-u"], &["PATH=/bin"], true),
            (&["python", "-c", "1"], &[], true),
            (&["python", "-"], &[], true),
            (&["python", ""], &[], true),
            (&["python", "-u", "-c", "1"], &[], false),
            (&["python", "-c1"], &[], false),
            (&["python", "-c", "1"], &["PYTHONPATH=x"], false),
            (&["python", "-c", "1"], &["MYPYTHON=x"], true),
        ];
        let bytes = |all: &[&str]| all.iter().map(|it| it.as_bytes().to_vec()).collect::<Vec<_>>();
        for (argv, env, want) in cases {
            assert_eq!(image.serves(&bytes(argv), &bytes(env)), want, "{argv:?} {env:?}");
        }
    }

    #[test]
    fn the_plain_modules_lists_of_directories_come_behind_the_callers() {
        let image = EntryImage {
            module: Digest::of(b"x"),
            first: Vec::new(),
            not_env: Vec::new(),
            plain_paths: vec!["LIST=.site".into()],
        };
        let cases: [(&[&str], &[&str]); 4] = [
            (&["A=b"], &["A=b", "LIST=.site"]),
            (&["LIST=x:y", "A=b"], &["LIST=x:y:.site", "A=b"]),
            (&["LIST="], &["LIST=.site"]),
            (&["LISTS=x"], &["LISTS=x", "LIST=.site"]),
        ];
        let bytes = |all: &[&str]| all.iter().map(|it| it.as_bytes().to_vec()).collect::<Vec<_>>();
        for (env, want) in cases {
            assert_eq!(image.plain_env(&bytes(env)), bytes(want), "{env:?}");
        }
    }
}
