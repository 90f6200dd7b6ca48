//! The policy of a file of vectors, as ours. A key that is not known fails: it would be a law that nobody keeps.

use std::collections::BTreeSet;

use drydock_abi::lembeh::{
    exec::{self, State, Status},
    files::{self, ENTRY_READABLE},
};
use drydock_lembeh::{
    HubLimits,
    ctl::Listed,
    policy::{
        exec::{ExecLoad, ExecPolicy, PROG_ID_SYNTAX, Program},
        files::{FilesPolicy, Seen},
        net::{Destination, NetPolicy},
    },
};
use serde_json::{Map, Value};

#[derive(Debug, Default)]
pub(crate) struct Policy {
    pub(crate) exec: ExecPolicy,
    pub(crate) load: ExecLoad,
    pub(crate) files: FilesPolicy,
    pub(crate) net: NetPolicy,
    pub(crate) hub: HubLimits,
    exec_ids: BTreeSet<u32>,
    /// Capabilities that are not there, and that are refused, as `kind/name`.
    pub(crate) missing: BTreeSet<String>,
    pub(crate) denied: BTreeSet<String>,
    /// Selectors that are disabled.
    pub(crate) disabled: BTreeSet<String>,
}

impl Policy {
    /// Reads a policy, and what a vector changes of it.
    pub(crate) fn read(example: &Value, changed: Option<&Value>) -> Result<Self, String> {
        let mut keys = Map::new();
        for json in [Some(example), changed].into_iter().flatten() {
            keys.extend(json.as_object().cloned().unwrap_or_default());
        }
        let mut policy = Self::default();
        // What names programs and files comes before what says more about them.
        let first = |key: &str| matches!(key, "allowlist" | "files");
        let (named, rest): (Vec<_>, Vec<_>) = keys.iter().partition(|(key, _)| first(key));
        for (key, value) in named.into_iter().chain(rest) {
            policy.set(key, value).ok_or_else(|| format!("the policy `{key}`: {value} is not known"))?;
        }
        Ok(policy)
    }

    fn set(&mut self, key: &str, value: &Value) -> Option<()> {
        let number = || value.as_u64().and_then(|it| u32::try_from(it).ok());
        match key {
            "allowlist" => {
                self.exec.programs = texts(value)?.into_iter().map(|id| (id.clone(), program(id))).collect()
            }
            "absent_programs" => {
                for id in texts(value)? {
                    self.exec.programs.get_mut(&id)?.command = None;
                }
            }
            "tty_programs" => {
                for id in texts(value)? {
                    self.exec.programs.get_mut(&id)?.needs_tty = true;
                }
            }
            "prog_id_syntax" => return (value == PROG_ID_SYNTAX).then_some(()),
            "max_args" => self.exec.args_max = number()?,
            "max_env" => self.exec.env_max = number()?,
            "max_argv_bytes" => self.exec.argv_bytes_max = value.as_u64()?,
            "max_env_bytes" => self.exec.env_bytes_max = value.as_u64()?,
            "max_handles" => self.exec.handles_max = number()?,
            "max_processes" => self.exec.processes_max = number()?,
            "tty" | "allow_tty" => self.exec.tty_allowed = value.as_bool()?,
            "listable" => self.exec.listable = value.as_bool()?,
            "open_handles" => self.load.handles = number()?,
            "running" => self.load.processes = number()?,
            "budget_spent" => self.load.budget_spent = value.as_bool()?,
            "known_exec_ids" => self.exec_ids = numbers(value)?,
            "files" => {
                self.files.files = texts(value)?.into_iter().map(|id| seen(id, ENTRY_READABLE)).collect()
            }
            "unreadable_files" => self.files.files.extend(texts(value)?.into_iter().map(|id| seen(id, 0))),
            "max_scope_len" => self.files.scope_bytes_max = number()?,
            "max_entries" => self.files.entries_max = number()?,
            "max_id_len" => self.files.id_bytes_max = number()?,
            "max_display_len" => self.files.display_bytes_max = number()?,
            "net_allow" => {
                self.net.allow = texts(value)?.iter().map(|it| destination(it)).collect::<Option<_>>()?
            }
            "dns" => self.net.dns_allowed = value.as_bool()?,
            "max_host_len" => self.net.host_bytes_max = number()?,
            "max_payload_bytes" => self.hub.payload_bytes_max = number()?,
            "max_futures_per_handle" => self.hub.futures_max = number()?,
            "max_event_queue_bytes" => self.hub.event_queue_bytes_max = number()?,
            "missing_caps" => self.missing = texts(value)?.into_iter().collect(),
            "denied_caps" => self.denied = texts(value)?.into_iter().collect(),
            "disabled_selectors" => self.disabled = texts(value)?.into_iter().collect(),
            _ => return None,
        }
        Some(())
    }

    /// The process with this id, as far as the policy knows one.
    pub(crate) fn find(&self, exec_id: u32) -> Option<Status> {
        self.exec_ids.contains(&exec_id).then_some(Status { state: State::Running, code: 0 })
    }

    /// What CAPS_LIST names.
    pub(crate) fn listed(&self) -> Vec<Listed> {
        let all =
            [("async", "default", 0x0d), (exec::KIND, exec::NAME, 0x0c), (files::KIND, files::NAME, 0x0c)];
        let all = all.into_iter().chain([("net", "tcp", 0x0c), ("config", "default", 0x04)]);
        let row = |(kind, name, cap_flags): (&str, &str, u32)| {
            let (kind, name) = (kind.to_owned(), name.to_owned());
            Listed { kind, name, cap_flags, schema: b"{}".to_vec() }
        };
        all.map(row).filter(|it| !self.missing.contains(&format!("{}/{}", it.kind, it.name))).collect()
    }
}

const fn program(id: String) -> Program {
    Program { command: Some(id), needs_tty: false }
}

fn seen(id: String, flags: u32) -> Seen {
    Seen { id: id.clone().into_bytes(), display: id, flags }
}

fn destination(text: &str) -> Option<Destination> {
    let (host, port) = text.rsplit_once(':')?;
    Some(Destination { host: host.to_owned(), port: port.parse().ok()? })
}

fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|it| it.as_str().map(str::to_owned)).collect()
}

fn numbers(value: &Value) -> Option<BTreeSet<u32>> {
    value.as_array()?.iter().map(|it| u32::try_from(it.as_u64()?).ok()).collect()
}
