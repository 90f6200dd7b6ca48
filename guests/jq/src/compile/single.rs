//! Finds the nodes with at most one output; those run without callbacks, and in a loop where they
//! stand last.
//!
//! A recursive function is taken to be such until something in it says otherwise, so the pass runs
//! until nothing changes.

use super::node::{Alternative, Id, Node, Pattern, Program, Special, TextPart};

/// Fills in `program.single`.
pub(super) fn mark(program: &mut Program) {
    let mut functions = vec![true; program.functions.len()];
    program.single = vec![true; program.nodes.len()];
    loop {
        for at in 0..program.nodes.len() {
            program.single[at] = is_single(program, &functions, &program.nodes[at]);
        }
        let mut changed = false;
        for (at, function) in program.functions.iter().enumerate() {
            let now = program.single[function.body as usize];
            changed |= now != functions[at];
            functions[at] = now;
        }
        if !changed {
            return;
        }
    }
}

fn is_single(program: &Program, functions: &[bool], node: &Node) -> bool {
    let one = |id: Id| program.single[id as usize];
    let all = |ids: &[Id]| ids.iter().all(|id| one(*id));
    let optional = |id: Option<Id>| id.is_none_or(one);
    match node {
        Node::Identity | Node::Empty | Node::Const(_) | Node::Field(_) | Node::Array(_) => true,
        Node::Format(_) | Node::Var(_) | Node::Break(_) => true,
        Node::Iterate | Node::Arg(_) | Node::Comma(_) => false,
        Node::Index(a, b)
        | Node::Pipe(a, b)
        | Node::Binary(_, a, b)
        | Node::And(a, b)
        | Node::Or(a, b)
        | Node::Alternative(a, b) => one(*a) && one(*b),
        Node::Slice(target, from, to) => one(*target) && optional(*from) && optional(*to),
        Node::Object(fields) => fields.iter().all(|(key, value)| one(*key) && optional(*value)),
        Node::Negate(inner) => one(*inner),
        Node::If(test, then, otherwise) => one(*test) && one(*then) && one(*otherwise),
        Node::Try(body, handler) => one(*body) && optional(*handler),
        Node::Text(_, parts) => parts.iter().all(|part| match part {
            TextPart::Plain(_) => true,
            TextPart::Inserted(id) => one(*id),
        }),
        Node::Fold(fold) => {
            fold.extract.is_none()
                && one(fold.init)
                && fold.binder.alternatives.iter().all(|it| plain(program, it))
        }
        Node::Bind(source, binder, body) => {
            one(*source)
                && one(*body)
                && binder.alternatives.len() == 1
                && plain(program, &binder.alternatives[0])
        }
        // A `break` may come out of the middle, but never a second output.
        Node::Label(body) => one(*body),
        Node::Call(call) => {
            let values = &program.functions[call.function as usize].params;
            functions[call.function as usize]
                && call.args.iter().zip(values).all(|(arg, value)| !value || one(*arg))
        }
        Node::Native(_, args, _) => all(args),
        Node::Assign(assignment, _, right) => {
            matches!(assignment, crate::syntax::ast::Assignment::Update) || one(*right)
        }
        Node::Special(special, args) => match special {
            Special::First | Special::Last | Special::Any | Special::All | Special::IsEmpty => true,
            Special::Delete | Special::Pick | Special::Add => true,
            Special::SortBy | Special::GroupBy | Special::UniqueBy | Special::MinBy | Special::MaxBy => true,
            Special::Input
            | Special::Debug
            | Special::Stderr
            | Special::InputFilename
            | Special::InputLine => true,
            Special::Halt | Special::Error => true,
            Special::HaltError | Special::GetPath => all(args),
            Special::Until | Special::Walk => all(args),
            Special::Nth => one(args[0]),
            _ => false,
        },
    }
}

fn plain(program: &Program, alternative: &Alternative) -> bool {
    fn walk(program: &Program, pattern: &Pattern) -> bool {
        match pattern {
            Pattern::Variable => true,
            Pattern::Array(items) => items.iter().all(|item| walk(program, item)),
            Pattern::Object(fields) => fields.iter().all(|field| {
                program.single[field.key as usize]
                    && field.value.as_ref().is_none_or(|value| walk(program, value))
            }),
        }
    }
    walk(program, &alternative.pattern)
}
