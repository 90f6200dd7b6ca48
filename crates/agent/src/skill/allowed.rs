//! What `allowed-tools` of a skill asks for, in the words of grants. The format leaves names of tools to programs; those that
//! are widely used and ours are understood, and what is not understood grants nothing.

use drydock_contract::{ArgumentRule, Cap, CommandName, GrantSpec, IfAbsent, Must, Scalar};

use crate::tools::{self, PROVIDER};

/// Widely used names, and the tools here that do the same.
const ALIASES: &[(&str, &[&str])] = &[
    ("Agent", &["agent"]),
    ("Bash", &["shell"]),
    ("Edit", &["edit_file"]),
    ("Glob", &["shell"]),
    ("Grep", &["search"]),
    ("LS", &["shell"]),
    ("MultiEdit", &["edit_file"]),
    ("Read", &["vfs_read"]),
    ("Shell", &["shell"]),
    ("Task", &["agent"]),
    ("WebFetch", &["fetch"]),
    ("WebSearch", &["web_search"]),
    ("Write", &["vfs_write"]),
];
const WORDS_MAX: usize = 16;

/// One tool that a skill asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum AllowedTool {
    /// These grants would allow it.
    Grants(Vec<GrantSpec>),
    /// Nothing here is meant by it.
    Unknown,
}

/// The tools of a line: separated by blanks or commas, which inside of brackets belong to a tool.
pub(super) fn split(text: &str) -> Vec<String> {
    let (mut all, mut depth) = (vec![String::new()], 0_usize);
    for sign in text.chars() {
        match sign {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match (depth, sign, all.last_mut()) {
            (0, ',', _) => all.push(String::new()),
            (0, sign, _) if sign.is_whitespace() => all.push(String::new()),
            (_, sign, Some(last)) => last.push(sign),
            (_, _, None) => {}
        }
    }
    all.retain(|it| !it.is_empty());
    all
}

/// What one of them asks for: `Read`, `shell`, `Bash(git status:*)`, `WebFetch(domain:example.com)`.
pub fn allowed_tools(word: &str) -> AllowedTool {
    let (name, of) = match word.split_once('(') {
        Some((name, rest)) => match rest.strip_suffix(')') {
            Some(of) => (name, Some(of.trim())),
            None => return AllowedTool::Unknown,
        },
        None => (word, None),
    };
    let alias = ALIASES.iter().find(|it| it.0 == name).map(|it| it.1);
    let tools: Vec<&str> = match alias {
        Some(tools) => tools.to_vec(),
        None => tools::tool(name).map(|it| it.name).into_iter().collect(),
    };
    if tools.is_empty() {
        return AllowedTool::Unknown;
    }
    let subjects: Vec<String> = tools.iter().map(|it| format!("{PROVIDER}.{it}")).collect();
    let Some(tool) = GrantSpec::exactly(Cap::Tool, subjects.iter().map(String::as_str)) else {
        return AllowedTool::Unknown;
    };
    let what = match (tools.first().copied(), of) {
        (Some("shell"), None | Some("*")) if matches!(name, "Bash" | "Shell" | "shell") => {
            Some(GrantSpec::of(Cap::Exec))
        }
        (Some("shell"), Some(line)) => command(line),
        (Some("fetch"), Some(of)) => {
            of.strip_prefix("domain:").and_then(|it| GrantSpec::exactly(Cap::Net, [it]))
        }
        (Some("fetch"), None) => Some(GrantSpec::of(Cap::Net)),
        (_, None) => return AllowedTool::Grants(vec![tool]),
        (_, Some(_)) => None,
    };
    match what {
        Some(what) => AllowedTool::Grants(vec![tool, what]),
        // `Glob` and `LS` need the shell, and no more of it than the commands that a person grants.
        None if of.is_none() => AllowedTool::Grants(vec![tool]),
        None => AllowedTool::Unknown,
    }
}

/// `git status:*`: a command, its first words, and whether any may follow. Whatever a shell would read more into is not taken.
fn command(line: &str) -> Option<GrantSpec> {
    let (fixed, is_open) = match line.strip_suffix(":*").or_else(|| line.strip_suffix(" *")) {
        Some(fixed) => (fixed, true),
        None => (line, false),
    };
    let mut words = fixed.split_whitespace();
    let name = words.next().filter(|it| CommandName::is_legal(it))?;
    let words: Vec<&str> = words.collect();
    let plain = |it: &&str| {
        !it.contains(['*', '?', '[', '$', '`', '\'', '"', '\\', '|', '&', ';', '<', '>', '(', ')'])
    };
    if words.len() > WORDS_MAX || !words.iter().all(plain) {
        return None;
    }
    let word = |(at, word): (usize, &&str)| {
        ArgumentRule::new(format!("/{}", at + 1), Must::Equal(Scalar::Text((*word).to_owned())))
    };
    let mut rules: Vec<ArgumentRule> = words.iter().enumerate().map(word).collect();
    if !is_open {
        // Nothing follows: a word that is there has no letter.
        let none = ArgumentRule::new(format!("/{}", words.len() + 1), Must::HaveLengthAtMost(0));
        rules.push(ArgumentRule { if_absent: IfAbsent::Allow, ..none });
    }
    Some(GrantSpec { rules, ..GrantSpec::exactly(Cap::Exec, [name])? })
}
