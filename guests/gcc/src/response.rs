//! `@FILE`: more arguments, read from a file as gcc reads them.

/// Arguments with the files they name put in their place, not more than so many deep.
const DEPTH_MAX: u32 = 8;
const ARGUMENTS_MAX: usize = 65_536;

/// The arguments that are meant.
pub(crate) fn expanded(args: Vec<String>) -> Result<Vec<String>, String> {
    let mut all = Vec::new();
    expand(args, 0, &mut all)?;
    Ok(all)
}

fn expand(args: Vec<String>, depth: u32, all: &mut Vec<String>) -> Result<(), String> {
    for arg in args {
        // A name that is no file is meant as it stands.
        let text = arg.strip_prefix('@').and_then(|path| std::fs::read_to_string(path).ok());
        match text {
            None => all.push(arg),
            Some(_) if depth >= DEPTH_MAX => return Err(format!("'{arg}' names itself, or files too deep")),
            Some(text) => expand(split(&text), depth + 1, all)?,
        }
        if all.len() > ARGUMENTS_MAX {
            return Err("too many arguments".to_owned());
        }
    }
    Ok(())
}

/// Words between blanks; quotes and backslashes keep what follows them.
fn split(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None::<char>);
    let mut chars = text.chars();
    while let Some(it) = chars.next() {
        match (quote, it) {
            (_, '\\') => word.get_or_insert_default().extend(chars.next()),
            (Some(open), _) if open == it => quote = None,
            (Some(_), _) => word.get_or_insert_default().push(it),
            (None, '"' | '\'') => {
                word.get_or_insert_default();
                quote = Some(it);
            }
            (None, _) if it.is_whitespace() => words.extend(word.take()),
            (None, _) => word.get_or_insert_default().push(it),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_file_may_be_quoted() {
        let cases = [
            ("-c a.c", vec!["-c", "a.c"]),
            ("'a b' \"c d\"\n e\\ f", vec!["a b", "c d", "e f"]),
            ("\"\"", vec![""]),
            ("  ", vec![]),
            ("-DX=\\\"y\\\"", vec!["-DX=\"y\""]),
        ];
        for (text, want) in cases {
            assert_eq!(split(text), want, "{text}");
        }
    }
}
