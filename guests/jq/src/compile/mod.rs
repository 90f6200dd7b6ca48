//! A tree to a program: names are looked up, and only what is used is compiled.
//!
//! Functions of the language that are written in the language are parsed when a program mentions
//! them, and never otherwise.

mod builtins;
mod definitions;
mod expression;
mod modules;
pub mod node;
mod pattern;
mod single;

pub(crate) use modules::describe;

use crate::error::Failure;
use crate::syntax::{self, SyntaxError, ast};
use crate::value::Value;
use node::{Id, Node, Program};

/// Compiles `text`, which may use the variables `globals` and modules below `folders`.
pub fn compile(text: &str, globals: Vec<(String, Value)>, folders: &[String]) -> Result<Program, Failure> {
    let module =
        syntax::parse(text).map_err(|error| Failure::Compile(syntax_report(&error, text, "<top-level>")))?;
    let mut compiler =
        Compiler { globals, folders: folders.to_vec(), text: text.to_owned(), ..Compiler::default() };
    compiler.imports(&module, None)?;
    for definition in &module.definitions {
        compiler.define(definition);
    }
    let main = match &module.body {
        Some(body) => compiler.expression(body),
        None => compiler.push(Node::Identity),
    };
    compiler.program.main = main;
    if !compiler.errors.is_empty() {
        return Err(Failure::Mistakes(compiler.errors.join("\njq: error: "), compiler.errors.len()));
    }
    single::mark(&mut compiler.program);
    Ok(compiler.program)
}

#[derive(Default)]
struct Compiler {
    program: Program,
    scope: Vec<Entry>,
    /// How many links there are at run time.
    depth: u32,
    globals: Vec<(String, Value)>,
    folders: Vec<String>,
    /// Built-in functions compiled so far: name, arity, place in the table.
    ready: Vec<(&'static str, usize, u32)>,
    modules: Vec<modules::Loaded>,
    errors: Vec<String>,
    /// What is being compiled, for messages.
    text: String,
    file: Option<String>,
}

/// What a name in scope means.
#[derive(Clone)]
enum Entry {
    /// With `callable`, a parameter `$x`, which is also the filter `x`.
    Variable {
        name: String,
        link: u32,
        callable: bool,
    },
    /// A parameter that is a filter.
    Filter {
        name: String,
        link: u32,
    },
    Label {
        name: String,
        link: u32,
    },
    Function {
        name: String,
        arity: usize,
        function: u32,
        depth: u32,
    },
    Constant {
        name: String,
        value: Value,
    },
}

impl Compiler {
    fn push(&mut self, node: Node) -> Id {
        self.program.nodes.push(node);
        (self.program.nodes.len() - 1) as Id
    }

    fn pipe(&mut self, first: Id, second: Id) -> Id {
        match (self.program.node(first), self.program.node(second)) {
            (Node::Identity, _) => second,
            (_, Node::Identity) => first,
            // To the right, so that a chain runs in a loop.
            (Node::Pipe(a, b), _) => {
                let (a, b) = (*a, *b);
                let rest = self.pipe(b, second);
                self.push(Node::Pipe(a, rest))
            }
            _ => self.push(Node::Pipe(first, second)),
        }
    }

    /// A new link for a variable.
    fn bind(&mut self, name: &str, callable: bool) {
        self.scope.push(Entry::Variable { name: name.to_owned(), link: self.depth, callable });
        self.depth += 1;
    }

    /// Runs `inner`, and forgets the names it has added.
    fn scoped<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> T {
        let (names, depth) = (self.scope.len(), self.depth);
        let result = inner(self);
        self.scope.truncate(names);
        self.depth = depth;
        result
    }

    fn hops(&self, link: u32) -> u32 {
        self.depth - 1 - link
    }

    /// Compiles a definition and puts its name in scope.
    fn define(&mut self, definition: &ast::Definition) -> u32 {
        let function = self.reserve(definition);
        self.scope.push(Entry::Function {
            name: definition.name.clone(),
            arity: definition.params.len(),
            function,
            depth: self.depth,
        });
        self.body(definition, function);
        function
    }

    fn reserve(&mut self, definition: &ast::Definition) -> u32 {
        let params = definition.params.iter().map(|param| param.is_value).collect();
        self.program.functions.push(node::Function { body: 0, params });
        (self.program.functions.len() - 1) as u32
    }

    fn body(&mut self, definition: &ast::Definition, function: u32) {
        let body = self.scoped(|it| {
            for param in &definition.params {
                if param.is_value {
                    it.bind(&param.name, true);
                } else {
                    it.scope.push(Entry::Filter { name: param.name.clone(), link: it.depth });
                    it.depth += 1;
                }
            }
            it.expression(&definition.body)
        });
        self.program.functions[function as usize].body = body;
    }

    fn undefined(&mut self, what: &str, at: usize) -> Id {
        let file = self.file.as_deref().unwrap_or("<top-level>");
        self.errors.push(located(&format!("{what} is not defined"), &self.text, at, file));
        self.push(Node::Empty)
    }
}

fn syntax_report(error: &SyntaxError, text: &str, file: &str) -> String {
    located(&error.what, text, error.at, file)
}

/// A message with the line it is about.
fn located(what: &str, text: &str, at: usize, file: &str) -> String {
    let at = at.min(text.len());
    let before = &text[..at];
    let number = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let line = text[start..].lines().next().unwrap_or_default();
    // jq pads the line by the column it is about.
    let pad = " ".repeat(at - start);
    format!("{what} at {file}, line {number}:\n{line}{pad}")
}
