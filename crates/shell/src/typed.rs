//! A text that somebody is typing: what its words are, and which one the next character would belong to.

use drydock_abi::shell::{TYPED_WORDS_MAX, TypedWords};

use crate::{
    ShellLimits,
    syntax::{Marks, Parser},
};

/// Reads a text as far as it can be read. It need not be finished, nor right.
pub fn typed_words(text: &str, limits: &ShellLimits) -> TypedWords {
    if text.len() > limits.text_bytes_max {
        return TypedWords::default();
    }
    let words = marked(text, limits).words(text.len()).take(TYPED_WORDS_MAX).collect();
    // Whatever is typed next, a letter shows what it belongs to: a new word behind a blank or an operator, else the last.
    let longer = format!("{text}x");
    let ends_there = |it: &drydock_abi::shell::TypedWord| it.end as usize >= longer.len();
    let last = marked(&longer, limits).words(longer.len()).rev().find(ends_there);
    TypedWords { words, last: last.map(|it| (it.start, it.role)) }
}

fn marked(text: &str, limits: &ShellLimits) -> Marks {
    let mut parser = Parser::new(text, limits.into(), 0);
    parser.marks = Some(Marks::default());
    // Why it could not go on says the shell, when the text is run.
    let _ = parser.whole();
    parser.marks.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use drydock_abi::shell::WordRole;

    use super::*;

    fn shown(text: &str) -> String {
        let mut out = String::new();
        for word in typed_words(text, &ShellLimits::default()).words {
            let role = match word.role {
                WordRole::Keyword => "K",
                WordRole::Command => "C",
                WordRole::Computed => "$",
                WordRole::Argument => "a",
            };
            out.push_str(&format!("{role}:{} ", &text[word.start as usize..word.end as usize]));
        }
        out.trim_end().to_owned()
    }

    #[test]
    fn words_are_told_by_what_they_are() {
        let cases = [
            ("  ls|wc -l", "C:ls C:wc a:-l"),
            ("if ls; then a", "K:if C:ls K:then C:a"),
            ("! nosuch", "K:! C:nosuch"),
            ("for x in a b; do c; done", "K:for K:in a:a a:b K:do C:c K:done"),
            ("x=1", "a:1"),
            ("x=1 y+=2 a[3]=4 ls", "a:1 a:2 a:4 C:ls"),
            ("f() { ls; }", "a:f K:{ C:ls K:}"),
            ("$cmd a", "$:$cmd a:a"),
            ("'ls' a", "$:'ls' a:a"),
            ("# said", ""),
            ("/bin/ls > out", "C:/bin/ls a:out"),
            ("echo $(cat f", "C:echo a:$(cat f C:cat a:f"),
            ("echo \"a b", "C:echo a:\"a b"),
            ("time -p ls", "K:time C:ls"),
            ("case a in b) c;; esac", "K:case a:a K:in a:b C:c K:esac"),
            ("[[ -f a && b ]]", "K:[[ a:a a:b K:]]"),
            ("while read x; do :; done < f", "K:while C:read a:x K:do C:: K:done a:f"),
            ("a; ) b", "C:a"),
            ("", ""),
        ];
        for (text, want) in cases {
            assert_eq!(shown(text), want, "{text}");
        }
    }

    #[test]
    fn the_next_character_belongs_to_the_last_word_or_begins_one() {
        let cases = [
            ("", Some((0, WordRole::Command))),
            ("upp", Some((0, WordRole::Command))),
            ("a b", Some((2, WordRole::Argument))),
            ("cat ", Some((4, WordRole::Argument))),
            ("a | ", Some((4, WordRole::Command))),
            ("a && b", Some((5, WordRole::Command))),
            ("if ", Some((3, WordRole::Command))),
            ("x; do ", None),
            ("for i in a; do ", Some((15, WordRole::Command))),
            ("(", Some((1, WordRole::Command))),
            ("! ", Some((2, WordRole::Command))),
            ("x>f", Some((2, WordRole::Argument))),
            ("x < ", Some((4, WordRole::Argument))),
            ("A=1 l", Some((4, WordRole::Command))),
            ("A=so", Some((2, WordRole::Argument))),
            ("echo \"$(ca", Some((8, WordRole::Command))),
            ("cat \"a b", Some((4, WordRole::Argument))),
            ("ls # comm", None),
            ("for na", None),
        ];
        for (text, want) in cases {
            assert_eq!(typed_words(text, &ShellLimits::default()).last, want, "{text}");
        }
    }

    #[test]
    fn hostile_texts_are_read_as_far_as_any() {
        let limits = ShellLimits::default();
        for part in
            ["$(", "`", "$((", "\"$(", "{", "{a,", "[[ (", "a|", "a=(", "${a:-", "<<a\n", "((", "x() ", "!"]
        {
            let text = part.repeat((64 << 10) / part.len());
            assert!(typed_words(&text, &limits).words.len() <= TYPED_WORDS_MAX, "{part}");
        }
    }
}
