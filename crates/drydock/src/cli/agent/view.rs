//! The live view of a run, on stderr: a line for each thing that happened, and on a terminal one more that says what is
//! under way and is drawn over. In a pipe only the lines.

use std::io::{self, IsTerminal as _, Write as _};

use drydock_embed::{
    agent::Event,
    contract::{AgentHead, AgentUsage},
};

use super::told;

/// What is told of a run while it goes on.
pub(super) struct View {
    terminal: bool,
    quiet: bool,
    shown: bool,
    doing: String,
    steps: u64,
    spent: AgentUsage,
}

impl View {
    /// On this process's stderr, or nowhere.
    pub(super) fn new(quiet: bool) -> Self {
        let terminal = io::stderr().is_terminal();
        Self { terminal, quiet, shown: false, doing: String::new(), steps: 0, spent: AgentUsage::default() }
    }

    /// Tells what happened.
    pub(super) fn happened(&mut self, events: &[Event]) {
        for event in events {
            self.count(event);
            for line in told::lines(event) {
                self.line(&line);
            }
            if let Some(doing) = told::under_way(event) {
                self.doing = doing;
            }
        }
        self.draw();
    }

    /// What the run took before it is driven here.
    pub(super) fn begins_at(&mut self, head: &AgentHead) {
        (self.steps, self.spent) = (head.steps, head.usage);
    }

    /// Tells what is under way before anything happened.
    pub(super) fn doing(&mut self, what: String) {
        self.doing = what;
        self.draw();
    }

    fn count(&mut self, event: &Event) {
        let usage = match event {
            Event::Turn { step, usage, .. } => {
                self.steps = *step;
                usage
            }
            Event::Compacted { usage: Some(usage), .. } => usage,
            _ => return,
        };
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.spent.input_tokens, usage.input_tokens);
        add(&mut self.spent.output_tokens, usage.output_tokens);
        add(&mut self.spent.cost_micros, usage.cost_micros.unwrap_or_default());
    }

    /// Tells one line.
    pub(super) fn line(&mut self, text: &str) {
        if self.quiet {
            return;
        }
        self.wipe();
        // Nobody reads, and the run goes on.
        let _ = writeln!(io::stderr(), "{text}");
    }

    fn draw(&mut self) {
        if !self.terminal || self.quiet || self.doing.is_empty() {
            return;
        }
        let width = rustix::termios::tcgetwinsize(io::stderr()).map_or(80, |it| usize::from(it.ws_col));
        let text: String = self.under_way().chars().take(width.max(20) - 1).collect();
        let _ = write!(io::stderr(), "\r\x1b[2K{text}");
        self.shown = true;
    }

    /// What is under way, in which step, and what was spent by then.
    fn under_way(&self) -> String {
        format!("{} · step {} · {}", self.doing, self.steps, told::cost(&self.spent))
    }

    /// Takes the line that is drawn over away, before anybody else writes.
    pub(super) fn wipe(&mut self) {
        if self.shown {
            let _ = io::stderr().write_all(b"\r\x1b[2K");
            self.shown = false;
        }
    }
}

impl Drop for View {
    fn drop(&mut self) {
        self.wipe();
    }
}

#[cfg(test)]
mod tests {
    use drydock_embed::agent::Event;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_line_that_is_drawn_over_says_the_step_and_what_all_of_them_cost() {
        let event = |it| serde_json::from_value::<Event>(it).unwrap();
        let turn = |step: u64| {
            let usage = json!({ "input_tokens": 100, "output_tokens": 20, "cost_micros": 5_000 });
            let calls = json!([{ "id": "1", "name": "shell", "arguments": { "pipeline": "ls" } }]);
            event(json!({ "event": "turn", "at_ms": 1, "step": step, "content": "", "tool_calls": calls,
                "stop_reason": "tool_calls", "usage": usage, "ms": 1 }))
        };
        let calling =
            || event(json!({ "event": "calling", "at_ms": 1, "step": 1, "id": "1", "tool": "shell" }));
        let mut view = View::new(true);
        view.happened(&[turn(1), calling()]);
        assert_eq!(view.under_way(), "shell … · step 1 · 120 tokens, cost 0.005");
        view.happened(&[turn(2), calling()]);
        assert_eq!(view.under_way(), "shell … · step 2 · 240 tokens, cost 0.01");
        let asked =
            json!({ "event": "asked", "at_ms": 1, "review": "0".repeat(32), "kind": "tool", "title": "t" });
        view.happened(&[event(asked)]);
        assert!(view.under_way().starts_with("waiting for a person · "));
    }
}
