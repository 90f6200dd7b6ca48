//! What a run or a line may do, see and spend: the flags that `run` and `sh` share.

use std::{sync::Arc, time::Duration};

use clap::Args;
use drydock_embed::{
    Mount, Setup,
    agent::{AgentFiles, AgentPowers},
    contract::{
        Budget, Cap, CommandName, Entropy, GrantFile, GrantSpec, GuestTime, Limits, Tenant, Timestamp, Unit,
    },
    gate::{BUILTIN_MEMORY_BYTES_MAX, DefaultLimits, Grant, Profile},
    store::{Home, Links, WorkspaceName},
};

use super::{
    compile::CompileFlags,
    grants,
    hosts::{Hosts, Reach, SecretFlags},
};
use crate::{exit, units};

/// The profile where none is named.
const USUAL_PROFILE: &str = "minimal";

#[derive(Debug, Args)]
pub(crate) struct Powers {
    /// Powers and memory by name (see `drydock profiles`); an unknown one is `compute`
    #[arg(long, value_name = "NAME", default_value = USUAL_PROFILE)]
    profile: String,
    /// Only these commands may run, nested ones included
    #[arg(long, value_name = "NAME[,NAME]", value_delimiter = ',')]
    allow: Option<Vec<CommandName>>,
    /// Hold exactly the grants of this file, and the session's own files; the profile gives limits only
    #[arg(long, value_name = "FILE", value_parser = grants::file, conflicts_with = "allow")]
    pub(super) grants: Option<GrantFile>,
    /// Wall-clock limit, such as 500ms, 30s or 2m [default: 30s, a shell's line 2m, a JavaScript program 5s]
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    timeout: Option<Duration>,
    /// Instructions that may be executed [default: 5000000000, a shell's line 100000000000]
    #[arg(long, value_name = "N")]
    fuel: Option<u64>,
    /// Memory limit of a command, host buffers included, such as 64MiB [default: 256MiB; a command that was
    /// added, the profile's]
    #[arg(long, value_name = "SIZE", value_parser = units::memory)]
    memory: Option<u64>,
    /// Bytes that may be written to stdout and to stderr, each [default: 8MiB, a shell's line 64MiB; a
    /// program's console 64000 characters and 100 lines]
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    output_max: Option<u64>,
    /// Bytes each volume of a workspace may hold, and a directory mounted rw may grow by [default: 4GiB]
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    pub(super) disk_max: Option<u64>,
    /// Mount a host directory: copy-on-write unless :ro or :rw is said
    #[arg(long, value_name = "HOST[:GUEST][:ro|:rw|:cow]")]
    pub(super) dir: Vec<Mount>,
    /// Let symbolic links be made that lead out of a directory mounted rw
    #[arg(long)]
    links: bool,
    /// See the files of this workspace, as /workspace, /memory and /tmp
    #[arg(long, value_name = "NAME")]
    pub(super) workspace: Option<WorkspaceName>,
    /// Set an environment variable; there are no others from outside
    #[arg(long, value_name = "K=V", value_parser = variable)]
    pub(super) env: Vec<(String, String)>,
    #[command(flatten)]
    hosts: Hosts,
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    secrets: SecretFlags,
    /// Install a program of the catalog when it is called and not there; its time is not the caller's
    #[arg(long)]
    install_missing: bool,
    #[command(flatten)]
    pub(crate) compile: CompileFlags,
    /// Take all randomness from this seed
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Start the clocks at this moment: 2026-01-31T12:00:00Z or seconds since 1970
    #[arg(long, value_name = "TIME", value_parser = units::moment)]
    now: Option<Timestamp>,
}

fn variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or_else(|| format!("`{text}` has no `=`: use NAME=value"))?;
    if name.is_empty() {
        return Err(format!("`{text}` has no name: use NAME=value"));
    }
    Ok((name.into(), value.into()))
}

/// Who an agent is: a principal of its own, so that what is granted to a person's own lines is not an agent's.
pub(super) const AGENT: &str = "agent";

/// What an agent is granted; none for every command and what the profile grants. Tools, models and programs it has by
/// being an agent.
pub(super) fn agent_grants(
    profile: &str,
    file: Option<&GrantFile>,
    allow: Option<&[CommandName]>,
    network: Vec<GrantSpec>,
) -> Option<Vec<GrantSpec>> {
    let mut grants = match (file, allow) {
        (Some(file), _) => file.grants().to_vec(),
        (None, None) if network.is_empty() => return None,
        (None, allow) => {
            let said = [Cap::Exec, Cap::Tool, Cap::Llm, Cap::Code];
            let granted = Profile::named(profile).granted();
            let granted = granted.iter().filter(|it| !said.contains(it)).map(GrantSpec::of);
            let allowed = match allow {
                None => Some(GrantSpec::of(Cap::Exec)),
                Some(names) => GrantSpec::exactly(Cap::Exec, names.iter().map(CommandName::as_str)),
            };
            granted.chain(allowed).collect()
        }
    };
    grants.extend(network);
    Some(grants)
}

/// A mount with its directory's whole path and its place, because a run may be resumed from elsewhere.
pub(super) fn agent_mount(mount: &Mount) -> Result<String, String> {
    let host = mount.host();
    let whole = host.canonicalize().map_err(|error| format!("`{}`: {error}", host.display()))?;
    let whole = whole.to_str().ok_or_else(|| format!("`{}` is not UTF-8", host.display()))?;
    let told = mount.to_text();
    let mode = told.rsplit(':').next().unwrap_or_default();
    Ok(format!("{whole}:{}:{mode}", mount.guest_path()))
}

impl Default for Powers {
    /// As where none of the flags is there.
    fn default() -> Self {
        Self {
            profile: USUAL_PROFILE.into(),
            allow: None,
            grants: None,
            timeout: None,
            fuel: None,
            memory: None,
            output_max: None,
            disk_max: None,
            dir: Vec::new(),
            links: false,
            workspace: None,
            env: Vec::new(),
            hosts: Hosts::default(),
            secrets: SecretFlags::default(),
            reach: Reach::default(),
            install_missing: false,
            compile: CompileFlags::default(),
            seed: None,
            now: None,
        }
    }
}

impl Powers {
    /// Whether `--install-missing` was said.
    pub(super) fn installs_any(&self) -> bool {
        self.install_missing
    }

    /// Whether a program of the catalog is to be installed when it is called by this name.
    pub(super) fn installs(&self, name: &str) -> bool {
        let granted = match (&self.allow, &self.grants) {
            (Some(all), _) => all.iter().any(|it| it.as_str() == name),
            (None, Some(file)) => file.grants().iter().any(|it| it.cap == Cap::Exec && it.terms().name(name)),
            (None, None) => Profile::named(&self.profile).granted().contains(Cap::Exec),
        };
        self.install_missing && granted
    }

    /// An error if a secret of `--allow-secret` is not there.
    pub(super) fn check_secrets(&self, home: &Home, tenant: &Tenant) -> anyhow::Result<()> {
        self.reach.check_secrets(home, tenant)
    }

    /// What `--output-max` says.
    pub(super) fn output_max(&self) -> Option<u64> {
        self.output_max
    }

    /// The links that guests may make in a directory of the host.
    pub(super) fn links(&self) -> Links {
        if self.links { Links::Any } else { Links::Inside }
    }

    /// Memory of a built-in command.
    pub(super) fn builtin_memory(&self) -> u64 {
        let profile = Profile::named(&self.profile).memory_bytes_max;
        self.memory.unwrap_or(BUILTIN_MEMORY_BYTES_MAX.max(profile))
    }

    /// For programs, whose time is their limit: where nobody chose the fuel, each command that they call has its own.
    pub(super) fn leave_fuel_to_each_run(&self, setup: &mut Setup) {
        if self.fuel.is_none() {
            setup.budget = None;
        }
    }

    /// The same for an agent, whose files are its own.
    pub(super) fn of_agents(&self) -> anyhow::Result<AgentPowers> {
        let network: Vec<GrantSpec> =
            self.secrets.with(self.hosts.rules())?.grants().iter().map(|it| it.spec()).collect();
        let grants = agent_grants(&self.profile, self.grants.as_ref(), self.allow.as_deref(), network);
        let whole = |it: &Mount| agent_mount(it).map_err(anyhow::Error::msg);
        Ok(AgentPowers {
            principal: AGENT.to_owned(),
            profile: self.profile.clone(),
            grants,
            stored_grants: true,
            files: AgentFiles::Own,
            dirs: self.dir.iter().map(whole).collect::<anyhow::Result<_>>()?,
            ..AgentPowers::default()
        })
    }

    /// What a server is told of them; the other flags are not for it.
    pub(super) fn for_server(&self) -> serde_json::Value {
        let mut told = serde_json::json!({});
        if let Some(allow) = &self.allow {
            told["allow"] = allow.iter().map(ToString::to_string).collect::<Vec<_>>().into();
        }
        if let Some(timeout) = self.timeout {
            told["timeout_ms"] = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX).max(1).into();
        }
        if let Some(memory) = self.memory {
            told["memory_mb"] = memory.div_ceil(1 << 20).into();
        }
        if let Some(workspace) = &self.workspace {
            told["workspace"] = workspace.as_str().into();
        }
        if !self.env.is_empty() {
            told["env"] = self
                .env
                .iter()
                .map(|(name, value)| (name.clone(), value.clone().into()))
                .collect::<serde_json::Map<_, _>>()
                .into();
        }
        told
    }

    /// The session they describe; `usual` are the limits where no flag says otherwise, with the
    /// profile's memory.
    pub(crate) fn setup(&self, usual: Limits) -> anyhow::Result<Setup> {
        let profile = Profile::named(&self.profile);
        if profile.name != self.profile {
            exit::warn(&format!("there is no profile `{}`; using `{}`", self.profile, profile.name));
        }
        let limits = Limits {
            wall_max: self.timeout.unwrap_or(usual.wall_max),
            fuel_max: self.fuel.unwrap_or(usual.fuel_max),
            memory_bytes_max: self.memory.unwrap_or(profile.memory_bytes_max),
            stdout_bytes_max: self.output_max.unwrap_or(usual.stdout_bytes_max),
            stderr_bytes_max: self.output_max.unwrap_or(usual.stderr_bytes_max),
            ..usual
        };
        Ok(Setup {
            profile,
            allow: self.allow.clone(),
            grants: (self.grants.iter().flat_map(|file| Grant::all_of(file, |it| it)))
                .chain(self.reach.grants())
                .collect(),
            only_grants: self.grants.is_some(),
            denials: Some(Arc::default()),
            limits: Some(limits),
            default_limits: Some(DefaultLimits {
                memory: self.memory.is_none(),
                line_memory: true,
                wall: self.timeout.is_none(),
                fuel: self.fuel.is_none(),
            }),
            builtin_memory_bytes_max: Some(self.builtin_memory()),
            // Commands that it starts, and tools of a program, burn from the same budget.
            budget: Some(Arc::new(Budget::of([(Unit::Fuel, limits.fuel_max)]))),
            network: self.secrets.with(self.hosts.rules())?,
            env: self.env.clone(),
            install_missing: self.install_missing,
            time: self.now.map_or(GuestTime::Real, GuestTime::Fixed),
            entropy: self.seed.map_or(Entropy::System, Entropy::Seeded),
            ..Setup::default()
        })
    }
}
