//! Patterns: each variable becomes a link, in the order it stands.

use super::node::{Alternative, Binder, FieldPattern, Pattern};
use super::{Compiler, Entry};
use crate::syntax::ast;

impl Compiler {
    /// Compiles patterns and leaves their variables in scope.
    pub(super) fn binder(&mut self, patterns: &[ast::Pattern]) -> Binder {
        if let [only] = patterns {
            let pattern = self.pattern(only);
            return Binder { alternatives: [Alternative { pattern, kept: None }].into() };
        }
        let mut names: Vec<String> = Vec::new();
        patterns.iter().for_each(|pattern| mentioned(pattern, &mut names));
        let mut alternatives = Vec::new();
        for pattern in patterns {
            let alternative = self.scoped(|it| {
                let before = it.scope.len();
                let pattern = it.pattern(pattern);
                let kept = names.iter().map(|name| {
                    it.scope[before..].iter().rev().find_map(|entry| match entry {
                        Entry::Variable { name: bound, link, .. } if bound == name => Some(it.hops(*link)),
                        _ => None,
                    })
                });
                Alternative { pattern, kept: Some(kept.collect()) }
            });
            alternatives.push(alternative);
        }
        names.iter().for_each(|name| self.bind(name, false));
        Binder { alternatives: alternatives.into() }
    }

    fn pattern(&mut self, pattern: &ast::Pattern) -> Pattern {
        match pattern {
            ast::Pattern::Variable(name) => {
                self.bind(name, false);
                Pattern::Variable
            }
            ast::Pattern::Array(items) => {
                Pattern::Array(items.iter().map(|item| self.pattern(item)).collect())
            }
            ast::Pattern::Object(fields) => Pattern::Object(
                fields
                    .iter()
                    .map(|field| {
                        let key = self.expression(&field.key);
                        if let Some(name) = &field.variable {
                            self.bind(name, false);
                        }
                        let value = field.value.as_ref().map(|value| self.pattern(value));
                        FieldPattern { binds: field.variable.is_some(), key, value }
                    })
                    .collect(),
            ),
        }
    }
}

fn mentioned(pattern: &ast::Pattern, names: &mut Vec<String>) {
    let mut add = |name: &String| {
        if !names.contains(name) {
            names.push(name.clone());
        }
    };
    match pattern {
        ast::Pattern::Variable(name) => add(name),
        ast::Pattern::Array(items) => items.iter().for_each(|item| mentioned(item, names)),
        ast::Pattern::Object(fields) => {
            for field in fields {
                if let Some(name) = &field.variable
                    && !names.contains(name)
                {
                    names.push(name.clone());
                }
                if let Some(value) = &field.value {
                    mentioned(value, names);
                }
            }
        }
    }
}
