//! Gives assignments jq's meaning.
//!
//! jaq updates in place along the left side, and so cannot assign to what is not there yet:
//! `{} | .a.b = 1` fails. jq finds the paths first and sets them, making objects and arrays on the
//! way. Every assignment operator is therefore replaced by a call of the functions in `ours.jq`
//! that do it jq's way.

use jaq_core::load::lex::StrPart;
use jaq_core::load::parse::{BinaryOp, Pattern, Term};
use jaq_core::path::Part;

/// Holds the right side of `+=` and its like; no program uses this name by accident.
const RIGHT: &str = "$__right";

/// Replaces the assignments in `it`, from the inside out.
pub fn assignments<'s>(it: &mut Term<&'s str>) {
    each_child(it, &mut assignments);
    let Term::BinOp(left, op, right) = it else { return };
    let call =
        |name: &'static str, left: Term<&'s str>, right: Term<&'s str>| Term::Call(name, vec![left, right]);
    let (left, right) = (std::mem::take(&mut **left), std::mem::take(&mut **right));
    let bound = |op: BinaryOp<&'s str>, left: Term<&'s str>, right: Term<&'s str>| {
        let update = Term::BinOp(Box::new(Term::Id), op, Box::new(Term::Var(RIGHT)));
        let bind = BinaryOp::Pipe(Some(Pattern::Var(RIGHT)));
        Term::BinOp(Box::new(right), bind, Box::new(call("_modify", left, update)))
    };
    *it = match op {
        BinaryOp::Assign => call("_assign", left, right),
        BinaryOp::Update => call("_modify", left, right),
        BinaryOp::UpdateMath(math) => bound(BinaryOp::Math(*math), left, right),
        BinaryOp::UpdateAlt => bound(BinaryOp::Alt, left, right),
        other => Term::BinOp(Box::new(left), other.clone(), Box::new(right)),
    };
}

/// Calls `change` on every term directly inside `it`.
pub(super) fn each_child<'s>(it: &mut Term<&'s str>, change: &mut dyn FnMut(&mut Term<&'s str>)) {
    match it {
        Term::Id | Term::Recurse | Term::Num(_) | Term::Break(_) | Term::Var(_) | Term::Arr(None) => {}
        Term::Str(_, parts) => {
            for part in parts {
                if let StrPart::Term(inner) = part {
                    change(inner);
                }
            }
        }
        Term::Arr(Some(inner)) | Term::Neg(inner) | Term::Label(_, inner) => change(inner),
        Term::Obj(fields) => {
            for (key, value) in fields {
                change(key);
                value.iter_mut().for_each(&mut *change);
            }
        }
        Term::BinOp(left, op, right) => {
            if let BinaryOp::Pipe(Some(bound)) = op {
                each_in_pattern(bound, change);
            }
            change(left);
            change(right);
        }
        Term::Fold(_, over, bound, args) => {
            each_in_pattern(bound, change);
            change(over);
            args.iter_mut().for_each(change);
        }
        Term::TryCatch(tried, caught) => {
            change(tried);
            caught.iter_mut().for_each(|caught| change(caught));
        }
        Term::IfThenElse(arms, otherwise) => {
            for (when, then) in arms {
                change(when);
                change(then);
            }
            otherwise.iter_mut().for_each(|otherwise| change(otherwise));
        }
        Term::Def(defs, inner) => {
            defs.iter_mut().for_each(|def| change(&mut def.body));
            change(inner);
        }
        Term::Call(_, args) => args.iter_mut().for_each(change),
        Term::Path(head, path) => {
            change(head);
            for (part, _) in &mut path.0 {
                match part {
                    Part::Index(index) => change(index),
                    Part::Range(from, to) => from.iter_mut().chain(to).for_each(&mut *change),
                }
            }
        }
    }
}

fn each_in_pattern<'s>(it: &mut Pattern<&'s str>, change: &mut dyn FnMut(&mut Term<&'s str>)) {
    match it {
        Pattern::Var(_) => {}
        Pattern::Arr(items) => items.iter_mut().for_each(|item| each_in_pattern(item, change)),
        Pattern::Obj(fields) => {
            for (key, value) in fields {
                change(key);
                each_in_pattern(value, change);
            }
        }
    }
}
