//! Arithmetic over the shell's variables.

use drydock_abi::shell::TextFrom;

use crate::{
    arith::{self, ArithError, Index, Names, Resolved},
    state::{Env, Eval, Flow},
    syntax::ast::Arith,
    vars::Value,
};

impl Env {
    /// The value, or why there is none; the caller says what that costs.
    pub(crate) async fn arith(&mut self, source: &Arith) -> Eval<Result<i64, ArithError>> {
        match source {
            Arith::Parsed(expr, text) => Ok(arith::evaluate(expr, self).map_err(|error| about(text, error))),
            Arith::Text(word) => {
                let keep = std::mem::replace(&mut self.unknown.keep, false);
                let mut fields = super::Fields::whole();
                let expanded = self.expand_pieces(&word.pieces, true, &mut fields).await;
                self.unknown.keep = keep;
                expanded?;
                let text = fields.join().text();
                Ok(self.compute(&text))
            }
        }
    }

    /// The value of a text.
    pub(crate) fn compute(&mut self, text: &str) -> Result<i64, ArithError> {
        let expr = arith::parse(text).map_err(ArithError)?;
        arith::evaluate(&expr, self).map_err(|error| about(text, error))
    }

    /// The value, an error costing the line.
    pub(crate) async fn arith_value(&mut self, source: &Arith) -> Eval<i64> {
        match self.arith(source).await? {
            Ok(value) => Ok(value),
            Err(error) => {
                self.complain(&error.0).await?;
                if error.0.ends_with(": unbound variable") {
                    return Err(self.fatal());
                }
                self.results.forgiven = true;
                Err(Flow::Discard)
            }
        }
    }

    /// The way out where an expansion failed for good: it ends the shell, and costs one that somebody types to its line.
    pub(crate) fn fatal(&self) -> Flow {
        if self.identity.interactive && !self.identity.is_subshell() {
            return Flow::Discard;
        }
        let is_argument = self.identity.text_from == TextFrom::Argument;
        let is_one = !is_argument || self.identity.is_subshell() || self.options.errexit;
        Flow::Exit(if is_one { 1 } else { 127 })
    }
}

/// The error, with the expression it is about before it.
fn about(text: &str, error: ArithError) -> ArithError {
    let text = text.trim();
    if error.0.starts_with(text) || error.0.ends_with(": unbound variable") {
        return error;
    }
    ArithError(format!("{text}: {}", error.0))
}

impl Names for Env {
    fn get(&mut self, place: &Resolved) -> Result<Option<String>, ArithError> {
        let found = match (self.dynamic(&place.name), &place.index) {
            (Some(value), None) => value.scalar().map(str::to_owned),
            (Some(value), Some(Index::Number(index))) => value.at(*index).map(str::to_owned),
            (_, None) if self.vars.own(&place.name).is_some_and(|var| var.attributes.nameref) => {
                self.scalar(&place.name)
            }
            (_, None) => self.vars.get(&place.name).map(str::to_owned),
            (_, Some(index)) => self.vars.var(&place.name).and_then(|var| match index {
                Index::Number(index) => var.value.at(*index).map(str::to_owned),
                Index::Key(key) => match &var.value {
                    Value::Assoc(map) => map.get(key).map(str::to_owned),
                    _ => None,
                },
            }),
        };
        if found.is_none() && self.options.nounset {
            return Err(ArithError(format!("{}: unbound variable", place.name)));
        }
        Ok(found)
    }

    fn set(&mut self, place: &Resolved, value: i64) -> Result<(), ArithError> {
        let text = value.to_string();
        let result = match &place.index {
            None => {
                self.assigned(&place.name, &text);
                self.vars.set(&place.name, text)
            }
            Some(Index::Number(index)) => self.vars.set_index(&place.name, *index, text),
            Some(Index::Key(key)) => self.vars.set_key(&place.name, key, text),
        };
        result.map_err(|error| ArithError(error.to_string()))
    }

    fn is_map(&self, name: &str) -> bool {
        matches!(self.vars.var(name).map(|var| &var.value), Some(Value::Assoc(_)))
    }
}
