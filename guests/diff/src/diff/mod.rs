//! `diff`: GNU diffutils' command line.

mod context;
mod input;
mod normal;
mod settings;
mod side;
mod trees;
mod unified;

pub(crate) mod edit;

use crate::TROUBLE;
use input::{Document, Side};
use settings::{Refused, Settings, Style};

/// The files are the same.
const SAME: i32 = 0;
const DIFFERENT: i32 = 1;

/// Compares and returns the exit status.
pub(crate) fn run(args: &[String]) -> i32 {
    let settings = match settings::parse(args) {
        Ok(settings) => settings,
        Err(Refused::Print(text)) => return if crate::print(text.as_bytes()) { SAME } else { TROUBLE },
        Err(Refused::Problem(problem)) => {
            crate::complain("diff", &problem);
            return crate::complain("diff", "Try 'diff --help' for more information.");
        }
    };
    let mut out = Vec::new();
    let status = trees::compare(&settings, &mut out);
    if crate::print(&out) { status } else { TROUBLE }
}

/// Compares two files and appends what there is to say.
fn files(settings: &Settings, left: &Side, right: &Side, out: &mut Vec<u8>) -> i32 {
    let mut pair = Vec::new();
    for side in [left, right] {
        match side.load() {
            Ok(bytes) => pair.push(bytes),
            Err(error) => {
                return crate::complain("diff", &format!("{}: {}", side.name, place::reason(&error)));
            }
        }
    }
    let names = (&*left.name, &*right.name);
    let (a, b) = (&pair[0], &pair[1]);
    if a == b {
        if settings.report_same {
            push(out, &format!("Files {} and {} are identical\n", names.0, names.1));
        }
        if settings.style != Style::Side {
            return SAME;
        }
    }
    let binary = !settings.text && (input::is_binary(a) || input::is_binary(b));
    if binary {
        let kind = if settings.brief { "Files" } else { "Binary files" };
        head(settings, names, out);
        push(out, &format!("{kind} {} and {} differ\n", names.0, names.1));
        return DIFFERENT;
    }
    let documents = (Document::new(a, settings), Document::new(b, settings));
    let changes = edit::changes(&documents.0.keys, &documents.1.keys, settings.style.lines());
    let shown: Vec<edit::Change> = match settings.ignore_blank_lines {
        true => changes
            .iter()
            .filter(|it| !documents.0.all_blank(it.gone()) || !documents.1.all_blank(it.come()))
            .copied()
            .collect(),
        false => changes.clone(),
    };
    if shown.is_empty() && settings.style != Style::Side {
        return SAME;
    }
    if settings.brief {
        push(out, &format!("Files {} and {} differ\n", names.0, names.1));
        return DIFFERENT;
    }
    head(settings, names, out);
    let both = (&documents.0, &documents.1);
    match settings.style {
        Style::Normal => normal::write(both, &shown, out),
        Style::Ed => normal::write_ed(both, &shown, out),
        Style::Unified(lines) => unified::write(both, &shown, lines, (left, right), settings, out),
        Style::Context(lines) => context::write(both, &shown, lines, (left, right), settings, out),
        Style::Side => side::write(both, &changes, settings, out),
    }
    if shown.is_empty() { SAME } else { DIFFERENT }
}

/// The line that tells in a listing of many files which ones these are.
fn head(settings: &Settings, names: (&str, &str), out: &mut Vec<u8>) {
    if settings.in_tree && !settings.brief {
        let label = |at: usize, name| settings.labels.get(at).map_or(quoted(name), Clone::clone);
        push(out, &format!("diff{} {} {}\n", settings.given, label(0, names.0), label(1, names.1)));
    }
}

/// A name as it stands in a head: in quotes if it has blanks or worse in it.
fn quoted(name: &str) -> String {
    match name.contains(|it: char| it.is_control() || matches!(it, ' ' | '"' | '\\')) {
        true => format!("{name:?}"),
        false => name.to_owned(),
    }
}

fn push(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}
