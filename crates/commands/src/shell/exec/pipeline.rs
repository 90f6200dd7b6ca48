//! Pipelines: stages beside one another, pipes between them.

use std::sync::{Arc, atomic::Ordering};

use crate::shell::{
    fd::{Fd, pipe},
    state::{Env, Eval, Flow, Limited},
    syntax::ast::{Command, Compound, Pipeline},
    tasks::Handle,
};

impl Env {
    pub(crate) async fn run_pipeline(&mut self, pipeline: &Pipeline) -> Eval<()> {
        let started = self.shared.clock.now();
        self.tested += u32::from(pipeline.inverted);
        let result = match pipeline.stages.as_slice() {
            [only] => {
                let result = self.run_command(&only.command).await;
                if counts(&only.command) {
                    self.pipe_status = vec![self.status];
                }
                result
            }
            _ => self.run_stages(pipeline).await,
        };
        self.tested -= u32::from(pipeline.inverted);
        if pipeline.timed {
            let micros = (self.shared.clock.now().0.saturating_sub(started.0)) / 1_000;
            let shape =
                self.vars.get("TIMEFORMAT").unwrap_or("\nreal\t%3lR\nuser\t%3lU\nsys\t%3lS").to_owned();
            if !shape.is_empty() {
                let text = timed(&shape, micros) + "\n";
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
        if self.status != 0 && self.tested == 0 && judged {
            self.failed().await?;
        }
        Ok(())
    }

    /// A command failed where nobody looks: the ERR trap, and `-e`.
    pub(super) async fn failed(&mut self) -> Eval<()> {
        if self.calls.is_empty() || self.options.errtrace {
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
        tracing::trace!(target: "drydock::hop", "commands/shell: {count} stages, each a task, and pipes between them");
        let limited = Limited::new(self.tested);
        let mut handles: Vec<Handle<i32>> = Vec::with_capacity(count);
        let mut input = None;
        let mut last_input = None;
        for (index, stage) in pipeline.stages.iter().enumerate() {
            let last = index + 1 == count;
            if last && self.options.lastpipe {
                last_input = input.take();
                break;
            }
            let mut inner = self.fork();
            inner.limited = limited.clone();
            if let Some(reader) = input.take() {
                inner.fds.insert(0, reader);
            }
            if !last {
                let (reader, writer) = pipe();
                input = Some(Fd::PipeIn(Arc::new(reader)));
                let writer = Fd::PipeOut(Arc::new(writer));
                if stage.both {
                    inner.fds.insert(2, writer.clone());
                }
                inner.fds.insert(1, writer);
            }
            self.room_for_one(&inner)?;
            let command = Arc::clone(&stage.command);
            handles.push(self.shared.tasks.spawn(async move {
                let result = inner.run_command(&command).await;
                if result.is_ok()
                    && inner.status != 0
                    && inner.tested == 0
                    && counts(&command)
                    && inner.options.errexit
                {
                    let status = inner.status;
                    return inner.end(Err(Flow::Exit(status))).await;
                }
                inner.end(result).await
            }));
        }
        let mut statuses = Vec::with_capacity(count);
        if let Some(reader) = last_input
            && let Some(stage) = pipeline.stages.last()
        {
            let saved = self.fds.clone();
            self.fds.insert(0, reader);
            let around = std::mem::replace(&mut self.limited, limited.clone());
            let result = self.run_command(&stage.command).await;
            self.limited = around;
            self.fds = saved;
            let status = self.status;
            for handle in handles {
                statuses.push(handle.await);
            }
            statuses.push(status);
            result?;
        } else {
            for handle in handles {
                statuses.push(handle.await);
            }
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
            self.limited.note(ended, self.tested);
        }
        self.pipe_status = statuses;
        Ok(())
    }
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
