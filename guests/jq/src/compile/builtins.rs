//! The functions a program finds without defining them: as nodes, as Rust, or as definitions.

use super::node::{Id, Node, Special};
use super::{Compiler, definitions};
use crate::natives;
use crate::syntax::ast::{Assignment, Ast};
use crate::value::{Object, Value};

/// The environment as an object.
pub(super) fn environment() -> Value {
    Value::obj(std::env::vars().map(|(name, value)| (name.into(), value.into())).collect::<Object>())
}

impl Compiler {
    pub(super) fn builtin(&mut self, name: &str, args: &[Ast], at: usize) -> Id {
        let ids: Vec<Id> = args.iter().map(|arg| self.expression(arg)).collect();
        if let Some(id) = self.shaped(name, &ids) {
            return id;
        }
        if let Some((special, arity)) = special(name)
            && arity == ids.len()
        {
            return self.push(Node::Special(special, ids.into()));
        }
        if let Some((native, last_slowest)) = natives::find(name, ids.len()) {
            return self.push(Node::Native(native, ids.into(), last_slowest));
        }
        if let Some(function) = self.defined(name, ids.len()) {
            return self.call_function(function, 0, ids.into());
        }
        self.undefined(&format!("{name}/{}", args.len()), at)
    }

    /// Functions that are nothing but other nodes.
    fn shaped(&mut self, name: &str, ids: &[Id]) -> Option<Id> {
        Some(match (name, ids) {
            ("empty", []) => self.push(Node::Empty),
            ("error", [message]) => {
                let error = self.push(Node::Special(Special::Error, [].into()));
                self.pipe(*message, error)
            }
            ("map", [f]) => {
                let each = self.push(Node::Iterate);
                let inner = self.pipe(each, *f);
                self.push(Node::Array(inner))
            }
            ("map_values", [f]) => {
                let each = self.push(Node::Iterate);
                self.push(Node::Assign(Assignment::Update, each, *f))
            }
            ("select", [test]) => self.choose(*test),
            ("recurse", []) => self.recurse_all(),
            ("recurse", [f, test]) => {
                let kept = self.choose(*test);
                let next = self.pipe(*f, kept);
                self.push(Node::Special(Special::Recurse, [next].into()))
            }
            ("range", [upto]) => {
                let (zero, one) = (self.number(0.0), self.number(1.0));
                self.push(Node::Special(Special::Range, [zero, *upto, one].into()))
            }
            ("range", [from, upto]) => {
                let one = self.number(1.0);
                self.push(Node::Special(Special::Range, [*from, *upto, one].into()))
            }
            ("first", []) => self.item(0.0),
            ("last", []) => self.item(-1.0),
            ("nth", [place]) => {
                let input = self.push(Node::Identity);
                self.push(Node::Index(input, *place))
            }
            ("any" | "all", _) if ids.len() < 2 => {
                let each = self.push(Node::Iterate);
                let test = ids.first().copied().unwrap_or_else(|| self.push(Node::Identity));
                let special = if name == "any" { Special::Any } else { Special::All };
                self.push(Node::Special(special, [each, test].into()))
            }
            ("add", []) => {
                let each = self.push(Node::Iterate);
                self.push(Node::Special(Special::Add, [each].into()))
            }
            ("paths", []) => self.push(Node::Special(Special::Paths, [].into())),
            ("with_entries", [f]) => {
                let to = self.native("to_entries", &[])?;
                let from = self.native("from_entries", &[])?;
                let each = self.push(Node::Iterate);
                let inner = self.pipe(each, *f);
                let mapped = self.push(Node::Array(inner));
                let rest = self.pipe(mapped, from);
                self.pipe(to, rest)
            }
            ("debug", [message]) => {
                let (debug, none) =
                    (self.push(Node::Special(Special::Debug, [].into())), self.push(Node::Empty));
                let silent = self.pipe(debug, none);
                let told = self.pipe(*message, silent);
                let input = self.push(Node::Identity);
                self.push(Node::Comma([told, input].into()))
            }
            ("halt_error", []) => {
                let five = self.number(5.0);
                self.push(Node::Special(Special::HaltError, [five].into()))
            }
            ("env", []) => {
                let value = environment();
                self.push(Node::Const(value))
            }
            ("input_line_number", []) => self.push(Node::Special(Special::InputLine, [].into())),
            ("get_search_list", []) => {
                let folders = self.folders.iter().map(|it| Value::str(it)).collect();
                self.push(Node::Const(folders))
            }
            ("modulemeta", []) => {
                let folders = self.folders.iter().map(|it| Value::str(it)).collect();
                let folders = self.push(Node::Const(folders));
                self.native("_modulemeta", &[folders])?
            }
            ("builtins", []) => {
                let own = ["get_search_list/0", "modulemeta/0"].map(str::to_owned);
                let names = natives::names().chain(definitions::names()).chain(own);
                let names = names.map(|it| Value::str(&it)).collect();
                self.push(Node::Const(names))
            }
            _ => return None,
        })
    }

    /// `if test then . else empty end`
    fn choose(&mut self, test: Id) -> Id {
        let (then, otherwise) = (self.push(Node::Identity), self.push(Node::Empty));
        self.push(Node::If(test, then, otherwise))
    }

    fn number(&mut self, number: f64) -> Id {
        self.push(Node::Const(Value::Num(number)))
    }

    fn item(&mut self, place: f64) -> Id {
        let (input, place) = (self.push(Node::Identity), self.number(place));
        self.push(Node::Index(input, place))
    }

    fn native(&mut self, name: &str, args: &[Id]) -> Option<Id> {
        let (native, last_slowest) = natives::find(name, args.len())?;
        Some(self.push(Node::Native(native, args.into(), last_slowest)))
    }

    /// A function defined in the language itself, compiled on first use.
    fn defined(&mut self, name: &str, arity: usize) -> Option<u32> {
        if let Some((.., function)) =
            self.ready.iter().find(|(known, count, _)| *known == name && *count == arity)
        {
            return Some(*function);
        }
        let (known, text) = definitions::find(name, arity)?;
        // They are ours, and a test reads them all.
        let all = crate::syntax::parse_definitions(text).ok()?;
        let definition = all.first()?;
        let function = self.reserve(definition);
        self.ready.push((known, arity, function));
        // A definition of ours sees no names of the program, and stands at the root of the chain.
        let (scope, depth) = (std::mem::take(&mut self.scope), std::mem::take(&mut self.depth));
        self.body(definition, function);
        (self.scope, self.depth) = (scope, depth);
        Some(function)
    }
}

fn special(name: &str) -> Option<(Special, usize)> {
    Some(match name {
        "recurse" => (Special::Recurse, 1),
        "range" => (Special::Range, 3),
        "first" => (Special::First, 1),
        "last" => (Special::Last, 1),
        "limit" => (Special::Limit, 2),
        "skip" => (Special::Skip, 2),
        "nth" => (Special::Nth, 2),
        "until" => (Special::Until, 2),
        "while" => (Special::While, 2),
        "repeat" => (Special::Repeat, 1),
        "any" => (Special::Any, 2),
        "all" => (Special::All, 2),
        "isempty" => (Special::IsEmpty, 1),
        "path" => (Special::Path, 1),
        "paths" => (Special::Paths, 1),
        "del" => (Special::Delete, 1),
        "pick" => (Special::Pick, 1),
        "walk" => (Special::Walk, 1),
        "sort_by" => (Special::SortBy, 1),
        "group_by" => (Special::GroupBy, 1),
        "unique_by" => (Special::UniqueBy, 1),
        "min_by" => (Special::MinBy, 1),
        "max_by" => (Special::MaxBy, 1),
        "add" => (Special::Add, 1),
        "input" => (Special::Input, 0),
        "inputs" => (Special::Inputs, 0),
        "debug" => (Special::Debug, 0),
        "stderr" => (Special::Stderr, 0),
        "input_filename" => (Special::InputFilename, 0),
        "halt" => (Special::Halt, 0),
        "halt_error" => (Special::HaltError, 1),
        "error" => (Special::Error, 0),
        "getpath" => (Special::GetPath, 1),
        "_substitute" => (Special::Substitute, 3),
        "tostream" => (Special::ToStream, 0),
        _ => return None,
    })
}
