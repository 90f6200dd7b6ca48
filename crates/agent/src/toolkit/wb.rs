//! What the tool `wb` answers: the texts of an agent's toolkits, on demand. A spelling over [`ToolkitSet`] that changes nothing.

use super::{Provenance, SKILL, TOOLKITS_ROOT, Toolkit, ToolkitSet, grants_file};
use crate::text::{one_line, shown};

const ARGS_BYTES_MAX: usize = 4 << 10;
const HITS_MAX: usize = 20;
const USAGE: &str = "\
usage: wb toolkits                    the toolkits there are
       wb skills [TOOLKIT]            their skills
       wb show TOOLKIT                one toolkit: skills, commands, what it asks for
       wb show TOOLKIT/SKILL          a skill, whole
       wb show TOOLKIT/PATH           another text of its folder
       wb search WORDS                skills that speak of something
       wb verify TOOLKIT              who answers for it";

/// What a model is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WbAnswer {
    /// The text.
    pub output: String,
    /// 0, or 1 for what is not there, or 2 for what was not understood.
    pub exit_code: i32,
}

impl WbAnswer {
    fn told(output: impl Into<String>) -> Self {
        Self { output: output.into(), exit_code: 0 }
    }

    fn none(output: String) -> Self {
        Self { output, exit_code: 1 }
    }
}

/// Answers a line of arguments. `toolkit list`, `toolkit show ID SKILL` and so on, as the seed has them, mean the same.
pub fn wb(set: &ToolkitSet, args: &str) -> WbAnswer {
    let misunderstood = || WbAnswer { output: USAGE.to_owned(), exit_code: 2 };
    if args.len() > ARGS_BYTES_MAX {
        return misunderstood();
    }
    let mut words: Vec<&str> = args.split_whitespace().collect();
    if words.first() == Some(&"wb") {
        words.remove(0);
    }
    if words.first() == Some(&"toolkit") {
        words.remove(0);
    }
    match words[..] {
        ["toolkits" | "list"] => toolkits(set),
        ["skills"] => skills(set, None),
        ["skills", id] => skills(set, Some(id)),
        ["show", what] => match what.split_once('/') {
            Some((id, rest)) => with(set, id, |it| show(it, rest)),
            None => with(set, what, |it| WbAnswer::told(describe(it))),
        },
        ["show", id, skill] => with(set, id, |it| show(it, skill)),
        ["search", ref words @ ..] if !words.is_empty() => search(set, words),
        ["verify", id] => with(set, id, |it| WbAnswer::told(provenance(it))),
        [] | ["help" | "--help"] => WbAnswer::told(USAGE),
        _ => misunderstood(),
    }
}

fn with(set: &ToolkitSet, id: &str, answer: impl Fn(&Toolkit) -> WbAnswer) -> WbAnswer {
    match set.get(id) {
        Some(toolkit) => answer(toolkit),
        None => {
            WbAnswer::none(format!("there is no toolkit `{}`; `toolkits` lists those there are", shown(id)))
        }
    }
}

fn toolkits(set: &ToolkitSet) -> WbAnswer {
    let mut lines: Vec<String> = set
        .toolkits()
        .iter()
        .map(|it| {
            let (skills, commands) = (it.skills.len(), it.commands.len());
            format!("{}: {} ({skills} skills, {commands} commands)", it.id, it.tagline)
        })
        .collect();
    lines.extend(set.missing().iter().map(|it| format!("{}: (not installed)", shown(it))));
    match lines.is_empty() {
        true => WbAnswer::told("there are no toolkits"),
        false => WbAnswer::told(lines.join("\n")),
    }
}

fn skills(set: &ToolkitSet, of: Option<&str>) -> WbAnswer {
    if let Some(id) = of.filter(|it| set.get(it).is_none()) {
        return with(set, id, |_| WbAnswer::told(""));
    }
    let toolkits = set.toolkits().iter().filter(|it| of.is_none_or(|of| it.id == of));
    let lines: Vec<String> = toolkits.flat_map(named).collect();
    match lines.is_empty() {
        true => WbAnswer::told("there are no skills"),
        false => WbAnswer::told(lines.join("\n")),
    }
}

fn named(toolkit: &Toolkit) -> impl Iterator<Item = String> + '_ {
    toolkit.skills.iter().map(|it| format!("{}/{}: {}", toolkit.id, it.name, it.summary))
}

/// A skill by its name, or a text by its path.
fn show(toolkit: &Toolkit, rest: &str) -> WbAnswer {
    let place = format!("{TOOLKITS_ROOT}/{}", toolkit.id);
    if let Some(skill) = toolkit.skill(rest) {
        let files = match skill.dir.is_empty() {
            true => place,
            false => format!("{place}/{}", skill.dir),
        };
        return WbAnswer::told(format!("{}\n\n(files of this skill: {files})", skill.body));
    }
    match toolkit.folder.text(rest) {
        Ok(text) => WbAnswer::told(text),
        Err(error) => {
            let there = toolkit.folder.has(rest);
            let hint = if there {
                format!("it lies at {place}/{rest}")
            } else {
                "`skills` lists what there is".into()
            };
            WbAnswer::none(format!("`{}/{}`: {error}; {hint}", toolkit.id, shown(rest)))
        }
    }
}

fn describe(toolkit: &Toolkit) -> String {
    let mut lines = vec![format!("{}: {}", toolkit.id, toolkit.tagline)];
    let facts = [("title", &toolkit.title), ("version", &toolkit.version), ("status", &toolkit.status)];
    lines.extend(facts.iter().filter_map(|(name, it)| it.as_ref().map(|it| format!("{name}: {it}"))));
    lines.push(provenance(toolkit));
    lines.push(format!("files: {TOOLKITS_ROOT}/{}", toolkit.id));
    lines.extend(toolkit.commands.iter().map(|it| format!("command: {}", it.name)));
    lines.extend(named(toolkit).map(|it| format!("skill: {it}")));
    if !toolkit.asks.is_empty() {
        lines.push(format!("asks for: {}", grants_file(&toolkit.asks)));
    }
    lines.extend(toolkit.notes.iter().map(|it| format!("note: {it}")));
    let others = toolkit.folder.files().map(|it| it.0).filter(|it| it.contains('/') && !it.ends_with(SKILL));
    lines.extend(others.take(50).map(|it| format!("file: {it}")));
    lines.join("\n")
}

fn provenance(toolkit: &Toolkit) -> String {
    match &toolkit.provenance {
        Provenance::Unsigned => "signed by nobody; it is the person's own".to_owned(),
        Provenance::Signed { author } => format!("signed by {author}"),
    }
}

/// Skills that have every word, those with a word in name or summary first.
fn search(set: &ToolkitSet, words: &[&str]) -> WbAnswer {
    let words: Vec<String> = words.iter().map(|it| it.to_lowercase()).collect();
    let mut hits = Vec::new();
    for toolkit in set.toolkits() {
        for skill in &toolkit.skills {
            let head = format!("{} {} {}", toolkit.id, skill.name, skill.summary).to_lowercase();
            let body = skill.body.to_lowercase();
            if words.iter().all(|it| head.contains(it) || body.contains(it)) {
                let in_head = words.iter().filter(|it| head.contains(*it)).count();
                let line =
                    skill.body.lines().find(|it| words.iter().any(|word| it.to_lowercase().contains(word)));
                hits.push((in_head, format!("{}/{}: {}", toolkit.id, skill.name, skill.summary), line));
            }
        }
    }
    hits.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let line = |(_, head, line): &(usize, String, Option<&str>)| match line {
        Some(line) => format!("{head}\n  {}", one_line(line, 160)),
        None => head.clone(),
    };
    match hits.is_empty() {
        true => WbAnswer::none("no skill speaks of that; `skills` lists them all".to_owned()),
        false => WbAnswer::told(hits.iter().take(HITS_MAX).map(line).collect::<Vec<_>>().join("\n")),
    }
}
