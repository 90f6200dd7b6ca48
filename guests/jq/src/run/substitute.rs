//! `sub` and `gsub`: the replacement is a filter over the named groups.

use super::env::Env;
use super::{Exit, Flow, Out, Run};
use crate::compile::node::Id;
use crate::natives::matching;
use crate::value::Value;

impl Run<'_> {
    /// Replaces matches. If the replacement has several outputs, there are as many results.
    pub(super) fn substitute<'e>(
        &self,
        pattern: &Value,
        flags: &Value,
        replacement: Id,
        env: &'e Env<'e>,
        input: &Value,
        out: Out<'_>,
    ) -> Flow {
        let Value::Str(text) = input else {
            return Err(Exit::error(format!(
                "{} cannot be matched, as it is not a string",
                input.described()
            )));
        };
        let found = matching::find_all(text, pattern, flags)?;
        if found.is_empty() {
            return out(input.clone());
        }
        let mut results: Vec<String> = Vec::new();
        let mut from = 0;
        for one in &found {
            let gap = &text[from..one.start()];
            let names = one.named(text);
            let inserts = self.all(replacement, env, names)?;
            for (at, insert) in inserts.iter().enumerate() {
                let Value::Str(insert) = insert else {
                    let left = Value::from(gap.to_owned());
                    return Err(super::operate::two(&left, insert, "cannot be added"));
                };
                if results.len() == at {
                    results.push(String::new());
                }
                results[at].push_str(gap);
                results[at].push_str(insert);
            }
            from = one.end();
        }
        if results.is_empty() {
            return out(input.clone());
        }
        results.into_iter().try_for_each(|result| out(Value::from(result + &text[from..])))
    }
}
