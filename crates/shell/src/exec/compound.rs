//! Groups, branches and loops.

use std::sync::Arc;

use drydock_contract::BoxFuture;

use crate::{
    pattern::Pattern,
    state::{Env, Eval, Flow},
    syntax::{
        Script,
        ast::{Arith, Arm, ArmEnd, Compound, Word},
    },
};

/// Whether a loop goes on after its body.
pub(super) enum Round {
    Next,
    Stop,
}

impl Env {
    pub(super) fn run_compound<'a>(&'a mut self, compound: &'a Compound) -> BoxFuture<'a, Eval<()>> {
        Box::pin(async move {
            match compound {
                Compound::Group(script) => self.run_script(script).await,
                Compound::Subshell(script) => {
                    let inner = self.fork();
                    self.status = self.run_apart(inner, Arc::clone(script)).await?;
                    Ok(())
                }
                Compound::If { arms, otherwise } => self.branch(arms, otherwise.as_ref()).await,
                Compound::For { name, words, body } => self.for_each(name, words.as_deref(), body).await,
                Compound::Select { name, words, body } => self.select(name, words.as_deref(), body).await,
                Compound::Coproc { name, command, typed } => self.coproc(name, command, typed).await,
                Compound::ArithFor { start, test, step, body, .. } => {
                    self.arith_for([start, test, step].map(Option::as_ref), body).await
                }
                Compound::Loop { until, test, body } => self.repeat(*until, test, body).await,
                Compound::Case { subject, arms } => self.case(subject, arms).await,
                Compound::Arith(arith) => {
                    self.debug_trap().await?;
                    match self.arith(arith).await? {
                        Ok(value) => self.status = i32::from(value == 0),
                        Err(error) => {
                            self.complain(&format!("((: {}", error.0)).await?;
                            self.status = 1;
                            if error.0.ends_with(": unbound variable") {
                                return Err(self.fatal());
                            }
                        }
                    }
                    Ok(())
                }
                Compound::Cond(cond) => {
                    self.debug_trap().await?;
                    self.status = match self.cond(cond).await? {
                        Ok(yes) => i32::from(!yes),
                        Err(text) => {
                            self.complain(&text).await?;
                            2
                        }
                    };
                    Ok(())
                }
            }
        })
    }

    /// Runs a condition: its failure is an answer.
    async fn test(&mut self, script: &Script) -> Eval<bool> {
        self.frame.tested += 1;
        let result = self.run_script(script).await;
        self.frame.tested -= 1;
        result?;
        Ok(self.status == 0)
    }

    async fn branch(&mut self, arms: &[(Script, Script)], otherwise: Option<&Script>) -> Eval<()> {
        for (test, body) in arms {
            if self.test(test).await? {
                return self.run_script(body).await;
            }
        }
        match otherwise {
            Some(body) => self.run_script(body).await,
            None => {
                self.status = 0;
                Ok(())
            }
        }
    }

    pub(super) async fn round(&mut self, body: &Script) -> Eval<Round> {
        self.step().await?;
        self.frame.loops += 1;
        let result = self.run_script(body).await;
        self.frame.loops -= 1;
        match result {
            Ok(()) => Ok(Round::Next),
            Err(Flow::Break(1)) => Ok(Round::Stop),
            Err(Flow::Break(more)) => Err(Flow::Break(more - 1)),
            Err(Flow::Continue(1)) => Ok(Round::Next),
            Err(Flow::Continue(more)) => Err(Flow::Continue(more - 1)),
            Err(flow) => Err(flow),
        }
    }

    /// What a loop goes over: its words, or the arguments.
    pub(super) async fn items(&mut self, words: Option<&[Word]>) -> Eval<Vec<String>> {
        let Some(words) = words else { return Ok(self.frame.args.to_vec()) };
        let mut items = Vec::new();
        for word in words {
            self.expand_into(word, &mut items).await?;
        }
        Ok(items)
    }

    async fn for_each(&mut self, name: &str, words: Option<&[Word]>, body: &Script) -> Eval<()> {
        let items = self.items(words).await?;
        if !crate::syntax::is_name(name) {
            self.complain(&format!("`{name}': not a valid identifier")).await?;
            self.status = 1;
            return Ok(());
        }
        self.status = 0;
        let line = self.trace.line;
        for item in items {
            self.at_line(line);
            self.debug_trap().await?;
            // A reference is pointed at each word in turn.
            if self.vars.own(name).is_some_and(|var| var.attributes.nameref) {
                self.vars.entry(name).value = crate::vars::Value::Scalar(item);
            } else if let Err(error) = self.vars.set(name, item) {
                self.complain(&error.to_string()).await?;
                self.status = 1;
                return Err(Flow::Discard);
            }
            if let Round::Stop = self.round(body).await? {
                break;
            }
        }
        Ok(())
    }

    async fn arith_for(&mut self, parts: [Option<&Arith>; 3], body: &Script) -> Eval<()> {
        let [start, test, step] = parts;
        let line = self.trace.line;
        if let Some(start) = start {
            self.debug_trap().await?;
            self.arith_value(start).await?;
        }
        let mut status = 0;
        loop {
            self.at_line(line);
            if let Some(test) = test {
                self.debug_trap().await?;
                if self.arith_value(test).await? == 0 {
                    break;
                }
            }
            let round = self.round(body).await?;
            status = self.status;
            if let Round::Stop = round {
                break;
            }
            self.at_line(line);
            if let Some(step) = step {
                self.debug_trap().await?;
                self.arith_value(step).await?;
            }
        }
        self.status = status;
        Ok(())
    }

    async fn repeat(&mut self, until: bool, test: &Script, body: &Script) -> Eval<()> {
        let mut status = 0;
        loop {
            self.frame.loops += 1;
            let held = self.test(test).await;
            self.frame.loops -= 1;
            let held = match held {
                Ok(held) => held,
                Err(Flow::Break(1)) => break,
                Err(Flow::Break(more)) => return Err(Flow::Break(more - 1)),
                Err(Flow::Continue(1)) => continue,
                Err(Flow::Continue(more)) => return Err(Flow::Continue(more - 1)),
                Err(flow) => return Err(flow),
            };
            if held == until {
                break;
            }
            let round = self.round(body).await?;
            status = self.status;
            if let Round::Stop = round {
                break;
            }
        }
        self.status = status;
        Ok(())
    }

    async fn case(&mut self, subject: &Word, arms: &[Arm]) -> Eval<()> {
        self.debug_trap().await?;
        self.results.substituted = None;
        let text = self.expand_one(subject).await?;
        if let Some(status) = self.results.substituted.take() {
            self.status = status;
        }
        let mut status = 0;
        let mut fall = false;
        for arm in arms {
            let mut hit = fall;
            for pattern in &arm.patterns {
                if hit {
                    break;
                }
                let pattern = self.expand_pattern(pattern).await?;
                let pattern = Pattern::with_case(&pattern, self.options.nocasematch);
                hit = pattern.matches(&folded(&text, self));
                self.not_tired(&pattern)?;
            }
            if !hit {
                continue;
            }
            // An arm without commands succeeds; one with some starts from the status there is.
            if arm.body.items.is_empty() && arm.then == ArmEnd::Stop {
                self.status = 0;
            }
            self.run_script(&arm.body).await?;
            status = self.status;
            match arm.then {
                ArmEnd::Stop => return Ok(()),
                ArmEnd::FallThrough => fall = true,
                ArmEnd::TestNext => fall = false,
            }
        }
        self.status = status;
        Ok(())
    }
}

fn folded(text: &str, env: &Env) -> String {
    if env.options.nocasematch { text.to_lowercase() } else { text.to_owned() }
}
