//! Pipelines: stages beside one another, pipes between them.

use std::sync::{Arc, atomic::Ordering};

use crate::{
    fd::Fd,
    state::{Env, Eval, Flow, Limited, PipeStatus},
    syntax::ast::{Command, Compound, Pipeline, Timed},
    tasks::Handle,
};

impl Env {
    pub(crate) async fn run_pipeline(&mut self, pipeline: &Pipeline) -> Eval<()> {
        // Asking for the time is a call of the host.
        let started = pipeline.timed.map(|it| (it, self.shared.clock.now()));
        // As in bash, what a function switches on inside `! f` counts there.
        let is_tested = u32::from(pipeline.inverted && self.options.errexit);
        self.frame.tested += is_tested;
        let result = match pipeline.stages.as_slice() {
            [only] => {
                let result = self.run_command(&only.command).await;
                if counts(&only.command) {
                    self.results.pipe_status = PipeStatus::One(self.status);
                }
                result
            }
            _ => self.run_stages(pipeline).await,
        };
        self.frame.tested -= is_tested;
        if let Some((timed_as, started)) = started {
            let micros = (self.shared.clock.now().0.saturating_sub(started.0)) / 1_000;
            let shape = match timed_as {
                Timed::Posix => "real %2R\nuser %2U\nsys %2S",
                Timed::Own => self.vars.get("TIMEFORMAT").unwrap_or("\nreal\t%3lR\nuser\t%3lU\nsys\t%3lS"),
            };
            if !shape.is_empty() {
                let text = timed(shape, micros) + "\n";
                self.write(2, text.as_bytes()).await?;
            }
        }
        if pipeline.inverted
            && let Err(Flow::Break(_) | Flow::Continue(_)) = result
        {
            self.status = i32::from(self.status == 0);
        }
        result?;
        if pipeline.inverted {
            self.status = i32::from(self.status == 0);
            return Ok(());
        }
        let judged = match pipeline.stages.as_slice() {
            [only] => counts(&only.command),
            _ => true,
        };
        if self.status != 0 && self.frame.tested == 0 && judged {
            self.failed().await?;
        }
        Ok(())
    }

    /// A command failed where nobody looks: the ERR trap, and `-e`.
    pub(super) async fn failed(&mut self) -> Eval<()> {
        if !self.frame.is_in_function() || self.options.errtrace {
            self.run_trap("ERR").await?;
        }
        if self.options.errexit {
            return Err(Flow::Exit(self.status));
        }
        Ok(())
    }

    async fn run_stages(&mut self, pipeline: &Pipeline) -> Eval<()> {
        let count = pipeline.stages.len();
        if count > self.shared.limits.stages_max {
            let max = self.shared.limits.stages_max;
            return Err(self.abort(format!("the pipeline has {count} stages; the limit is {max}")));
        }
        self.debug_stages(pipeline).await?;
        let limited = Limited::new(self.frame.tested);
        let (handles, last_input) = self.start_stages(pipeline, &limited)?;
        let mut statuses = Vec::with_capacity(count);
        // With `lastpipe` the last stage is this shell itself, beside the others.
        let own = match (last_input, pipeline.stages.last()) {
            (Some(reader), Some(stage)) => {
                let result = self.run_last_stage(&stage.command, reader, &limited).await;
                Some((result, self.status))
            }
            _ => None,
        };
        for handle in handles {
            statuses.push(handle.await);
        }
        if let Some((result, status)) = own {
            statuses.push(status);
            result?;
        }
        if self.shared.aborted.load(Ordering::Relaxed) {
            return Err(Flow::Abort);
        }
        self.status = statuses.last().copied().unwrap_or(0);
        if self.options.pipefail {
            self.status = statuses.iter().rev().copied().find(|status| *status != 0).unwrap_or(0);
        }
        // The last stage may well have made something of the half that it was given.
        let ended = limited.status();
        if ended != 0 {
            if self.status == 0 {
                self.status = ended;
            }
            self.results.limited.note(ended, self.frame.tested);
        }
        self.results.pipe_status = PipeStatus::Many(statuses.into());
        Ok(())
    }

    /// The DEBUG trap of every stage that is a simple command, before any of them runs.
    async fn debug_stages(&mut self, pipeline: &Pipeline) -> Eval<()> {
        for stage in &pipeline.stages {
            let (line, simple) = match &*stage.command {
                Command::Simple(simple) => (simple.line, true),
                Command::Compound(_, _, place) => (place.line, false),
                Command::Function(_) => continue,
            };
            self.at_line(line);
            if simple {
                self.debug_trap().await?;
            }
        }
        Ok(())
    }

    /// Starts the stages, each in a subshell; answers what the last one reads if this shell is to run it.
    fn start_stages(&self, pipeline: &Pipeline, limited: &Limited) -> Eval<(Vec<Handle<i32>>, Option<Fd>)> {
        let count = pipeline.stages.len();
        let mut handles: Vec<Handle<i32>> = Vec::with_capacity(count);
        let mut input = None;
        for (index, stage) in pipeline.stages.iter().enumerate() {
            let last = index + 1 == count;
            if last && self.options.lastpipe {
                break;
            }
            let mut inner = self.fork();
            inner.results.limited = limited.clone();
            if let Some(reader) = input.take() {
                inner.fds.insert(0, reader);
            }
            if !last {
                let Some((reader, writer)) = self.shared.door.pipe() else {
                    return Err(self.abort("the line has too many pipes".to_owned()));
                };
                input = Some(Fd::PipeIn(reader));
                let writer = Fd::PipeOut(writer);
                if stage.both {
                    inner.fds.insert(2, writer.clone());
                }
                inner.fds.insert(1, writer);
            }
            self.room_for_one(&inner)?;
            handles.push(self.shared.tasks.spawn(run_stage(inner, Arc::clone(&stage.command))));
        }
        Ok((handles, input))
    }

    async fn run_last_stage(&mut self, command: &Command, reader: Fd, limited: &Limited) -> Eval<()> {
        let saved = self.fds.save();
        self.fds.insert(0, reader);
        let around = std::mem::replace(&mut self.results.limited, limited.clone());
        let result = self.run_command(command).await;
        self.results.limited = around;
        self.fds.put_back(saved);
        result
    }
}

/// One stage in its subshell, to its end. Failing where nobody looks ends it, as `-e` says.
async fn run_stage(mut inner: Env, command: Arc<Command>) -> i32 {
    let result = inner.run_command(&command).await;
    let fails = result.is_ok() && inner.status != 0 && inner.frame.tested == 0 && counts(&command);
    if fails && inner.options.errexit {
        let status = inner.status;
        return inner.end(Err(Flow::Exit(status))).await;
    }
    inner.end(result).await
}

/// `TIMEFORMAT` filled in. Commands are not ours to time, so only the clock on the wall counts.
fn timed(shape: &str, micros: u64) -> String {
    let mut text = String::new();
    let mut chars = shape.chars().peekable();
    while let Some(next) = chars.next() {
        if next != '%' {
            text.push(next);
            continue;
        }
        let digits = chars.next_if(char::is_ascii_digit).and_then(|it| it.to_digit(10)).unwrap_or(3).min(6);
        let long = chars.next_if_eq(&'l').is_some();
        let micros = match chars.next() {
            Some('R') => micros,
            Some('U' | 'S') => 0,
            Some('P') => {
                text.push_str("0.00");
                continue;
            }
            Some(other) => {
                text.push(other);
                continue;
            }
            None => break,
        };
        let (seconds, part) = (micros / 1_000_000, format!("{:06}", micros % 1_000_000));
        let part = if digits == 0 { String::new() } else { format!(".{}", &part[..digits as usize]) };
        text.push_str(&match long {
            true => format!("{}m{}{part}s", seconds / 60, seconds % 60),
            false => format!("{seconds}{part}"),
        });
    }
    text
}

/// Whether failing counts for `-e`: a group or a loop fails because something inside it did.
fn counts(command: &Command) -> bool {
    match command {
        Command::Simple(_) => true,
        Command::Function(_) => false,
        Command::Compound(compound, ..) => {
            matches!(**compound, Compound::Subshell(_) | Compound::Arith(_) | Compound::Cond(_))
        }
    }
}
