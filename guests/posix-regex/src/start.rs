//! Where a match of a program can begin at all, so that most positions need no attempt.

use crate::ast::Assert;
use crate::program::Step;

/// See the module.
#[derive(Debug)]
pub(crate) struct Start {
    /// The bytes a match begins with; `None` if it may be empty, or begin with anything.
    bytes: Option<Box<[bool; 256]>>,
    /// Every match begins where the text does.
    anchored: bool,
}

impl Start {
    pub(crate) fn of(steps: &[Step], multi_line: bool) -> Self {
        let mut search = Search {
            steps,
            multi_line,
            seen: vec![[false; 2]; steps.len()],
            bytes: Box::new([false; 256]),
            anything: false,
            anchored: true,
        };
        search.visit(0, false);
        Self { bytes: (!search.anything).then_some(search.bytes), anchored: search.anchored }
    }

    /// The first position at or after `at` that is worth an attempt.
    #[inline]
    pub(crate) fn next(&self, text: &[u8], at: usize) -> Option<usize> {
        if self.anchored && at > 0 {
            return None;
        }
        match &self.bytes {
            Some(bytes) => {
                text.get(at..)?.iter().position(|byte| bytes[usize::from(*byte)]).map(|found| at + found)
            }
            None => (at <= text.len()).then_some(at),
        }
    }
}

struct Search<'a> {
    steps: &'a [Step],
    multi_line: bool,
    /// With and without an anchor on the way.
    seen: Vec<[bool; 2]>,
    bytes: Box<[bool; 256]>,
    anything: bool,
    anchored: bool,
}

impl Search<'_> {
    fn visit(&mut self, from: usize, anchored: bool) {
        let mut todo = vec![(from, anchored)];
        while let Some((at, anchored)) = todo.pop() {
            if std::mem::replace(&mut self.seen[at][usize::from(anchored)], true) {
                continue;
            }
            match &self.steps[at] {
                Step::Byte(byte) => self.bytes[usize::from(*byte)] = true,
                Step::Set(set) => set.mark(&mut self.bytes),
                Step::Run { set, min, .. } => {
                    set.mark(&mut self.bytes);
                    if *min == 0 {
                        todo.push((at + 1, anchored));
                    }
                }
                Step::Match | Step::BackReference(_) => self.anything = true,
                Step::Split { first, second, .. } => todo.extend([(*first, anchored), (*second, anchored)]),
                Step::Jump(target) => todo.push((*target, anchored)),
                Step::Save(_) | Step::Progress(_) => todo.push((at + 1, anchored)),
                Step::Assert(kind) => {
                    let anchor = match kind {
                        Assert::TextStart => true,
                        Assert::LineStart => !self.multi_line,
                        _ => false,
                    };
                    todo.push((at + 1, anchored || anchor));
                }
            }
            let passes = matches!(
                self.steps[at],
                Step::Split { .. } | Step::Jump(_) | Step::Save(_) | Step::Progress(_) | Step::Assert(_)
            );
            self.anchored &= passes || anchored;
        }
    }
}
