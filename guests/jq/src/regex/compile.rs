//! A tree to the steps of the machine.

use super::Problem;
use super::machine::{Code, Step};
use super::syntax::{Kind, Node, Parsed};

/// A pattern that would need more steps is refused.
const STEPS_MAX: usize = 200_000;

pub(super) fn compile(parsed: &Parsed) -> Result<Code, Problem> {
    let mut code = Code { steps: Vec::new(), marks: 0 };
    add(&mut code, &parsed.root)?;
    code.steps.push(Step::Match);
    Ok(code)
}

fn add(code: &mut Code, node: &Node) -> Result<(), Problem> {
    if code.steps.len() > STEPS_MAX {
        return Err("too big wide range for repeat");
    }
    match node {
        Node::Empty => {}
        Node::Char(sign, ignore_case) => code.steps.push(if *ignore_case {
            Step::CharFolded(super::class::lower(*sign))
        } else {
            Step::Char(*sign)
        }),
        Node::Class(class) => code.steps.push(Step::Class(Box::new(class.clone()))),
        Node::Any(all) => code.steps.push(Step::Any(*all)),
        Node::Assert(assert) => code.steps.push(Step::Assert(*assert)),
        Node::Keep => code.steps.push(Step::Save(0)),
        Node::All(items) => items.iter().try_for_each(|item| add(code, item))?,
        Node::Either(items) => either(code, items)?,
        Node::Group(number, inner) => {
            code.steps.push(Step::Save(number * 2));
            add(code, inner)?;
            code.steps.push(Step::Save(number * 2 + 1));
        }
        Node::Atomic(inner) => {
            let at = code.steps.len();
            code.steps.push(Step::Atomic(0));
            add(code, inner)?;
            code.steps.push(Step::Match);
            code.steps[at] = Step::Atomic(code.steps.len());
        }
        Node::Look { behind, negative, inner } => {
            let at = code.steps.len();
            code.steps.push(Step::Match);
            add(code, inner)?;
            code.steps.push(Step::Match);
            code.steps[at] = Step::Look { behind: *behind, negative: *negative, next: code.steps.len() };
        }
        Node::Backreference(groups, ignore_case) => {
            code.steps.push(Step::Backreference(groups.clone().into(), *ignore_case));
        }
        Node::Repeat { inner, min, max, kind } => repeat(code, inner, *min, *max, *kind)?,
    }
    Ok(())
}

fn either(code: &mut Code, items: &[Node]) -> Result<(), Problem> {
    let mut ends = Vec::new();
    for (at, item) in items.iter().enumerate() {
        if at + 1 == items.len() {
            add(code, item)?;
            break;
        }
        let fork = code.steps.len();
        code.steps.push(Step::Match);
        add(code, item)?;
        ends.push(code.steps.len());
        code.steps.push(Step::Match);
        code.steps[fork] = Step::Fork { first: fork + 1, second: code.steps.len() };
    }
    let end = code.steps.len();
    ends.into_iter().for_each(|at| code.steps[at] = Step::Jump(end));
    Ok(())
}

fn repeat(code: &mut Code, inner: &Node, min: u32, max: Option<u32>, kind: Kind) -> Result<(), Problem> {
    if kind == Kind::Possessive {
        let at = code.steps.len();
        code.steps.push(Step::Match);
        repeat(code, inner, min, max, Kind::Greedy)?;
        code.steps.push(Step::Match);
        code.steps[at] = Step::Atomic(code.steps.len());
        return Ok(());
    }
    for _ in 0..min {
        add(code, inner)?;
    }
    let fork = |first: usize, second: usize| match kind {
        Kind::Lazy => Step::Fork { first: second, second: first },
        _ => Step::Fork { first, second },
    };
    match max {
        None => {
            let mark = code.marks;
            code.marks += 1;
            let start = code.steps.len();
            code.steps.push(Step::Match);
            code.steps.push(Step::Mark(mark));
            add(code, inner)?;
            // A round that took nothing is the last one.
            code.steps.push(Step::Again(mark, start));
            code.steps[start] = fork(start + 1, code.steps.len());
        }
        Some(max) => {
            let mut forks = Vec::new();
            for _ in min..max {
                forks.push(code.steps.len());
                code.steps.push(Step::Match);
                add(code, inner)?;
            }
            let end = code.steps.len();
            forks.into_iter().for_each(|at| code.steps[at] = fork(at + 1, end));
        }
    }
    Ok(())
}
