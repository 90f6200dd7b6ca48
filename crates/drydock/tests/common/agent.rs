//! Models that are files of turns, for the real binary.
#![allow(dead_code)]

use std::{fs, path::PathBuf, process::Stdio};

use serde_json::{Value, json};

use super::{Said, Shell};

/// A data directory whose owner has configured models.
pub struct Agents {
    pub shell: Shell,
}

/// A turn that calls a shell.
pub fn shell_turn(line: &str) -> Value {
    turn("shell", json!({ "pipeline": line }))
}

/// A turn that calls a tool.
pub fn turn(tool: &str, arguments: Value) -> Value {
    json!({ "tool_calls": [{ "name": tool, "arguments": arguments }], "usage": { "input_tokens": 10, "output_tokens": 5 } })
}

/// A turn that says something, which ends the run.
pub fn says(text: &str) -> Value {
    json!({ "content": text, "usage": { "input_tokens": 10, "output_tokens": 5 } })
}

impl Agents {
    /// One whose models say these turns.
    pub fn new(models: &[(&str, Vec<Value>)]) -> Self {
        let shell = Shell::new();
        let mut file = String::new();
        for (name, turns) in models {
            let lines: Vec<String> = turns.iter().map(Value::to_string).collect();
            let script = shell.file(&format!("{name}.jsonl"), lines.join("\n"));
            file += &format!("[models.\"{name}\"]\ndialect = \"scripted\"\nscript = \"{script}\"\n");
        }
        let agents = Self { shell };
        fs::create_dir_all(agents.config().join("drydock")).unwrap();
        fs::write(agents.config().join("drydock/drydock.toml"), file).unwrap();
        agents
    }

    /// The README's own, beside the home.
    pub fn demo() -> Self {
        let shell = Shell::new();
        let from = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/agent");
        copy(&from, &shell.path("examples/agent"));
        let agents = Self { shell };
        copy(&from.join("config"), &agents.config());
        agents
    }

    pub fn config(&self) -> PathBuf {
        self.shell.path("config")
    }

    pub fn command(&self, args: &[&str]) -> std::process::Command {
        let mut command = self.shell.command(args);
        command.env("XDG_CONFIG_HOME", self.config());
        command
    }

    pub fn run(&self, args: &[&str]) -> Said {
        self.shell.said(self.command(args).stdin(Stdio::null()).output().unwrap())
    }

    /// What a command says as JSON.
    pub fn json(&self, args: &[&str]) -> Value {
        let said = self.run(args);
        serde_json::from_str(&said.stdout).unwrap_or_else(|_| panic!("{args:?}: {}", said.all()))
    }

    /// The run that began last.
    pub fn last(&self) -> String {
        self.json(&["agent", "sessions", "--json"])[0]["id"].as_str().unwrap().to_owned()
    }

    /// What waits for a person.
    pub fn waiting(&self) -> Vec<Value> {
        self.json(&["review", "list", "--json"]).as_array().unwrap().clone()
    }
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

/// Ids and times, which are others each time, made the same.
pub fn settled(text: &str) -> String {
    let mut settled = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let hex = rest.find(|it: char| !matches!(it, '0'..='9' | 'a'..='f')).unwrap_or(rest.len());
        if hex == 32 {
            settled.push_str("ID");
            rest = &rest[32..];
        } else if hex > 0 {
            settled.push_str(&rest[..hex]);
            rest = &rest[hex..];
        } else {
            settled.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    settled
}
