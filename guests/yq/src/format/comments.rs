//! Whether a text has comments, which are no part of its values.

use super::Format;

/// What a text has besides its values, in words; YAML's are told from its events too.
pub fn found(format: Format, text: &str) -> Vec<&'static str> {
    let has = match format {
        Format::Toml => in_toml(text),
        Format::Xml => text.contains("<!--") || text.contains("<?") || text.contains("<!DOCTYPE"),
        Format::Props => text.lines().any(|line| line.trim_start().starts_with(['#', '!'])),
        Format::Yaml | Format::Json | Format::Csv | Format::Tsv => false,
    };
    if has { vec!["comments"] } else { Vec::new() }
}

/// A `#` outside of strings.
fn in_toml(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find(['#', '"', '\'']) {
        let found = &rest[at..];
        let quotes = ["\"\"\"", "'''", "\"", "'"];
        let Some(quote) = quotes.iter().find(|it| found.starts_with(**it)) else { return true };
        rest = behind_string(&found[quote.len()..], quote);
    }
    false
}

fn behind_string<'a>(text: &'a str, quote: &str) -> &'a str {
    let mut rest = text;
    loop {
        let escape = if quote.starts_with('"') { rest.find('\\') } else { None };
        let end = rest.find(quote);
        match (escape, end) {
            (Some(escape), end) if end.is_none_or(|end| escape < end) => {
                let mut behind = rest[escape..].chars();
                behind.next();
                behind.next();
                rest = behind.as_str();
            }
            (_, Some(end)) => return &rest[end + quote.len()..],
            (_, None) => return "",
        }
    }
}

#[test]
fn comments_are_told_from_strings() {
    let cases = [
        ("a = 1 # one", true),
        ("a = \"#\"\nb = '#'\nc = \"\\\"#\"", false),
        ("a = \"\"\"\n# \" no\n\"\"\"\nb = '''#'''", false),
        ("a = \"\"\"\nx\"\"\" # yes", true),
        ("", false),
    ];
    for (text, want) in cases {
        assert_eq!(in_toml(text), want, "{text}");
    }
}
