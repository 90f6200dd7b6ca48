//! `reduce` and `foreach`.

use super::env::Env;
use super::{Exit, Flow, Out, Run};
use crate::compile::node::{Fold, Id};
use crate::value::Value;

impl Run<'_> {
    /// `reduce` with a single start.
    pub(super) fn reduce<'e>(
        &self,
        fold: &Fold,
        env: &'e Env<'e>,
        input: Value,
    ) -> Result<Option<Value>, Exit> {
        let Some(init) = self.one(fold.init, env, input.clone())? else { return Ok(None) };
        self.reduce_from(fold, init, env, &input).map(Some)
    }

    /// The state after all of the source; without an output of the update, it is `null`.
    pub(super) fn reduce_from<'e>(
        &self,
        fold: &Fold,
        init: Value,
        env: &'e Env<'e>,
        input: &Value,
    ) -> Result<Value, Exit> {
        let mut state = init;
        self.each(fold.source, env, input.clone(), &mut |item| {
            self.bind(&fold.binder, item, env, &mut |env| {
                // Nobody else may hold the state, or changing it would copy it.
                let old = std::mem::replace(&mut state, Value::Null);
                if self.program.is_single(fold.update) {
                    state = self.one(fold.update, env, old)?.unwrap_or(Value::Null);
                    return Ok(());
                }
                self.each(fold.update, env, old, &mut |new| {
                    state = new;
                    Ok(())
                })
            })
        })?;
        Ok(state)
    }

    /// Every state on the way, as `extract` shows it.
    pub(super) fn foreach<'e>(
        &self,
        fold: &Fold,
        extract: Id,
        env: &'e Env<'e>,
        input: Value,
        out: Out<'_>,
    ) -> Flow {
        self.each(fold.init, env, input.clone(), &mut |init| {
            let mut state = init;
            self.each(fold.source, env, input.clone(), &mut |item| {
                self.bind(&fold.binder, item, env, &mut |env| {
                    let old = std::mem::replace(&mut state, Value::Null);
                    self.each(fold.update, env, old, &mut |new| {
                        state = new.clone();
                        self.each(extract, env, new, out)
                    })
                })
            })
        })
    }
}
