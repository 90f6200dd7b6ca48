//! What a session gets: a profile, and what narrows or widens it. Fails closed: what is not said is not granted.

use std::sync::Arc;

use drydock_contract::{
    BadCommandName, BadPrincipal, Budget, Cap, CapSet, CommandName, Denial, Entropy, GuestTime, Limits,
    Preparing, Principal, SteppedClock,
    port::{Clock, FileError, Files},
};
use drydock_egress::ParseInjectionError;
use drydock_gate::{
    BUILTIN_MEMORY_BYTES_MAX, DefaultLimits, DenialLog, Grant, HeldGrants, LINE_MEMORY_BYTES_MAX, Profile,
    SessionSpec, Tape,
};

use crate::{HostCommands, Network, SecretName, SystemClock};

/// What a session is opened with. The default is the profile `compute`, which may run nothing: what
/// is forgotten can only take power away. [`Setup::profile`] with `minimal` may run every command.
#[derive(Clone)]
pub struct Setup {
    /// The named set of powers and the memory limit.
    pub profile: &'static Profile,
    /// Powers of the profile that it does not get: neither granted nor importable by it. A grant that names one still holds.
    pub withheld: CapSet,
    /// These commands and no others, whatever the profile says of `exec`.
    pub allow: Option<Vec<CommandName>>,
    /// Further grants, such as ones that expire or are used up.
    pub grants: Vec<Arc<Grant>>,
    /// Whether those are all: then the profile grants nothing but the session's own files, and tools that are handed
    /// over are not granted by that.
    pub only_grants: bool,
    /// Grants that the principal was given before. They only ever add: what holds without them holds with them.
    pub stored: Vec<Arc<Grant>>,
    /// Grants that are held in common ([`Setup::hold`]): then they are all, and what one session of them is given or loses
    /// the others have or have not from then on.
    pub held: Option<HeldGrants>,
    /// Told what is refused to the session and to whatever it starts, for whoever shows it to a person.
    pub denials: Option<Arc<DenialLog>>,
    /// Limits of each run, if not the profile's.
    pub limits: Option<Limits>,
    /// Memory of a run of a built-in command, if not that of `limits`; 256 MiB where there are none.
    pub builtin_memory_bytes_max: Option<u64>,
    /// Memory that the shell and the stages of one line share.
    pub line_memory_bytes_max: u64,
    /// Which limits are only defaults, that an entry's own take the place of; if it is not said, those that nobody
    /// set here.
    pub default_limits: Option<DefaultLimits>,
    /// Hosts that it may reach, and secrets that go along.
    pub network: Network,
    /// Environment of each run.
    pub env: Vec<(String, String)>,
    /// Files each run sees, or none for a fresh empty tree each.
    pub files: Option<Arc<dyn Files>>,
    /// What clocks tell.
    pub time: GuestTime,
    /// The clock of several sessions whose time is not the real one, if they are to have one together.
    pub clock: Option<Arc<SteppedClock>>,
    /// Where randomness comes from.
    pub entropy: Entropy,
    /// What is spent together by everything that is opened with this setup and its clones: a session's runs, a program
    /// and its tools, lines of shells. Fuel, calls and bytes, as far as they are named.
    pub budget: Option<Arc<Budget>>,
    /// Who records or replays what enters from outside; none where nobody does.
    pub tape: Option<Arc<dyn Tape>>,
    /// Closures that are commands too, where no registered one has the name.
    pub host_commands: HostCommands,
    /// Whether a granted name that is in the catalog and not installed is installed when it is called.
    pub install_missing: bool,
    /// What is waited for code to be compiled, which is nobody's time. Clones have it in common: programs of
    /// [`Dock::code`](crate::Dock::code) stand still while the tools that were made of the same setup wait.
    pub preparing: Arc<Preparing>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            profile: Profile::named("compute"),
            withheld: CapSet::EMPTY,
            allow: None,
            grants: Vec::new(),
            only_grants: false,
            stored: Vec::new(),
            held: None,
            denials: None,
            limits: None,
            builtin_memory_bytes_max: None,
            line_memory_bytes_max: LINE_MEMORY_BYTES_MAX,
            default_limits: None,
            network: Network::default(),
            env: Vec::new(),
            files: None,
            time: GuestTime::default(),
            clock: None,
            entropy: Entropy::default(),
            budget: None,
            tape: None,
            host_commands: HostCommands::default(),
            install_missing: false,
            preparing: Arc::default(),
        }
    }
}

/// A session cannot be opened like this.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BadSetup {
    /// The principal's name is not one.
    #[error(transparent)]
    Principal(#[from] BadPrincipal),
    /// An allowed name is not a command name.
    #[error(transparent)]
    Name(#[from] BadCommandName),
    /// A variable cannot be passed on.
    #[error(
        "environment variable `{0}` cannot be passed on: its name is empty or has `=`, or there is a NUL in it"
    )]
    Variable(String),
    /// A secret that goes along with requests is not to be had.
    #[error("secret `{name}` cannot be read: {why}")]
    Secret {
        /// Which one.
        name: SecretName,
        /// Why not; the value is no part of it.
        why: String,
    },
    /// A header with secrets cannot be sent.
    #[error(transparent)]
    SecretHeader(#[from] ParseInjectionError),
    /// A file cannot be put into the tree.
    #[error("cannot put the file `{path}` there: {cause}")]
    File {
        /// As it was given.
        path: String,
        /// Why not.
        cause: FileError,
    },
    /// What it needs is broken in this build.
    #[error(transparent)]
    Broken(#[from] drydock_contract::Fault),
    /// What all processes of the home agree by cannot be read or written.
    #[error(transparent)]
    Ledger(#[from] drydock_contract::port::LedgerError),
    /// The gate refuses the principal.
    #[error(transparent)]
    Denied(#[from] Denial),
}

impl Setup {
    /// A session that may run these commands, and nothing else but see its own files.
    pub fn allowing<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, BadSetup> {
        let allow = names.into_iter().map(str::parse).collect::<Result<Vec<CommandName>, _>>()?;
        Ok(Self { allow: Some(allow), ..Self::default() })
    }

    /// A session with the powers of a profile. An unknown name is `compute`.
    pub fn profile(name: &str) -> Self {
        Self { profile: Profile::named(name), ..Self::default() }
    }

    /// The same with these files, seen in `/workspace` or where their paths say, and kept as long as the setup.
    pub fn with_files<P: AsRef<str>, T: AsRef<[u8]>>(
        self,
        files: impl IntoIterator<Item = (P, T)>,
    ) -> Result<Self, BadSetup> {
        Ok(Self { files: Some(crate::tree::with_files("/workspace", files)?), ..self })
    }

    /// The same with a closure as one more command.
    pub fn with_command<F, R>(mut self, name: &str, body: F) -> Result<Self, BadSetup>
    where
        F: Fn(crate::HostInput) -> R + Send + Sync + 'static,
        R: Future<Output = crate::HostOutput> + Send + 'static,
    {
        self.host_commands.insert(name.parse()?, body);
        Ok(self)
    }

    /// From now on all that is opened with this and its clones holds its grants in common: those that it would have been
    /// opened with, and what any of them is given later.
    pub fn hold(&mut self) -> HeldGrants {
        let held = self.held();
        self.held = Some(held.clone());
        held
    }

    /// What a session of it holds.
    fn held(&self) -> HeldGrants {
        if let Some(held) = &self.held {
            return held.clone();
        }
        let kept = |cap| match self.only_grants {
            true => cap == Cap::Vfs,
            false => self.allow.is_none() || cap != Cap::Exec,
        };
        let of_profile =
            self.profile.grants().filter(|it| kept(it.cap()) && !self.withheld.contains(it.cap()));
        let mut grants: Vec<Arc<Grant>> = of_profile.map(Arc::new).collect();
        if let Some(names) = &self.allow {
            grants.push(Arc::new(Grant::of(Cap::Exec).only(names.iter().cloned())));
        }
        grants.extend(self.grants.iter().chain(&self.stored).cloned());
        grants.extend(self.network.grants());
        grants.into_iter().collect()
    }

    /// Whoever opens code mode may run programs, and call the tools that were handed over; grants of the setup's own
    /// decide instead where there are any.
    pub(crate) fn grant_programs(&mut self) {
        let mut unless_said = |cap, said: bool| {
            if !said && !self.grants.iter().any(|grant| grant.cap() == cap) {
                self.grants.push(Arc::new(Grant::of(cap)));
            }
        };
        unless_said(Cap::Tool, self.only_grants);
        unless_said(Cap::Code, false);
    }

    /// Memory of a run of a built-in command.
    pub(crate) fn builtin_memory(&self) -> u64 {
        let limits = self.limits.map(|it| it.memory_bytes_max);
        let usual = BUILTIN_MEMORY_BYTES_MAX.max(self.profile.memory_bytes_max);
        self.builtin_memory_bytes_max.or(limits).unwrap_or(usual)
    }

    /// Which limits nobody chose.
    pub fn default_limits(&self) -> DefaultLimits {
        let unset = self.limits.is_none();
        let usual = DefaultLimits {
            memory: unset,
            wall: unset,
            fuel: unset,
            line_memory: self.line_memory_bytes_max == LINE_MEMORY_BYTES_MAX,
        };
        self.default_limits.unwrap_or(usual)
    }

    /// Changes limits, of which those that nobody chose stay defaults.
    pub(crate) fn change_limits(&mut self, change: impl FnOnce(&mut Limits)) -> Limits {
        let defaults = self.default_limits();
        let mut limits = self.limits.unwrap_or_else(|| self.profile.limits());
        change(&mut limits);
        (self.limits, self.default_limits) = (Some(limits), Some(defaults));
        limits
    }

    /// One clock for everything that is opened with this: shells, commands, files and tools.
    pub fn one_clock(&mut self) -> Arc<dyn Clock> {
        match self.time {
            GuestTime::Real => Arc::new(SystemClock),
            GuestTime::Fixed(start) => {
                Arc::clone(self.clock.get_or_insert_with(|| Arc::new(SteppedClock::starting(start)))) as _
            }
        }
    }

    pub(crate) fn into_spec(mut self, principal: Principal) -> Result<SessionSpec, BadSetup> {
        let builtin_memory_bytes_max = self.builtin_memory();
        let default_limits = self.default_limits();
        self.one_clock();
        let grants = self.held();
        let credentials = self.network.credentials();
        Ok(SessionSpec {
            grants,
            importable: importable(self.profile).iter().filter(|it| !self.withheld.contains(*it)).collect(),
            credentials,
            denials: self.denials,
            limits: self.limits.unwrap_or_else(|| self.profile.limits()),
            call_wall_max: self.limits.map_or(self.profile.call_max, |it| it.wall_max),
            builtin_memory_bytes_max,
            default_limits,
            line_memory_bytes_max: self.line_memory_bytes_max,
            env: self.env.iter().map(variable).collect::<Result<_, _>>()?,
            files: self.files,
            time: self.time,
            clock: self.clock,
            entropy: self.entropy,
            inside: self.host_commands.within(None),
            tape: self.tape,
            preparing: Some(self.preparing),
            budget: self.budget,
            ..SessionSpec::new(principal)
        })
    }
}

/// What guests may import: what the profile says, and HTTP wherever sockets are. A command such as `curl` is then told no
/// by the one call that it may not make, and a person reads which grant it lacks (decision 0070).
fn importable(profile: &Profile) -> CapSet {
    match profile.importable.contains(Cap::Tcp) {
        true => profile.importable.union(CapSet::of(&[Cap::Net])),
        false => profile.importable,
    }
}

/// What every script expects to find in its environment, for one that starts in `cwd`.
pub fn ordinary_variables(cwd: &str) -> [(&'static str, String); 6] {
    [
        ("HOME", cwd.to_owned()),
        ("PATH", "/usr/local/bin:/usr/bin:/bin".into()),
        ("USER", "agent".into()),
        ("LOGNAME", "agent".into()),
        ("SHELL", "/bin/bash".into()),
        ("LANG", "C.UTF-8".into()),
    ]
}

fn variable((name, value): &(String, String)) -> Result<Vec<u8>, BadSetup> {
    if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
        return Err(BadSetup::Variable(name.escape_default().to_string()));
    }
    Ok(format!("{name}={value}").into_bytes())
}
