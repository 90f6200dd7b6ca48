//! Which names a text or a definition mentions. Too many is harmless, too few is not.

use jaq_core::load::lex::StrPart;
use jaq_core::load::parse::{BinaryOp, Def, Pattern, Term};
use jaq_core::path::Part;
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

/// Names by a plain hash: the set is small, and no seed has to be fetched from the host.
pub type Names<'a> = HashSet<&'a str, BuildHasherDefault<Fnv>>;

/// All words of a program, also those in its strings.
pub fn words(program: &str) -> Names<'_> {
    let inside = |sign: char| sign.is_alphanumeric() || sign == '_' || sign == '@';
    program.split(|sign| !inside(sign)).filter(|word| !word.is_empty()).collect()
}

/// The names a definition calls.
pub fn mentions(def: &Def) -> Vec<&'static str> {
    let mut names = Vec::new();
    term(&def.body, &mut names);
    names.sort_unstable();
    names.dedup();
    names
}

fn term(it: &Term<&'static str>, names: &mut Vec<&'static str>) {
    match it {
        Term::Id | Term::Recurse | Term::Num(_) | Term::Break(_) | Term::Var(_) | Term::Arr(None) => {}
        Term::Str(format, parts) => {
            names.extend(format);
            for part in parts {
                if let StrPart::Term(inner) = part {
                    term(inner, names);
                }
            }
        }
        Term::Arr(Some(inner)) | Term::Neg(inner) | Term::Label(_, inner) => term(inner, names),
        Term::Obj(fields) => {
            for (key, value) in fields {
                term(key, names);
                value.iter().for_each(|value| term(value, names));
            }
        }
        Term::BinOp(left, op, right) => {
            if let BinaryOp::Pipe(Some(bound)) = op {
                pattern(bound, names);
            }
            term(left, names);
            term(right, names);
        }
        Term::Fold(_, over, bound, args) => {
            pattern(bound, names);
            term(over, names);
            args.iter().for_each(|arg| term(arg, names));
        }
        Term::TryCatch(tried, caught) => {
            term(tried, names);
            caught.iter().for_each(|caught| term(caught, names));
        }
        Term::IfThenElse(arms, otherwise) => {
            for (when, then) in arms {
                term(when, names);
                term(then, names);
            }
            otherwise.iter().for_each(|otherwise| term(otherwise, names));
        }
        Term::Def(defs, inner) => {
            defs.iter().for_each(|def| term(&def.body, names));
            term(inner, names);
        }
        Term::Call(name, args) => {
            names.push(name);
            args.iter().for_each(|arg| term(arg, names));
        }
        Term::Path(head, path) => {
            term(head, names);
            for (part, _) in &path.0 {
                match part {
                    Part::Index(index) => term(index, names),
                    Part::Range(from, to) => from.iter().chain(to).for_each(|it| term(it, names)),
                }
            }
        }
    }
}

fn pattern(it: &Pattern<&'static str>, names: &mut Vec<&'static str>) {
    match it {
        Pattern::Var(_) => {}
        Pattern::Arr(items) => items.iter().for_each(|item| pattern(item, names)),
        Pattern::Obj(fields) => {
            for (key, value) in fields {
                term(key, names);
                pattern(value, names);
            }
        }
    }
}

/// The hash of Fowler, Noll and Vo, for words.
#[derive(Default)]
pub struct Fnv(u64);

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
