//! Texts: the line, a sourced file, what `eval` was given.
//!
//! As in bash, lines before a syntax error have run when it is found, and an alias counts from the
//! line after the one that made it.

use drydock_contract::BoxFuture;

use crate::shell::{
    state::{Env, Eval, Flow},
    syntax::{Script, Source, SyntaxError},
};

/// What an error that costs a line costs here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Discarded {
    /// The rest of the line, as at the top of a text.
    Line,
    /// All of it: whoever asked for the text is told.
    Text,
}

/// How a text ended: the way out, and where it could not be read.
type TextEnd = (Eval<()>, Option<SyntaxError>);

impl Env {
    /// Whether words of commands may be aliases. Their texts are parsed, as those of `eval` are.
    fn reads_aliases(&mut self) -> bool {
        self.shared.mode.eval_allowed
            && !self.aliases.is_empty()
            && self.options.shopt("expand_aliases").is_some_and(|it| *it)
    }

    pub(crate) fn run_text<'a>(&'a mut self, text: &'a str, discarded: Discarded) -> BoxFuture<'a, TextEnd> {
        Box::pin(async move {
            let mut source = match Source::new(text, self.shared.limits.parse()) {
                Ok(source) => source,
                Err(error) => return (Ok(()), Some(error)),
            };
            loop {
                if self.reads_aliases() {
                    let script = match source.line(&self.aliases) {
                        Ok(Some(script)) => script,
                        Ok(None) => return (Ok(()), None),
                        Err(error) => return (Ok(()), Some(error)),
                    };
                    if let Err(flow) = self.run_lines(&script, discarded, None).await {
                        return (Err(flow), None);
                    }
                    continue;
                }
                let (script, stopped) = source.rest();
                match self.run_lines(&script, discarded, Some(&mut source)).await {
                    // What could not be read may be a script once aliases count.
                    Ok(true) if stopped.is_some() && self.reads_aliases() => {}
                    Ok(true) => return (Ok(()), stopped),
                    Ok(false) => {}
                    Err(flow) => return (Err(flow), None),
                }
            }
        })
    }

    /// Runs what was read. Where aliases begin to count, `source` is put back to the next line, and
    /// the answer is no.
    async fn run_lines(
        &mut self,
        script: &Script,
        discarded: Discarded,
        mut source: Option<&mut Source>,
    ) -> Eval<bool> {
        tracing::trace!(target: "drydock::hop", "commands/shell: a text is parsed, once");
        self.learn(script);
        let mut discarding = false;
        for (index, item) in script.items.iter().enumerate() {
            if let Some(source) = source.as_mut()
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
            match self.run_item(item).await {
                Ok(()) => {}
                Err(Flow::Discard) if discarded == Discarded::Text => return Err(Flow::Discard),
                Err(Flow::Discard) if self.options.errexit && !std::mem::take(&mut self.forgiven) => {
                    return Err(Flow::Exit(1));
                }
                Err(Flow::Discard) => {
                    self.status = 1;
                    discarding = true;
                }
                Err(Flow::Break(_) | Flow::Continue(_))
                    if discarded == Discarded::Line && self.loops == 0 => {}
                Err(flow) => return Err(flow),
            }
        }
        Ok(true)
    }
}
