//! `shell`: lines in a shell that stays from call to call. Every command of a line is a call at the gate like any other.
//!
//! A call that nobody waits for any more takes its line along, and the commands of that. The next one goes on from what the
//! shell was before it.

use std::{
    io,
    sync::Arc,
    task::{Context, Poll},
};

use drydock_abi::shell::LineReport;
use drydock_agent::tools::{ShellArguments, ToolDenial, ToolOutput};
use drydock_contract::{ByteSink, CallError, Limits, Sink, Source, Streams};
use drydock_gate::DenialLog;
use parking_lot::Mutex;

use super::{AgentTools, Called, ToolError};
use crate::{DockShell, Setup};

/// The shell of a run, once there is one.
#[derive(Default)]
pub(super) struct KeptShell {
    shell: Option<DockShell>,
    denials: Arc<DenialLog>,
    /// The last line did not come to its end.
    was_cut: bool,
}

impl AgentTools {
    pub(super) async fn shell(&self, call: Called, wanted: ShellArguments) -> Result<ToolOutput, ToolError> {
        let ShellArguments { pipeline, input } = wanted;
        if pipeline.trim().is_empty() {
            return Err(ToolError::new("bad_arguments", "`pipeline` is empty: say which commands to run"));
        }
        let mut kept = self.kept_shell.lock().await;
        let KeptShell { shell, denials, was_cut } = &mut *kept;
        let shell = match shell {
            Some(shell) => shell,
            empty => {
                let setup = Setup { denials: Some(Arc::clone(denials)), ..self.setup.clone() };
                let setup = Setup { preparing: Arc::default(), ..setup };
                let begins = self.shell.clone();
                empty.insert(self.dock.shell_beside(
                    &self.principal,
                    Some((call.id, call.depth)),
                    setup,
                    begins,
                )?)
            }
        };
        let was_cut_before = std::mem::replace(was_cut, true);
        self.changes.clear();
        denials.take();
        let written = Arc::<Mutex<Vec<u8>>>::default();
        let sink = || Sink::Stream(Box::new(Together(Arc::clone(&written))));
        let stdin = input.map_or(Source::Empty, Source::from);
        let streams = Streams { stdin, stdout: sink(), stderr: sink(), ..Streams::default() };
        let ends = EndsLine(Some(shell.canceller()));
        let done = shell.run_called((call.id, call.depth), &pipeline, streams).await;
        ends.forget();
        *was_cut = false;
        let (report, _) = done.map_err(CallError::from)?;
        let mut output = String::from_utf8_lossy(&std::mem::take(&mut *written.lock())).into_owned();
        for remark in remarks(&report, &self.limits, was_cut_before) {
            if !output.is_empty() && !output.ends_with('\n') {
                output.push('\n');
            }
            output.push_str(&format!("[{remark}]\n"));
        }
        if report.exited {
            kept.shell = None;
        }
        let refused = kept.denials.take();
        Ok(ToolOutput {
            exit_code: Some(report.status),
            files_changed: Some(self.changes.is_changed()),
            denials: refused.iter().map(ToolDenial::from).collect(),
            ..ToolOutput::text(output)
        })
    }
}

/// What a model must know besides what was printed.
fn remarks(report: &LineReport, limits: &Limits, was_cut: bool) -> Vec<String> {
    let mut all = Vec::new();
    if was_cut {
        all.push("the line before was cut off; the shell went on from what it was before that".to_owned());
    }
    match report.limit.as_deref() {
        None => {}
        Some("timed_out") => all.push(format!("timed_out: it took {} s", limits.wall_max.as_secs_f64())),
        Some("output_limit") => {
            let most = limits.stdout_bytes_max;
            all.push(format!("output_limit: cut off after {most} bytes; write to a file, or less at a time"));
        }
        Some(other) => all.push(other.to_owned()),
    }
    if report.was_reset {
        all.push(
            "the shell was begun anew: variables, functions and directory are those before this line".into(),
        );
    }
    if report.exited {
        all.push("the shell was left by `exit`; the next call begins a new one".into());
    }
    all.extend(report.lost.iter().cloned());
    all
}

/// Ends the line if nobody waits for it any more.
struct EndsLine<F: Fn()>(Option<F>);

impl<F: Fn()> EndsLine<F> {
    fn forget(mut self) {
        self.0 = None;
    }
}

impl<F: Fn()> Drop for EndsLine<F> {
    fn drop(&mut self) {
        if let Some(end) = &self.0 {
            end();
        }
    }
}

/// One capture for both outputs, in the order they are written; the limits of each still hold.
struct Together(Arc<Mutex<Vec<u8>>>);

impl ByteSink for Together {
    fn poll_write(&mut self, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.0.lock().extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
