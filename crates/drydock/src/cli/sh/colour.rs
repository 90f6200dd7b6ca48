//! Colours while a line is typed: a command that is there is green, one that is not is red, a keyword is blue.
//! What is neither (an assignment, an expansion, a function's definition) keeps the terminal's own.

/// Words that are syntax, and whether a command stands after them.
const KEYWORDS: [(&str, bool); 22] = [
    ("!", true),
    ("[[", false),
    ("]]", false),
    ("case", false),
    ("coproc", true),
    ("do", true),
    ("done", false),
    ("elif", true),
    ("else", true),
    ("esac", false),
    ("fi", false),
    ("for", false),
    ("function", false),
    ("if", true),
    ("in", false),
    ("select", false),
    ("then", true),
    ("time", true),
    ("until", true),
    ("while", true),
    ("{", true),
    ("}", false),
];

const RED: u8 = 31;
const GREEN: u8 = 32;
const BLUE: u8 = 34;

/// The line with its first command, and what stands before it, in colour; nothing if nothing has one.
pub(super) fn line(
    text: &str,
    known: impl Fn(&str) -> bool,
    is_file: impl Fn(&str) -> bool,
) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, word, after)) = first_word(rest) {
        out.push_str(before);
        rest = after;
        let keyword = KEYWORDS.iter().find(|it| it.0 == word);
        let colour = match keyword {
            Some(_) => Some(BLUE),
            None if is_assignment(word) || is_computed(word) || after.starts_with("()") => None,
            None if word.contains('/') && is_file(word) => Some(GREEN),
            None => Some(if known(word.rsplit('/').next().unwrap_or(word)) { GREEN } else { RED }),
        };
        match colour {
            Some(colour) => out.push_str(&format!("\x1b[{colour}m{word}\x1b[0m")),
            None => out.push_str(word),
        }
        let goes_on = keyword.is_some_and(|it| it.1) || is_assignment(word);
        if !goes_on {
            break;
        }
    }
    (out.contains('\x1b')).then(|| out + rest)
}

/// `NAME=…`, `NAME+=…`, `NAME[…]=…`.
fn is_assignment(word: &str) -> bool {
    let Some((left, _)) = word.split_once('=') else { return false };
    let left = left.strip_suffix('+').unwrap_or(left);
    let name = left.split('[').next().unwrap_or_default();
    let plain = |it: char| it.is_ascii_alphanumeric() || it == '_';
    !name.is_empty() && !name.starts_with(|it: char| it.is_ascii_digit()) && name.chars().all(plain)
}

/// What it names is known only when it runs.
fn is_computed(word: &str) -> bool {
    word.starts_with('#') || word.contains(['$', '"', '\'', '`', '\\', '~', '*'])
}

/// The first word with what stands around it.
fn first_word(line: &str) -> Option<(&str, &str, &str)> {
    let is_blank = |it: char| it.is_whitespace() || it == super::lines::MARK;
    let start = line.find(|it: char| !is_blank(it))?;
    let end = line[start..].find(|it: char| is_blank(it) || "|&;()<>".contains(it));
    let end = end.map_or(line.len(), |at| start + at);
    (end > start).then(|| (&line[..start], &line[start..end], &line[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let known = |word: &str| matches!(word, "ls" | "cat" | "echo");
        let coloured = line(text, known, |word| word == "./there.sh").unwrap_or_else(|| text.to_owned());
        coloured
            .replace("\x1b[31m", "<red ")
            .replace("\x1b[32m", "<green ")
            .replace("\x1b[34m", "<blue ")
            .replace("\x1b[0m", ">")
    }

    #[test]
    fn keywords_and_assignments_are_not_red() {
        let cases = [
            ("  ls|wc", "  <green ls>|wc"),
            ("nosuch a", "<red nosuch> a"),
            ("if ls; then", "<blue if> <green ls>; then"),
            ("! nosuch", "<blue !> <red nosuch>"),
            ("for x in a b", "<blue for> x in a b"),
            ("x=1", "x=1"),
            ("x=1 y+=2 a[3]=4 ls", "x=1 y+=2 a[3]=4 <green ls>"),
            ("f() { ls; }", "f() { ls; }"),
            ("$cmd a", "$cmd a"),
            ("# said", "# said"),
            ("/bin/ls", "<green /bin/ls>"),
            ("./there.sh", "<green ./there.sh>"),
            ("./missing.sh", "<red ./missing.sh>"),
            ("(a)", "(a)"),
            ("", ""),
        ];
        for (typed, want) in cases {
            assert_eq!(shown(typed), want, "{typed}");
        }
    }
}
