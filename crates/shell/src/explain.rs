//! What a text would do, without doing it.

mod awk;
mod operands;

use std::{collections::BTreeSet, sync::Arc};

use super::{
    ShellLimits, SyntaxError,
    builtin::{self, nested},
    exec::bare,
    syntax::{
        self, ParseLimits, Script,
        ast::{
            AndOr, Arg, Assign, AssignValue, Command, Compound, Param, ParamOp, Piece, Redirect,
            RedirectKind, Word,
        },
    },
};

pub use drydock_abi::shell::{Plan, PlannedCommand, Touch};

/// Reads a text and says what it would do.
pub fn explain(text: &str, limits: &ShellLimits) -> Result<Plan, SyntaxError> {
    let script = syntax::parse(text, limits.into())?;
    let mut reader = Reader {
        plan: Plan::default(),
        functions: BTreeSet::new(),
        aliases: BTreeSet::new(),
        expands_aliases: false,
        parents: Vec::new(),
        limits: limits.into(),
        pipeline: 0,
    };
    reader.script(&script);
    let Reader { mut plan, functions, aliases, expands_aliases, .. } = reader;
    for command in &mut plan.commands {
        command.function = command.started_by.is_none() && functions.contains(&command.name);
        command.alias = expands_aliases && aliases.contains(&command.name);
        let own = command.builtin || command.function || command.alias;
        if !own && !command.name.starts_with('$') {
            plan.grants.insert(command.name.clone());
        }
    }
    Ok(plan)
}

/// Texts inside texts that are looked into.
const TEXT_DEPTH_MAX: usize = 8;

struct Reader {
    plan: Plan,
    functions: BTreeSet<String>,
    aliases: BTreeSet<String>,
    expands_aliases: bool,
    /// The commands whose text is being read, and where they stand.
    parents: Vec<(String, (u32, u32))>,
    limits: ParseLimits,
    pipeline: usize,
}

impl Reader {
    fn script(&mut self, script: &Script) {
        for item in &script.items {
            self.and_or(&item.list);
        }
    }

    fn and_or(&mut self, list: &AndOr) {
        let all = std::iter::once(&list.first).chain(list.rest.iter().map(|it| &it.1));
        for pipeline in all {
            let number = self.pipeline;
            self.pipeline += 1;
            for stage in &pipeline.stages {
                self.command(&stage.command, number);
            }
        }
    }

    fn command(&mut self, command: &Command, pipeline: usize) {
        match command {
            Command::Simple(simple) => {
                for assign in &simple.assigns {
                    self.assign(assign);
                }
                let mut words = Vec::new();
                for arg in &simple.args {
                    match arg {
                        Arg::Word(word) => {
                            words.push(shown(word));
                            self.word(word);
                        }
                        Arg::Assign(assign) => {
                            words.push(format!("{}=…", assign.name));
                            self.assign(assign);
                        }
                    }
                }
                self.redirects(&simple.redirects);
                self.planned(words, None, pipeline, (simple.line, simple.column));
            }
            Command::Compound(compound, redirects, _) => {
                self.redirects(redirects);
                self.compound(compound);
            }
            Command::Function(function) => {
                self.functions.insert(function.name.clone());
                self.command(&function.body, pipeline);
            }
        }
    }

    /// A command with its words, and after it those it would start.
    fn planned(&mut self, words: Vec<String>, by: Option<&str>, pipeline: usize, at: (u32, u32)) {
        let mut words = words.into_iter();
        let Some(name) = words.next() else { return };
        let args: Vec<String> = words.collect();
        // A place where commands are elsewhere is no part of a name.
        let name = bare(&name).to_owned();
        let (by, at) = match (by, self.parents.last()) {
            (None, Some((parent, at))) => (Some(parent.clone()), *at),
            (by, _) => (by.map(str::to_owned), at),
        };
        // What find and xargs hand on is known when they run.
        self.plan.open_ended |= name.contains('$') || matches!(by.as_deref(), Some("find" | "xargs"));
        // What a makefile says is in no line.
        self.plan.open_ended |= name == "make";
        self.expands_aliases |= name == "shopt" && args.iter().any(|it| it == "expand_aliases");
        if name == "alias" {
            self.aliases.extend(args.iter().filter_map(|it| it.split_once('=')).map(|it| it.0.to_owned()));
        }
        let meaning = operands::meaning(&name, &args);
        self.plan.evaluates |= meaning.evaluates;
        self.plan.open_ended |= meaning.is_open_ended;
        self.plan.scripts.extend(meaning.script.clone());
        if name.contains('/') && !name.contains('$') {
            self.plan.scripts.insert(name.clone());
        }
        let inside = builtin::answered(&name).is_some() || name.contains('/');
        let own = inside || builtin::is_builtin(&name) && !meaning.is_started_by(by.as_deref());
        for (touch, path) in meaning.files {
            self.touched(touch, path);
        }
        self.plan.commands.push(PlannedCommand {
            builtin: own,
            name: name.clone(),
            args,
            function: false,
            alias: false,
            started_by: by,
            pipeline,
            line: at.0,
            column: at.1,
        });
        for child in meaning.children {
            self.planned(child, Some(&name), pipeline, at);
        }
        if let Some(text) = meaning.text {
            self.text(&name, &text, at);
        }
    }

    /// A text that a command would parse: what is in it, as far as it is there to be read.
    fn text(&mut self, name: &str, text: &str, at: (u32, u32)) {
        self.plan.open_ended |= text.contains('$');
        if self.parents.len() >= TEXT_DEPTH_MAX {
            self.plan.open_ended = true;
            return;
        }
        let Ok(script) = syntax::parse(text, self.limits) else { return };
        self.parents.push((name.to_owned(), at));
        self.script(&script);
        self.parents.pop();
    }

    fn touched(&mut self, touch: Touch, path: String) {
        self.plan.open_ended |= path.contains('$');
        if path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/") {
            self.plan.network.insert(path);
        } else if !path.starts_with("/dev/") {
            self.plan.files.push((touch, path));
        }
    }

    fn compound(&mut self, compound: &Compound) {
        match compound {
            Compound::Group(script) => self.script(script),
            Compound::Subshell(script) => self.script(script),
            Compound::If { arms, otherwise } => {
                for (test, body) in arms {
                    self.script(test);
                    self.script(body);
                }
                if let Some(body) = otherwise {
                    self.script(body);
                }
            }
            Compound::For { words, body, .. } | Compound::Select { words, body, .. } => {
                for word in words.iter().flatten() {
                    self.word(word);
                }
                self.script(body);
            }
            Compound::ArithFor { body, .. } => self.script(body),
            Compound::Loop { test, body, .. } => {
                self.script(test);
                self.script(body);
            }
            Compound::Case { subject, arms } => {
                self.word(subject);
                for arm in arms {
                    self.script(&arm.body);
                }
            }
            Compound::Arith(_) | Compound::Cond(_) => {}
            Compound::Coproc { command, .. } => {
                let number = self.pipeline;
                self.pipeline += 1;
                self.command(command, number);
            }
        }
    }

    fn assign(&mut self, assign: &Assign) {
        match &assign.value {
            AssignValue::Scalar(word) => self.word(word),
            AssignValue::Array(elements) => elements.iter().for_each(|it| self.word(&it.value)),
        }
    }

    fn redirects(&mut self, redirects: &[Redirect]) {
        for redirect in redirects {
            let (touch, word) = match &redirect.kind {
                RedirectKind::Read(word) => (Touch::Reads, word),
                RedirectKind::Write { target, .. } | RedirectKind::Both { target, append: false } => {
                    (Touch::Writes, target)
                }
                RedirectKind::Append(word) | RedirectKind::Both { target: word, append: true } => {
                    (Touch::Appends, word)
                }
                RedirectKind::ReadWrite(word) => (Touch::Writes, word),
                RedirectKind::HereString(word) => {
                    self.word(word);
                    continue;
                }
                RedirectKind::Here(body) => {
                    if let Some(here) = body.get() {
                        self.word(&here.word);
                    }
                    continue;
                }
                RedirectKind::DupIn(_) | RedirectKind::DupOut(_) => continue,
            };
            self.word(word);
            if matches!(word.pieces.as_slice(), [Piece::Process { .. }]) {
                continue;
            }
            self.touched(touch, shown(word));
        }
    }

    fn word(&mut self, word: &Word) {
        self.pieces(&word.pieces);
    }

    fn pieces(&mut self, pieces: &[Piece]) {
        for piece in pieces {
            match piece {
                Piece::Double(inner) => self.pieces(inner),
                Piece::Command(script) | Piece::Process { script, .. } => self.script(script),
                Piece::FileText(word) => {
                    let path = shown(word);
                    self.plan.files.push((Touch::Reads, path));
                }
                Piece::Param(param) => self.param(param),
                Piece::Text(_) | Piece::Quoted(_) | Piece::Tilde(_) | Piece::Arith(_) => {}
            }
        }
    }

    fn param(&mut self, param: &Arc<Param>) {
        match &param.op {
            ParamOp::Default { word, .. }
            | ParamOp::Assign { word, .. }
            | ParamOp::Error { word, .. }
            | ParamOp::Alternative { word, .. } => self.word(word),
            _ => {}
        }
    }
}

/// A word as a person would read it.
fn shown(word: &Word) -> String {
    let mut text = String::new();
    show(&word.pieces, &mut text);
    text
}

fn show(pieces: &[Piece], text: &mut String) {
    for piece in pieces {
        match piece {
            Piece::Text(part) | Piece::Quoted(part) => text.push_str(part),
            Piece::Double(inner) => show(inner, text),
            Piece::Tilde(name) => {
                text.push('~');
                text.push_str(name);
            }
            Piece::Param(param) => text.push_str(&param.typed),
            Piece::Command(_) | Piece::FileText(_) => text.push_str("$(…)"),
            Piece::Arith(_) => text.push_str("$((…))"),
            Piece::Process { .. } => text.push_str("<(…)"),
        }
    }
}
