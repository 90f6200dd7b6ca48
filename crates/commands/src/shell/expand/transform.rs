//! `${x@Q}` and the other transformations.

use super::{Found, ops, param::each};
use crate::shell::{
    state::Env,
    syntax::ast::{Param, ParamName},
    vars::Value,
};

impl Env {
    pub(super) fn transform(&mut self, param: &Param, found: Found, letter: char) -> Found {
        let name = match &param.name {
            // The attributes are those of what is pointed at.
            ParamName::Var(name) if param.indirect && letter == 'a' => {
                let text = self.scalar(name).unwrap_or_default();
                text.split('[').next().unwrap_or_default().to_owned()
            }
            ParamName::Position(number) if param.indirect && letter == 'a' => {
                let text = self.args.get(number - 1).map_or("", String::as_str);
                text.split('[').next().unwrap_or_default().to_owned()
            }
            ParamName::Var(name) => name.clone(),
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
