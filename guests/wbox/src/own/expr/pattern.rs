//! Basic regular expressions, enough for `expr`: `. [] * \{\} \+ \? \( \) \| ^ $` and back-references.
//!
//! It tries what fits and steps back; how often and how deep is limited, because patterns come from
//! anybody.

/// Steps before a match is given up as too costly.
const STEPS_MAX: usize = 10_000_000;
/// Groups within groups while matching, and while reading.
const DEPTH_MAX: usize = 400;
const NESTED_MAX: usize = 100;

enum Node {
    Sign(char),
    Any,
    Set { not: bool, ranges: Vec<(char, char)> },
    Group(Option<usize>, Vec<Vec<Node>>),
    Same(usize),
    Repeat(Box<Node>, usize, usize),
    Start,
    End,
}

/// What `TEXT : PATTERN` is: the first group, or how much fits.
pub fn matched(text: &str, pattern: &str) -> Result<String, String> {
    let signs: Vec<char> = pattern.chars().collect();
    let mut reader = Reader { signs: &signs, at: 0, groups: 0, nested: 0 };
    let alternatives = reader.alternatives()?;
    if reader.at < signs.len() {
        return Err("Unmatched ) or \\)".to_owned());
    }
    let groups = reader.groups;
    let text: Vec<char> = text.chars().collect();
    let mut matcher =
        Matcher { text: &text, groups: vec![None; groups + 1], steps: 0, depth: 0, tired: false };
    let mut end = None;
    let root = [Node::Group(None, alternatives)];
    let mut kept = Vec::new();
    let found = matcher.sequence(&root, 0, &mut |matcher, at| {
        end = Some(at);
        kept = matcher.groups.clone();
        true
    });
    if matcher.tired {
        return Err("Regular expression too big".to_owned());
    }
    let end = end.filter(|_| found);
    if groups == 0 {
        return Ok(end.unwrap_or(0).to_string());
    }
    let group = end.and_then(|_| kept.get(1).copied().flatten());
    Ok(group.map(|(from, to)| text[from..to].iter().collect()).unwrap_or_default())
}

struct Reader<'p> {
    signs: &'p [char],
    at: usize,
    groups: usize,
    nested: usize,
}

impl Reader<'_> {
    fn starts(&self, text: [char; 2]) -> bool {
        self.signs.get(self.at..self.at + 2) == Some(&text)
    }

    fn alternatives(&mut self) -> Result<Vec<Vec<Node>>, String> {
        let mut all = vec![self.branch()?];
        while self.starts(['\\', '|']) {
            self.at += 2;
            all.push(self.branch()?);
        }
        Ok(all)
    }

    fn branch(&mut self) -> Result<Vec<Node>, String> {
        let mut nodes: Vec<Node> = Vec::new();
        while self.at < self.signs.len() && !self.starts(['\\', ')']) && !self.starts(['\\', '|']) {
            let first = nodes.is_empty();
            let node = self.node(first)?;
            let node = self.repeated(node)?;
            nodes.push(node);
        }
        Ok(nodes)
    }

    fn node(&mut self, first: bool) -> Result<Node, String> {
        let sign = self.signs[self.at];
        self.at += 1;
        Ok(match sign {
            '.' => Node::Any,
            '[' => self.set()?,
            '^' if first => Node::Start,
            '$' if self.at == self.signs.len() || self.starts(['\\', ')']) || self.starts(['\\', '|']) => {
                Node::End
            }
            '\\' => {
                let escaped = *self.signs.get(self.at).ok_or("Trailing backslash")?;
                self.at += 1;
                match escaped {
                    '(' => self.group()?,
                    '1'..='9' => {
                        let number = escaped as usize - '0' as usize;
                        if number > self.groups {
                            return Err("Invalid back reference".to_owned());
                        }
                        Node::Same(number)
                    }
                    'w' | 'W' => Node::Set {
                        not: escaped == 'W',
                        ranges: vec![('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')],
                    },
                    's' | 'S' => Node::Set { not: escaped == 'S', ranges: vec![(' ', ' '), ('\t', '\r')] },
                    '{' => return Err("Invalid preceding regular expression".to_owned()),
                    other => Node::Sign(other),
                }
            }
            other => Node::Sign(other),
        })
    }

    fn group(&mut self) -> Result<Node, String> {
        self.groups += 1;
        self.nested += 1;
        if self.nested > NESTED_MAX {
            return Err("Regular expression too big".to_owned());
        }
        let number = self.groups;
        let inner = self.alternatives()?;
        if !self.starts(['\\', ')']) {
            return Err("Unmatched ( or \\(".to_owned());
        }
        self.at += 2;
        self.nested -= 1;
        Ok(Node::Group(Some(number), inner))
    }

    fn repeated(&mut self, node: Node) -> Result<Node, String> {
        let mut node = node;
        loop {
            let (min, max) = match self.signs.get(self.at) {
                Some('*') if !matches!(node, Node::Start) => {
                    self.at += 1;
                    (0, usize::MAX)
                }
                Some('\\') => match self.signs.get(self.at + 1) {
                    Some('+') => {
                        self.at += 2;
                        (1, usize::MAX)
                    }
                    Some('?') => {
                        self.at += 2;
                        (0, 1)
                    }
                    Some('{') => {
                        self.at += 2;
                        self.bounds()?
                    }
                    _ => return Ok(node),
                },
                _ => return Ok(node),
            };
            node = Node::Repeat(Box::new(node), min, max);
        }
    }

    fn bounds(&mut self) -> Result<(usize, usize), String> {
        let end = (self.at..self.signs.len()).find(|at| self.signs[*at] == '\\').ok_or("Unmatched \\{")?;
        let text: String = self.signs[self.at..end].iter().collect();
        self.at = end;
        if !self.starts(['\\', '}']) {
            return Err("Unmatched \\{".to_owned());
        }
        self.at += 2;
        let number = |text: &str| text.parse::<usize>().ok().filter(|it| *it <= 0x7fff);
        let wrong = || "Invalid content of \\{\\}".to_owned();
        let (min, max) = match text.split_once(',') {
            None => (number(&text).ok_or_else(wrong)?, number(&text).ok_or_else(wrong)?),
            Some((min, "")) => (number(min).ok_or_else(wrong)?, usize::MAX),
            Some(("", max)) => (0, number(max).ok_or_else(wrong)?),
            Some((min, max)) => (number(min).ok_or_else(wrong)?, number(max).ok_or_else(wrong)?),
        };
        if min > max { Err(wrong()) } else { Ok((min, max)) }
    }

    fn set(&mut self) -> Result<Node, String> {
        let open = || "Unmatched [, [^, [:, [., or [=".to_owned();
        let not = self.signs.get(self.at) == Some(&'^');
        self.at += usize::from(not);
        let (start, mut ranges) = (self.at, Vec::new());
        loop {
            let sign = *self.signs.get(self.at).ok_or_else(open)?;
            self.at += 1;
            if sign == ']' && self.at > start + 1 {
                return Ok(Node::Set { not, ranges });
            }
            if sign == '[' && self.signs.get(self.at) == Some(&':') {
                let rest: String = self.signs[self.at + 1..].iter().collect();
                let (name, _) = rest.split_once(":]").ok_or_else(open)?;
                ranges.extend(class(name).ok_or("Invalid character class name")?);
                self.at += name.chars().count() + 3;
                continue;
            }
            let is_range = self.signs.get(self.at) == Some(&'-')
                && self.signs.get(self.at + 1).is_some_and(|it| *it != ']');
            if !is_range {
                ranges.push((sign, sign));
                continue;
            }
            let last = self.signs[self.at + 1];
            self.at += 2;
            if last < sign {
                return Err("Invalid range end".to_owned());
            }
            ranges.push((sign, last));
        }
    }
}

fn class(name: &str) -> Option<Vec<(char, char)>> {
    Some(match name {
        "alpha" => vec![('a', 'z'), ('A', 'Z')],
        "digit" => vec![('0', '9')],
        "alnum" => vec![('a', 'z'), ('A', 'Z'), ('0', '9')],
        "upper" => vec![('A', 'Z')],
        "lower" => vec![('a', 'z')],
        "space" => vec![(' ', ' '), ('\t', '\r')],
        "blank" => vec![(' ', ' '), ('\t', '\t')],
        "punct" => vec![('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
        "xdigit" => vec![('0', '9'), ('a', 'f'), ('A', 'F')],
        "cntrl" => vec![('\0', '\x1f'), ('\x7f', '\x7f')],
        "print" => vec![(' ', '~')],
        "graph" => vec![('!', '~')],
        _ => return None,
    })
}

struct Matcher<'t> {
    text: &'t [char],
    groups: Vec<Option<(usize, usize)>>,
    steps: usize,
    depth: usize,
    tired: bool,
}

/// What is to fit behind; whether it did.
type Then<'m> = dyn FnMut(&mut Matcher<'_>, usize) -> bool + 'm;

impl Matcher<'_> {
    fn sequence(&mut self, nodes: &[Node], at: usize, then: &mut Then<'_>) -> bool {
        self.steps += 1;
        self.depth += 1;
        if self.steps > STEPS_MAX || self.depth > DEPTH_MAX {
            self.tired = true;
        }
        let found = !self.tired
            && match nodes.split_first() {
                None => then(self, at),
                Some((node, rest)) => {
                    self.node(node, at, &mut |matcher, at| matcher.sequence(rest, at, then))
                }
            };
        self.depth -= 1;
        found
    }

    fn node(&mut self, node: &Node, at: usize, then: &mut Then<'_>) -> bool {
        match node {
            Node::Start => at == 0 && then(self, at),
            Node::End => at == self.text.len() && then(self, at),
            Node::Sign(_) | Node::Any | Node::Set { .. } => self.one(node, at) && then(self, at + 1),
            Node::Same(number) => {
                let (from, to) = self.groups[*number].unwrap_or((0, 0));
                let text = self.text;
                text[at..].starts_with(&text[from..to]) && then(self, at + to - from)
            }
            Node::Group(number, alternatives) => alternatives.iter().any(|branch| {
                let before = number.map(|number| self.groups[number]);
                let found = self.sequence(branch, at, &mut |matcher, end| {
                    let inner = number.map(|number| matcher.groups[number].replace((at, end)));
                    let found = then(matcher, end);
                    if !found && let (Some(number), Some(inner)) = (number, inner) {
                        matcher.groups[*number] = inner;
                    }
                    found
                });
                if !found && let (Some(number), Some(before)) = (number, before) {
                    self.groups[*number] = before;
                }
                found
            }),
            Node::Repeat(inner, min, max) => match **inner {
                Node::Sign(_) | Node::Any | Node::Set { .. } => {
                    let most = (at..self.text.len()).take(*max).take_while(|at| self.one(inner, *at)).count();
                    (*min..=most).rev().any(|count| !self.tired && then(self, at + count))
                }
                _ => self.again(inner, *min, *max, at, then),
            },
        }
    }

    /// One more time, or on behind it.
    fn again(&mut self, inner: &Node, min: usize, max: usize, at: usize, then: &mut Then<'_>) -> bool {
        self.steps += 1;
        self.depth += 1;
        if self.steps > STEPS_MAX || self.depth > DEPTH_MAX {
            self.tired = true;
        }
        let more = !self.tired
            && max > 0
            && self.node(inner, at, &mut |matcher, end| {
                // What took nothing will take nothing for ever.
                end > at
                    && matcher.again(
                        inner,
                        min.saturating_sub(1),
                        max - usize::from(max != usize::MAX),
                        end,
                        then,
                    )
            });
        self.depth -= 1;
        more || (min == 0 && !self.tired && then(self, at))
    }

    fn one(&self, node: &Node, at: usize) -> bool {
        let Some(sign) = self.text.get(at) else { return false };
        match node {
            Node::Sign(wanted) => sign == wanted,
            Node::Any => true,
            Node::Set { not, ranges } => ranges.iter().any(|(from, to)| (*from..=*to).contains(sign)) != *not,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::matched;

    #[test]
    fn patterns_fit_from_the_start() {
        let cases = [
            ("abc", "b", "0"),
            ("aaa", "a\\{2\\}", "2"),
            ("aab", "a\\+b", "3"),
            ("ab", "a\\?b", "2"),
            ("xyxy", "\\(xy\\)\\1", "xy"),
            ("cat", "dog\\|cat", "3"),
            ("a*b", "a\\*b", "3"),
            ("2024-05-01", "[0-9]\\{4\\}-[[:digit:]]*", "7"),
            ("]x", "[]]x", "2"),
            ("abab", "\\(ab\\)*", "ab"),
            ("*a", "*a", "2"),
            ("foo.txt", "\\(.*\\)\\.[^.]*$", "foo"),
        ];
        for (text, pattern, want) in cases {
            assert_eq!(matched(text, pattern).as_deref(), Ok(want), "{text} : {pattern}");
        }
        for bad in ["\\(a", "a\\)", "[a", "a\\{2", "a\\{3,2\\}", "\\1", "a\\", "[b-a]", "[[:no:]]"] {
            assert!(matched("a", bad).is_err(), "{bad}");
        }
    }
}
