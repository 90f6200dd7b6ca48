//! `${x@Q}` and the other transformations.

use super::{Found, ops, param::each};
use crate::{
    state::Env,
    syntax::ast::{Param, ParamName},
    vars::Value,
};

impl Env {
    /// `pointed` is the name that an indirection found.
    pub(super) fn transform(
        &mut self,
        param: &Param,
        pointed: Option<String>,
        found: Found,
        letter: char,
    ) -> Found {
        let name = match (&param.name, pointed) {
            // The attributes are those of what is pointed at.
            (_, pointed) if param.indirect && letter == 'a' => {
                pointed.unwrap_or_default().split('[').next().unwrap_or_default().to_owned()
            }
            (ParamName::Var(name), _) => name.clone(),
            _ => String::new(),
        };
        let var = self.vars.var(&name).cloned().unwrap_or_default();
        match (letter, found) {
            ('a', Found::Many { items, joined }) => {
                let letters = super::quote::attribute_letters(&var);
                Found::Many { items: vec![letters; items.len()], joined }
            }
            ('a', _) => Found::One(Some(super::quote::attribute_letters(&var))),
            ('A', Found::Many { items, .. }) if name.is_empty() => {
                let items: Vec<String> = items.iter().map(|it| super::quote::single(it)).collect();
                Found::One(Some(format!("set -- {}", items.join(" "))))
            }
            // Bash makes words of it: `declare`, its flags, the assignment.
            ('A', Found::Many { joined, .. }) => {
                let text = super::quote::assignment(&name, &var).unwrap_or_default();
                Found::Many { items: text.splitn(3, ' ').map(str::to_owned).collect(), joined }
            }
            ('A', _) => Found::One(super::quote::assignment(&name, &var)),
            ('k', Found::Many { joined, .. }) if matches!(var.value, Value::Assoc(_) | Value::Indexed(_)) => {
                let pairs = var.value.keys().into_iter().zip(var.value.elements());
                Found::Many { items: pairs.flat_map(|(key, value)| [key, value]).collect(), joined }
            }
            ('K', Found::Many { .. }) if matches!(var.value, Value::Assoc(_) | Value::Indexed(_)) => {
                let pairs = var.value.keys().into_iter().zip(var.value.elements());
                let pairs: Vec<String> =
                    pairs.map(|(key, value)| format!("{key} {}", super::quote::double(&value))).collect();
                // Bash ends a map's list with a blank.
                let end = if matches!(var.value, Value::Assoc(_)) && !pairs.is_empty() { " " } else { "" };
                Found::One(Some(pairs.join(" ") + end))
            }
            ('K' | 'k', found) => each(found, super::quote::single),
            (_, found) => each(found, |text| ops::transform(text, letter)),
        }
    }
}
