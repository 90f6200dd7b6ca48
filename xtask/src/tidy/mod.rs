//! The rules of the house that a machine can check. Also run by `cargo test`.
//!
//! Each rule is one file with one function from the tree to a list of findings. A rule says what
//! to do, not only what is wrong. None of them changes a file.

mod capability;
mod compat;
mod dial;
mod docs;
mod features;
mod fuzzing;
mod hands;
mod host;
mod ignored;
mod layers;
mod licences;
mod reference;
mod size;
mod source;
mod tree;
mod unfinished;

use std::{fmt, path::Path, process::ExitCode};

use tree::Tree;

/// One broken rule, as a person reads it: where, what, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    file: String,
    problem: String,
    remedy: String,
}

impl Finding {
    fn new(file: impl Into<String>, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { file: file.into(), problem: problem.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.file, self.problem, self.remedy)
    }
}

type Check = fn(&Tree) -> anyhow::Result<Vec<Finding>>;

/// Every rule.
const CHECKS: &[(&str, Check)] = &[
    ("layers", layers::check),
    ("features", features::check),
    ("hands", hands::check),
    ("dial", dial::check),
    ("module docs", docs::check),
    ("file sizes", size::check),
    ("capabilities", capability::check),
    ("reference docs", reference::check),
    ("fuzzing", fuzzing::check),
    ("host names", host::check),
    ("ignored tests", ignored::check),
    ("unfinished code", unfinished::check),
    ("compat", compat::check),
    ("licences", licences::check),
];

pub(crate) fn run(root: &Path) -> anyhow::Result<ExitCode> {
    let findings = findings(root)?;
    for (rule, finding) in &findings {
        println!("[{rule}] {finding}");
    }
    if findings.is_empty() {
        println!("tidy: {} checks, no findings", CHECKS.len());
        return Ok(ExitCode::SUCCESS);
    }
    println!("tidy: {} checks, {} findings", CHECKS.len(), findings.len());
    Ok(ExitCode::FAILURE)
}

fn findings(root: &Path) -> anyhow::Result<Vec<(&'static str, Finding)>> {
    let tree = Tree::read(root)?;
    let mut all = Vec::new();
    for (rule, check) in CHECKS {
        let mut found = check(&tree)?;
        found.sort();
        all.extend(found.into_iter().map(|finding| (*rule, finding)));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_house_is_tidy() {
        let found = findings(&crate::root()).unwrap();
        let lines: Vec<String> = found.iter().map(|(rule, finding)| format!("[{rule}] {finding}")).collect();
        assert!(lines.is_empty(), "{} findings:\n{}", lines.len(), lines.join("\n"));
    }

    #[test]
    fn a_finding_reads_as_place_problem_remedy() {
        let finding = Finding::new("a.rs", "has no promise", "open it with `//!`");
        assert_eq!(finding.to_string(), "a.rs: has no promise: open it with `//!`");
    }
}
