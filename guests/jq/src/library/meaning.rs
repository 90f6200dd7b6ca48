//! Gives operators the meaning they have in jq where jaq's differs.
//!
//! Of two operands with several results, jq runs through the right one outside; division by zero is
//! an error; a number does not index an object; `catch` sees jq's sentences; and `reduce` goes on
//! with the last of several results.

use super::rewrite::each_child;
use jaq_core::load::parse::{BinaryOp, Pattern, Term};
use jaq_core::ops::Math;
use jaq_core::path::{Opt, Part, Path};

/// Definitions and functions that the rewritten program calls.
pub const CALLED: [&str; 6] =
    ["message_in_jq_words", "divide", "remainder_of", "_no_object", "_slice_or_null", "_last_or_null"];

/// Whether rewriting `program` can put in a call of `name`. Too often is harmless.
pub fn may_call(program: &str, name: &str) -> bool {
    match name {
        "message_in_jq_words" => program.contains("catch"),
        "divide" => program.contains('/'),
        "remainder_of" => program.contains('%'),
        "_last_or_null" => program.contains("reduce"),
        _ => program.contains('['),
    }
}

const LEFT: &str = "$__left";
const RIGHT: &str = "$__operand";

/// Rewrites `it`, from the inside out.
pub fn apply<'s>(it: &mut Term<&'s str>) {
    each_child(it, &mut apply);
    match it {
        Term::TryCatch(_, Some(caught)) => {
            let then = std::mem::take(&mut **caught);
            **caught = pipe(Term::Call("message_in_jq_words", Vec::new()), then);
        }
        Term::BinOp(_, BinaryOp::Math(Math::Div), _) => divide(it, "divide"),
        Term::BinOp(_, BinaryOp::Math(Math::Rem), _) => divide(it, "remainder_of"),
        Term::BinOp(left, BinaryOp::Math(_) | BinaryOp::Cmp(_), right) if !single(left) && !single(right) => {
            let outside = std::mem::replace(&mut **right, Term::Var(RIGHT));
            let inside = std::mem::take(it);
            *it = bind(outside, RIGHT, inside);
        }
        Term::Fold("reduce", _, _, args) => {
            if let Some(update) = args.last_mut().filter(|update| !single(update)) {
                let term = std::mem::take(update);
                *update = Term::Call("_last_or_null", vec![term]);
            }
        }
        Term::Path(..) => checked_path(it),
        _ => {}
    }
}

/// `left / right` as a call, for zero is not jaq's business.
fn divide<'s>(it: &mut Term<&'s str>, name: &'static str) {
    let Term::BinOp(left, _, right) = it else { return };
    let (left, right) = (std::mem::take(&mut **left), std::mem::take(&mut **right));
    // By a number that is not zero there is nothing to check.
    if name == "divide"
        && let Term::Num(digits) = right
        && digits.bytes().any(|byte| matches!(byte, b'1'..=b'9'))
    {
        *it = Term::BinOp(Box::new(left), BinaryOp::Math(Math::Div), Box::new(right));
        return;
    }
    let call = Term::Call(name, vec![Term::Var(LEFT), Term::Var(RIGHT)]);
    *it = bind(right, RIGHT, bind(left, LEFT, call));
}

/// Splits a path before each plain number and plain slice, and checks what it is applied to there.
fn checked_path<'s>(it: &mut Term<&'s str>) {
    let Term::Path(_, path) = it else { return };
    let checks = |part: &(Part<Term<&'s str>>, Opt)| check_for(&part.0).is_some();
    if !path.0.iter().any(checks) {
        return;
    }
    let Term::Path(head, path) = std::mem::take(it) else { return };
    let mut done = *head;
    let mut held = Vec::new();
    for part in path.0 {
        let Some(check) = check_for(&part.0) else {
            held.push(part);
            continue;
        };
        if !held.is_empty() {
            done = Term::Path(Box::new(done), Path(std::mem::take(&mut held)));
        }
        let optional = matches!(part.1, Opt::Optional);
        done = match check {
            "_no_object" => {
                let check = Term::Call(check, Vec::new());
                let check = if optional { Term::TryCatch(Box::new(check), None) } else { check };
                Term::Path(Box::new(joined(done, check)), Path(vec![part]))
            }
            _ => joined(done, Term::Call(check, vec![Term::Path(Box::new(Term::Id), Path(vec![part]))])),
        };
    }
    if !held.is_empty() {
        done = Term::Path(Box::new(done), Path(held));
    }
    *it = done;
}

fn joined<'s>(left: Term<&'s str>, right: Term<&'s str>) -> Term<&'s str> {
    if matches!(left, Term::Id) { right } else { pipe(left, right) }
}

fn check_for<'s>(part: &Part<Term<&'s str>>) -> Option<&'static str> {
    let plain = |term: &Term<&'s str>| match term {
        Term::Num(_) => true,
        Term::Neg(inner) => matches!(**inner, Term::Num(_)),
        _ => false,
    };
    match part {
        Part::Index(index) if plain(index) => Some("_no_object"),
        Part::Range(from, to) if (from.is_some() || to.is_some()) && from.iter().chain(to).all(plain) => {
            Some("_slice_or_null")
        }
        _ => None,
    }
}

fn pipe<'s>(left: Term<&'s str>, right: Term<&'s str>) -> Term<&'s str> {
    Term::BinOp(Box::new(left), BinaryOp::Pipe(None), Box::new(right))
}

fn bind<'s>(value: Term<&'s str>, name: &'static str, then: Term<&'s str>) -> Term<&'s str> {
    Term::BinOp(Box::new(value), BinaryOp::Pipe(Some(Pattern::Var(name))), Box::new(then))
}

/// Whether the term certainly has exactly one result, or fails.
fn single(it: &Term<&str>) -> bool {
    match it {
        Term::Id | Term::Num(_) | Term::Var(_) | Term::Arr(_) => true,
        Term::Str(_, parts) => {
            parts.iter().all(|part| !matches!(part, jaq_core::load::lex::StrPart::Term(_)))
        }
        Term::Neg(inner) => single(inner),
        Term::Obj(fields) => {
            fields.iter().all(|(key, value)| single(key) && value.as_ref().is_none_or(single))
        }
        Term::BinOp(_, BinaryOp::Comma | BinaryOp::Alt, _) => false,
        Term::BinOp(left, _, right) => single(left) && single(right),
        Term::IfThenElse(arms, otherwise) => {
            arms.iter().all(|(when, then)| single(when) && single(then))
                && otherwise.as_ref().is_none_or(|otherwise| single(otherwise))
        }
        Term::Path(head, path) => {
            let fixed = |(part, opt): &(Part<Term<&str>>, Opt)| {
                matches!(opt, Opt::Essential)
                    && match part {
                        Part::Index(index) => single(index),
                        Part::Range(from, to) => {
                            (from.is_some() || to.is_some()) && from.iter().chain(to).all(single)
                        }
                    }
            };
            single(head) && path.0.iter().all(fixed)
        }
        Term::Call("_assign", args) => args.iter().all(single),
        Term::Call("_modify" | "setpath" | "del" | "tostring" | "length" | "not" | "type" | "tojson", _) => {
            true
        }
        _ => false,
    }
}
