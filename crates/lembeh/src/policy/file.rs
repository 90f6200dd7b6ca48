//! A policy as a file says it: JSON with the keys of CAPS_DESCRIBE at the top, and `programs`, `files`, `hosts` and `config`.
//!
//! What is left out has its default; a key that nobody knows is an error, because a limit that is misspelled is none. Keys
//! that say what is always so are taken where they say that.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::{
    LembehPolicy,
    config::{ConfigPolicy, ConfigValue},
    describe::{NET_DNS, describe_exec, describe_files, describe_hub, describe_net},
    exec::{ExecPolicy, GRACE_MS_MIN, ProcessLimits, Program},
    files::FilesPolicy,
    net::{Destination, NetPolicy},
};
use crate::HubLimits;

/// The text is no policy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BadPolicy {
    /// It is no such JSON.
    #[error("the policy cannot be read")]
    Json(#[from] serde_json::Error),
    /// It says something that cannot be.
    #[error("the policy cannot be: {0}")]
    Value(String),
}

impl BadPolicy {
    /// The stable code that logs and tests match on.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Json(_) => "policy_json",
            Self::Value(_) => "policy_value",
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Told {
    /// Program ids; without it, those of `programs`.
    allowlist: Option<Vec<String>>,
    programs: Option<BTreeMap<String, ToldProgram>>,
    max_args: Option<u32>,
    max_env: Option<u32>,
    max_env_bytes: Option<u64>,
    max_argv_bytes: Option<u64>,
    max_stdin_bytes: Option<u64>,
    max_stdout_bytes: Option<u64>,
    time_limit_ms: Option<u64>,
    cpu_time_ms: Option<u64>,
    mem_limit_bytes: Option<u64>,
    max_handles: Option<u32>,
    max_processes: Option<u32>,
    max_starts: Option<u32>,
    start_timeout_ms: Option<u64>,
    status_grace_ms: Option<u64>,
    status_listable: Option<bool>,
    files: Option<ToldFiles>,
    hosts: Option<ToldHosts>,
    config: Option<BTreeMap<String, ToldValue>>,
    hub: Option<ToldHub>,
    refused: Vec<String>,
    disabled: Vec<String>,
    // What is always so.
    prog_id_syntax: Option<Value>,
    max_stderr_bytes: Option<Value>,
    cwd_default: Option<Value>,
    flags: Option<Value>,
    signal_allow: Option<Value>,
    exit_map: Option<Value>,
    argv0: Option<Value>,
    backpressure: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum ToldProgram {
    /// A command, perhaps with arguments that come first.
    Command(String),
    Whole {
        command: String,
        #[serde(default)]
        tty: bool,
    },
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ToldFiles {
    max_scope_len: Option<u32>,
    max_entries: Option<u32>,
    max_id_len: Option<u32>,
    max_display_len: Option<u32>,
    max_read_bytes: Option<u64>,
    extensions: Vec<String>,
    max_list_bytes: Option<Value>,
    flags: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum ToldHosts {
    List(Vec<String>),
    Whole(ToldNet),
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ToldNet {
    allowlist: Vec<String>,
    /// Without it, as `flags` says.
    dns: Option<bool>,
    max_host_len: Option<u32>,
    max_conns: Option<u32>,
    max_inflight: Option<u32>,
    connect_ms: Option<u64>,
    timeouts: Option<ToldTimeouts>,
    flags: Option<Value>,
    host_syntax: Option<Value>,
    max_meta_bytes: Option<Value>,
    determinism: Option<Value>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ToldTimeouts {
    connect_ms: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum ToldValue {
    Text(String),
    Whole {
        value: String,
        #[serde(default)]
        secret: bool,
    },
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ToldHub {
    max_payload_bytes: Option<u32>,
    max_futures_per_handle: Option<u32>,
    max_event_queue_bytes: Option<u32>,
    max_joins: Option<u32>,
    max_hubs: Option<Value>,
    max_handles: Option<Value>,
    max_ctl_payload_bytes: Option<Value>,
    max_id_ranges: Option<Value>,
    max_tasks: Option<Value>,
    max_owner_bytes: Option<Value>,
    cancel_on_join: Option<Value>,
    join_fuel: Option<Value>,
    scopes: Option<Value>,
}

/// A key of CAPS_DESCRIBE, and what a policy says of it.
type Fixed<'a> = (&'a str, &'a Option<Value>);

/// What is always so must not be told otherwise: nobody would keep it.
fn is_so(all: &[Fixed<'_>], enforced: &Value) -> Result<(), BadPolicy> {
    let other = all.iter().find(|(key, told)| told.is_some() && (*told).as_ref() != enforced.get(key));
    other.map_or(Ok(()), |(key, _)| {
        let so = enforced.get(key).unwrap_or(&Value::Null);
        Err(BadPolicy::Value(format!("`{key}` is always {so}")))
    })
}

impl LembehPolicy {
    /// Reads a policy.
    pub fn parse(json: &[u8]) -> Result<Self, BadPolicy> {
        let told: Told = serde_json::from_slice(json)?;
        // A list would be taken for an object's values in their order.
        if !json.trim_ascii_start().starts_with(b"{") {
            return Err(BadPolicy::Value("it is no object".into()));
        }
        let files = told.files.as_ref().map(ToldFiles::policy).transpose()?;
        let net = told.hosts.as_ref().map(ToldHosts::policy).transpose()?;
        let config = told.config.as_ref().map(|it| ConfigPolicy { values: it.iter().map(value).collect() });
        let hub = told.hub.as_ref().map(ToldHub::limits).transpose()?.unwrap_or_default();
        let exec = told.exec()?;
        told.is_so(exec.as_ref())?;
        Ok(Self { exec, files, net, config, refused: told.refused, disabled: told.disabled, hub })
    }
}

impl Told {
    fn is_so(&self, exec: Option<&ExecPolicy>) -> Result<(), BadPolicy> {
        let usual = ExecPolicy::default();
        let fixed = [
            ("prog_id_syntax", &self.prog_id_syntax),
            ("max_stderr_bytes", &self.max_stderr_bytes),
            ("cwd_default", &self.cwd_default),
            ("flags", &self.flags),
            ("signal_allow", &self.signal_allow),
            ("exit_map", &self.exit_map),
            ("argv0", &self.argv0),
            ("backpressure", &self.backpressure),
        ];
        is_so(&fixed, &describe_exec(exec.unwrap_or(&usual)))
    }

    fn exec(&self) -> Result<Option<ExecPolicy>, BadPolicy> {
        let none = BTreeMap::new();
        let (programs, ids) = match (&self.programs, &self.allowlist) {
            (None, None) => return Ok(None),
            (Some(programs), None) => (programs, programs.keys().cloned().collect()),
            (programs, Some(ids)) => (programs.as_ref().unwrap_or(&none), ids.clone()),
        };
        if let Some(stray) = programs.keys().find(|id| !ids.contains(id)) {
            return Err(BadPolicy::Value(format!("the program `{stray}` is not on the allowlist")));
        }
        let program = |id: String| {
            let program = match programs.get(&id) {
                None => Program { command: None, needs_tty: false },
                Some(ToldProgram::Command(command)) => {
                    Program { command: Some(command.clone()), needs_tty: false }
                }
                Some(ToldProgram::Whole { command, tty }) => {
                    Program { command: Some(command.clone()), needs_tty: *tty }
                }
            };
            if program.command.as_ref().is_some_and(|it| it.split_whitespace().next().is_none()) {
                return Err(BadPolicy::Value(format!("the program `{id}` names no command")));
            }
            Ok((id, program))
        };
        let (usual, limits) = (ExecPolicy::default(), ProcessLimits::default());
        if self.status_grace_ms.is_some_and(|it| it < GRACE_MS_MIN) {
            return Err(BadPolicy::Value(format!("`status_grace_ms` is at least {GRACE_MS_MIN}")));
        }
        Ok(Some(ExecPolicy {
            programs: ids.into_iter().map(program).collect::<Result<_, _>>()?,
            args_max: self.max_args.unwrap_or(usual.args_max),
            env_max: self.max_env.unwrap_or(usual.env_max),
            argv_bytes_max: self.max_argv_bytes.unwrap_or(usual.argv_bytes_max),
            env_bytes_max: self.max_env_bytes.unwrap_or(usual.env_bytes_max),
            handles_max: self.max_handles.unwrap_or(usual.handles_max),
            processes_max: self.max_processes.unwrap_or(usual.processes_max),
            tty_allowed: false,
            listable: self.status_listable.unwrap_or(true),
            starts_max: self.max_starts.unwrap_or(0),
            process: ProcessLimits {
                stdin_bytes_max: self.max_stdin_bytes.unwrap_or(limits.stdin_bytes_max),
                stdout_bytes_max: self.max_stdout_bytes.unwrap_or(limits.stdout_bytes_max),
                time_limit_ms: self.time_limit_ms.unwrap_or(limits.time_limit_ms),
                cpu_time_ms: self.cpu_time_ms.unwrap_or(limits.cpu_time_ms),
                mem_limit_bytes: self.mem_limit_bytes.unwrap_or(limits.mem_limit_bytes),
                start_timeout_ms: self.start_timeout_ms.unwrap_or(limits.start_timeout_ms),
                grace_ms: self.status_grace_ms.unwrap_or(limits.grace_ms),
            },
        }))
    }
}

impl ToldFiles {
    fn policy(&self) -> Result<FilesPolicy, BadPolicy> {
        let usual = FilesPolicy::default();
        let policy = FilesPolicy {
            files: Vec::new(),
            scope_bytes_max: self.max_scope_len.unwrap_or(usual.scope_bytes_max),
            entries_max: self.max_entries.unwrap_or(usual.entries_max),
            id_bytes_max: self.max_id_len.unwrap_or(usual.id_bytes_max),
            display_bytes_max: self.max_display_len.unwrap_or(usual.display_bytes_max),
            read_bytes_max: self.max_read_bytes.unwrap_or(0),
            extensions: self.extensions.clone(),
        };
        let fixed = [("max_list_bytes", &self.max_list_bytes), ("flags", &self.flags)];
        is_so(&fixed, &describe_files(&policy)).map(|()| policy)
    }
}

impl ToldHosts {
    fn policy(&self) -> Result<NetPolicy, BadPolicy> {
        let usual = NetPolicy::default();
        let plain = ToldNet::default();
        let (list, told) = match self {
            Self::List(list) => (list, &plain),
            Self::Whole(told) => (&told.allowlist, told),
        };
        let destination = |text: &String| {
            let bad = || BadPolicy::Value(format!("`{}` is no host:port", text.escape_debug()));
            text.parse::<Destination>().map_err(|_| bad())
        };
        let flags = told.flags.as_ref().and_then(Value::as_u64).unwrap_or_default();
        let connect_ms = told.connect_ms.or_else(|| told.timeouts?.connect_ms);
        let policy = NetPolicy {
            allow: list.iter().map(destination).collect::<Result<_, _>>()?,
            dns_allowed: told.dns.unwrap_or(flags & u64::from(NET_DNS) != 0),
            host_bytes_max: told.max_host_len.unwrap_or(usual.host_bytes_max),
            connections_max: told.max_conns.unwrap_or(usual.connections_max),
            in_flight_max: told.max_inflight.unwrap_or(usual.in_flight_max),
            connect_timeout_ms: connect_ms.unwrap_or(usual.connect_timeout_ms),
        };
        let fixed = [
            ("flags", &told.flags),
            ("host_syntax", &told.host_syntax),
            ("max_meta_bytes", &told.max_meta_bytes),
            ("determinism", &told.determinism),
        ];
        is_so(&fixed, &describe_net(&policy)).map(|()| policy)
    }
}

impl ToldHub {
    fn limits(&self) -> Result<HubLimits, BadPolicy> {
        let usual = HubLimits::default();
        let limits = HubLimits {
            payload_bytes_max: self.max_payload_bytes.unwrap_or(usual.payload_bytes_max),
            futures_max: self.max_futures_per_handle.unwrap_or(usual.futures_max),
            event_queue_bytes_max: self.max_event_queue_bytes.unwrap_or(usual.event_queue_bytes_max),
            joins_max: self.max_joins.unwrap_or(usual.joins_max),
            ..usual
        };
        let fixed = [
            ("max_hubs", &self.max_hubs),
            ("max_handles", &self.max_handles),
            ("max_ctl_payload_bytes", &self.max_ctl_payload_bytes),
            ("max_id_ranges", &self.max_id_ranges),
            ("max_tasks", &self.max_tasks),
            ("max_owner_bytes", &self.max_owner_bytes),
            ("cancel_on_join", &self.cancel_on_join),
            ("join_fuel", &self.join_fuel),
            ("scopes", &self.scopes),
        ];
        is_so(&fixed, &describe_hub(&limits)).map(|()| limits)
    }
}

fn value((key, told): (&String, &ToldValue)) -> (String, ConfigValue) {
    let (text, secret) = match told {
        ToldValue::Text(text) => (text, false),
        ToldValue::Whole { value, secret } => (value, *secret),
    };
    (key.clone(), ConfigValue { value: text.clone().into_bytes(), secret })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_what_there_is_and_what_is_misspelled_is_no_policy() {
        let policy = LembehPolicy::parse(
            br#"{ "programs": { "tools/echo": "wbox echo", "tools/top": { "command": "top", "tty": true } },
                  "allowlist": ["tools/echo", "tools/top", "tools/ghost"], "max_args": 3, "max_stdout_bytes": 9,
                  "files": { "extensions": [".txt"] }, "hosts": ["127.0.0.1:80", "[::1]:443"],
                  "config": { "a": "1", "b": { "value": "2", "secret": true } } }"#,
        )
        .unwrap();
        let exec = policy.exec.unwrap();
        assert_eq!(exec.programs["tools/echo"].command.as_deref(), Some("wbox echo"));
        assert!(exec.programs["tools/top"].needs_tty && exec.programs["tools/ghost"].command.is_none());
        assert_eq!((exec.args_max, exec.process.stdout_bytes_max), (3, 9));
        assert_eq!(policy.files.unwrap().extensions, [".txt"]);
        assert_eq!(policy.net.unwrap().allow[1], Destination { host: "::1".into(), port: 443 });
        assert!(policy.config.unwrap().values["b"].secret);
        assert!(LembehPolicy::parse(b"{}").unwrap().exec.is_none());
        for bad in [
            "",
            "[]",
            r#"{"max_arg":1}"#,
            r#"{"hosts":["a"]}"#,
            r#"{"hosts":["a:0"]}"#,
            r#"{"hosts":["a b:1"]}"#,
            r#"{"programs":{"a":" "}}"#,
            r#"{"programs":{"a":"b"},"allowlist":[]}"#,
            r#"{"programs":{},"status_grace_ms":499}"#,
            r#"{"max_args":-1}"#,
        ] {
            assert!(LembehPolicy::parse(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_described_reads_as_the_same_policy_and_what_is_never_so_does_not() {
        let policy = LembehPolicy::parse(
            br#"{ "programs": { "tools/echo": "wbox echo" }, "max_args": 3, "max_processes": 5000, "max_stdout_bytes": 9,
                  "files": { "extensions": [".txt"], "max_read_bytes": 7 }, "hub": { "max_joins": 3 },
                  "hosts": { "allowlist": ["127.0.0.1:80"], "dns": true, "connect_ms": 12 } }"#,
        )
        .unwrap();
        let told = |policy: &LembehPolicy, kind: &str| -> Value {
            let listed = policy.listed();
            serde_json::from_slice(&listed.iter().find(|it| it.kind == kind).unwrap().schema).unwrap()
        };
        let mut text = told(&policy, "exec");
        assert_eq!(text["max_processes"], 32, "no more than a principal may have");
        for (key, kind) in [("files", "file"), ("hosts", "net"), ("hub", "async")] {
            text[key] = told(&policy, kind);
        }
        let again = LembehPolicy::parse(text.to_string().as_bytes()).unwrap();
        for kind in ["exec", "file", "net", "async"] {
            assert_eq!(told(&again, kind), told(&policy, kind), "{kind}");
        }
        let never = [
            ("flags", "3"),
            ("flags", "\"1\""),
            ("cwd_default", "\"/home\""),
            ("prog_id_syntax", "\".*\""),
            ("signal_allow", "[9]"),
            ("exit_map", r#"{"timeout":1}"#),
            ("max_stderr_bytes", "1"),
            ("files", r#"{"flags":7}"#),
            ("files", r#"{"max_list_bytes":1}"#),
            ("hosts", r#"{"flags":1}"#),
            ("hosts", r#"{"dns":false,"flags":7}"#),
            ("hosts", r#"{"max_meta_bytes":1}"#),
            ("hub", r#"{"max_hubs":9}"#),
            ("hub", r#"{"cancel_on_join":true}"#),
        ];
        for (key, value) in never {
            let refused = LembehPolicy::parse(format!("{{\"{key}\":{value}}}").as_bytes()).unwrap_err();
            assert_eq!(refused.code(), "policy_value", "{key} {value}: {refused}");
        }
    }
}
