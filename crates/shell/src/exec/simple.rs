//! Simple commands: expand, redirect, find out what the first word names, run it.

use std::sync::Arc;

use super::assign::Ready;
use crate::{
    builtin::{self, Role},
    expand::quote,
    fd::FdTable,
    state::{Env, Eval, Flow},
    syntax::ast::{Arg, AssignValue, Element, Piece, Simple, Subscript, Word},
    vars::Value,
};

/// Where a declaring builtin's own arguments begin, and those that came with its name.
type Declaring = (usize, Vec<Arg>);

impl Env {
    pub(super) async fn run_simple(&mut self, simple: &Simple) -> Eval<()> {
        self.at_line(simple.line);
        self.results.substituted = None;
        self.vars.export_all = self.options.allexport;
        if !simple.typed.is_empty() && !self.traps.is_running {
            self.trace.command = Arc::clone(&simple.typed);
        }
        self.debug_trap().await?;
        let since = self.fds.processes.len();
        let result = self.run_simple_here(simple).await;
        if self.fds.processes.len() > since {
            self.finish_processes(since).await?;
        }
        result
    }

    /// The DEBUG trap, before whatever counts as a command.
    pub(super) async fn debug_trap(&mut self) -> Eval<()> {
        if self.traps.has("DEBUG") && (!self.frame.is_in_function() || self.options.functrace) {
            self.run_trap("DEBUG").await?;
        }
        Ok(())
    }

    async fn run_simple_here(&mut self, simple: &Simple) -> Eval<()> {
        let mut words = Vec::new();
        let mut declaring = None;
        let mut is_named = false;
        self.unknown.keep = self.shared.mode.literal_unknown && keeps_unknown(simple);
        for (index, arg) in simple.args.iter().enumerate() {
            let Arg::Word(word) = arg else { break };
            let expanded = self.expand_into(word, &mut words).await;
            if expanded.is_err() {
                self.unknown.keep = false;
                return expanded;
            }
            if is_named {
                continue;
            }
            // `command` and `builtin` may stand before it, and before one another.
            let Some(at) = words.iter().position(|it| builtin::role(it) != Role::Prefix) else { continue };
            is_named = true;
            if builtin::role(&words[at]) == Role::Declares
                && (at > 0 || !self.definitions.functions.contains_key(&words[at]))
            {
                let first = words.split_off(at + 1);
                let first = first.into_iter().map(|it| Arg::Word(Word::quoted(it))).collect();
                declaring = Some((index, first));
                break;
            }
        }
        self.unknown.keep = false;
        if words.is_empty() {
            return self.run_assignments(simple).await;
        }
        if !self.shared.mode.eval_allowed
            && builtin::role(&words[0]) == Role::TakesCode
            && carries_syntax(simple, &words)
        {
            let why = "refused: an expansion would be parsed as code; pass --eval to allow it";
            self.complain(&format!("{}: {why}", words[0])).await?;
            self.status = 126;
            return Ok(());
        }
        let persists = self.options.posix && builtin::is_special(&words[0]);
        let scoped = !simple.assigns.is_empty();
        if scoped {
            self.scope_assigns(simple).await?;
        }
        if self.options.xtrace {
            self.trace(simple, &words).await?;
        }
        let last_word = declaring.is_none().then(|| words.last().cloned().unwrap_or_default());
        let result = self.run_words(simple, words, declaring).await;
        if let Some(last_word) = last_word {
            self.trace.last_word = last_word;
        }
        if scoped && persists {
            self.vars.merge_temporary();
        } else if scoped {
            self.vars.pop_scope();
        }
        result
    }

    async fn run_assignments(&mut self, simple: &Simple) -> Eval<()> {
        self.trace.last_word.clear();
        let mut outcome = Ok(());
        for assign in &simple.assigns {
            outcome = self.assign(assign).await;
            if outcome.is_err() {
                break;
            }
        }
        outcome?;
        let status = self.results.substituted.unwrap_or(0);
        if !simple.redirects.is_empty() {
            let saved = self.fds.save();
            let done = self.redirect_all(&simple.redirects).await;
            self.fds.put_back(saved);
            self.status = if done? { self.results.substituted.unwrap_or(status) } else { 1 };
            return Ok(());
        }
        self.status = status;
        Ok(())
    }

    /// `NAME=value command`: variables of the command alone.
    async fn scope_assigns(&mut self, simple: &Simple) -> Eval<()> {
        self.vars.push_temporary();
        let result = self.scope_each(simple).await;
        if result.is_err() {
            self.vars.pop_scope();
        }
        result
    }

    /// Each sees those before it.
    async fn scope_each(&mut self, simple: &Simple) -> Eval<()> {
        for assign in &simple.assigns {
            let is_map = matches!(self.vars.var(&assign.name).map(|it| &it.value), Some(Value::Assoc(_)));
            let ready = match &assign.value {
                AssignValue::Array(elements) => Ready::Text(self.list_text(elements).await?),
                AssignValue::Scalar(_) => self.ready(assign, is_map).await?,
            };
            if self.options.xtrace {
                self.trace_assign(assign, &ready).await?;
            }
            let readonly = self.vars.var(&assign.name).is_some_and(|var| var.attributes.readonly);
            if readonly {
                self.complain(&format!("{}: readonly variable", assign.name)).await?;
                continue;
            }
            let old = if assign.append { self.scalar(&assign.name) } else { None };
            let var = self.vars.innermost(&assign.name);
            var.attributes.exported = true;
            if let Some(old) = old {
                var.value = Value::Scalar(old);
            }
            self.store(assign, ready).await?;
        }
        Ok(())
    }

    /// The environment has no lists, so a command is given the text of one.
    async fn list_text(&mut self, elements: &[Element]) -> Eval<String> {
        let mut words = Vec::new();
        for element in elements {
            match &element.index {
                Some(Subscript::At { key, .. }) => {
                    let (key, value) = (self.expand_one(key).await?, self.expand_one(&element.value).await?);
                    words.push(format!("[{key}]={value}"));
                }
                _ => self.expand_into(&element.value, &mut words).await?,
            }
        }
        Ok(format!("({})", words.join(" ")))
    }

    async fn run_words(
        &mut self,
        simple: &Simple,
        words: Vec<String>,
        declaring: Option<Declaring>,
    ) -> Eval<()> {
        let redirected = !simple.redirects.is_empty();
        let saved = if redirected { self.fds.save() } else { FdTable::default() };
        if redirected {
            match self.redirect_all(&simple.redirects).await {
                Ok(true) => {}
                Ok(false) => {
                    self.fds.put_back(saved);
                    self.status = 1;
                    return Ok(());
                }
                Err(flow) => {
                    self.fds.put_back(saved);
                    return Err(flow);
                }
            }
        }
        if let Some((index, first)) = declaring {
            let name = words.last().cloned().unwrap_or_default();
            let result = self.run_declare(&name, &first, &simple.args[index + 1..]).await;
            self.record_builtin(&name, self.status);
            if redirected {
                self.fds.restore(saved);
            }
            return result;
        }
        let keep_fds = redirected && keeps_descriptors(&words);
        let result = self.dispatch(words).await;
        if redirected && !keep_fds {
            self.fds.restore(saved);
        }
        result
    }

    /// Functions first, then builtins, then commands.
    pub(crate) async fn dispatch(&mut self, words: Vec<String>) -> Eval<()> {
        let special = self.options.posix && builtin::is_special(&words[0]);
        if let Some(function) = self.definitions.functions.get(&words[0]).filter(|_| !special).cloned() {
            return self.call(&function, words).await;
        }
        self.dispatch_command(words).await
    }

    /// Builtins, then commands: what `command name` runs.
    pub(crate) async fn dispatch_command(&mut self, words: Vec<String>) -> Eval<()> {
        if let Some(builtin) = builtin::find(&words[0]) {
            let ran = (builtin.run)(self, &words).await;
            let status = match &ran {
                Ok(status) | Err(Flow::Exit(status) | Flow::Return(status)) => *status,
                Err(_) => self.status,
            };
            self.record_builtin(builtin.name, status);
            self.status = ran?;
            return Ok(());
        }
        self.run_external(words).await
    }

    async fn trace(&mut self, simple: &Simple, words: &[String]) -> Eval<()> {
        let mut words: Vec<String> = words.iter().map(|word| quote::traced(word)).collect();
        // Arguments of a declaring builtin are expanded later; they are shown as far as they are plain.
        if words.len() == 1 && builtin::role(&words[0]) == Role::Declares {
            for arg in &simple.args[1..] {
                match arg {
                    Arg::Word(word) => words.extend(word.literal()),
                    Arg::Assign(assign) => words.push(assign.name.clone()),
                }
            }
        }
        self.trace_line(&words.join(" ")).await
    }

    /// One line of `set -x`: `PS4`, its first character once more for each substitution around.
    pub(super) async fn trace_line(&mut self, text: &str) -> Eval<()> {
        let prompt = self.vars.get("PS4").unwrap_or("+ ").to_owned();
        let prompt =
            if prompt.contains(['$', '\\', '`']) { self.expand_prompt(&prompt).await? } else { prompt };
        let first: String = prompt.chars().take(1).collect();
        let line = format!("{}{prompt}{text}\n", first.repeat(self.trace.substitutions as usize));
        let to = self.vars.get("BASH_XTRACEFD").and_then(|it| it.parse().ok()).unwrap_or(2);
        match self.write(to, line.as_bytes()).await {
            Ok(_) | Err(Flow::Exit(141)) => Ok(()),
            Err(flow) => Err(flow),
        }
    }
}

/// Whether it is nothing but `exec`, maybe as `command exec`.
fn keeps_descriptors(words: &[String]) -> bool {
    let mut named = words.iter().filter(|it| *it != "--" && builtin::role(it) != Role::Prefix);
    let first = named.next().map(|it| builtin::role(it));
    first == Some(Role::KeepsDescriptors) && named.next().is_none()
}

/// Whether a trap's action got characters that mean something from an expansion.
fn carries_syntax(simple: &Simple, words: &[String]) -> bool {
    const SYNTAX: &str = ";&|<>$`(){}[]'\"\\\n#!*?~=";
    let Some(Arg::Word(word)) = simple.args.get(1) else { return false };
    if word.literal().is_some() {
        return false;
    }
    let mut typed = String::new();
    typed_text(&word.pieces, &mut typed);
    let count = |text: &str, wanted: char| text.chars().filter(|it| *it == wanted).count();
    words.get(1).is_some_and(|text| SYNTAX.chars().any(|it| count(text, it) > count(&typed, it)))
}

fn typed_text(pieces: &[Piece], into: &mut String) {
    for piece in pieces {
        match piece {
            Piece::Text(text) | Piece::Quoted(text) => into.push_str(text),
            Piece::Double(inner) => typed_text(inner, into),
            _ => {}
        }
    }
}

/// Tests ask whether a name is set; there an unknown one must be empty.
fn keeps_unknown(simple: &Simple) -> bool {
    match simple.args.first() {
        Some(Arg::Word(word)) => word.bare().is_none_or(|name| builtin::role(name) != Role::AsksIfSet),
        _ => false,
    }
}
