//! Variables that are computed when they are read.

use std::sync::Arc;

use drydock_contract::CallId;

use super::{
    state::Env,
    vars::{Assoc, Value},
};

impl Env {
    /// Lets `$RANDOM` start anew, from the shell's seed and from where this evaluator stands.
    pub(crate) fn seed_random(&mut self, seed: u64) {
        self.seed = seed;
        self.random = (CallId(seed).child(self.origin.span()).0 as u32, 0);
    }

    pub(crate) fn next_random(&mut self) -> u32 {
        loop {
            let seed = if self.random.0 == 0 { 123_459_876 } else { self.random.0 };
            let (high, low) = (i64::from(seed / 127_773), i64::from(seed % 127_773));
            let next = 16_807 * low - 2_836 * high;
            let next = if next < 0 { next + 0x7fff_ffff } else { next };
            self.random.0 = next as u32;
            let value = ((self.random.0 >> 16) ^ (self.random.0 & 0xffff)) & 0x7fff;
            if value != self.random.1 {
                self.random.1 = value;
                return value;
            }
        }
    }

    /// The text the shell began with, as `BASH_SOURCE` names it.
    pub(crate) fn base_name(&self) -> Arc<str> {
        if self.script_file { Arc::clone(&self.name) } else { "environment".into() }
    }

    /// The text being run, as `BASH_SOURCE` names it.
    pub(crate) fn source_name(&self) -> Arc<str> {
        match self.sources.last() {
            Some((_, name)) => Arc::clone(name),
            None if self.script_file => Arc::clone(&self.name),
            None => "environment".into(),
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
                let value = self.next_random();
                text(value.to_string())
            }
            "SECONDS" => {
                let now = self.shared.clock.now().0;
                text((now.saturating_sub(self.seconds_from.0) / 1_000_000_000).to_string())
            }
            "EPOCHSECONDS" => text((self.shared.clock.now().0 / 1_000_000_000).to_string()),
            "EPOCHREALTIME" => {
                let now = self.shared.clock.now().0 / 1_000;
                text(format!("{}.{:06}", now / 1_000_000, now % 1_000_000))
            }
            "LINENO" => text(self.line.to_string()),
            "BASHPID" => text(self.id.to_string()),
            "BASH_SUBSHELL" => text(self.subshell.saturating_sub(self.shell_level).to_string()),
            "PIPESTATUS" => Some(list(self.pipe_status.iter().map(i32::to_string).collect())),
            "FUNCNAME" if !self.calls.is_empty() => {
                let mut names: Vec<String> = self.calls.iter().rev().cloned().collect();
                if self.script_file {
                    names.push("main".into());
                }
                Some(list(names))
            }
            "BASH_LINENO" => {
                let mut lines: Vec<String> = self.sites.iter().rev().map(|it| it.0.to_string()).collect();
                lines.extend(self.sources.iter().rev().map(|it| it.0.to_string()));
                if self.script_file {
                    lines.push("0".into());
                }
                Some(list(lines))
            }
            "BASH_SOURCE" => {
                let mut names: Vec<String> = self.sites.iter().rev().map(|it| it.1.to_string()).collect();
                names.extend(self.sources.iter().rev().map(|it| it.1.to_string()));
                if self.script_file {
                    names.push(self.name.to_string());
                }
                Some(list(names))
            }
            "BASH_COMMAND" => text(self.command.to_string()),
            "BASH_ARGV0" => text(self.name.to_string()),
            "BASH_ALIASES" => {
                let mut map = Assoc::default();
                for (name, value) in &*self.aliases {
                    map.set(name, value.clone());
                }
                Some(Value::Assoc(map))
            }
            "BASHOPTS" => {
                let rows = self.options.all_shopt().into_iter().filter(|row| row.1);
                text(rows.map(|row| row.0).collect::<Vec<_>>().join(":"))
            }
            "DIRSTACK" => {
                let mut all = vec![self.cwd.clone()];
                all.extend(self.dirs.iter().rev().cloned());
                Some(list(all))
            }
            "SRANDOM" => text((CallId(self.seed).child(self.origin.next()).0 as u32).to_string()),
            "SHELLOPTS" => text(self.options.list().join(":")),
            _ => None,
        }
    }
}
