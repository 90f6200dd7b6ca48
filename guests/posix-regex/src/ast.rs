//! The tree of a pattern.

/// A pattern that was read, and what is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    pub(crate) node: Node,
    /// How many groups it has.
    pub groups: usize,
    /// Whether a group is referred to.
    pub back_references: bool,
}

impl Parsed {
    /// The text it stands for, if it can be only one.
    pub fn literal(&self) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        self.node.literal(&mut text).then_some(text)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Node {
    Sign(char),
    /// A byte that is part of no character.
    Byte(u8),
    Any,
    /// A bracket expression or a class, in Rust's syntax.
    Class(String),
    Group(Box<Node>, usize),
    Sequence(Vec<Node>),
    Either(Vec<Node>),
    Repeat {
        node: Box<Node>,
        min: u32,
        max: Option<u32>,
    },
    Assert(Assert),
    BackReference(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Assert {
    LineStart,
    LineEnd,
    TextStart,
    TextEnd,
    WordEdge,
    NotWordEdge,
    WordStart,
    WordEnd,
    /// No word character before, or after: the edges that `-w` wants.
    NoWordBefore,
    NoWordAfter,
}

impl Node {
    /// Whether it always takes exactly one character.
    pub(crate) fn is_single(&self) -> bool {
        matches!(self, Self::Sign(_) | Self::Any | Self::Class(_))
    }

    /// The text it stands for, if it can be only one.
    pub(crate) fn literal(&self, out: &mut Vec<u8>) -> bool {
        match self {
            Self::Sign(sign) => out.extend_from_slice(sign.encode_utf8(&mut [0; 4]).as_bytes()),
            Self::Byte(byte) => out.push(*byte),
            Self::Sequence(nodes) => return nodes.iter().all(|node| node.literal(out)),
            _ => return false,
        }
        true
    }

    /// Whether the first match that fits may be shorter than the longest. Greedy repetitions of single
    /// characters take the longest; alternatives, and repetitions of more, may not.
    pub(crate) fn first_may_be_short(&self) -> bool {
        match self {
            Self::Either(_) => true,
            Self::Repeat { node, min, max } => {
                (*max != Some(*min) && !node.is_single()) || node.first_may_be_short()
            }
            Self::Group(node, _) => node.first_may_be_short(),
            Self::Sequence(nodes) => nodes.iter().any(Self::first_may_be_short),
            _ => false,
        }
    }

    /// Whether it can match nothing.
    pub(crate) fn nullable(&self) -> bool {
        match self {
            Self::Sign(_) | Self::Byte(_) | Self::Any | Self::Class(_) => false,
            Self::Group(node, _) => node.nullable(),
            Self::Sequence(nodes) => nodes.iter().all(Self::nullable),
            Self::Either(nodes) => nodes.iter().any(Self::nullable),
            Self::Repeat { node, min, .. } => *min == 0 || node.nullable(),
            Self::Assert(_) | Self::BackReference(_) => true,
        }
    }
}
