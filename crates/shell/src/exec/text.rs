//! Texts: the line, a sourced file, what `eval` was given.
//!
//! As in bash, lines before a syntax error have run when it is found, and an alias counts from the
//! line after the one that made it.

use std::sync::Arc;

use bytes::Bytes;
use drydock_contract::{BoxFuture, SharedSource, Source as Input};

use crate::{
    fd::Fd,
    state::{Env, Eval, Flow},
    syntax::{self, Script, Source, SyntaxError},
    text,
};

/// What an error that costs a line costs here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Discarded {
    /// The rest of the line, as at the top of a text.
    Line,
    /// All of it: whoever asked for the text is told.
    Text,
}

/// What becomes of a text that ends in the middle of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unfinished {
    /// What is complete of it runs.
    Runs,
    /// Nothing of it runs: the rest may still come.
    Waits,
}

/// Where the lines of a script stand as they were typed.
enum Lines<'a> {
    /// In the text that it was read from.
    In(&'a mut Source),
    /// It is one line, and this is it; empty where nobody remembers it.
    Of(&'a str),
}

/// How a text ended: the way out, and where it could not be read.
type TextEnd = (Eval<()>, Option<SyntaxError>);

impl Env {
    /// Whether words of commands may be aliases. Their texts are parsed, as those of `eval` are.
    fn reads_aliases(&mut self) -> bool {
        self.shared.mode.eval_allowed
            && !self.definitions.aliases.is_empty()
            && self.options.shopt("expand_aliases").is_some_and(|it| *it)
    }

    pub(crate) fn run_text<'a>(&'a mut self, text: &'a str, discarded: Discarded) -> BoxFuture<'a, TextEnd> {
        self.run_read(text, discarded, Unfinished::Runs)
    }

    /// Runs a text, or nothing of it if it is not finished.
    pub(crate) fn run_finished<'a>(
        &'a mut self,
        text: &'a str,
        discarded: Discarded,
    ) -> BoxFuture<'a, TextEnd> {
        self.run_read(text, discarded, Unfinished::Waits)
    }

    fn run_read<'a>(
        &'a mut self,
        text: &'a str,
        discarded: Discarded,
        unfinished: Unfinished,
    ) -> BoxFuture<'a, TextEnd> {
        Box::pin(async move {
            let limits = (&self.shared.limits).into();
            // Nothing has run as long as this holds.
            let mut may_wait = unfinished == Unfinished::Waits;
            // Line by line, the end is read after the beginning has run.
            if may_wait
                && self.reads_aliases()
                && let Err(error) = syntax::parse(text, limits)
                && error.incomplete
            {
                return (Ok(()), Some(error));
            }
            let mut source = match Source::new(text, limits) {
                Ok(source) => source,
                Err(error) => return (Ok(()), Some(error)),
            };
            loop {
                if self.reads_aliases() {
                    let before = source.left();
                    let script = match source.line(&self.definitions.aliases) {
                        Ok(Some(script)) => script,
                        Ok(None) => return (Ok(()), None),
                        Err(error) => return (Ok(()), Some(error)),
                    };
                    // As it was typed, and not as aliases made it.
                    let line = text.len().saturating_sub(before)..text.len().saturating_sub(source.left());
                    let typed = Source::without_comments(text.get(line).unwrap_or_default());
                    if let Err(flow) = self.run_lines(&script, discarded, Lines::Of(typed)).await {
                        return (Err(flow), None);
                    }
                    continue;
                }
                let (script, stopped) = source.rest();
                if std::mem::take(&mut may_wait) && stopped.as_ref().is_some_and(|it| it.incomplete) {
                    return (Ok(()), stopped);
                }
                match self.run_lines(&script, discarded, Lines::In(&mut source)).await {
                    // What could not be read may be a script once aliases count.
                    Ok(true) if stopped.is_some() && self.reads_aliases() => {}
                    Ok(true) => return (Ok(()), stopped),
                    Ok(false) => {}
                    Err(flow) => return (Err(flow), None),
                }
            }
        })
    }

    /// Runs a text that was all there was on stdin, line by line: whoever reads stdin meanwhile gets what follows the line
    /// in flight, and what was read is no text of the shell any more.
    pub(crate) fn run_stdin<'a>(&'a mut self, text: &'a str) -> BoxFuture<'a, TextEnd> {
        Box::pin(async move {
            let limits = (&self.shared.limits).into();
            let mut source = match Source::new(text, limits) {
                Ok(source) => source,
                Err(error) => return (Ok(()), Some(error)),
            };
            if self.shared.mode.literal_unknown
                && let Ok(mut all) = Source::new(text, limits)
            {
                self.unknown.learn(&all.rest().0);
            }
            let mut fed = Fed::default();
            loop {
                let aliases = match self.reads_aliases() {
                    true => Arc::clone(&self.definitions.aliases),
                    false => Arc::default(),
                };
                let script = match source.line(&aliases) {
                    Ok(Some(script)) => script,
                    Ok(None) => return (Ok(()), None),
                    Err(error) => return (Ok(()), Some(error)),
                };
                fed.begin(self, &source);
                if let Err(flow) = self.run_lines(&script, Discarded::Line, Lines::Of("")).await {
                    return (Err(flow), None);
                }
                fed.end(&mut source);
            }
        })
    }

    /// A line of the shell's own text begins: it is counted, and remembered where that was asked for.
    fn begin_line(&mut self, typed: &str) {
        self.computed.lines = self.computed.lines.saturating_add(1);
        if !self.options.history && !self.history.has_current {
            return;
        }
        let remembers = self.options.history && !self.identity.is_subshell() && !typed.is_empty();
        let history = self.remembered();
        history.has_current = remembers;
        if remembers {
            history.add_typed(typed);
        }
    }

    /// Runs what was read. Where aliases begin to count, the source is put back to the next line, and
    /// the answer is no.
    async fn run_lines(&mut self, script: &Script, discarded: Discarded, mut lines: Lines<'_>) -> Eval<bool> {
        if self.shared.mode.literal_unknown {
            self.unknown.learn(script);
        }
        let mut discarding = false;
        for (index, item) in script.items.iter().enumerate() {
            if let Lines::In(source) = &mut lines
                && item.starts_line
                && index > 0
                && self.reads_aliases()
            {
                source.at = item.start;
                return Ok(false);
            }
            if discarding && !item.starts_line {
                continue;
            }
            discarding = false;
            if item.starts_line && self.frame.is_outermost() {
                let next = script.items[index + 1..].iter().find(|it| it.starts_line).map(|it| it.start);
                let typed = match &lines {
                    Lines::In(source) => source.typed(item.start, next),
                    Lines::Of(typed) if index == 0 => typed,
                    Lines::Of(_) => "",
                };
                self.before_line().await?;
                self.begin_line(typed);
            }
            match self.run_item(item).await {
                Ok(()) => {}
                Err(Flow::Discard) if discarded == Discarded::Text => return Err(Flow::Discard),
                Err(Flow::Discard) if self.options.errexit && !std::mem::take(&mut self.results.forgiven) => {
                    return Err(Flow::Exit(1));
                }
                Err(Flow::Discard) => {
                    self.status = 1;
                    discarding = true;
                }
                Err(Flow::Break(_) | Flow::Continue(_))
                    if discarded == Discarded::Line && self.frame.loops == 0 => {}
                Err(flow) => return Err(flow),
            }
        }
        if self.frame.is_outermost() {
            self.before_line().await?;
        }
        Ok(true)
    }

    /// What `PROMPT_COMMAND` says, before the next line of a shell that somebody types to. `$?` is left as it was.
    async fn before_line(&mut self) -> Eval<()> {
        if !self.is_typed_to() || self.identity.is_subshell() {
            return Ok(());
        }
        let status = self.status;
        for text in self.value("PROMPT_COMMAND").elements() {
            self.frame.depth += 1;
            let (result, stopped) = self.run_text(&text, Discarded::Text).await;
            self.frame.depth -= 1;
            if let Some(error) = stopped {
                self.complain(&format!("PROMPT_COMMAND: {error}")).await?;
            }
            self.status = status;
            if let Err(flow @ (Flow::Exit(_) | Flow::Abort)) = result {
                return Err(flow);
            }
        }
        Ok(())
    }
}

/// What is left of a text that came by stdin, as stdin.
#[derive(Default)]
struct Fed {
    whole: Bytes,
    /// What the line in flight was given, and how much that was.
    now: Option<(SharedSource, usize)>,
    is_over: bool,
}

impl Fed {
    /// A line begins. Where the shell reads something else by now, or the text has bytes that are no characters, whose
    /// number is not that of the text's, nothing is given.
    fn begin(&mut self, env: &mut Env, source: &Source) {
        if self.whole.len() != source.text().len() {
            self.whole = Bytes::from(text::to_bytes(source.text()).into_owned());
        }
        let before = self.now.take().map(|it| it.0);
        let is_ours =
            |fd: Option<&Fd>, ours: &SharedSource| matches!(fd, Some(Fd::Input(it)) if it.is_same(ours));
        self.is_over |= before.is_some_and(|it| !is_ours(env.fds.get(0), &it));
        if self.is_over || self.whole.len() != source.text().len() {
            return;
        }
        let rest = self.whole.slice(source.at.min(self.whole.len())..);
        let count = rest.len();
        let input = SharedSource::new(Input::Bytes(rest));
        env.fds.insert(0, Fd::Input(input.clone()));
        self.now = Some((input, count));
    }

    /// A line has ended: the text goes on behind what it read.
    fn end(&self, source: &mut Source) {
        let Some((input, given)) = &self.now else { return };
        let left = input.left().map_or(0, |it| it.len());
        if left < *given {
            source.at = self.whole.len() - left;
        }
    }
}
