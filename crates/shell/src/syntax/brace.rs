//! Brace expansion: syntax only, so it is done while parsing.

use std::sync::Arc;

use super::{
    Parsed, Parser,
    ast::{Param, ParamName, ParamOp, Piece, Word},
    word::Pieces,
};

/// A character typed bare, or a piece that braces do not look into.
#[derive(Clone)]
enum Atom {
    Char(char),
    Piece(Piece),
}

/// How many times the longest text braces may make.
const BRACE_TEXTS_MAX: usize = 4;

impl Parser<'_> {
    /// The words `word` stands for.
    pub(super) fn braces(&mut self, word: Word) -> Parsed<Vec<Word>> {
        let has = word.pieces.iter().any(|it| matches!(it, Piece::Text(text) if text.contains('{')));
        if !has {
            return Ok(vec![word]);
        }
        let span = word.span;
        let mut atoms = Vec::new();
        for piece in word.pieces {
            match piece {
                Piece::Text(text) => atoms.extend(text.chars().map(Atom::Char)),
                other => atoms.push(Atom::Piece(other)),
            }
        }
        let mut words = Vec::new();
        for atoms in self.expand_atoms(&atoms)? {
            let mut pieces = Pieces::default();
            let mut atoms = atoms.into_iter().peekable();
            while let Some(atom) = atoms.next() {
                match atom {
                    // Both lie between `Z` and `a`, and nothing else leaves them bare. As in bash, what stands there is
                    // read as if typed: the one quotes what follows, the other opens a substitution that never ends.
                    Atom::Char('\\') => match atoms.next_if(|it| matches!(it, Atom::Char(_))) {
                        Some(Atom::Char(next)) => pieces.quoted(next.encode_utf8(&mut [0; 4])),
                        _ => pieces.quoted(""),
                    },
                    Atom::Char('`') if atoms.peek().is_some() => pieces.0.push(unended_backquote()),
                    // Braces come first: `$x{1,2}` is `$x1 $x2`.
                    Atom::Char(next) if pieces.extends_name(next) => {}
                    Atom::Char(next) => pieces.text(next.encode_utf8(&mut [0; 4])),
                    Atom::Piece(piece) => pieces.0.push(piece),
                }
            }
            tilde_first(&mut pieces.0);
            if !pieces.0.is_empty() {
                words.push(Word { pieces: pieces.0, span });
            }
        }
        Ok(words)
    }

    fn expand_atoms(&mut self, atoms: &[Atom]) -> Parsed<Vec<Vec<Atom>>> {
        self.deeper(|it| it.expand_atoms_here(atoms))
    }

    fn expand_atoms_here(&mut self, atoms: &[Atom]) -> Parsed<Vec<Vec<Atom>>> {
        let closes = closed(atoms);
        for open in 0..atoms.len() {
            // Looked up: to search for the end of each would take as much time again for each of them.
            if !closes[open] {
                continue;
            }
            let Some((close, commas)) = group(atoms, open) else { continue };
            let inside = &atoms[open + 1..close];
            let mut middles = Vec::new();
            if commas.is_empty() {
                let Some(range) = sequence(inside, self.limits.brace_words_max) else { continue };
                middles.extend(range.into_iter().map(|text| text.chars().map(Atom::Char).collect()));
            } else {
                let mut from = open + 1;
                for to in commas.into_iter().chain([close]) {
                    middles.extend(self.expand_atoms(&atoms[from..to])?);
                    from = to + 1;
                }
            }
            let tails = self.expand_atoms(&atoms[close + 1..])?;
            self.brace_words += middles.len().saturating_mul(tails.len());
            if self.brace_words > self.limits.brace_words_max {
                let max = self.limits.brace_words_max;
                return Err(self.error(format!("brace expansion makes more than {max} words")));
            }
            let long = |all: &[Vec<Atom>]| all.iter().map(Vec::len).sum::<usize>();
            let (some, each) = (middles.len() * tails.len(), long(&middles) * tails.len());
            self.brace_chars += some * open + each + long(&tails) * middles.len();
            if self.brace_chars > BRACE_TEXTS_MAX * self.limits.text_bytes_max {
                let max = BRACE_TEXTS_MAX * self.limits.text_bytes_max;
                return Err(self.error(format!("brace expansion makes more than {max} characters")));
            }
            let mut all: Vec<Vec<Atom>> = Vec::with_capacity(middles.len() * tails.len());
            for middle in &middles {
                for tail in &tails {
                    let parts = [&atoms[..open], middle.as_slice(), tail.as_slice()];
                    all.push(parts.concat());
                }
            }
            return Ok(all);
        }
        Ok(vec![atoms.to_vec()])
    }
}

/// Which atoms are opening braces that are closed.
fn closed(atoms: &[Atom]) -> Vec<bool> {
    let (mut closed, mut open) = (vec![false; atoms.len()], Vec::new());
    for (at, atom) in atoms.iter().enumerate() {
        if is(atom, '{') {
            open.push(at);
        } else if is(atom, '}')
            && let Some(begun) = open.pop()
        {
            closed[begun] = true;
        }
    }
    closed
}

fn is(atom: &Atom, wanted: char) -> bool {
    matches!(atom, Atom::Char(it) if *it == wanted)
}

fn unended_backquote() -> Piece {
    let (name, op) = (ParamName::Special('0'), ParamOp::Bad);
    Piece::Param(Arc::new(Param { name, index: None, indirect: false, op, typed: "`".into() }))
}

/// The closing brace of the group at `open`, and its top-level commas.
fn group(atoms: &[Atom], open: usize) -> Option<(usize, Vec<usize>)> {
    let mut depth = 0;
    let mut commas = Vec::new();
    for (at, atom) in atoms.iter().enumerate().skip(open) {
        match atom {
            Atom::Char('{') => depth += 1,
            Atom::Char('}') => {
                depth -= 1;
                if depth == 0 {
                    return Some((at, commas));
                }
            }
            Atom::Char(',') if depth == 1 => commas.push(at),
            _ => {}
        }
    }
    None
}

/// `1..9`, `a..f`, `01..10..2`.
fn sequence(inside: &[Atom], words_max: usize) -> Option<Vec<String>> {
    let text: Option<String> =
        inside.iter().map(|it| if let Atom::Char(next) = it { Some(*next) } else { None }).collect();
    let text = text?;
    let parts: Vec<&str> = text.split("..").collect();
    let (from, to, step) = match parts.as_slice() {
        [from, to] => (*from, *to, 1),
        [from, to, step] => (*from, *to, step.parse::<i64>().ok()?),
        _ => return None,
    };
    let step = step.unsigned_abs().max(1);
    if let (Ok(first), Ok(last)) = (from.parse::<i64>(), to.parse::<i64>()) {
        let padded = |it: &str| {
            let digits = it.trim_start_matches('-');
            digits.len() > 1 && digits.starts_with('0')
        };
        let width = if padded(from) || padded(to) { from.len().max(to.len()) } else { 0 };
        let count = first.abs_diff(last) / step;
        if count > words_max as u64 {
            return Some(vec![String::new(); words_max + 1]);
        }
        let signed = i64::try_from(step).ok()?;
        let item = |index: u64| {
            let offset = signed.checked_mul(i64::try_from(index).ok()?)?;
            let value = if first <= last { first.checked_add(offset)? } else { first.checked_sub(offset)? };
            let (sign, digits) = (if value < 0 { "-" } else { "" }, value.unsigned_abs().to_string());
            // Not by a width of `format!`, which ends at 65,535.
            let zeros = "0".repeat(width.saturating_sub(sign.len() + digits.len()));
            Some(format!("{sign}{zeros}{digits}"))
        };
        return (0..=count).map(item).collect();
    }
    let single = |it: &str| {
        let mut chars = it.chars();
        chars.next().filter(|first| first.is_ascii_alphabetic() && chars.next().is_none())
    };
    let (first, last) = (single(from)? as u8, single(to)? as u8);
    let count = u64::from(first.abs_diff(last)) / step;
    let item = |index: u64| {
        let offset = (index * step) as u8;
        let value = if first <= last { first + offset } else { first - offset };
        char::from(value).to_string()
    };
    Some((0..=count).map(item).collect())
}

/// Braces come before tildes: `{~,x}/y` has one at the start of its first word.
fn tilde_first(pieces: &mut Vec<Piece>) {
    let Some(Piece::Text(text)) = pieces.first() else { return };
    let Some(rest) = text.strip_prefix('~') else { return };
    let plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-' | '.' | '+');
    let end = rest.find(|it| !plain(it)).unwrap_or(rest.len());
    if !matches!(rest[end..].chars().next(), None | Some('/')) || (end == rest.len() && pieces.len() > 1) {
        return;
    }
    let (name, tail) = (rest[..end].to_owned(), rest[end..].to_owned());
    let mut parts = vec![Piece::Tilde(name)];
    if !tail.is_empty() {
        parts.push(Piece::Text(tail));
    }
    pieces.splice(0..1, parts);
}
