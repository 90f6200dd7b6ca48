//! One command: which kind it is, and the simple kind.

use std::sync::Arc;

use super::{
    Parsed, Parser,
    ast::{Arg, Assign, AssignValue, Command, Compound, Element, Function, Piece, Simple, Subscript, Word},
    cursor::ends_word,
};

/// Builtins whose arguments may be assignments.
const DECLARING: [&str; 5] = ["declare", "typeset", "local", "export", "readonly"];

impl Parser<'_> {
    pub(super) fn command(&mut self) -> Parsed<Command> {
        self.stop_at_alias()?;
        let start = self.at;
        if let Some(compound) = self.compound()? {
            self.grow::<Compound>(1)?;
            let place = self.place_from(start);
            let mut redirects = Vec::new();
            loop {
                self.skip_blanks();
                match self.redirect()? {
                    Some(redirect) => redirects.push(redirect),
                    None => return Ok(Command::Compound(Box::new(compound), redirects, place)),
                }
            }
        }
        if self.peek_word() == "function" {
            return self.function_keyword();
        }
        self.simple()
    }

    fn simple(&mut self) -> Parsed<Command> {
        let start = self.at;
        let (line, column) = self.place(start);
        let mut simple = Simple { line, column, ..Simple::default() };
        let mut declaring = false;
        loop {
            self.skip_blanks();
            if let Some(redirect) = self.redirect()? {
                simple.redirects.push(redirect);
                continue;
            }
            match self.peek() {
                None | Some(b'\n' | b';' | b'&' | b'|' | b')') => break,
                Some(b'#') => break,
                Some(b'(') => {
                    let name = match simple.args.as_slice() {
                        [Arg::Word(word)] if simple.assigns.is_empty() => {
                            self.mark_function(word);
                            word.bare().map(str::to_owned)
                        }
                        _ => None,
                    };
                    if let Some(name) = name {
                        return self.function_after(name, start);
                    }
                    return Err(self.error("syntax error near unexpected token `(`"));
                }
                _ => {}
            }
            if simple.args.is_empty() || self.after_open_alias() {
                self.stop_at_alias()?;
            }
            if (simple.args.is_empty() || declaring)
                && let Some(assign) = self.assign()?
            {
                if declaring {
                    simple.args.push(Arg::Assign(assign));
                } else {
                    simple.assigns.push(assign);
                }
                continue;
            }
            let before = self.at;
            if simple.args.is_empty() {
                self.mark_next_command();
            }
            let word = if is_let(&simple) { self.let_word()? } else { self.word()? };
            if self.at == before {
                return Err(self.expected("a command"));
            }
            if simple.args.is_empty() {
                declaring = word.bare().is_some_and(|name| DECLARING.contains(&name));
            }
            let words = self.braces(word)?;
            self.grow::<Arg>(words.len())?;
            simple.args.extend(words.into_iter().map(Arg::Word));
        }
        // Room for four is most of what a short command would take.
        simple.args.shrink_to_fit();
        simple.assigns.shrink_to_fit();
        simple.redirects.shrink_to_fit();
        if simple.args.is_empty() && simple.assigns.is_empty() && simple.redirects.is_empty() {
            return Err(self.expected("a command"));
        }
        self.note_names(&simple);
        if self.keeps_commands {
            simple.typed = self.text[start..self.at].trim().into();
        }
        Ok(Command::Simple(simple))
    }

    /// A word of `let`, which reads `x=( 1 + 2 )` as one, blanks and all, as it does an array of a declaration.
    fn let_word(&mut self) -> Parsed<Word> {
        let rest = self.rest();
        let name = rest.bytes().position(|b| !(b.is_ascii_alphanumeric() || b == b'_')).unwrap_or(rest.len());
        let after = &rest[name..];
        if !super::is_name(&rest[..name]) || !(after.starts_with("=(") || after.starts_with("+=(")) {
            return self.word();
        }
        let start = self.at;
        let mut word = self.arith_word()?;
        word.pieces = vec![Piece::Double(word.pieces)];
        word.span = self.span_from(start);
        Ok(word)
    }

    /// `read x`, `local x`, `unset x`: whoever writes that means a variable of the shell.
    fn note_names(&mut self, simple: &Simple) {
        const NAMING: [&str; 12] = [
            "let",
            "read",
            "local",
            "declare",
            "typeset",
            "export",
            "readonly",
            "unset",
            "mapfile",
            "readarray",
            "getopts",
            "printf",
        ];
        let mut args = simple.args.iter();
        let Some(Arg::Word(first)) = args.next() else { return };
        if !first.bare().is_some_and(|it| NAMING.contains(&it)) {
            return;
        }
        for arg in args {
            if let Arg::Word(word) = arg
                && let Some(text) = word.literal()
                && let Some(name) = text.split(['[', '=', '+', '-']).next().filter(|it| super::is_name(it))
            {
                self.names.push(name.to_owned());
            }
        }
    }

    fn function_keyword(&mut self) -> Parsed<Command> {
        let start = self.at;
        self.at += "function".len();
        self.mark_keyword(start);
        self.skip_blanks();
        let name = self.peek_word().to_owned();
        if name.is_empty() {
            return Err(self.expected("a function name"));
        }
        self.at += name.len();
        self.skip_blanks();
        if self.peek() == Some(b'(') {
            return self.function_after(name, start);
        }
        self.function_body(name, start)
    }

    fn function_after(&mut self, name: String, start: usize) -> Parsed<Command> {
        self.at += 1;
        self.skip_blanks();
        if !self.eat(")") {
            return Err(self.expected("`)` of a function definition"));
        }
        self.function_body(name, start)
    }

    pub(super) fn function_body(&mut self, name: String, start: usize) -> Parsed<Command> {
        let is_assignment = name.split_once('=').is_some_and(|it| super::is_name(it.0));
        if is_assignment || name.contains(['$', '`', '"', '\'', '\\']) {
            return Err(self.error_at(start, format!("`{name}` is not a function name")));
        }
        self.skip_space()?;
        let body_at = self.at;
        let promised = self.pending.len();
        let Some(compound) = self.compound()? else {
            return Err(self.expected("a compound command as the function's body"));
        };
        let place = self.place_from(body_at);
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks();
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => break,
            }
        }
        let body = Arc::new(Command::Compound(Box::new(compound), redirects, place));
        let source = self.function_source(body_at, promised)?;
        Ok(Command::Function(Arc::new(Function { name, body, source })))
    }

    /// `name=`, `name+=`, `name[…]=` and its value, if that is what comes next.
    fn assign(&mut self) -> Parsed<Option<Assign>> {
        let start = self.at;
        let rest = self.rest();
        let length =
            rest.bytes().position(|b| !(b.is_ascii_alphanumeric() || b == b'_')).unwrap_or(rest.len());
        if length == 0 || rest.as_bytes()[0].is_ascii_digit() {
            return Ok(None);
        }
        let name = rest[..length].to_owned();
        self.at += length;
        let mut index = None;
        if self.peek() == Some(b'[') {
            if !self.bracket_assigns() {
                self.at = start;
                return Ok(None);
            }
            index = Some(self.subscript()?);
        }
        let append = self.eat("+=");
        if !append && !self.eat("=") {
            self.at = start;
            return Ok(None);
        }
        let value = if self.peek() == Some(b'(') {
            self.at += 1;
            AssignValue::Array(self.elements()?)
        } else {
            AssignValue::Scalar(self.assigned_word()?)
        };
        let span = self.span_from(start);
        self.grow::<(Assign, String)>(1)?;
        self.names.push(name.clone());
        Ok(Some(Assign { name, index, append, value, span }))
    }

    /// Whether the bracket here closes and an `=` follows: `a[i]=1`, and not the pattern `a[bc]`.
    fn bracket_assigns(&self) -> bool {
        let bytes = self.text.as_bytes();
        let (mut at, mut depth, mut quote) = (self.at, 0u32, None);
        while let Some(&byte) = bytes.get(at) {
            match (byte, quote) {
                (b'\\', None | Some(b'"')) => at += 1,
                (b'\'' | b'"', None) => quote = Some(byte),
                (_, Some(open)) if open == byte => quote = None,
                (_, Some(_)) => {}
                (b'\n', None) => return false,
                (b'[', None) => depth += 1,
                (b']', None) => {
                    depth -= 1;
                    if depth == 0 {
                        let after = &bytes[at + 1..];
                        return after.starts_with(b"=") || after.starts_with(b"+=");
                    }
                }
                _ => {}
            }
            at += 1;
        }
        false
    }

    /// `[…]` with the parser on the bracket.
    pub(super) fn subscript(&mut self) -> Parsed<Subscript> {
        self.at += 1;
        for (text, subscript) in [("@]", Subscript::All), ("*]", Subscript::Joined)] {
            if self.eat(text) {
                return Ok(subscript);
            }
        }
        let key = self.bracket_word()?;
        if !self.eat("]") {
            return Err(self.expected("`]`"));
        }
        let number = super::arith::arith_of_word(key.clone());
        Ok(Subscript::At { key, number })
    }

    fn elements(&mut self) -> Parsed<Vec<Element>> {
        let open = self.at;
        let mut elements = Vec::new();
        loop {
            self.skip_space()?;
            match self.peek() {
                None => return Err(self.unclosed_at(open, "the array's `(` is never closed")),
                Some(b')') => {
                    self.at += 1;
                    return Ok(elements);
                }
                Some(b'[') if self.bracket_assigns() => {
                    let index = Some(self.subscript()?);
                    let append = self.eat("+=");
                    if !append {
                        self.eat("=");
                    }
                    let value = self.assigned_word()?;
                    self.grow::<Element>(1)?;
                    elements.push(Element { index, append, value });
                    continue;
                }
                _ => {}
            }
            let before = self.at;
            let word = self.word()?;
            if self.at == before {
                return Err(self.expected("`)` of the array"));
            }
            let items = self.braces(word)?;
            self.grow::<Element>(items.len())?;
            elements.extend(items.into_iter().map(|value| Element { index: None, append: false, value }));
        }
    }

    /// A value: a word in which `~` also counts after a colon.
    fn assigned_word(&mut self) -> Parsed<Word> {
        if self.peek().is_none_or(|b| ends_word(b) && !self.at_process()) {
            return Ok(Word::of(vec![Piece::Quoted(String::new())]));
        }
        let mut word = self.word()?;
        word.pieces = super::word::tildes_after_colons(word.pieces);
        Ok(word)
    }
}

/// Whether the words so far are `let` and its arguments.
fn is_let(simple: &Simple) -> bool {
    matches!(simple.args.first(), Some(Arg::Word(word)) if word.bare() == Some("let"))
}
