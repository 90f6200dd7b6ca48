//! mikefarah's spellings of what jq says otherwise, put into jq's words.
//!
//! Only what agents type: `env(NAME)`, `strenv(NAME)`, `ireduce`, `select(fi == 0)` over all
//! documents, and a handful of functions by another name.

/// Functions jq does not know, and what they are.
const DEFINITIONS: [(&str, &str); 13] = [
    ("upcase", "def upcase: ascii_upcase;"),
    ("downcase", "def downcase: ascii_downcase;"),
    ("to_json", "def to_json: tojson; def to_json(n): tojson;"),
    ("from_json", "def from_json: fromjson;"),
    ("with", "def with(at; change): at |= change;"),
    ("explode", "def explode(f): .;"),
    (
        "sort_keys",
        "def sort_keys(f): f |= (if type == \"object\" then to_entries | sort_by(.key) | from_entries else . end);",
    ),
    ("key", "def key: null;"),
    ("parent", "def parent: null;"),
    ("filename", "def filename: input_filename;"),
    (
        "tag",
        "def tag: {\"object\":\"!!map\",\"array\":\"!!seq\",\"string\":\"!!str\",\"boolean\":\"!!bool\",\"null\":\"!!null\"}[type] // (if . == floor then \"!!int\" else \"!!float\" end);",
    ),
    ("document_index", "def document_index: $__di;"),
    ("di", "def di: $__di;"),
];

/// Names of a file's place in the list; they mean documents only in `eval-all`.
const INDEX: [&str; 3] = ["fileIndex", "file_index", "fi"];

/// The program in jq's words. With `all`, the documents are in `$__docs`.
pub(crate) fn in_jq(program: &str, all: bool) -> String {
    let mut text = environment(program.trim());
    if all {
        for name in INDEX {
            for number in 0..8 {
                for spelled in [format!("select({name} == {number})"), format!("select({name}=={number})")] {
                    text = text.replace(&spelled, &format!("$__docs[{number}]"));
                }
            }
        }
    }
    text = folded(&text, all);
    let mut definitions = String::new();
    for (name, definition) in DEFINITIONS {
        let called = name != "explode" || text.contains("explode(");
        if called && mentions(&text, name) {
            definitions.push_str(definition);
            definitions.push(' ');
        }
    }
    definitions + &text
}

fn mentions(text: &str, name: &str) -> bool {
    let inside = |sign: char| sign.is_alphanumeric() || matches!(sign, '_' | '.' | '$' | '"');
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (text[..at].chars().next_back(), text[at + name.len()..].chars().next());
        !before.is_some_and(inside) && !after.is_some_and(|sign| inside(sign) || sign == ':')
    })
}

/// `env(X)` is the variable read as YAML, `strenv(X)` its text.
fn environment(program: &str) -> String {
    let (mut out, mut rest) = (String::new(), program);
    while let Some(at) = rest.find("env(") {
        let Some(close) = rest[at..].find(')').map(|close| at + close) else { break };
        let name = rest[at + 4..close].trim();
        let plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let text = rest[..at].ends_with("str");
        let start = if text { at - 3 } else { at };
        if plain {
            out.push_str(&rest[..start]);
            let value = format!("$ENV.{name}");
            out.push_str(&if text { format!("({value})") } else { format!("({value} | (fromjson? // .))") });
        } else {
            out.push_str(&rest[..=close]);
        }
        rest = &rest[close + 1..];
    }
    out + rest
}

/// `SOURCE as $x ireduce (…)` is `reduce SOURCE as $x (…)`.
fn folded(text: &str, all: bool) -> String {
    let Some((head, rest)) = text.split_once(" ireduce ") else { return text.to_owned() };
    let Some((source, variable)) = head.rsplit_once(" as ") else { return text.to_owned() };
    let source = match source.trim() {
        "." if all => "$__docs[]",
        other => other,
    };
    format!("reduce {source} as {variable} {rest}")
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_foreign_spellings_change() {
        let cases = [
            (".a | upcase", false, "def upcase: ascii_upcase; .a | upcase"),
            (".upcase", false, ".upcase"),
            (".a = strenv(HOME)", false, ".a = ($ENV.HOME)"),
            (". as $i ireduce ({}; . * $i)", true, "reduce $__docs[] as $i ({}; . * $i)"),
            ("select(fi == 0) * select(fileIndex==1)", true, "$__docs[0] * $__docs[1]"),
            ("$ENV.HOME", false, "$ENV.HOME"),
        ];
        for (program, all, want) in cases {
            assert_eq!(super::in_jq(program, all), want);
        }
    }
}
