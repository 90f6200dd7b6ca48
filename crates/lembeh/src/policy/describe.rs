//! What CAPS_LIST and CAPS_DESCRIBE tell of a policy: every limit that is enforced, by the names of the documents, and no other.

use drydock_abi::lembeh::{
    config,
    ctl::{self, CAP_CAN_OPEN, CAP_MAY_BLOCK, CAP_PRODUCES_HANDLES, CAP_PURE},
    exec, files, net,
};
use serde_json::{Value, json};

use super::{
    LembehPolicy,
    config::ConfigPolicy,
    exec::{ExecPolicy, GRACE_MS_MIN, PROG_ID_SYNTAX},
    files::FilesPolicy,
    judge::LIST_BYTES_MAX,
    net::NetPolicy,
};
use crate::{
    HubLimits,
    ctl::{HUB_KIND, HUB_NAME, Listed},
    session::{HANDLES_MAX, HUBS_MAX},
};

/// The network is blocked for processes. Nothing else of the five bits is offered: neither directory nor environment is
/// inherited, there are no signals and no terminals.
const EXEC_FLAGS: u32 = 1;
/// Lists and opens; no paths.
const FILES_FLAGS: u32 = 0b011;
pub(super) const NET_DNS: u32 = 1;
const NET_IPV6: u32 = 1 << 1;
const NET_NODELAY: u32 = 1 << 2;
/// What stands before bytes on the wire.
const LENGTH_BYTES: u32 = 4;

/// What becomes of a process that did not end by itself.
pub const EXIT_TIMEOUT: u32 = 124;
/// A limit was met, or the host failed.
pub const EXIT_LIMITS: u32 = 125;
/// It was ended from outside.
pub const EXIT_KILLED: u32 = 137;

impl LembehPolicy {
    /// The capabilities of the session, as `_ctl` tells them. What is refused is not among them.
    pub fn listed(&self) -> Vec<Listed> {
        let row = |kind: &str, name: &str, cap_flags, schema: &Value| Listed {
            kind: kind.to_owned(),
            name: name.to_owned(),
            cap_flags,
            schema: schema.to_string().into_bytes(),
        };
        let produces = CAP_MAY_BLOCK | CAP_PRODUCES_HANDLES;
        let mut all = vec![row(HUB_KIND, HUB_NAME, CAP_CAN_OPEN | produces, &describe_hub(&self.hub))];
        all.extend(self.exec.as_ref().map(|it| row(exec::KIND, exec::NAME, produces, &describe_exec(it))));
        all.extend(
            self.files.as_ref().map(|it| row(files::KIND, files::NAME, produces, &describe_files(it))),
        );
        all.extend(self.net.as_ref().map(|it| row(net::KIND, net::NAME, produces, &describe_net(it))));
        all.extend(
            self.config.as_ref().map(|it| row(config::KIND, config::NAME, CAP_PURE, &describe_config(it))),
        );
        all.retain(|it| !self.is_refused(&it.kind));
        all
    }
}

pub(super) fn describe_hub(limits: &HubLimits) -> Value {
    let limits = limits.bounded();
    json!({
        "max_payload_bytes": limits.meta().payload_bytes_max,
        "max_futures_per_handle": limits.meta().futures_max,
        "max_event_queue_bytes": limits.meta().event_queue_bytes_max,
        "max_joins": limits.joins_max,
        "max_hubs": HUBS_MAX,
        "max_handles": HANDLES_MAX,
        "max_ctl_payload_bytes": ctl::PAYLOAD_BYTES_MAX,
        "max_id_ranges": limits.id_ranges_max,
        "max_tasks": limits.tasks_max,
        "max_owner_bytes": limits.owner_bytes_max,
        "cancel_on_join": false,
        "join_fuel": "one future of the scope that ends while others are pending",
        "scopes": "futures whose REGISTER_FUTURE had the same scope_id",
    })
}

pub(super) fn describe_exec(policy: &ExecPolicy) -> Value {
    let limits = &policy.process;
    json!({
        "allowlist": policy.programs.keys().collect::<Vec<_>>(),
        "prog_id_syntax": PROG_ID_SYNTAX,
        "max_args": policy.args_max,
        "max_env": policy.env_max,
        "max_env_bytes": policy.env_bytes_max,
        "max_argv_bytes": policy.argv_bytes_max,
        "max_stdin_bytes": limits.stdin_bytes_max,
        "max_stdout_bytes": limits.stdout_bytes_max,
        "max_stderr_bytes": limits.stdout_bytes_max,
        "time_limit_ms": limits.time_limit_ms,
        "cpu_time_ms": limits.cpu_time_ms,
        "mem_limit_bytes": limits.mem_limit_bytes,
        "max_handles": policy.handles_max,
        "max_processes": policy.processes_at_once(),
        "max_starts": policy.starts_max,
        "start_timeout_ms": limits.start_timeout_ms,
        "cwd_default": "/",
        "flags": EXEC_FLAGS,
        "signal_allow": [],
        "exit_map": { "timeout": EXIT_TIMEOUT, "killed": EXIT_KILLED, "limits": EXIT_LIMITS, "failed": EXIT_LIMITS },
        "status_grace_ms": limits.grace_ms.max(GRACE_MS_MIN),
        "status_listable": policy.listable,
        "argv0": "the program's own name; an alias may put arguments before yours",
        "backpressure": "a full stream blocks its producer",
    })
}

pub(super) fn describe_files(policy: &FilesPolicy) -> Value {
    let mut told = json!({
        "max_scope_len": policy.scope_bytes_max,
        "max_entries": policy.entries_max,
        "max_id_len": policy.id_bytes_max,
        "max_display_len": policy.display_bytes_max,
        "max_list_bytes": LIST_BYTES_MAX,
        "flags": FILES_FLAGS,
    });
    if policy.read_bytes_max > 0 {
        told["max_read_bytes"] = policy.read_bytes_max.into();
    }
    if !policy.extensions.is_empty() {
        told["extensions"] = json!(policy.extensions);
    }
    told
}

pub(super) fn describe_net(policy: &NetPolicy) -> Value {
    let allowlist: Vec<String> = policy.allow.iter().map(ToString::to_string).collect();
    json!({
        "allowlist": allowlist,
        "host_syntax": "an address, or a name where flags bit 0 is set; no white space",
        "max_host_len": policy.host_bytes_max,
        "max_meta_bytes": 0,
        "max_conns": policy.connections_max,
        "max_inflight": policy.in_flight_max,
        "timeouts": { "connect_ms": policy.connect_timeout_ms },
        "flags": NET_IPV6 | NET_NODELAY | if policy.dns_allowed { NET_DNS } else { 0 },
        "determinism": "by transcript",
    })
}

fn describe_config(policy: &ConfigPolicy) -> Value {
    json!({
        "keys": policy.values.len(),
        "max_value_bytes": LIST_BYTES_MAX - LENGTH_BYTES,
        "max_list_bytes": LIST_BYTES_MAX,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seeds_keys_are_told_by_their_names_and_nothing_that_is_not_offered() {
        let policy = LembehPolicy {
            exec: Some(ExecPolicy::default()),
            net: Some(NetPolicy::default()),
            refused: vec!["net".into()],
            ..LembehPolicy::default()
        };
        let listed = policy.listed();
        assert_eq!(listed.iter().map(|it| it.kind.as_str()).collect::<Vec<_>>(), ["async", "exec"]);
        assert_eq!(listed.iter().map(|it| it.cap_flags).collect::<Vec<_>>(), [0x0d, 0x0c]);
        let exec: Value = serde_json::from_slice(&listed[1].schema).unwrap();
        for key in [
            "allowlist",
            "prog_id_syntax",
            "max_args",
            "max_env",
            "max_env_bytes",
            "max_argv_bytes",
            "max_stdin_bytes",
            "max_stdout_bytes",
            "time_limit_ms",
            "cpu_time_ms",
            "mem_limit_bytes",
            "max_handles",
            "cwd_default",
            "flags",
            "signal_allow",
            "exit_map",
            "status_grace_ms",
        ] {
            assert!(exec.get(key).is_some(), "{key}");
        }
        assert_eq!(exec["flags"], 1, "network blocked; no cwd, no env, no signals, no terminal");
        assert_eq!(exec["exit_map"]["timeout"], 124);
        assert!(exec.get("pty_policy").is_none(), "there are no terminals");
    }

    #[test]
    fn bounds_that_no_policy_moves_are_told_too() {
        let policy = LembehPolicy {
            exec: Some(ExecPolicy { processes_max: 1_000, ..ExecPolicy::default() }),
            files: Some(FilesPolicy::default()),
            config: Some(ConfigPolicy::default()),
            ..LembehPolicy::default()
        };
        let listed = policy.listed();
        let told = |kind: &str, key: &str| -> Value {
            let row = listed.iter().find(|it| it.kind == kind).unwrap();
            serde_json::from_slice::<Value>(&row.schema).unwrap()[key].clone()
        };
        assert_eq!(told("async", "max_hubs"), 8);
        assert_eq!(told("async", "max_handles"), 65_536);
        assert_eq!(told("async", "max_ctl_payload_bytes"), 65_536);
        assert_eq!(told("exec", "max_processes"), 32);
        assert_eq!(told("file", "max_list_bytes"), 32_768);
        assert_eq!(told("config", "max_value_bytes"), 32_764);
        assert_eq!(told("config", "max_list_bytes"), 32_768);
    }
}
