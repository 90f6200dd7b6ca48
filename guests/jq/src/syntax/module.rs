//! The frame of a file: `module`, `import`, `include`, definitions, and perhaps a program.

use super::ast::{Ast, Import, Module};
use super::lexer::Token;
use super::{Parsed, Parser};
use crate::value::{Object, Value};

impl Parser<'_> {
    pub(super) fn module(&mut self) -> Parsed<Module> {
        let mut meta = None;
        if self.take_name("module") {
            let value = self.constant()?;
            if !matches!(value, Value::Obj(_)) {
                return Err(self.error("Module metadata must be an object"));
            }
            self.expect_sign(";")?;
            meta = Some(value);
        }
        let mut imports = Vec::new();
        while self.at_name("import") || self.at_name("include") {
            imports.push(self.import()?);
        }
        let mut definitions = Vec::new();
        while self.at_name("def") {
            definitions.push(self.definition()?);
        }
        let body = if self.token == Token::End { None } else { Some(self.pipe()?) };
        self.expect_end()?;
        Ok(Module { meta, imports, definitions, body })
    }

    fn import(&mut self) -> Parsed<Import> {
        let is_include = self.at_name("include");
        self.advance();
        let path = match (&self.token, self.start) {
            (Token::Quote, _) => match self.string(None)? {
                Ast::Literal(Value::Str(path)) => path.as_str().to_owned(),
                _ => return Err(self.error("Import path must be constant")),
            },
            _ => return Err(self.unexpected()),
        };
        let mut name = None;
        if !is_include {
            self.expect_name("as")?;
            name = Some(match self.advance() {
                Token::Name(name) => name,
                Token::Variable(name) => format!("${name}"),
                _ => return Err(self.unexpected()),
            });
        }
        let meta = if self.at_sign(";") { None } else { Some(self.constant()?) };
        if meta.as_ref().is_some_and(|meta| !matches!(meta, Value::Obj(_))) {
            return Err(self.error("Module metadata must be an object"));
        }
        self.expect_sign(";")?;
        let search = match &meta {
            Some(Value::Obj(fields)) => {
                fields.get(&"search".into()).and_then(|it| it.as_str().map(str::to_owned))
            }
            _ => None,
        };
        Ok(Import { path, name, search, meta })
    }

    fn constant(&mut self) -> Parsed<Value> {
        let parsed = self.postfix()?;
        constant(&parsed).ok_or_else(|| self.error("Module metadata must be constant"))
    }
}

/// The value of a tree without anything to compute.
pub(super) fn constant(tree: &Ast) -> Option<Value> {
    match tree {
        Ast::Literal(value) => Some(value.clone()),
        Ast::Array(None) => Some(Value::arr(Vec::new())),
        Ast::Array(Some(inner)) => match &**inner {
            Ast::Comma(items) => items.iter().map(constant).collect::<Option<Vec<_>>>().map(Value::arr),
            one => Some(Value::arr(vec![constant(one)?])),
        },
        Ast::Object(fields) => {
            let mut object = Object::new();
            for (key, value) in fields {
                let Value::Str(key) = constant(key)? else { return None };
                object.insert(key, constant(value.as_ref()?)?);
            }
            Some(Value::obj(object))
        }
        _ => None,
    }
}
