//! A pattern as a program for the backtracking matcher.
//!
//! Repetitions of one character are one step; others are written out, which `parse` has bounded.

use crate::ast::{Assert, Node};
use crate::set::Set;
use crate::start::Start;

#[derive(Debug)]
pub(crate) enum Step {
    Byte(u8),
    Set(Set),
    /// As many characters of the set as there are, then fewer.
    Run {
        set: Set,
        min: u32,
        max: u32,
    },
    /// Go on here, and there if that fails. The number is for the memory of what failed.
    Split {
        first: usize,
        second: usize,
        id: usize,
    },
    Jump(usize),
    /// Notes the position.
    Save(usize),
    /// Fails if nothing was taken since the position was noted: an empty turn of a loop.
    Progress(usize),
    Assert(Assert),
    BackReference(usize),
    Match,
}

#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) steps: Vec<Step>,
    pub(crate) start: Start,
    pub(crate) splits: usize,
    /// Positions to be noted: two for each group and the whole, then those of loops.
    pub(crate) slots: usize,
    pub(crate) back_references: bool,
    pub(crate) ignore_case: bool,
    pub(crate) multi_line: bool,
}

pub(crate) struct Flags {
    pub(crate) ignore_case: bool,
    pub(crate) multi_line: bool,
    /// Whether `.` and negated brackets take a line feed.
    pub(crate) line_feed: bool,
}

pub(crate) fn compile(node: &Node, groups: usize, back_references: bool, flags: &Flags) -> Program {
    let mut compiler =
        Compiler { steps: Vec::new(), splits: 0, slots: 2 * (groups + 1), back_references, flags };
    compiler.node(node);
    compiler.steps.push(Step::Match);
    Program {
        start: Start::of(&compiler.steps, flags.multi_line),
        steps: compiler.steps,
        splits: compiler.splits,
        slots: compiler.slots,
        back_references,
        ignore_case: flags.ignore_case,
        multi_line: flags.multi_line,
    }
}

struct Compiler<'a> {
    steps: Vec<Step>,
    splits: usize,
    slots: usize,
    back_references: bool,
    flags: &'a Flags,
}

impl Compiler<'_> {
    fn node(&mut self, node: &Node) {
        match node {
            Node::Sign(sign) if !self.flags.ignore_case => {
                let mut bytes = [0; 4];
                self.steps.extend(sign.encode_utf8(&mut bytes).bytes().map(Step::Byte));
            }
            Node::Byte(byte) => self.steps.push(Step::Byte(*byte)),
            Node::Sign(_) | Node::Any | Node::Class(_) => {
                let set = self.set(node);
                self.steps.push(Step::Set(set));
            }
            Node::Group(node, index) => {
                self.steps.push(Step::Save(2 * index));
                self.node(node);
                self.steps.push(Step::Save(2 * index + 1));
            }
            Node::Sequence(nodes) => nodes.iter().for_each(|node| self.node(node)),
            Node::Either(nodes) => self.either(nodes),
            Node::Repeat { node, min, max } => self.repeat(node, *min, *max),
            Node::Assert(kind) => self.steps.push(Step::Assert(*kind)),
            Node::BackReference(group) => self.steps.push(Step::BackReference(*group)),
        }
    }

    fn set(&self, node: &Node) -> Set {
        // A line feed that is asked for by itself is meant.
        let named = matches!(node, Node::Sign(_));
        Set::of(node, self.flags.ignore_case, self.flags.line_feed || named)
    }

    fn split(&mut self) -> usize {
        let at = self.steps.len();
        self.steps.push(Step::Split { first: at + 1, second: 0, id: self.splits });
        self.splits += 1;
        at
    }

    /// Makes the second way of the split at `at` go on at the end of the program so far.
    fn land(&mut self, at: usize) {
        let end = self.steps.len();
        match &mut self.steps[at] {
            Step::Split { second, .. } => *second = end,
            Step::Jump(target) => *target = end,
            _ => {}
        }
    }

    fn either(&mut self, nodes: &[Node]) {
        let mut order: Vec<&Node> = nodes.iter().collect();
        // Groups take as much as they can, so of plain texts the longer are tried first.
        let mut lengths = Vec::new();
        for node in &order {
            let mut text = Vec::new();
            lengths.push(node.literal(&mut text).then_some(text.len()));
        }
        if lengths.iter().all(Option::is_some) {
            let mut sorted: Vec<(usize, &Node)> = lengths.into_iter().flatten().zip(order).collect();
            sorted.sort_by_key(|(length, _)| std::cmp::Reverse(*length));
            order = sorted.into_iter().map(|(_, node)| node).collect();
        }
        let mut ends = Vec::new();
        for (index, node) in order.iter().enumerate() {
            if index + 1 == order.len() {
                self.node(node);
                continue;
            }
            let split = self.split();
            self.node(node);
            ends.push(self.steps.len());
            self.steps.push(Step::Jump(0));
            self.land(split);
        }
        ends.into_iter().for_each(|end| self.land(end));
    }

    fn repeat(&mut self, node: &Node, min: u32, max: Option<u32>) {
        if node.is_single() {
            let set = self.set(node);
            self.steps.push(Step::Run { set, min, max: max.unwrap_or(u32::MAX) });
            return;
        }
        for _ in 0..min {
            self.node(node);
        }
        let Some(max) = max else { return self.forever(node) };
        let splits: Vec<usize> = (min..max)
            .map(|_| {
                let split = self.split();
                self.node(node);
                split
            })
            .collect();
        splits.into_iter().for_each(|split| self.land(split));
    }

    fn forever(&mut self, node: &Node) {
        let split = self.split();
        // Without back-references the memory of what failed ends empty turns.
        let guard = (self.back_references && node.nullable()).then(|| {
            self.slots += 1;
            self.slots - 1
        });
        if let Some(slot) = guard {
            self.steps.push(Step::Save(slot));
        }
        self.node(node);
        if let Some(slot) = guard {
            self.steps.push(Step::Progress(slot));
        }
        self.steps.push(Step::Jump(split));
        self.land(split);
    }
}
