//! The text of a pattern to its tree.

use super::class::{Class, Item};
use super::parse_class::kind_of;
use super::syntax::{Assert, Kind, Node, Parsed};
use super::{Options, Problem};

/// How deeply groups may nest.
pub(super) const DEPTH_MAX: usize = 100;
/// The largest count of a repetition.
const COUNT_MAX: u32 = 100_000;

pub(super) fn parse(pattern: &str, options: Options) -> Result<Parsed, Problem> {
    let signs: Vec<char> = pattern.chars().collect();
    let named = has_names(&signs);
    let mut parser = Parser { signs, at: 0, names: Vec::new(), options, depth: 0, named };
    let root = parser.either()?;
    if parser.at < parser.signs.len() {
        return Err("unmatched close parenthesis");
    }
    let names = parser.names;
    Ok(Parsed { root, names })
}

fn has_names(signs: &[char]) -> bool {
    signs.windows(4).any(|it| it[..3] == ['(', '?', '<'] && !matches!(it[3], '=' | '!'))
}

pub(super) struct Parser {
    pub(super) signs: Vec<char>,
    pub(super) at: usize,
    pub(super) names: Vec<Option<String>>,
    pub(super) options: Options,
    pub(super) depth: usize,
    pub(super) named: bool,
}

impl Parser {
    pub(super) fn peek(&self) -> Option<char> {
        self.signs.get(self.at).copied()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let sign = self.peek()?;
        self.at += 1;
        Some(sign)
    }

    pub(super) fn take(&mut self, text: &str) -> bool {
        let there = text.chars().enumerate().all(|(at, sign)| self.signs.get(self.at + at) == Some(&sign));
        if there {
            self.at += text.chars().count();
        }
        there
    }

    fn either(&mut self) -> Result<Node, Problem> {
        if self.depth >= DEPTH_MAX {
            return Err("too deep nest level");
        }
        self.depth += 1;
        let mut all = vec![self.sequence()?];
        while self.take("|") {
            all.push(self.sequence()?);
        }
        self.depth -= 1;
        Ok(if all.len() == 1 { all.pop().unwrap_or(Node::Empty) } else { Node::Either(all) })
    }

    fn sequence(&mut self) -> Result<Node, Problem> {
        let mut all = Vec::new();
        while let Some(sign) = self.peek() {
            if matches!(sign, '|' | ')') {
                break;
            }
            if self.options.extended && sign.is_whitespace() {
                self.at += 1;
                continue;
            }
            if self.options.extended && sign == '#' {
                while self.next().is_some_and(|sign| sign != '\n') {}
                continue;
            }
            if let Some(node) = self.atom()? {
                let node = self.quantified(node)?;
                all.push(node);
            }
        }
        Ok(Node::All(all))
    }

    fn quantified(&mut self, node: Node) -> Result<Node, Problem> {
        let mut node = node;
        loop {
            let before = self.at;
            let (min, max) = match self.peek() {
                Some('*') => (0, None),
                Some('+') => (1, None),
                Some('?') => (0, Some(1)),
                Some('{') => match self.counts()? {
                    Some(counts) => counts,
                    None => return Ok(node),
                },
                _ => return Ok(node),
            };
            let counted = self.signs[before] == '{';
            if !counted {
                self.at += 1;
            }
            let kind = if self.take("?") {
                Kind::Lazy
            } else if !counted && self.take("+") {
                Kind::Possessive
            } else {
                Kind::Greedy
            };
            node = Node::Repeat { inner: Box::new(node), min, max, kind };
        }
    }

    /// `{n}`, `{n,}`, `{,m}`, `{n,m}`; anything else is text.
    fn counts(&mut self) -> Result<Option<(u32, Option<u32>)>, Problem> {
        let before = self.at;
        self.at += 1;
        let min = self.count()?;
        let comma = self.take(",");
        let max = if comma { self.count()? } else { min };
        if (min.is_none() && max.is_none()) || !self.take("}") {
            self.at = before;
            return Ok(None);
        }
        let low = min.unwrap_or(0);
        if max.is_some_and(|max| max < low) {
            return Ok(Some((max.unwrap_or(0), Some(low))));
        }
        Ok(Some((low, max)))
    }

    fn count(&mut self) -> Result<Option<u32>, Problem> {
        let mut count = None;
        while let Some(digit) = self.peek().and_then(|sign| sign.to_digit(10)) {
            self.at += 1;
            let more = count.unwrap_or(0u32).saturating_mul(10).saturating_add(digit);
            if more > COUNT_MAX {
                return Err("too big number for repeat range");
            }
            count = Some(more);
        }
        Ok(count)
    }

    /// A literal `{` is one that begins no count.
    fn atom(&mut self) -> Result<Option<Node>, Problem> {
        let Some(sign) = self.next() else { return Ok(None) };
        Ok(Some(match sign {
            '(' => return self.group(),
            '[' => Node::Class(self.class()?),
            '.' => Node::Any(self.options.dot_all),
            '^' => Node::Assert(Assert::TextStart),
            '$' => Node::Assert(Assert::LastEnd),
            '*' | '+' | '?' => return Err("target of repeat operator is not specified"),
            '\\' => self.escape()?,
            other => self.char(other),
        }))
    }

    fn char(&self, sign: char) -> Node {
        Node::Char(sign, self.options.ignore_case)
    }

    fn group(&mut self) -> Result<Option<Node>, Problem> {
        if !self.take("?") {
            // With names about, plain groups take no part, unless asked for; jq asks.
            let number = self.open(None);
            return self.inside(|inner| Node::Group(number, inner)).map(Some);
        }
        if self.take("#") {
            loop {
                match self.next() {
                    None => return Err("end pattern in group"),
                    Some(')') => return Ok(None),
                    Some(_) => {}
                }
            }
        }
        let look = |behind, negative| move |inner| Node::Look { behind, negative, inner };
        if self.take(":") {
            return self.inside(|inner| *inner).map(Some);
        }
        if self.take("=") {
            return self.inside(look(false, false)).map(Some);
        }
        if self.take("!") {
            return self.inside(look(false, true)).map(Some);
        }
        if self.take(">") {
            return self.inside(Node::Atomic).map(Some);
        }
        if self.take("<=") {
            return self.inside(look(true, false)).map(Some);
        }
        if self.take("<!") {
            return self.inside(look(true, true)).map(Some);
        }
        if self.take("<") || self.take("P<") {
            let name = self.name('>')?;
            let number = self.open(Some(name));
            return self.inside(|inner| Node::Group(number, inner)).map(Some);
        }
        self.switches()
    }

    fn open(&mut self, name: Option<String>) -> usize {
        self.names.push(name);
        self.names.len()
    }

    fn inside(&mut self, make: impl FnOnce(Box<Node>) -> Node) -> Result<Node, Problem> {
        let outer = self.options;
        let inner = self.either()?;
        self.options = outer;
        if !self.take(")") {
            return Err("end pattern with unmatched parenthesis");
        }
        Ok(make(Box::new(inner)))
    }

    /// `(?i)`, `(?im-x:…)`
    fn switches(&mut self) -> Result<Option<Node>, Problem> {
        let outer = self.options;
        let mut on = true;
        loop {
            match self.next() {
                Some('-') => on = false,
                Some('i') => self.options.ignore_case = on,
                Some('x') => self.options.extended = on,
                Some('s' | 'm') => self.options.dot_all = on,
                Some(')') => {
                    // Until the group around it ends.
                    let rest = self.either()?;
                    self.options = outer;
                    return Ok(Some(rest));
                }
                Some(':') => {
                    let inner = self.either()?;
                    self.options = outer;
                    if !self.take(")") {
                        return Err("end pattern with unmatched parenthesis");
                    }
                    return Ok(Some(inner));
                }
                None => return Err("end pattern in group"),
                Some(_) => return Err("undefined group option"),
            }
        }
    }

    fn name(&mut self, end: char) -> Result<String, Problem> {
        let mut name = String::new();
        loop {
            match self.next() {
                None => return Err("end pattern in group"),
                Some(sign) if sign == end => break,
                Some(sign) if sign.is_alphanumeric() || sign == '_' || sign == '-' => name.push(sign),
                Some(_) => return Err("invalid group name <>"),
            }
        }
        if name.is_empty() { Err("group name is empty") } else { Ok(name) }
    }

    fn escape(&mut self) -> Result<Node, Problem> {
        let Some(sign) = self.next() else { return Err("end pattern at escape") };
        if let Some(item) = kind_of(sign) {
            return Ok(Node::Class(Class { items: vec![item], ..Class::default() }));
        }
        Ok(match sign {
            'A' => Node::Assert(Assert::TextStart),
            'z' => Node::Assert(Assert::TextEnd),
            'Z' => Node::Assert(Assert::LastEnd),
            'b' => Node::Assert(Assert::WordEdge),
            'B' => Node::Assert(Assert::NoWordEdge),
            'G' => Node::Assert(Assert::SearchStart),
            'K' => Node::Keep,
            'R' => Node::Either(vec![
                Node::All(vec![Node::Char('\r', false), Node::Char('\n', false)]),
                Node::Class(Class {
                    items: vec![
                        Item::Range('\n', '\r'),
                        Item::Range('\u{85}', '\u{85}'),
                        Item::Range('\u{2028}', '\u{2029}'),
                    ],
                    ..Class::default()
                }),
            ]),
            'p' | 'P' => Node::Class(Class { items: vec![self.property(sign == 'P')?], ..Class::default() }),
            'k' if self.take("<") => {
                let name = self.name('>')?;
                let groups: Vec<usize> = match name.parse::<usize>() {
                    Ok(number) => vec![number],
                    Err(_) => self.numbers_of(&name),
                };
                if groups.is_empty() || groups.iter().any(|it| *it > self.names.len()) {
                    return Err("undefined name reference");
                }
                Node::Backreference(groups, self.options.ignore_case)
            }
            'Q' => {
                let mut all = Vec::new();
                while !self.take("\\E") {
                    match self.next() {
                        Some(sign) => all.push(self.char(sign)),
                        None => break,
                    }
                }
                Node::All(all)
            }
            '1'..='9' => {
                let mut number = sign.to_digit(10).unwrap_or(0) as usize;
                while let Some(digit) = self.peek().and_then(|sign| sign.to_digit(10)) {
                    if number * 10 + digit as usize > self.names.len() {
                        break;
                    }
                    self.at += 1;
                    number = number * 10 + digit as usize;
                }
                if number > self.names.len() {
                    return Err("invalid backref number/name");
                }
                if self.named {
                    return Err("numbered backref/call is not allowed. (use name)");
                }
                Node::Backreference(vec![number], self.options.ignore_case)
            }
            other => {
                let sign = self.escaped_char(other)?;
                self.char(sign)
            }
        })
    }

    fn numbers_of(&self, name: &str) -> Vec<usize> {
        let all = self.names.iter().enumerate().filter(|(_, known)| known.as_deref() == Some(name));
        all.map(|(at, _)| at + 1).collect()
    }

    pub(super) fn escaped_char(&mut self, sign: char) -> Result<char, Problem> {
        Ok(match sign {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'f' => '\u{c}',
            'v' => '\u{b}',
            'a' => '\u{7}',
            'e' => '\u{1b}',
            '0' => {
                let code = self.digits(8, 2);
                char::from_u32(code).unwrap_or('\0')
            }
            'x' if self.take("{") => {
                let code = self.digits(16, 8);
                if !self.take("}") {
                    return Err("invalid code point value");
                }
                char::from_u32(code).ok_or("invalid code point value")?
            }
            'x' => char::from_u32(self.digits(16, 2)).unwrap_or('\0'),
            'u' => {
                let code = self.digits(16, 4);
                char::from_u32(code).ok_or("invalid code point value")?
            }
            other => other,
        })
    }

    pub(super) fn digits(&mut self, base: u32, count_max: usize) -> u32 {
        let mut code = 0u32;
        for _ in 0..count_max {
            let Some(digit) = self.peek().and_then(|sign| sign.to_digit(base)) else { break };
            self.at += 1;
            code = code.saturating_mul(base).saturating_add(digit);
        }
        code
    }
}
