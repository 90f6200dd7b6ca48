//! What a parameter's name stands for.

use drydock_abi::shell::TextFrom;
use drydock_contract::BoxFuture;

use crate::{
    state::{Env, Eval},
    syntax::{
        ast::{ParamName, Subscript},
        is_name,
    },
    vars::Value,
};

/// How deep references and prompts may stand inside themselves.
pub(crate) const INSIDE_MAX: u32 = 8;

/// One value, or a list of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    One(Option<String>),
    /// `joined` is the `*` form.
    Many {
        items: Vec<String>,
        joined: bool,
    },
}

impl Env {
    pub(crate) async fn find(&mut self, name: &ParamName, index: Option<&Subscript>) -> Eval<Found> {
        let name = match name {
            ParamName::Position(number) => return Ok(Found::One(self.frame.args.get(number - 1).cloned())),
            ParamName::Special(sign) => return Ok(self.special(*sign)),
            ParamName::Var(name) => name,
        };
        match index {
            None => Ok(Found::One(self.scalar(name))),
            Some(Subscript::All) => Ok(Found::Many { items: self.value(name).elements(), joined: false }),
            Some(Subscript::Joined) => Ok(Found::Many { items: self.value(name).elements(), joined: true }),
            Some(subscript) => self.element(name, subscript).await.map(Found::One),
        }
    }

    /// `$name`.
    pub(crate) fn scalar(&mut self, name: &str) -> Option<String> {
        if let Some(value) = self.dynamic(name) {
            return value.scalar().map(str::to_owned);
        }
        if name == "_" {
            return Some(self.trace.last_word.clone());
        }
        let var = self.vars.own(name)?;
        if !var.attributes.nameref {
            return var.value.scalar().map(str::to_owned);
        }
        if self.vars.circular(name) {
            return None;
        }
        let target = self.vars.resolve(name);
        match target.strip_suffix(']').and_then(|it| it.split_once('[')) {
            None => match self.dynamic(&target) {
                Some(value) => value.scalar().map(str::to_owned),
                None => self.vars.get(&target).map(str::to_owned),
            },
            // A subscript may name the reference it stands in.
            Some(_) if self.frame.inside_itself >= INSIDE_MAX => None,
            Some((base, key)) => {
                let value = self.value(base);
                let key = &self.key_text(key);
                match &value {
                    Value::Assoc(map) => map.get(key).map(str::to_owned),
                    _ if key == "@" || key == "*" => Some(value.elements().join(" ")),
                    _ => {
                        self.frame.inside_itself += 1;
                        let index = self.compute(key);
                        self.frame.inside_itself -= 1;
                        value.at(index.ok()?).map(str::to_owned)
                    }
                }
            }
        }
    }

    /// The whole value of a variable.
    pub(crate) fn value(&mut self, name: &str) -> Value {
        let target = self.vars.resolve(name);
        match self.dynamic(&target) {
            Some(value) => value,
            None => self.vars.var(name).map(|var| var.value.clone()).unwrap_or_default(),
        }
    }

    pub(crate) fn element<'a>(
        &'a mut self,
        name: &'a str,
        subscript: &'a Subscript,
    ) -> BoxFuture<'a, Eval<Option<String>>> {
        Box::pin(async move {
            let Subscript::At { key, number } = subscript else { return Ok(None) };
            if let Some(value) = self.dynamic(name) {
                if let Value::Assoc(map) = &value {
                    let key = self.expand_one(key).await?;
                    return Ok(map.get(&key).map(str::to_owned));
                }
                let index = self.arith_value(number).await?;
                return Ok(value.at(index).map(str::to_owned));
            }
            let is_map = matches!(self.vars.var(name).map(|var| &var.value), Some(Value::Assoc(_)));
            if is_map {
                let key = self.expand_one(key).await?;
                let Some(Value::Assoc(map)) = self.vars.var(name).map(|var| &var.value) else {
                    return Ok(None);
                };
                return Ok(map.get(&key).map(str::to_owned));
            }
            let index = self.arith_value(number).await?;
            Ok(self.vars.var(name).and_then(|var| var.value.at(index)).map(str::to_owned))
        })
    }

    fn special(&mut self, sign: char) -> Found {
        let text = match sign {
            '@' | '*' => return Found::Many { items: self.frame.args.to_vec(), joined: sign == '*' },
            '?' => self.status.to_string(),
            '#' => self.frame.args.len().to_string(),
            '-' => {
                let mut flags = self.options.flags();
                if self.identity.interactive {
                    flags.insert(flags.find('m').unwrap_or(flags.len()), 'i');
                }
                flags.extend(match self.identity.text_from {
                    TextFrom::Argument => Some('c'),
                    TextFrom::Stdin => Some('s'),
                    TextFrom::File => None,
                });
                flags
            }
            '$' => self.identity.pid.to_string(),
            '!' => return Found::One(self.jobs.last.map(|id| id.to_string())),
            _ => self.identity.name.to_string(),
        };
        Found::One(Some(text))
    }

    /// What a name that was found in a variable stands for: `${!x}`.
    pub(crate) async fn find_named(&mut self, text: &str) -> Eval<Option<Found>> {
        if let Ok(number) = text.parse::<usize>() {
            let name = if number == 0 { ParamName::Special('0') } else { ParamName::Position(number) };
            return self.find(&name, None).await.map(Some);
        }
        if let [sign] = text.as_bytes()
            && b"@*#?-$!".contains(sign)
        {
            return Ok(Some(self.special(char::from(*sign))));
        }
        if is_name(text) {
            return Ok(Some(Found::One(self.scalar(text))));
        }
        let Some((base, key)) = text.strip_suffix(']').and_then(|it| it.split_once('[')) else {
            return Ok(None);
        };
        if !is_name(base) {
            return Ok(None);
        }
        let value = self.value(base);
        let spelled = self.key_text(key);
        Ok(Some(match (key, &value) {
            ("@" | "*", _) => Found::Many { items: value.elements(), joined: key == "*" },
            (_, Value::Assoc(map)) => Found::One(map.get(&spelled).map(str::to_owned)),
            _ => match self.compute(&spelled) {
                Ok(index) => Found::One(value.at(index).map(str::to_owned)),
                Err(_) => Found::One(None),
            },
        }))
    }
}
