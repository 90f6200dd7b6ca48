//! The text of a program: out of its fence, and into a function.

use crate::engine::{self, context};
use crate::prelude::*;
use crate::value::Value;

/// The part of a text that is the program, and the line it begins on.
#[derive(Debug, PartialEq, Eq)]
pub struct Source<'a> {
    pub text: &'a str,
    pub first_line: u32,
}

const FENCE: &str = "```";

/// Takes off one surrounding Markdown fence, if there is one, whatever language it names.
pub fn unfence(text: &str) -> Source<'_> {
    let whole = Source { text, first_line: 1 };
    let start = text.len() - text.trim_start().len();
    let Some(inner) = text.trim().strip_prefix(FENCE).and_then(|it| it.strip_suffix(FENCE)) else {
        return whole;
    };
    let Some((info, body)) = inner.split_once('\n') else { return whole };
    if info.contains('`') {
        return whole;
    }
    let lines_before = text[..start].matches('\n').count();
    Source { text: body, first_line: u32::try_from(lines_before + 2).unwrap_or(u32::MAX) }
}

/// Compiles the program into an async function without parameters. An exception if the text is wrong.
pub fn compile(source: &Source<'_>) -> Value {
    // QuickJS wants a zero byte after the text; one within it is an error of the text like any other.
    let mut text = source.text.trim_end().as_bytes().to_vec();
    text.push(0);
    let name = CString::new(crate::place::PROGRAM).unwrap_or_default();
    let line = i32::try_from(source.first_line).unwrap_or(1);
    // SAFETY: the text is alive during the call, and its length does not count the last byte.
    Value::owned(unsafe {
        engine::program_compile(context(), text.as_ptr().cast(), text.len() - 1, name.as_ptr(), line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_fence_is_taken_off_and_lines_keep_their_numbers() {
        let cases = [
            ("1", "1", 1),
            ("```js\n1\n```", "1\n", 2),
            ("\n ```\n1\n2\n```\n", "1\n2\n", 3),
            ("```typescript title=x\n1```", "1", 2),
            ("```js\n```js\n1\n```\n```", "```js\n1\n```\n", 2),
            ("```1```", "```1```", 1),
            ("```js\n1", "```js\n1", 1),
            ("`a`", "`a`", 1),
            ("", "", 1),
        ];
        for (text, want, first_line) in cases {
            assert_eq!(unfence(text), Source { text: want, first_line }, "{text:?}");
        }
    }
}
