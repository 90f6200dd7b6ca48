//! Reads a pattern.
//!
//! Basic and extended syntax differ in which signs need a backslash to be operators, and in where
//! an operator stands for itself: a `*` or `\{` with nothing to repeat in basic syntax, `^` and `$`
//! anywhere but at the ends there. Awk's is extended syntax with awk's escapes, also in brackets.

use crate::ast::{Assert, Node, Parsed};
use crate::bracket;
use crate::error::SyntaxError;

/// POSIX allows this many repetitions.
const REPEAT_MAX: u32 = 32767;
/// Groups and repetitions inside one another.
const DEPTH_MAX: usize = 100;
/// What the pattern may come to with its repetitions written out.
const SIZE_MAX: usize = 100_000;

/// Which syntax.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavor {
    /// Sed's basic syntax.
    Basic,
    /// Grep's: basic, where what means nothing stands for itself.
    Grep,
    /// Sed's extended syntax.
    Extended,
    /// Grep's: extended, where an operator with nothing before it is passed over.
    Egrep,
    Awk,
}

impl Flavor {
    fn is_basic(self) -> bool {
        matches!(self, Self::Basic | Self::Grep)
    }

    /// Whether a misplaced operator is an error.
    fn is_strict(self) -> bool {
        matches!(self, Self::Basic | Self::Extended)
    }
}

/// Reads `pattern`.
pub fn parse(pattern: &[u8], flavor: Flavor) -> Result<Parsed, SyntaxError> {
    let mut reader = Reader {
        rest: pattern,
        flavor,
        open: vec![Frame::new(0)],
        groups: 0,
        closed: Vec::new(),
        back_references: false,
    };
    while !reader.rest.is_empty() {
        reader.sign()?;
    }
    let frame = reader.open.pop().ok_or(SyntaxError::CloseGroup)?;
    if !reader.open.is_empty() {
        return Err(SyntaxError::OpenGroup);
    }
    let node = frame.finish();
    if size(&node) > SIZE_MAX {
        return Err(SyntaxError::TooBig);
    }
    Ok(Parsed { node, groups: reader.groups, back_references: reader.back_references })
}

/// A group that is not closed yet, or the whole.
struct Frame {
    index: usize,
    branches: Vec<Node>,
    items: Vec<Node>,
    /// Whether the last item can be repeated.
    atom: bool,
    /// Nothing of the branch has been read.
    fresh: bool,
    /// Repetitions applied to the last item.
    repeats: usize,
}

impl Frame {
    fn new(index: usize) -> Self {
        Self { index, branches: Vec::new(), items: Vec::new(), atom: false, fresh: true, repeats: 0 }
    }

    fn end_branch(&mut self) {
        let mut items = std::mem::take(&mut self.items);
        let branch = if items.len() == 1 { items.remove(0) } else { Node::Sequence(items) };
        self.branches.push(branch);
        (self.atom, self.fresh) = (false, true);
    }

    fn finish(mut self) -> Node {
        self.end_branch();
        if self.branches.len() == 1 { self.branches.remove(0) } else { Node::Either(self.branches) }
    }
}

struct Reader<'a> {
    rest: &'a [u8],
    flavor: Flavor,
    open: Vec<Frame>,
    groups: usize,
    /// The groups that can be referred to.
    closed: Vec<usize>,
    back_references: bool,
}

impl Reader<'_> {
    #[expect(clippy::expect_used, reason = "the outermost frame is only taken when the reader is given up")]
    fn frame(&mut self) -> &mut Frame {
        self.open.last_mut().expect("the outermost frame is only taken at the end")
    }

    /// The next character, or a byte that is none.
    fn take(&mut self) -> Option<Node> {
        let (node, rest) = take_sign(self.rest)?;
        self.rest = rest;
        Some(node)
    }

    fn sign(&mut self) -> Result<(), SyntaxError> {
        let extended = !self.flavor.is_basic();
        let Some(node) = self.take() else { return Ok(()) };
        let Node::Sign(sign) = node else {
            self.push(node);
            return Ok(());
        };
        match sign {
            '\\' => {
                let escaped = self.take().ok_or(SyntaxError::TrailingBackslash)?;
                match escaped {
                    Node::Sign(escaped) => self.escape(escaped)?,
                    byte => self.push(byte),
                }
            }
            '[' => {
                let (class, rest) = bracket::translate(self.rest, self.flavor)?;
                self.rest = rest;
                self.push(Node::Class(class));
            }
            '.' => self.push(Node::Any),
            '*' => self.repeat(0, None, sign)?,
            '^' if extended || self.frame().fresh => self.assert(Assert::LineStart),
            '$' if extended || self.at_end() => self.assert(Assert::LineEnd),
            '+' if extended => self.repeat(1, None, sign)?,
            '?' if extended => self.repeat(0, Some(1), sign)?,
            '|' if extended => self.frame().end_branch(),
            '(' if extended => self.open()?,
            ')' if extended => self.close()?,
            '{' if extended => self.interval()?,
            _ => self.push(Node::Sign(sign)),
        }
        Ok(())
    }

    fn escape(&mut self, escaped: char) -> Result<(), SyntaxError> {
        let basic = self.flavor.is_basic();
        let awk = self.flavor == Flavor::Awk;
        match escaped {
            '(' if basic => self.open()?,
            ')' if basic => self.close()?,
            '|' if basic => self.frame().end_branch(),
            '{' if basic => self.interval()?,
            '+' if basic => self.repeat(1, None, '+')?,
            '?' if basic => self.repeat(0, Some(1), '?')?,
            '1'..='9' if !awk => {
                let group = escaped as usize - '0' as usize;
                if !self.closed.contains(&group) {
                    return Err(SyntaxError::BackReference);
                }
                self.back_references = true;
                self.push(Node::BackReference(group));
            }
            'w' | 'W' | 's' | 'S' => self.push(Node::Class(format!("\\{escaped}"))),
            'y' if awk => self.assert(Assert::WordEdge),
            'b' if !awk => self.assert(Assert::WordEdge),
            'B' => self.assert(Assert::NotWordEdge),
            '<' => self.assert(Assert::WordStart),
            '>' => self.assert(Assert::WordEnd),
            '`' => self.assert(Assert::TextStart),
            '\'' => self.assert(Assert::TextEnd),
            _ if awk => {
                let (sign, rest) = awk_escape(escaped, self.rest);
                self.rest = rest;
                self.push(Node::Sign(sign));
            }
            _ => self.push(Node::Sign(escaped)),
        }
        Ok(())
    }

    fn push(&mut self, node: Node) {
        let frame = self.frame();
        frame.items.push(node);
        (frame.atom, frame.fresh, frame.repeats) = (true, false, 0);
    }

    /// An empty match. To GNU, a repetition after it has nothing to repeat.
    fn assert(&mut self, kind: Assert) {
        let frame = self.frame();
        frame.items.push(Node::Assert(kind));
        (frame.atom, frame.fresh) = (false, false);
    }

    fn open(&mut self) -> Result<(), SyntaxError> {
        if self.open.len() >= DEPTH_MAX {
            return Err(SyntaxError::TooBig);
        }
        self.groups += 1;
        self.open.push(Frame::new(self.groups));
        Ok(())
    }

    fn close(&mut self) -> Result<(), SyntaxError> {
        if self.open.len() == 1 {
            if matches!(self.flavor, Flavor::Basic | Flavor::Grep | Flavor::Extended) {
                return Err(SyntaxError::CloseGroup);
            }
            self.push(Node::Sign(')'));
            return Ok(());
        }
        let frame = self.open.pop().ok_or(SyntaxError::CloseGroup)?;
        let index = frame.index;
        self.push(Node::Group(Box::new(frame.finish()), index));
        self.closed.push(index);
        Ok(())
    }

    /// Repeats the last item; with none, the sign stands for itself in basic syntax and in awk, for
    /// nothing in grep, and is an error elsewhere.
    fn repeat(&mut self, min: u32, max: Option<u32>, sign: char) -> Result<(), SyntaxError> {
        let flavor = self.flavor;
        let frame = self.frame();
        if !frame.atom {
            match flavor {
                Flavor::Basic | Flavor::Grep | Flavor::Awk => self.push(Node::Sign(sign)),
                Flavor::Egrep => self.pass_over(),
                Flavor::Extended => return Err(SyntaxError::Preceding),
            }
            return Ok(());
        }
        // GNU's sed refuses `a**` and `a*\{2\}`, but not `a*\+`; see also `interval`.
        if flavor == Flavor::Basic && frame.repeats > 0 && sign == '*' {
            return Err(SyntaxError::Preceding);
        }
        frame.repeats += 1;
        if frame.repeats > DEPTH_MAX {
            return Err(SyntaxError::TooBig);
        }
        let Some(last) = frame.items.pop() else { return Ok(()) };
        let node = match (last, (min, max)) {
            (Node::Repeat { node, min: 0 | 1, max: None }, (0, None | Some(1))) => {
                Node::Repeat { node, min: 0, max: None }
            }
            (Node::Repeat { node, min: low @ (0 | 1), max: None }, (1, None)) => {
                Node::Repeat { node, min: low, max: None }
            }
            (last, _) => Node::Repeat { node: Box::new(last), min, max },
        };
        frame.items.push(node);
        Ok(())
    }

    /// An operator of grep's with nothing before it means nothing, and a `)` behind it is no end of a
    /// group but itself: GNU's matcher reads on as if an item had to follow.
    fn pass_over(&mut self) {
        if let Some(rest) = self.rest.strip_prefix(b")") {
            self.rest = rest;
            self.push(Node::Sign(')'));
        }
    }

    /// `{2}`, `{2,}`, `{,3}` or `{2,3}`, after the brace.
    fn interval(&mut self) -> Result<(), SyntaxError> {
        let flavor = self.flavor;
        let frame = self.frame();
        let (atom, repeated) = (frame.atom, frame.repeats > 0);
        let closed = until_brace(self.rest, flavor.is_basic());
        match flavor {
            Flavor::Basic if !atom || repeated => return Err(SyntaxError::Preceding),
            Flavor::Extended if !atom => return Err(SyntaxError::Preceding),
            // With nothing to repeat, grep passes over a whole interval.
            Flavor::Egrep
                if !atom
                    && let Some((inside, rest)) = closed
                    && bounds(inside).is_some() =>
            {
                self.rest = rest;
                return Ok(());
            }
            Flavor::Grep | Flavor::Egrep | Flavor::Awk if !atom => {
                self.push(Node::Sign('{'));
                return Ok(());
            }
            _ => {}
        }
        let refuses = flavor.is_strict() || flavor == Flavor::Grep;
        let Some((inside, rest)) = closed else {
            if refuses {
                return Err(open_interval(self.rest));
            }
            self.push(Node::Sign('{'));
            return Ok(());
        };
        match bounds(inside) {
            Some((low, high)) => {
                if low > REPEAT_MAX || high.is_some_and(|high| high > REPEAT_MAX) {
                    return Err(SyntaxError::TooBig);
                }
                if high.is_some_and(|high| high < low) {
                    return Err(SyntaxError::BraceContent);
                }
                self.rest = rest;
                self.repeat(low, high, '{')
            }
            // `a{}` is an error also where `a{x}` stands for itself.
            None if inside.is_empty() && flavor == Flavor::Egrep => Err(SyntaxError::BraceContent),
            None if refuses => Err(SyntaxError::BraceContent),
            None => {
                self.push(Node::Sign('{'));
                Ok(())
            }
        }
    }

    /// Whether `$` stands where a basic pattern can end.
    fn at_end(&self) -> bool {
        self.rest.is_empty() || self.rest.starts_with(b"\\)") || self.rest.starts_with(b"\\|")
    }
}

/// The first character, or the first byte if that is none, and what follows.
pub(crate) fn take_sign(text: &[u8]) -> Option<(Node, &[u8])> {
    let first = *text.first()?;
    if first < 0x80 {
        return Some((Node::Sign(char::from(first)), &text[1..]));
    }
    match crate::set::decode(text) {
        Some((sign, length)) => Some((Node::Sign(sign), &text[length..])),
        None => Some((Node::Byte(first), &text[1..])),
    }
}

/// What `\escaped` stands for in awk, and what follows it.
pub(crate) fn awk_escape(escaped: char, rest: &[u8]) -> (char, &[u8]) {
    let sign = match escaped {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'f' => '\x0c',
        'v' => '\x0b',
        'a' => '\x07',
        'b' => '\x08',
        '0'..='7' => {
            let more = rest.iter().take(2).take_while(|it| (b'0'..=b'7').contains(it)).count();
            let digits = rest[..more].iter().map(|it| u32::from(it - b'0'));
            let value = digits.fold(escaped as u32 - 48, |value, digit| value * 8 + digit);
            return (char::from(value as u8), &rest[more..]);
        }
        other => other,
    };
    (sign, rest)
}

/// What stands before the brace that ends an interval, and what follows it. An escaped brace ends it in
/// basic syntax only, and a bare one in the others.
fn until_brace(text: &[u8], basic: bool) -> Option<(&[u8], &[u8])> {
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        let escaped = *byte == b'\\';
        let brace = text.get(at + usize::from(escaped)) == Some(&b'}');
        let end = at + 1 + usize::from(escaped);
        if brace && escaped == basic {
            return Some((&text[..at], &text[end..]));
        }
        at = end;
    }
    None
}

/// What is wrong with an interval that is not closed: what stands before a comma is looked at first.
fn open_interval(text: &[u8]) -> SyntaxError {
    match text.split(|byte| *byte == b',').next() {
        Some(low) if low.len() < text.len() && !low.iter().all(u8::is_ascii_digit) => {
            SyntaxError::BraceContent
        }
        _ => SyntaxError::Brace,
    }
}

/// `low`, `low,`, `,high` or `low,high`; `None` if it is none of these.
fn bounds(inside: &[u8]) -> Option<(u32, Option<u32>)> {
    let inside = std::str::from_utf8(inside).ok()?;
    let number = |text: &str| {
        let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| text.parse().unwrap_or(u32::MAX))
    };
    match inside.split_once(',') {
        None => number(inside).map(|low| (low, Some(low))),
        Some(("", "")) => Some((0, None)),
        Some((low, "")) => Some((number(low)?, None)),
        Some(("", high)) => Some((0, Some(number(high)?))),
        Some((low, high)) => Some((number(low)?, Some(number(high)?))),
    }
}

/// How many steps the node is with its repetitions written out.
fn size(node: &Node) -> usize {
    match node {
        Node::Group(node, _) => size(node).saturating_add(2),
        Node::Sequence(nodes) | Node::Either(nodes) => {
            nodes.iter().fold(1, |sum, node| sum.saturating_add(size(node)))
        }
        Node::Repeat { node, .. } if node.is_single() => 2,
        Node::Repeat { node, min, max } => {
            size(node).saturating_mul(max.unwrap_or(*min).max(1) as usize).saturating_add(2)
        }
        _ => 1,
    }
}
