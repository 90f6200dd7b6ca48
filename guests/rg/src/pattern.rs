//! From patterns to a matcher.

use crate::settings::{Case, Settings};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use std::io::Read as _;

/// The patterns in a file, one a line; `-` is stdin.
pub(crate) fn from_file(name: &str) -> Result<Vec<String>, String> {
    let mut text = String::new();
    let read = match name {
        "-" => std::io::stdin().lock().read_to_string(&mut text),
        _ => std::fs::File::open(name).and_then(|mut file| file.read_to_string(&mut text)),
    };
    read.map_err(|error| format!("{name}: {error}"))?;
    Ok(text.lines().map(str::to_owned).collect())
}

/// Compiles all patterns into one.
pub(crate) fn matcher(settings: &Settings) -> Result<RegexMatcher, String> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .unicode(settings.unicode)
        .octal(false)
        .fixed_strings(settings.fixed)
        .whole_line(settings.whole_lines)
        .word(settings.words);
    match settings.case {
        Case::Sensitive => &mut builder,
        Case::Insensitive => builder.case_insensitive(true),
        Case::Smart => builder.case_smart(true),
    };
    if settings.multiline {
        builder.dot_matches_new_line(settings.dot_all);
        if settings.crlf {
            builder.crlf(true).line_terminator(None);
        }
    } else {
        builder.line_terminator(Some(b'\n')).dot_matches_new_line(false);
        if settings.crlf {
            builder.crlf(true);
        }
        if settings.null_data {
            builder.line_terminator(Some(0));
        }
    }
    builder.build_many(&settings.patterns).map_err(|error| hint(&error.to_string(), settings))
}

/// What to do about it, in ripgrep's words.
fn hint(problem: &str, settings: &Settings) -> String {
    if problem.contains("the literal") && problem.contains("not allowed") {
        return format!(
            "{problem}\n\nConsider enabling multiline mode with the --multiline flag (or -U for short).\nWhen multiline mode is enabled, new line characters can be matched."
        );
    }
    if !settings.fixed && (problem.contains("backreferences") || problem.contains("look-around")) {
        return format!(
            "{problem}\n\nConsider enabling PCRE2 with the --pcre2 flag, which can handle backreferences\nand look-around."
        );
    }
    problem.to_owned()
}
