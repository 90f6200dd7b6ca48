//! What a run did, for whoever looks into its files: `_steps.jsonl`, a line for each call of a tool, and `_events.org`, a
//! heading for each event.
//!
//! Both are written from the events and never read. The run itself may change or remove them, and they are made anew when
//! it is resumed; what counts is kept elsewhere.

use std::{collections::HashMap, fmt::Write as _, sync::Arc};

use drydock_abi::llm::ToolCall;
use drydock_agent::{CallOutcome, Event, RunEnd};
use drydock_contract::{
    ReviewAnswer, Timestamp,
    port::{Clock, FileError, FileResult, Files, Mode, OpenHow, TreePath},
};
use serde_json::{Value, json};

/// A line for each call of a tool.
pub(super) const STEPS: &str = "_steps.jsonl";
/// A heading for each event.
pub(super) const EVENTS: &str = "_events.org";
/// As much of a text as a heading has.
const HEADING_CHARS_MAX: usize = 120;

/// The two files of a run.
pub(super) struct Trace {
    files: Arc<dyn Files>,
    clock: Arc<dyn Clock>,
    /// The directory they are in, without a leading slash.
    dir: String,
    lines: Lines,
    /// Whether the next ones are all there are.
    pub(super) is_anew: bool,
}

/// What the lines of an event need of the events before it.
#[derive(Default)]
struct Lines {
    calls: HashMap<String, ToolCall>,
    model: String,
}

impl Trace {
    /// In that directory of these files.
    pub(super) fn new(files: Arc<dyn Files>, clock: Arc<dyn Clock>, cwd: &str) -> Self {
        Self {
            files,
            clock,
            dir: cwd.trim_start_matches('/').to_owned(),
            lines: Lines::default(),
            is_anew: true,
        }
    }

    /// Adds what happened to both files; where they are to be anew, these are all events so far.
    pub(super) fn write(&mut self, events: &[Event]) -> FileResult<()> {
        if self.is_anew {
            self.lines = Lines::default();
        }
        let (steps, org) = self.lines.of(events);
        let anew = self.is_anew;
        if anew || !steps.is_empty() {
            self.put(STEPS, steps.as_bytes(), anew)?;
        }
        if anew || !org.is_empty() {
            self.put(EVENTS, org.as_bytes(), anew)?;
        }
        self.is_anew = false;
        Ok(())
    }

    fn put(&self, name: &str, bytes: &[u8], anew: bool) -> FileResult<()> {
        let (path, now) = (TreePath::new(&format!("{}/{name}", self.dir))?, self.clock.now());
        let how = OpenHow {
            write: true,
            create: true,
            nofollow: true,
            truncate: anew,
            mode: Mode::FILE,
            ..OpenHow::NONE
        };
        let file = match self.files.open(&path, how, now) {
            // The run made something else of the name: it goes away, and nothing is written where it leads.
            Err(FileError::IsADirectory | FileError::Loop) => {
                remove(&*self.files, &path, now)?;
                self.files.open(&path, how, now)?
            }
            other => other?,
        };
        file.append(bytes, now).map(drop)
    }
}

/// A link or an empty directory; a directory with something in it stays, and the files are not written.
fn remove(files: &dyn Files, path: &TreePath, now: Timestamp) -> FileResult<()> {
    files.unlink(path, now).or_else(|_| files.remove_dir(path, now))
}

impl Lines {
    fn of(&mut self, events: &[Event]) -> (String, String) {
        let (mut steps, mut org) = (String::new(), String::new());
        for event in events {
            self.add(event, &mut steps, &mut org);
        }
        (steps, org)
    }

    fn add(&mut self, event: &Event, steps: &mut String, org: &mut String) {
        // Writing into a text never fails.
        let mut head = |at_ms: u64, what: &str, more: &str| {
            let at = Timestamp(at_ms.saturating_mul(1_000_000)).to_rfc3339();
            let _ = writeln!(org, "* {at} {what}{}{}", if more.is_empty() { "" } else { " " }, short(more));
        };
        match event {
            Event::Started { at_ms, task, options, .. } => {
                self.model.clone_from(&options.model);
                head(*at_ms, "started", task);
            }
            Event::Turn { at_ms, step, content, tool_calls, usage, .. } => {
                self.calls = tool_calls.iter().map(|it| (it.id.clone(), it.clone())).collect();
                let tokens = usage.input_tokens.saturating_add(usage.output_tokens);
                head(*at_ms, &format!("turn {step} of {}, {tokens} tokens", self.model), content);
            }
            Event::Calling { at_ms, tool, id, .. } => head(*at_ms, &format!("calling {tool}"), id),
            Event::Result { at_ms, step, id, tool, output, outcome, whole, ms, .. } => {
                let (word, code) = match outcome {
                    CallOutcome::Done { exit_code } => ("done", json!(exit_code)),
                    CallOutcome::Failed { code } => ("failed", json!(code)),
                };
                let call = self.calls.get(id);
                let line = json!({
                    "at": Timestamp(at_ms.saturating_mul(1_000_000)).to_rfc3339(),
                    "step": step,
                    "id": id,
                    "tool": tool,
                    "arguments": call.map(|it| &it.arguments),
                    "outcome": word,
                    "code": code,
                    "output": output,
                    "whole": whole,
                    "ms": ms,
                });
                let _ = writeln!(steps, "{}", without_nothing(line));
                head(*at_ms, &format!("{tool} {word} in {ms} ms"), output);
            }
            Event::Nudged { at_ms } => head(*at_ms, "nudged", ""),
            Event::Said { at_ms, text } => head(*at_ms, "said", text),
            Event::Compacted { at_ms, messages, .. } => {
                head(*at_ms, "compacted", &format!("{messages} messages"))
            }
            Event::Asked { at_ms, title, .. } => head(*at_ms, "asked", title),
            Event::Answered { at_ms, answer, .. } => head(*at_ms, "answered", answer_word(answer.as_ref())),
            Event::Resumed { at_ms, options } => {
                if let Some(options) = options {
                    self.model.clone_from(&options.model);
                }
                head(*at_ms, "resumed", "");
            }
            Event::Ended { at_ms, end, .. } => match end {
                RunEnd::Done { result } => head(*at_ms, "done", result),
                RunEnd::Cancelled => head(*at_ms, "cancelled", ""),
                RunEnd::Failed { code, message } => head(*at_ms, &format!("failed: {code}"), message),
            },
        }
    }
}

/// A line for each event, for a person.
pub(super) fn log(events: &[Event]) -> Vec<String> {
    let (_, org) = Lines::default().of(events);
    org.lines().map(|it| it.strip_prefix("* ").unwrap_or(it).to_owned()).collect()
}

/// What a person said, in a word.
pub(super) fn answer_word(answer: Option<&ReviewAnswer>) -> &'static str {
    match answer {
        Some(ReviewAnswer::Once) => "once",
        Some(ReviewAnswer::Session) => "session",
        Some(ReviewAnswer::Limit { .. }) => "limit",
        Some(ReviewAnswer::Deny { .. }) => "deny",
        None => "nobody",
    }
}

/// Members that say nothing are left out.
fn without_nothing(mut line: Value) -> Value {
    if let Value::Object(members) = &mut line {
        members.retain(|_, value| !value.is_null());
    }
    line
}

/// One line of a text, without the power to begin another one.
pub(super) fn short(text: &str) -> String {
    let line = text.lines().find(|it| !it.trim().is_empty()).unwrap_or_default();
    let mut all = line.chars().filter(|it| !it.is_control());
    let mut cut: String = all.by_ref().take(HEADING_CHARS_MAX).collect();
    if all.next().is_some() {
        cut.push('…');
    }
    cut
}
