//! Simple commands: expand, redirect, find out what the first word names, run it.

use std::sync::Arc;

use super::declare::is_declaring;
use crate::shell::{
    builtin,
    expand::quote,
    fd::FdTable,
    state::{Env, Eval, Flow},
    syntax::ast::{Arg, Piece, Simple, Word},
    vars::Value,
};

/// Where a declaring builtin's own arguments begin, and those that came with its name.
type Declaring = (usize, Vec<Arg>);

impl Env {
    pub(super) async fn run_simple(&mut self, simple: &Simple) -> Eval<()> {
        self.at_line(simple.line);
        self.substituted = None;
        self.vars.export_all = self.options.allexport;
        if !simple.typed.is_empty() && !self.in_trap {
            self.command = Arc::clone(&simple.typed);
        }
        self.debug_trap().await?;
        let since = self.processes.len();
        let result = self.run_simple_here(simple).await;
        if self.processes.len() > since {
            self.finish_processes(since).await?;
        }
        result
    }

    /// The DEBUG trap, before whatever counts as a command.
    pub(super) async fn debug_trap(&mut self) -> Eval<()> {
        if !self.traps.is_empty()
            && self.has_trap("DEBUG")
            && (self.calls.is_empty() || self.options.functrace)
        {
            self.run_trap("DEBUG").await?;
        }
        Ok(())
    }

    async fn run_simple_here(&mut self, simple: &Simple) -> Eval<()> {
        let mut words = Vec::new();
        let mut declaring = None;
        self.keep_unknown = self.shared.mode.literal_unknown && keeps_unknown(simple);
        for (index, arg) in simple.args.iter().enumerate() {
            let Arg::Word(word) = arg else { break };
            let expanded = self.expand_into(word, &mut words).await;
            if expanded.is_err() {
                self.keep_unknown = false;
                return expanded;
            }
            // `command` and `builtin` may stand before it, and before one another.
            let at = words.iter().position(|it| !matches!(it.as_str(), "command" | "builtin"));
            if let Some(at) = at
                && is_declaring(&words[at])
                && (at > 0 || !self.functions.contains_key(&words[at]))
            {
                let first = words.split_off(at + 1);
                let first = first.into_iter().map(|it| Arg::Word(Word::quoted(it))).collect();
                declaring = Some((index, first));
                break;
            }
        }
        self.keep_unknown = false;
        if words.is_empty() {
            return self.run_assignments(simple).await;
        }
        if words[0] == "trap" && !self.shared.mode.eval_allowed && carries_syntax(simple, &words) {
            self.complain("trap: refused: an expansion would be parsed as code; pass --eval to allow it")
                .await?;
            self.status = 126;
            return Ok(());
        }
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
            self.last_word = last_word;
        }
        if scoped {
            self.vars.pop_scope();
        }
        result
    }

    async fn run_assignments(&mut self, simple: &Simple) -> Eval<()> {
        self.last_word.clear();
        let mut outcome = Ok(());
        for assign in &simple.assigns {
            outcome = self.assign(assign).await;
            if outcome.is_err() {
                break;
            }
        }
        outcome?;
        let status = self.substituted.unwrap_or(0);
        if !simple.redirects.is_empty() {
            let saved = self.fds.clone();
            let done = self.redirect_all(&simple.redirects).await;
            self.fds = saved;
            self.status = if done? { self.substituted.unwrap_or(status) } else { 1 };
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
            let ready = self.ready(assign, is_map).await?;
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

    async fn run_words(
        &mut self,
        simple: &Simple,
        words: Vec<String>,
        declaring: Option<Declaring>,
    ) -> Eval<()> {
        let redirected = !simple.redirects.is_empty();
        let saved = if redirected { self.fds.clone() } else { Default::default() };
        if redirected {
            match self.redirect_all(&simple.redirects).await {
                Ok(true) => {}
                Ok(false) => {
                    self.fds = saved;
                    self.status = 1;
                    return Ok(());
                }
                Err(flow) => {
                    self.fds = saved;
                    return Err(flow);
                }
            }
        }
        if let Some((index, first)) = declaring {
            let name = words.last().cloned().unwrap_or_default();
            let result = self.run_declare(&name, &first, &simple.args[index + 1..]).await;
            self.record_builtin(&name, self.status);
            if redirected {
                self.restore(saved);
            }
            return result;
        }
        let plain =
            words.iter().map(String::as_str).filter(|it| !matches!(*it, "command" | "builtin" | "--"));
        let keep_fds = plain.eq(["exec"]);
        let result = self.dispatch(words).await;
        if redirected && !keep_fds {
            self.restore(saved);
        }
        result
    }

    /// Descriptors as they were, save those a `{name}>` opened: they stay.
    pub(super) fn restore(&mut self, saved: FdTable) {
        let opened = std::mem::replace(&mut self.fds, saved);
        for (number, fd) in opened {
            if self.named_fds.contains(&number) {
                self.fds.insert(number, fd);
            }
        }
    }

    /// Functions first, then builtins, then commands.
    pub(crate) async fn dispatch(&mut self, words: Vec<String>) -> Eval<()> {
        if let Some(function) = self.functions.get(&words[0]).cloned() {
            return self.call(&function, words).await;
        }
        self.dispatch_command(words).await
    }

    /// Builtins, then commands: what `command name` runs.
    pub(crate) async fn dispatch_command(&mut self, words: Vec<String>) -> Eval<()> {
        if builtin::is_builtin(&words[0]) {
            let ran = Box::pin(builtin::run(self, &words)).await;
            let status = match &ran {
                Ok(status) | Err(Flow::Exit(status) | Flow::Return(status)) => *status,
                Err(_) => self.status,
            };
            self.record_builtin(&words[0], status);
            self.status = ran?;
            return Ok(());
        }
        self.run_external(as_pip(words)).await
    }

    async fn trace(&mut self, simple: &Simple, words: &[String]) -> Eval<()> {
        let mut words: Vec<String> = words.iter().map(|word| quote::traced(word)).collect();
        // Arguments of a declaring builtin are expanded later; they are shown as far as they are plain.
        if words.len() == 1 && is_declaring(&words[0]) {
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
        let line = format!("{}{prompt}{text}\n", first.repeat(self.substitutions as usize));
        let to = self.vars.get("BASH_XTRACEFD").and_then(|it| it.parse().ok()).unwrap_or(2);
        match self.write(to, line.as_bytes()).await {
            Ok(_) | Err(Flow::Exit(141)) => Ok(()),
            Err(flow) => Err(flow),
        }
    }
}

/// `python -m pip …` is `pip …`: packages are the host's affair, and no interpreter of ours carries the module.
fn as_pip(words: Vec<String>) -> Vec<String> {
    match &words[..] {
        [python, dash, module, rest @ ..] if ["python", "python3"].contains(&python.as_str()) => {
            match (dash.as_str(), module.as_str()) {
                ("-m", "pip" | "pip3") => {
                    std::iter::once("pip".to_owned()).chain(rest.iter().cloned()).collect()
                }
                _ => words,
            }
        }
        _ => words,
    }
}

#[test]
fn pip_as_a_module_is_pip() {
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(as_pip(words("python3 -m pip install x")), words("pip install x"));
    for other in ["python -m venv x", "python x.py -m pip", "ruby -m pip", "python"] {
        assert_eq!(as_pip(words(other)), words(other));
    }
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
        Some(Arg::Word(word)) => !matches!(word.bare(), Some("[" | "test" | "let" | "unset" | "read")),
        _ => false,
    }
}
