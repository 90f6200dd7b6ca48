//! Reads a line of simple commands.

/// Pipes, one after the other.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Line(pub Vec<Pipe>);

/// Commands, each reading what the one before wrote.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Pipe {
    pub when: When,
    pub stages: Vec<Stage>,
}

/// When a pipe runs, after the one before it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    #[default]
    Always,
    IfDone,
    IfFailed,
}

/// One command.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Stage {
    /// `NAME=value` before the command.
    pub assignments: Vec<Vec<u8>>,
    pub words: Vec<Vec<u8>>,
    pub input: Option<Vec<u8>>,
    /// And whether it is added to.
    pub output: Option<(Vec<u8>, bool)>,
}

/// Reads `text`; what stands in the way, if something does.
pub(crate) fn parse(text: &[u8], variable: &dyn Fn(&[u8]) -> Vec<u8>) -> Result<Line, String> {
    let mut reader = Reader { text, at: 0, variable };
    let mut line = Line::default();
    let mut pipe = Pipe::default();
    let mut stage = Stage::default();
    loop {
        reader.blanks();
        let rest = &text[reader.at..];
        let when = match rest {
            [] | [b'#', ..] => None,
            [b'&', b'&', ..] => Some((2, When::IfDone)),
            [b'|', b'|', ..] => Some((2, When::IfFailed)),
            [b';' | b'\n', ..] => Some((1, When::Always)),
            [b'|', b'&', ..] | [b'&', ..] => return Err(unsupported(rest)),
            [b'|', ..] => {
                reader.at += 1;
                end_stage(&mut stage, &mut pipe)?;
                continue;
            }
            _ => {
                reader.part(&mut stage)?;
                continue;
            }
        };
        let empty = stage == Stage::default() && pipe.stages.is_empty();
        if !empty {
            end_stage(&mut stage, &mut pipe)?;
            line.0.push(std::mem::take(&mut pipe));
        }
        match when {
            None => return Ok(line),
            Some((_, When::IfDone | When::IfFailed)) if empty => return Err(unsupported(rest)),
            Some((length, when)) => {
                reader.at += length;
                pipe.when = when;
            }
        }
    }
}

fn end_stage(stage: &mut Stage, pipe: &mut Pipe) -> Result<(), String> {
    if stage.words.is_empty() {
        return Err("a command is missing".to_owned());
    }
    pipe.stages.push(std::mem::take(stage));
    Ok(())
}

fn unsupported(rest: &[u8]) -> String {
    let shown = String::from_utf8_lossy(&rest[..rest.len().min(2)]).trim_end().to_owned();
    format!("`{shown}' needs a shell, and there is none here")
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    variable: &'a dyn Fn(&[u8]) -> Vec<u8>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) || self.text[self.at..].starts_with(b"\\\n") {
            self.at += if self.peek() == Some(b'\\') { 2 } else { 1 };
        }
    }

    /// A word, an assignment or a redirection.
    fn part(&mut self, stage: &mut Stage) -> Result<(), String> {
        let rest = &self.text[self.at..];
        if rest.starts_with(b"2>") {
            self.at += 2;
            self.blanks();
            // Errors go where ours go, unless nobody wants them.
            return match self.word()?.as_slice() {
                b"/dev/null" | b"/dev/stderr" => Ok(()),
                _ => Err(unsupported(b"2>")),
            };
        }
        match rest {
            [b'<', b'<', ..] | [b'>', b'&', ..] | [b'<', b'&', ..] => Err(unsupported(rest)),
            [b'<', ..] => {
                self.at += 1;
                self.blanks();
                stage.input = Some(self.word()?);
                Ok(())
            }
            [b'>', after @ ..] => {
                let append = after.first() == Some(&b'>');
                self.at += if append { 2 } else { 1 };
                self.blanks();
                stage.output = Some((self.word()?, append));
                Ok(())
            }
            _ => {
                let word = self.word()?;
                if stage.words.is_empty() && is_assignment(rest) {
                    stage.assignments.push(word);
                } else {
                    stage.words.push(word);
                }
                Ok(())
            }
        }
    }

    fn word(&mut self) -> Result<Vec<u8>, String> {
        let (mut word, start) = (Vec::new(), self.at);
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\n' | b';' | b'|' | b'&' | b'<' | b'>' => break,
                b'\'' => {
                    let inside = &self.text[self.at + 1..];
                    let end = memchr::memchr(b'\'', inside).ok_or("a quote is not closed")?;
                    word.extend_from_slice(&inside[..end]);
                    self.at += end + 2;
                }
                b'"' => self.double_quoted(&mut word)?,
                b'\\' => {
                    word.extend(self.text.get(self.at + 1));
                    self.at += 2;
                }
                b'$' => self.expand(&mut word)?,
                b'(' | b')' | b'`' | b'*' | b'?' | b'[' => {
                    // `[` alone is a command.
                    if byte != b'[' || self.text.get(self.at + 1).is_some_and(|it| *it != b' ') {
                        return Err(unsupported(&self.text[self.at..]));
                    }
                    word.push(byte);
                    self.at += 1;
                }
                b'~' | b'{' | b'!' if self.at == start && word.is_empty() => {
                    return Err(unsupported(&self.text[self.at..]));
                }
                _ => {
                    word.push(byte);
                    self.at += 1;
                }
            }
        }
        if self.at == start { Err("a name is missing".to_owned()) } else { Ok(word) }
    }

    fn double_quoted(&mut self, word: &mut Vec<u8>) -> Result<(), String> {
        self.at += 1;
        loop {
            match self.peek().ok_or("a quote is not closed")? {
                b'"' => {
                    self.at += 1;
                    return Ok(());
                }
                b'\\' => {
                    let escaped = self.text.get(self.at + 1).copied().ok_or("a quote is not closed")?;
                    if !matches!(escaped, b'"' | b'\\' | b'$' | b'`') {
                        word.push(b'\\');
                    }
                    word.push(escaped);
                    self.at += 2;
                }
                b'$' => self.expand(word)?,
                b'`' => return Err(unsupported(b"`")),
                byte => {
                    word.push(byte);
                    self.at += 1;
                }
            }
        }
    }

    /// `$NAME` and `${NAME}`.
    fn expand(&mut self, word: &mut Vec<u8>) -> Result<(), String> {
        let rest = &self.text[self.at + 1..];
        let braced = rest.first() == Some(&b'{');
        let inside = &rest[usize::from(braced)..];
        let length = inside.iter().take_while(|it| it.is_ascii_alphanumeric() || **it == b'_').count();
        let closed = !braced || inside.get(length) == Some(&b'}');
        if length == 0
            && !braced
            && !matches!(rest.first(), Some(b'(' | b'$' | b'?' | b'@' | b'*' | b'#' | b'!'))
        {
            word.push(b'$');
            self.at += 1;
            return Ok(());
        }
        if length == 0 || !closed || inside[0].is_ascii_digit() {
            return Err(unsupported(&self.text[self.at..]));
        }
        word.extend((self.variable)(&inside[..length]));
        self.at += 1 + length + if braced { 2 } else { 0 };
        Ok(())
    }
}

fn is_assignment(text: &[u8]) -> bool {
    let name = text.iter().take_while(|it| it.is_ascii_alphanumeric() || **it == b'_').count();
    name > 0 && !text[0].is_ascii_digit() && text.get(name) == Some(&b'=')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Vec<String>> {
        let line = parse(text.as_bytes(), &|name| [b"<", name, b">"].concat()).unwrap();
        let stages = line.0.iter().flat_map(|pipe| &pipe.stages);
        let shown = |word: &Vec<u8>| String::from_utf8(word.clone()).unwrap();
        stages.map(|stage| stage.words.iter().map(shown).collect()).collect()
    }

    #[test]
    fn simple_commands_are_read_and_others_refused() {
        assert_eq!(words("sort -k 2 | uniq -c"), [vec!["sort", "-k", "2"], vec!["uniq", "-c"]]);
        assert_eq!(words(r#"echo 'a b' "c \"$X" d\ e"#), [["echo", "a b", "c \"<X>", "d e"]]);
        assert_eq!(words("LC_ALL=C sort; true && date > x"), [vec!["sort"], vec!["true"], vec!["date"]]);
        for text in ["ls *", "echo $(date)", "(a)", "a &", "cat <<E", "| a", "echo 'x"] {
            assert!(parse(text.as_bytes(), &|_| Vec::new()).is_err(), "{text}");
        }
    }
}
