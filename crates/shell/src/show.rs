//! A function as text again, laid out as bash lays it out: `declare -f`, `type`.
//!
//! Words are shown as they were typed; only what stands between them is ours.

use super::syntax::{
    Script,
    ast::{
        AndOr, Arg, Arm, ArmEnd, Command, Compound, FdName, Function, Join, Pipeline, Redirect, RedirectKind,
        Simple, Span, Timed, Word,
    },
};

/// `name () …`, without a newline at its end.
pub(crate) fn function(function: &Function) -> String {
    let mut show = Show {
        text: &function.source.text,
        base: function.source.base,
        out: String::new(),
        indent: 0,
        here: String::new(),
    };
    show.out.push_str(&function.name);
    show.function_body(function);
    show.out
}

struct Show<'t> {
    text: &'t str,
    base: u32,
    out: String,
    indent: usize,
    /// Bodies of here-documents that the next newline brings.
    here: String,
}

impl Show<'_> {
    fn typed(&self, span: Span) -> &str {
        let from = span.start.saturating_sub(self.base) as usize;
        let to = span.end.saturating_sub(self.base) as usize;
        self.text.get(from..to).unwrap_or_default()
    }

    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn put_typed(&mut self, span: Span) {
        let text = self.typed(span).to_owned();
        self.put(&text);
    }

    fn newline(&mut self) {
        if self.flush() {
            self.put("\n");
        }
        self.put("\n");
        self.out.extend(std::iter::repeat_n(' ', self.indent));
    }

    /// Puts here-documents that wait for the end of the line; whether there were any.
    fn flush(&mut self) -> bool {
        if self.here.is_empty() {
            return false;
        }
        let here = std::mem::take(&mut self.here);
        self.put("\n");
        self.put(here.trim_end_matches('\n'));
        true
    }

    /// The semicolon before a closing word.
    fn semicolon(&mut self) {
        if self.here.is_empty() && !self.out.ends_with('&') {
            self.put(";");
        }
    }

    fn function_body(&mut self, function: &Function) {
        let Command::Compound(compound, redirects, _) = &*function.body else { return };
        self.put(" () ");
        self.newline();
        self.put("{ ");
        self.indent += 4;
        self.newline();
        let Compound::Group(script) = &**compound else {
            self.command(&function.body);
            self.indent -= 4;
            self.newline();
            return self.put("}");
        };
        self.script(script);
        self.indent -= 4;
        self.newline();
        self.put("}");
        self.redirects(redirects);
    }

    fn script(&mut self, script: &Script) {
        let last = script.items.len().saturating_sub(1);
        for (index, item) in script.items.iter().enumerate() {
            self.and_or(&item.list);
            if item.background {
                self.put(if index == last { " &" } else { " & " });
            } else if index < last {
                self.semicolon();
                self.newline();
            }
        }
    }

    fn and_or(&mut self, list: &AndOr) {
        self.pipeline(&list.first);
        for (join, pipeline) in &list.rest {
            self.put(if *join == Join::And { " && " } else { " || " });
            self.pipeline(pipeline);
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        match pipeline.timed {
            Some(Timed::Own) => self.put("time "),
            Some(Timed::Posix) => self.put("time -p "),
            None => {}
        }
        if pipeline.inverted {
            self.put("! ");
        }
        let last = pipeline.stages.len().saturating_sub(1);
        for (index, stage) in pipeline.stages.iter().enumerate() {
            self.command(&stage.command);
            if stage.both {
                self.put(" 2>&1");
            }
            if index < last {
                self.put(" | ");
            }
        }
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound, redirects, place) => {
                self.compound(compound, place.span);
                self.redirects(redirects);
            }
            Command::Function(function) => {
                self.put("function ");
                self.put(&function.name);
                self.function_body(function);
            }
        }
    }

    fn simple(&mut self, simple: &Simple) {
        let assigns = simple.assigns.iter().map(|it| it.span);
        let args = simple.args.iter().map(|arg| match arg {
            Arg::Word(word) => word.span,
            Arg::Assign(assign) => assign.span,
        });
        // Words of one brace expansion share the stretch they were typed as.
        let mut spans: Vec<Span> = assigns.chain(args).collect();
        spans.dedup();
        for (index, span) in spans.into_iter().enumerate() {
            if index > 0 {
                self.put(" ");
            }
            self.put_typed(span);
        }
        self.redirects(&simple.redirects);
    }

    fn words(&mut self, words: &[Word]) {
        let mut spans: Vec<Span> = words.iter().map(|word| word.span).collect();
        spans.dedup();
        for span in spans {
            self.put(" ");
            self.put_typed(span);
        }
    }

    fn inside(&mut self, script: &Script, close: &str) {
        self.indent += 4;
        self.newline();
        self.script(script);
        self.semicolon();
        self.indent -= 4;
        self.newline();
        self.put(close);
    }

    fn compound(&mut self, compound: &Compound, span: Span) {
        match compound {
            Compound::Group(script) => {
                self.put("{ ");
                self.indent += 4;
                self.newline();
                self.script(script);
                self.indent -= 4;
                self.newline();
                self.put("}");
            }
            Compound::Subshell(script) => {
                self.put("( ");
                self.script(script);
                self.put(" )");
            }
            Compound::If { arms, otherwise } => self.branch(arms, otherwise.as_ref()),
            Compound::For { name, words, body } | Compound::Select { name, words, body } => {
                let of = if matches!(compound, Compound::For { .. }) { "for" } else { "select" };
                self.put(&format!("{of} {name} in"));
                match words {
                    Some(words) => self.words(words),
                    None => self.put(" \"$@\""),
                }
                self.put(";");
                self.newline();
                self.put("do");
                self.inside(body, "done");
            }
            Compound::ArithFor { clauses, body, .. } => {
                let typed = self.typed(*clauses).to_owned();
                let parts: Vec<&str> = typed.split(';').map(str::trim).collect();
                self.put(&format!("for (({}))", parts.join("; ")));
                self.newline();
                self.put("do");
                self.inside(body, "done");
            }
            Compound::Loop { until, test, body } => {
                self.put(if *until { "until " } else { "while " });
                self.script(test);
                self.semicolon();
                self.put(" do");
                self.inside(body, "done");
            }
            Compound::Case { subject, arms } => {
                self.put("case ");
                self.put_typed(subject.span);
                self.put(" in ");
                self.indent += 4;
                for arm in arms {
                    self.arm(arm);
                }
                self.indent -= 4;
                self.newline();
                self.put("esac");
            }
            Compound::Arith(_) | Compound::Cond(_) => self.put_typed(span),
            Compound::Coproc { name, command, .. } => {
                self.put(&format!("coproc {name} "));
                self.command(command);
            }
        }
    }

    /// `elif` is an `if` inside `else`.
    fn branch(&mut self, arms: &[(Script, Script)], otherwise: Option<&Script>) {
        let Some(((test, body), more)) = arms.split_first() else { return };
        self.put("if ");
        self.script(test);
        self.semicolon();
        self.put(" then");
        if more.is_empty() && otherwise.is_none() {
            return self.inside(body, "fi");
        }
        self.inside(body, "else");
        if more.is_empty() {
            if let Some(body) = otherwise {
                self.inside(body, "fi");
            }
            return;
        }
        self.indent += 4;
        self.newline();
        self.branch(more, otherwise);
        self.semicolon();
        self.indent -= 4;
        self.newline();
        self.put("fi");
    }

    fn arm(&mut self, arm: &Arm) {
        self.newline();
        for (index, pattern) in arm.patterns.iter().enumerate() {
            if index > 0 {
                self.put(" | ");
            }
            self.put_typed(pattern.span);
        }
        self.put(")");
        self.indent += 4;
        if arm.body.items.is_empty() {
            self.put("\n");
        } else {
            self.newline();
            self.script(&arm.body);
        }
        self.indent -= 4;
        self.newline();
        self.put(match arm.then {
            ArmEnd::Stop => ";;",
            ArmEnd::FallThrough => ";&",
            ArmEnd::TestNext => ";;&",
        });
    }

    fn redirects(&mut self, redirects: &[Redirect]) {
        for redirect in redirects {
            self.put(" ");
            match &redirect.fd {
                Some(FdName::Variable(name)) => self.put(&format!("{{{name}}}")),
                Some(FdName::Number(number)) if !is_standard(*number, &redirect.kind) => {
                    self.put(&number.to_string());
                }
                _ => {}
            }
            self.redirect(redirect);
        }
    }

    fn redirect(&mut self, redirect: &Redirect) {
        let (sign, word) = match &redirect.kind {
            RedirectKind::Read(word) => ("< ", word),
            RedirectKind::Write { target, clobber: false } => ("> ", target),
            RedirectKind::Write { target, clobber: true } => (">| ", target),
            RedirectKind::Append(word) => (">> ", word),
            RedirectKind::ReadWrite(word) => ("<> ", word),
            RedirectKind::Both { target, append: false } => ("&> ", target),
            RedirectKind::Both { target, append: true } => ("&>> ", target),
            RedirectKind::HereString(word) => ("<<< ", word),
            RedirectKind::DupIn(word) => (if redirect.fd.is_none() { "0<&" } else { "<&" }, word),
            RedirectKind::DupOut(word) => (if redirect.fd.is_none() { "1>&" } else { ">&" }, word),
            RedirectKind::Here(body) => {
                let Some(here) = body.get() else { return };
                let quote = if here.quoted { "'" } else { "" };
                let dash = if here.strip_tabs { "-" } else { "" };
                self.put(&format!("<<{dash}{quote}{}{quote}", here.delimiter));
                self.here.push_str(&format!("{}{}\n", here.raw, here.delimiter));
                return;
            }
        };
        self.put(sign);
        self.put_typed(word.span);
    }
}

/// Bash leaves out the number a redirection has anyway, save where it copies a descriptor.
fn is_standard(number: u32, kind: &RedirectKind) -> bool {
    match kind {
        RedirectKind::Read(_)
        | RedirectKind::ReadWrite(_)
        | RedirectKind::Here(_)
        | RedirectKind::HereString(_) => number == 0,
        RedirectKind::DupIn(_) | RedirectKind::DupOut(_) => false,
        _ => number == 1,
    }
}
