//! Variables that are computed when they are read.

use std::sync::Arc;

use drydock_contract::CallId;

use super::{
    state::Env,
    vars::{Assoc, Value},
};

impl Env {
    /// The text being run, as `BASH_SOURCE` names it.
    pub(crate) fn source_name(&self) -> Arc<str> {
        match self.frame.sources.last() {
            Some(name) => Arc::clone(name),
            None => self.identity.base_name(),
        }
    }

    /// Variables that are computed when they are read.
    pub(crate) fn dynamic(&mut self, name: &str) -> Option<Value> {
        if !name.starts_with(|it: char| it.is_ascii_uppercase()) {
            return None;
        }
        let text = |it: String| Some(Value::Scalar(it));
        let list = |items: Vec<String>| Value::Indexed((0..).zip(items).collect());
        match name {
            "RANDOM" => {
                let value = self.computed.next_random();
                text(value.to_string())
            }
            "SECONDS" => {
                let now = self.shared.clock.now().0;
                text((now.saturating_sub(self.computed.seconds_from.0) / 1_000_000_000).to_string())
            }
            "EPOCHSECONDS" => text((self.shared.clock.now().0 / 1_000_000_000).to_string()),
            "EPOCHREALTIME" => {
                let now = self.shared.clock.now().0 / 1_000;
                text(format!("{}.{:06}", now / 1_000_000, now % 1_000_000))
            }
            "LINENO" => text(self.trace.line.to_string()),
            "BASHPID" => text(self.identity.id.to_string()),
            "BASH_SUBSHELL" => text((self.identity.subshell - self.identity.shell_level).to_string()),
            "PIPESTATUS" => {
                Some(list(self.results.pipe_status.as_slice().iter().map(i32::to_string).collect()))
            }
            "FUNCNAME" if self.frame.is_in_function() => {
                let mut names: Vec<String> =
                    self.frame.calls.iter().rev().map(|it| it.function.clone()).collect();
                if self.identity.is_script_file() {
                    names.push("main".into());
                }
                Some(list(names))
            }
            "BASH_LINENO" => {
                let mut lines: Vec<String> =
                    self.frame.calls.iter().rev().map(|it| it.line.to_string()).collect();
                if self.identity.is_script_file() {
                    lines.push("0".into());
                }
                Some(list(lines))
            }
            "BASH_SOURCE" => {
                let mut names: Vec<String> =
                    self.frame.calls.iter().rev().map(|it| it.source.to_string()).collect();
                if self.identity.is_script_file() {
                    names.push(self.identity.name.to_string());
                }
                Some(list(names))
            }
            "BASH_COMMAND" => text(self.trace.command.to_string()),
            "BASH_ARGV0" => text(self.identity.name.to_string()),
            "BASH_ALIASES" => {
                let mut map = Assoc::default();
                for (name, value) in &*self.definitions.aliases {
                    map.set(name, value.clone());
                }
                Some(Value::Assoc(map))
            }
            "BASHOPTS" => {
                let rows = self.options.all_shopt().into_iter().filter(|row| row.1);
                text(rows.map(|row| row.0).collect::<Vec<_>>().join(":"))
            }
            "DIRSTACK" => {
                let mut all = vec![self.dirs.cwd.to_string()];
                all.extend(self.dirs.stack.iter().rev().cloned());
                Some(list(all))
            }
            "SRANDOM" => {
                text((CallId(self.computed.seed).child(self.identity.origin.next()).0 as u32).to_string())
            }
            "HISTCMD" => text(self.history.current().to_string()),
            "GROUPS" => Some(list(vec![self.vars.get("UID").unwrap_or("1000").to_owned()])),
            "BASH_CMDS" => {
                let mut map = Assoc::default();
                for (name, hashed) in &*self.definitions.hashed {
                    map.set(name, hashed.path.clone());
                }
                Some(Value::Assoc(map))
            }
            "SHELLOPTS" => text(self.options.list().join(":")),
            _ => None,
        }
    }
}
