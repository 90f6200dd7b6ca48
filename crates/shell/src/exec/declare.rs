//! `declare`, `local`, `export`, `readonly`: the builtins whose arguments may be assignments.

use std::sync::Arc;

use super::assign::Ready;
use crate::{
    state::{Env, Eval, Flow},
    syntax::{
        self, ParseLimits,
        ast::{Arg, Assign, AssignValue, Command, Word},
        is_name,
    },
    vars::{Assoc, Value},
};

/// What the flags ask for.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Wanted {
    pub(super) array: bool,
    pub(super) map: bool,
    pub(super) integer: Option<bool>,
    pub(super) lower: Option<bool>,
    pub(super) upper: Option<bool>,
    pub(super) exported: Option<bool>,
    pub(super) readonly: bool,
    pub(super) nameref: Option<bool>,
    pub(super) global: bool,
    pub(super) print: bool,
    pub(super) functions: bool,
    pub(super) names_only: bool,
}

/// An argument of a declaration, expanded.
enum Declared<'a> {
    Text(String),
    Value(&'a Assign, Ready),
}

impl Env {
    /// A declaring builtin whose words are expanded already: `command export A=1`.
    pub(crate) async fn declare_words(&mut self, words: &[String]) -> Eval<i32> {
        let args: Vec<Arg> = words[1..].iter().map(|it| Arg::Word(Word::quoted(it.as_str()))).collect();
        self.run_declare(&words[0], &[], &args).await?;
        Ok(self.status)
    }

    /// `first` are words that came out of the same expansion as the name.
    pub(super) async fn run_declare(&mut self, name: &str, first: &[Arg], args: &[Arg]) -> Eval<()> {
        if name == "local" && !self.frame.is_in_function() {
            // Too late for its lists: those were assigned while its words were expanded.
            for arg in args {
                if let Arg::Assign(assign) = arg
                    && matches!(assign.value, AssignValue::Array(_))
                {
                    self.assign(assign).await?;
                }
            }
            self.complain("local: can only be used in a function").await?;
            self.status = 1;
            return Ok(());
        }
        let mut wanted = Wanted {
            exported: (name == "export").then_some(true),
            readonly: name == "readonly",
            ..Wanted::default()
        };
        let local = name == "local" || (matches!(name, "declare" | "typeset") && self.frame.is_in_function());
        // What `$?` is inside its arguments, apart from the builtin's own status.
        let mut seen = std::mem::replace(&mut self.status, 0);
        let (mut named, mut flags) = (false, true);
        // As in bash: all words are expanded before the first takes effect, save lists, which do so at once.
        let mut declared = Vec::new();
        for arg in first.iter().chain(args) {
            match arg {
                Arg::Assign(assign) if matches!(assign.value, AssignValue::Array(_)) => {
                    named = true;
                    self.trace.last_word.clone_from(&assign.name);
                    self.declare_assign(name, assign, wanted, local, &mut seen).await?;
                }
                Arg::Assign(assign) if assign.index.is_some() && matches!(name, "export" | "readonly") => {
                    named = true;
                    self.complain(&format!("{name}: `{}[…]': not a valid identifier", assign.name)).await?;
                    self.status = 1;
                }
                Arg::Assign(assign) if wanted.print && matches!(name, "declare" | "typeset") => {
                    named = true;
                    self.complain(&format!("{name}: {}=…: not found", assign.name)).await?;
                    self.status = 1;
                }
                Arg::Assign(assign) => {
                    named = true;
                    let ready = self.declared_value(assign, wanted, local, &mut seen).await?;
                    declared.push(Declared::Value(assign, ready));
                }
                Arg::Word(word) => {
                    let mut words = Vec::new();
                    std::mem::swap(&mut self.status, &mut seen);
                    self.expand_into(word, &mut words).await?;
                    std::mem::swap(&mut self.status, &mut seen);
                    for text in words {
                        if flags && text == "--" {
                            flags = false;
                        } else if flags && !named && text.len() > 1 && text.starts_with(['-', '+']) {
                            if let Some(bad) = wanted.read(&text, name) {
                                self.complain(&format!("{name}: -{bad}: invalid option")).await?;
                                self.status = 2;
                                return Ok(());
                            }
                        } else {
                            named = true;
                            declared.push(Declared::Text(text));
                        }
                    }
                }
            }
        }
        for one in declared {
            match one {
                Declared::Text(text) => {
                    self.trace.last_word.clone_from(&text);
                    self.declare_text(name, &text, wanted, local).await?;
                }
                Declared::Value(assign, ready) => {
                    self.trace.last_word.clone_from(&assign.name);
                    if let Ready::Text(text) = &ready {
                        self.trace.last_word = format!("{}={text}", assign.name);
                    }
                    self.declare_ready(name, assign, Some(ready), wanted, local).await?;
                }
            }
        }
        if !named {
            self.list_declared(name, wanted).await?;
        }
        Ok(())
    }

    /// A word that is an assignment only after expansion: `declare "$name=$value"`.
    async fn declare_text(&mut self, by: &str, text: &str, wanted: Wanted, local: bool) -> Eval<()> {
        if wanted.functions || wanted.names_only {
            if by == "export" {
                let function = self.definitions.functions.get(text).cloned();
                let known = function.is_some();
                if let Some(function) = function {
                    self.shared.handed.lock().insert(text.to_owned(), function);
                    Arc::make_mut(&mut self.define().exported_functions).insert(text.to_owned());
                } else {
                    self.complain(&format!("export: {text}: not a function")).await?;
                }
                self.status = i32::from(!known);
                return Ok(());
            }
            return self.print_function(text, wanted.names_only).await;
        }
        if wanted.print && by != "export" && by != "readonly" {
            if by == "local" && !self.vars.is_local(text) {
                return Ok(());
            }
            return self.print_one(text).await;
        }
        let (left, value) = match text.split_once('=') {
            Some((left, value)) => (left, Some(value)),
            None => (text, None),
        };
        let (left, append) = match left.strip_suffix('+') {
            Some(left) if value.is_some() => (left, true),
            _ => (left, false),
        };
        let (name, index) = match left.strip_suffix(']').and_then(|it| it.split_once('[')) {
            Some((name, index)) => (name, Some(index)),
            None => (left, None),
        };
        let element = index.is_some() && matches!(by, "export" | "readonly");
        if !is_name(name) || element {
            self.complain(&format!("{by}: `{text}': not a valid identifier")).await?;
            self.status = 1;
            return Ok(());
        }
        if let Some(list) = value.filter(|it| it.starts_with('(') && it.ends_with(')'))
            && index.is_none()
            && (wanted.array || wanted.map)
            && self.shared.mode.eval_allowed
            && let Some(assign) = list_of(name, list, append, (&self.shared.limits).into())
        {
            let mut seen = self.status;
            return Box::pin(self.declare_assign(by, &assign, wanted, local, &mut seen)).await;
        }
        let global_ready = match (value, index) {
            (None, _) => None,
            (Some(value), None) => Some(Ready::Text(value.to_owned())),
            (Some(value), Some(index)) => {
                let key = match self.compute(index) {
                    Ok(number) if !wanted.map => super::assign::Key::Number(number),
                    _ => super::assign::Key::Text(index.to_owned()),
                };
                Some(Ready::Element(key, value.to_owned()))
            }
        };
        let assign = Assign {
            name: name.to_owned(),
            index: None,
            append,
            value: AssignValue::Scalar(Word::default()),
            span: Default::default(),
        };
        self.declare_ready(by, &assign, global_ready, wanted, local).await
    }

    async fn declare_assign(
        &mut self,
        by: &str,
        assign: &Assign,
        wanted: Wanted,
        local: bool,
        seen: &mut i32,
    ) -> Eval<()> {
        let ready = self.declared_value(assign, wanted, local, seen).await?;
        self.declare_ready(by, assign, Some(ready), wanted, local).await
    }

    /// What an argument assigns, worked out as the kind of variable that it will be.
    async fn declared_value(
        &mut self,
        assign: &Assign,
        wanted: Wanted,
        local: bool,
        seen: &mut i32,
    ) -> Eval<Ready> {
        let existing = matches!(self.vars.var(&assign.name).map(|var| &var.value), Some(Value::Assoc(_)));
        let fresh_local = local && !wanted.global && !self.vars.is_local(&assign.name);
        let is_map = wanted.map || (existing && !fresh_local);
        // The status of a substitution is not the declaration's; the next argument sees it.
        std::mem::swap(&mut self.status, seen);
        let ready = self.ready(assign, is_map).await?;
        std::mem::swap(&mut self.status, seen);
        Ok(ready)
    }

    async fn declare_ready(
        &mut self,
        by: &str,
        assign: &Assign,
        ready: Option<Ready>,
        wanted: Wanted,
        local: bool,
    ) -> Eval<()> {
        let name = &assign.name;
        let local = local && !wanted.global;
        if wanted.global
            && let Some(Ready::Text(text)) = &ready
            && !assign.append
            && wanted.plain()
        {
            self.vars.global(name).value = Value::Scalar(text.clone());
            return Ok(());
        }
        let readonly = self.vars.own(name).is_some_and(|var| var.attributes.readonly);
        if readonly && (ready.is_some() || local) && !(local && !self.vars.is_local(name) && ready.is_none())
        {
            self.complain(&format!("{by}: {name}: readonly variable")).await?;
            self.status = 1;
            return Ok(());
        }
        let follow = !local && wanted.nameref.is_none();
        let target = if follow { self.vars.resolve(name) } else { name.clone() };
        let fresh = local && !self.vars.is_local(&target);
        let inherits_export = fresh && self.vars.own(&target).is_some_and(|var| var.attributes.exported);
        let var = if local { self.vars.local(&target) } else { self.vars.entry(&target) };
        let clash = match (&var.value, wanted.map, wanted.array) {
            (Value::Indexed(_), true, _) => Some("cannot convert indexed to associative array"),
            (Value::Assoc(_), false, true) => Some("cannot convert associative to indexed array"),
            _ => None,
        };
        if let Some(clash) = clash {
            self.complain(&format!("{by}: {target}: {clash}")).await?;
            self.status = 1;
            return if matches!(ready, Some(Ready::List(_))) { Err(Flow::Discard) } else { Ok(()) };
        }
        let is_empty = ready.is_none() && var.value == Value::Unset;
        // As in bash, `readonly` of what is not there makes no list of it.
        let (map, array) =
            if by == "readonly" && is_empty { (false, false) } else { (wanted.map, wanted.array) };
        let bare = is_empty && (map || array);
        match (&var.value, map, array) {
            (Value::Unset, true, _) => var.value = Value::Assoc(Assoc::default()),
            (Value::Unset, _, true) if ready.is_none() => var.value = Value::Indexed(Default::default()),
            (Value::Scalar(text), true, _) => {
                let mut map = Assoc::default();
                map.set("0", text.clone());
                var.value = Value::Assoc(map);
            }
            (Value::Scalar(_), _, true) => {
                let old = std::mem::take(&mut var.value);
                var.value = Value::Indexed(old.into_indexed());
            }
            _ => {}
        }
        let attributes = &mut var.attributes;
        attributes.bare |= bare;
        attributes.exported |= inherits_export;
        if wanted.lower.is_some() != wanted.upper.is_some() {
            attributes.upper &= wanted.lower != Some(true);
            attributes.lower &= wanted.upper != Some(true);
        }
        let set = |flag: &mut bool, wish: Option<bool>| *flag = wish.unwrap_or(*flag);
        set(&mut attributes.integer, wanted.integer);
        set(&mut attributes.lower, wanted.lower);
        set(&mut attributes.upper, wanted.upper);
        set(&mut attributes.exported, wanted.exported);
        if wanted.nameref == Some(true) {
            let target = match (&ready, &var.value) {
                (Some(Ready::Text(text)), _) | (None, Value::Scalar(text)) => text.as_str(),
                _ => "",
            };
            if target == name && !local {
                self.complain(&format!("{by}: {name}: nameref variable self references not allowed")).await?;
                self.status = 1;
                return Ok(());
            }
            let base = target.split('[').next().unwrap_or_default();
            if !target.is_empty() && !is_name(base) {
                let text = format!("{by}: `{target}': invalid variable name for name reference");
                self.complain(&text).await?;
                self.status = 1;
                return Ok(());
            }
            attributes.nameref = true;
            attributes.readonly |= wanted.readonly;
            if let Some(Ready::Text(text)) = ready {
                var.value = Value::Scalar(text);
            }
            return Ok(());
        }
        set(&mut attributes.nameref, wanted.nameref);
        if let Some(ready) = ready {
            let ready = match ready {
                Ready::Text(text) if wanted.array => Ready::List(vec![(None, text, false)]),
                other => other,
            };
            self.store(assign, ready).await?;
        }
        if wanted.readonly {
            let var = if local { self.vars.local(&target) } else { self.vars.entry(&target) };
            var.attributes.readonly = true;
        }
        Ok(())
    }
}

/// The assignment a text like `(1 2 3)` is the right side of.
fn list_of(name: &str, list: &str, append: bool, limits: ParseLimits) -> Option<Assign> {
    let text = format!("{name}{}={list}", if append { "+" } else { "" });
    let mut items = syntax::parse(&text, limits).ok()?.items;
    let item = items.pop().filter(|_| items.is_empty())?;
    let mut stages = Arc::into_inner(item.list)?.first.stages;
    let stage = stages.pop().filter(|_| stages.is_empty())?;
    match Arc::into_inner(stage.command)? {
        Command::Simple(mut simple) if simple.args.is_empty() => simple.assigns.pop(),
        _ => None,
    }
}

impl Wanted {
    pub(super) fn plain(self) -> bool {
        !self.map && !self.array && self.exported.is_none() && !self.readonly && self.integer.is_none()
    }

    /// Takes `-ax`; answers the first letter nobody knows.
    fn read(&mut self, text: &str, by: &str) -> Option<char> {
        let on = text.starts_with('-');
        for letter in text.chars().skip(1) {
            match letter {
                'a' => self.array = on,
                'A' => self.map = on,
                'i' => self.integer = Some(on),
                'l' => self.lower = Some(on),
                'u' => self.upper = Some(on),
                'x' => self.exported = Some(on),
                'r' => self.readonly = on,
                'n' if by == "export" => self.exported = Some(false),
                'n' => self.nameref = Some(on),
                'g' => self.global = on,
                'p' => self.print = on,
                'f' => self.functions = on,
                'F' => self.names_only = on,
                't' | 'I' => {}
                other => return Some(other),
            }
        }
        None
    }
}
