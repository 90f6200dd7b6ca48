//! Expressions to nodes.

use super::node::{Call, Fold, Id, Node, Special, TextPart};
use super::{Compiler, Entry};
use crate::natives::Format;
use crate::syntax::ast::{Ast, Part};
use crate::value::Value;

impl Compiler {
    pub(super) fn expression(&mut self, tree: &Ast) -> Id {
        let node = match tree {
            Ast::Identity => Node::Identity,
            Ast::Recurse => return self.recurse_all(),
            Ast::Literal(value) => Node::Const(value.clone()),
            Ast::Text(format, parts) => return self.text(format.as_deref(), parts),
            Ast::Format(name) => match Format::named(name) {
                Some(format) => Node::Format(format),
                None => return self.no_format(name),
            },
            Ast::Index(target, key) => {
                let target = self.expression(target);
                if let Ast::Literal(Value::Str(name)) = &**key {
                    let field = self.push(Node::Field(name.clone()));
                    return self.pipe(target, field);
                }
                let key = self.expression(key);
                Node::Index(target, key)
            }
            Ast::Slice(target, from, to) => {
                let target = self.expression(target);
                let from = from.as_ref().map(|from| self.expression(from));
                let to = to.as_ref().map(|to| self.expression(to));
                Node::Slice(target, from, to)
            }
            Ast::Iterate(target) => {
                let target = self.expression(target);
                let each = self.push(Node::Iterate);
                return self.pipe(target, each);
            }
            Ast::Array(None) => Node::Const(Value::arr(Vec::new())),
            Ast::Array(Some(inner)) => Node::Array(self.expression(inner)),
            Ast::Object(fields) => {
                let fields = fields.iter().map(|(key, value)| {
                    (self.expression(key), value.as_ref().map(|value| self.expression(value)))
                });
                Node::Object(fields.collect())
            }
            Ast::Negate(inner) => Node::Negate(self.expression(inner)),
            Ast::Pipe(stages) => return self.stages(stages),
            Ast::Comma(items) => Node::Comma(items.iter().map(|item| self.expression(item)).collect()),
            Ast::Binary(operator, left, right) => {
                Node::Binary(*operator, self.expression(left), self.expression(right))
            }
            Ast::And(left, right) => Node::And(self.expression(left), self.expression(right)),
            Ast::Or(left, right) => Node::Or(self.expression(left), self.expression(right)),
            Ast::Alternative(left, right) => Node::Alternative(self.expression(left), self.expression(right)),
            Ast::Assign(how, left, right) => {
                Node::Assign(*how, self.expression(left), self.expression(right))
            }
            Ast::If(test, then, otherwise) => {
                let (test, then) = (self.expression(test), self.expression(then));
                let otherwise = match otherwise {
                    Some(otherwise) => self.expression(otherwise),
                    None => self.push(Node::Identity),
                };
                Node::If(test, then, otherwise)
            }
            Ast::Try(body, handler) => {
                let body = self.expression(body);
                Node::Try(body, handler.as_ref().map(|handler| self.expression(handler)))
            }
            Ast::Reduce(source, patterns, init, update) => {
                self.fold(source, patterns, init, update, None, true)
            }
            Ast::Foreach(source, patterns, init, update, extract) => {
                self.fold(source, patterns, init, update, extract.as_deref(), false)
            }
            Ast::Bind(source, patterns, body) => {
                let source = self.expression(source);
                let (binder, body) = self.scoped(|it| (it.binder(patterns), it.expression(body)));
                Node::Bind(source, Box::new(binder), body)
            }
            Ast::Label(name, body) => Node::Label(self.scoped(|it| {
                it.scope.push(Entry::Label { name: name.clone(), link: it.depth });
                it.depth += 1;
                it.expression(body)
            })),
            Ast::Break(name, at) => {
                let found = self.scope.iter().rev().find_map(|entry| match entry {
                    Entry::Label { name: known, link } if known == name => Some(*link),
                    _ => None,
                });
                match found {
                    Some(link) => Node::Break(self.hops(link)),
                    None => return self.undefined(&format!("$*label-{name}"), *at),
                }
            }
            Ast::Define(definition, rest) => {
                return self.scoped(|it| {
                    it.define(definition);
                    it.expression(rest)
                });
            }
            Ast::Call(name, args, at) => return self.call(name, args, *at),
            Ast::Variable(name, at) => return self.variable(name, *at),
            Ast::Location(line) => Node::Const(Value::record([
                ("file", Value::str(self.file.as_deref().unwrap_or("<top-level>"))),
                ("line", Value::from(*line)),
            ])),
        };
        self.push(node)
    }

    fn stages(&mut self, stages: &[Ast]) -> Id {
        let ids: Vec<Id> = stages.iter().map(|stage| self.expression(stage)).collect();
        let mut ids = ids.into_iter().rev();
        let last = ids.next().unwrap_or_default();
        ids.fold(last, |rest, stage| self.pipe(stage, rest))
    }

    pub(super) fn recurse_all(&mut self) -> Id {
        let each = self.push(Node::Iterate);
        let each = self.push(Node::Try(each, None));
        self.push(Node::Special(Special::Recurse, [each].into()))
    }

    /// A format nobody knows is an error only when it is reached.
    fn no_format(&mut self, name: &str) -> Id {
        let message = format!("{} is not a valid format", name.trim_start_matches('@'));
        let message = self.push(Node::Const(Value::from(message)));
        let error = self.push(Node::Special(Special::Error, [].into()));
        self.pipe(message, error)
    }

    fn text(&mut self, format: Option<&str>, parts: &[Part]) -> Id {
        let Some(kind) = Format::named(format.unwrap_or("@text")) else {
            return self.no_format(format.unwrap_or_default());
        };
        let parts = parts.iter().map(|part| match part {
            Part::Plain(text) => TextPart::Plain(text.as_str().into()),
            Part::Inserted(tree) => TextPart::Inserted(self.expression(tree)),
        });
        let parts = parts.collect();
        self.push(Node::Text(kind, parts))
    }

    fn fold(
        &mut self,
        source: &Ast,
        patterns: &[crate::syntax::ast::Pattern],
        init: &Ast,
        update: &Ast,
        extract: Option<&Ast>,
        is_reduce: bool,
    ) -> Node {
        let (source, init) = (self.expression(source), self.expression(init));
        let (binder, update, extract) = self.scoped(|it| {
            let binder = it.binder(patterns);
            let update = it.expression(update);
            let extract = match extract {
                _ if is_reduce => None,
                Some(extract) => Some(it.expression(extract)),
                None => Some(it.push(Node::Identity)),
            };
            (binder, update, extract)
        });
        Node::Fold(Box::new(Fold { source, binder, init, update, extract }))
    }

    fn variable(&mut self, name: &str, at: usize) -> Id {
        let found = self.scope.iter().rev().find_map(|entry| match entry {
            Entry::Variable { name: known, link, .. } if known == name => Some(Node::Var(self.hops(*link))),
            Entry::Constant { name: known, value } if known == name => Some(Node::Const(value.clone())),
            _ => None,
        });
        let found = found.or_else(|| {
            let known = self.globals.iter().find(|(known, _)| known == name);
            known.map(|(_, value)| Node::Const(value.clone()))
        });
        match found {
            Some(node) => self.push(node),
            None if name == "ENV" => {
                let value = super::builtins::environment();
                self.globals.push(("ENV".to_owned(), value.clone()));
                self.push(Node::Const(value))
            }
            None if name == "__prog_args" => self.push(Node::Const(Value::arr(Vec::new()))),
            None => self.undefined(&format!("${name}"), at),
        }
    }

    /// A call by name: what is in scope first, then what the language brings along.
    pub(super) fn call(&mut self, name: &str, args: &[Ast], at: usize) -> Id {
        let found = self.scope.iter().rev().find_map(|entry| match entry {
            Entry::Function { name: known, arity, function, depth }
                if known == name && *arity == args.len() =>
            {
                Some((Some(*function), *depth))
            }
            Entry::Filter { name: known, link } if known == name && args.is_empty() => Some((None, *link)),
            // `def f($x)` makes `x` a filter, too.
            Entry::Variable { name: known, link, callable: true } if known == name && args.is_empty() => {
                Some((Some(u32::MAX), *link))
            }
            _ => None,
        });
        match found {
            Some((Some(u32::MAX), link)) => {
                let hops = self.hops(link);
                self.push(Node::Var(hops))
            }
            Some((None, link)) => {
                let hops = self.hops(link);
                self.push(Node::Arg(hops))
            }
            Some((Some(function), depth)) => {
                let args = args.iter().map(|arg| self.expression(arg)).collect();
                self.call_function(function, depth, args)
            }
            None => self.builtin(name, args, at),
        }
    }

    pub(super) fn call_function(&mut self, function: u32, depth: u32, args: Box<[Id]>) -> Id {
        let hops = self.depth - depth;
        self.push(Node::Call(Box::new(Call { function, hops, args })))
    }
}
