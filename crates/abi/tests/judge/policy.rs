//! The policy of a file of vectors, as ours. A key that is not known fails: it would be a law that nobody keeps.

use std::collections::BTreeSet;

use drydock_abi::lembeh::{
    config,
    exec::{self, State, Status},
    files::{self, ENTRY_READABLE},
    net,
};
use drydock_lembeh::{
    LembehPolicy,
    policy::{
        config::{ConfigPolicy, ConfigValue},
        exec::{ExecLoad, ExecPolicy, PROG_ID_SYNTAX, Program},
        files::{FilesPolicy, Seen},
        net::{Destination, NetPolicy},
    },
};
use serde_json::{Map, Value};

#[derive(Debug)]
pub(crate) struct Policy {
    /// As a session has it.
    pub(crate) own: LembehPolicy,
    pub(crate) load: ExecLoad,
    /// Whether it says what is configured.
    pub(crate) is_configured: bool,
    exec_ids: BTreeSet<u32>,
    /// Capabilities that are not there, as `kind/name`.
    missing: BTreeSet<String>,
}

/// Everything is there, and nothing in it.
impl Default for Policy {
    fn default() -> Self {
        let own = LembehPolicy {
            exec: Some(ExecPolicy::default()),
            files: Some(FilesPolicy::default()),
            net: Some(NetPolicy::default()),
            config: Some(ConfigPolicy::default()),
            ..LembehPolicy::default()
        };
        let (load, exec_ids, missing) = Default::default();
        Self { own, load, is_configured: false, exec_ids, missing }
    }
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
        for capability in std::mem::take(&mut policy.missing) {
            policy.leave_out(&capability).ok_or_else(|| format!("`{capability}` is not known"))?;
        }
        Ok(policy)
    }

    fn leave_out(&mut self, capability: &str) -> Option<()> {
        match capability.split_once('/')? {
            (exec::KIND, exec::NAME) => self.own.exec = None,
            (files::KIND, files::NAME) => self.own.files = None,
            (net::KIND, net::NAME) => self.own.net = None,
            (config::KIND, config::NAME) => self.own.config = None,
            _ => return None,
        }
        Some(())
    }

    fn set(&mut self, key: &str, value: &Value) -> Option<()> {
        let LembehPolicy { exec, files, net, config, refused, disabled, hub } = &mut self.own;
        let (exec, files, net, config) = (exec.as_mut()?, files.as_mut()?, net.as_mut()?, config.as_mut()?);
        let number = || value.as_u64().and_then(|it| u32::try_from(it).ok());
        match key {
            "allowlist" => {
                exec.programs = texts(value)?.into_iter().map(|id| (id.clone(), program(id))).collect()
            }
            "absent_programs" => {
                for id in texts(value)? {
                    exec.programs.get_mut(&id)?.command = None;
                }
            }
            "tty_programs" => {
                for id in texts(value)? {
                    exec.programs.get_mut(&id)?.needs_tty = true;
                }
            }
            "prog_id_syntax" => return (value == PROG_ID_SYNTAX).then_some(()),
            "max_args" => exec.args_max = number()?,
            "max_env" => exec.env_max = number()?,
            "max_argv_bytes" => exec.argv_bytes_max = value.as_u64()?,
            "max_env_bytes" => exec.env_bytes_max = value.as_u64()?,
            "max_handles" => exec.handles_max = number()?,
            "max_processes" => exec.processes_max = number()?,
            "tty" | "allow_tty" => exec.tty_allowed = value.as_bool()?,
            "listable" => exec.listable = value.as_bool()?,
            "open_handles" => self.load.handles = number()?,
            "running" => self.load.processes = number()?,
            "budget_spent" => self.load.budget_spent = value.as_bool()?,
            "known_exec_ids" => self.exec_ids = numbers(value)?,
            "files" => files.files = texts(value)?.into_iter().map(|id| seen(id, ENTRY_READABLE)).collect(),
            "unreadable_files" => files.files.extend(texts(value)?.into_iter().map(|id| seen(id, 0))),
            "max_scope_len" => files.scope_bytes_max = number()?,
            "max_entries" => files.entries_max = number()?,
            "max_id_len" => files.id_bytes_max = number()?,
            "max_display_len" => files.display_bytes_max = number()?,
            "net_allow" => {
                net.allow = texts(value)?.iter().map(|it| destination(it)).collect::<Option<_>>()?
            }
            "dns" => net.dns_allowed = value.as_bool()?,
            "max_host_len" => net.host_bytes_max = number()?,
            "max_payload_bytes" => hub.payload_bytes_max = number()?,
            "max_futures_per_handle" => hub.futures_max = number()?,
            "max_event_queue_bytes" => hub.event_queue_bytes_max = number()?,
            "config" => {
                self.is_configured = true;
                for (key, value) in value.as_object()? {
                    let value = ConfigValue { value: value.as_str()?.as_bytes().to_vec(), secret: false };
                    config.values.insert(key.clone(), value);
                }
            }
            "missing_caps" => self.missing = texts(value)?.into_iter().collect(),
            "denied_caps" => {
                *refused =
                    texts(value)?.iter().map(|it| it.split('/').next().unwrap_or(it).to_owned()).collect();
            }
            "disabled_selectors" => *disabled = texts(value)?,
            _ => return None,
        }
        Some(())
    }

    /// The process with this id, as far as the policy knows one.
    pub(crate) fn find(&self, exec_id: u32) -> Option<Status> {
        self.exec_ids.contains(&exec_id).then_some(Status { state: State::Running, code: 0 })
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
