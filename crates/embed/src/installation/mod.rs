//! Extensions that are installed: a name of a tenant, a module by its hash, and what it may reach and spend. Kept in cells
//! of the tenant's ledger, so that every process of the home sees the same.
//!
//! Of secrets it has names and where they come from, never a value.

mod network;
mod reach;
mod secret;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use bytes::Bytes;
use drydock_contract::{
    Artifact, BadCommandName, Cap, CommandName, Digest, Fault, Limits, LiveError, LiveKind, Pattern, Tenant,
    Terms, Timestamp,
    port::{Ledger, LedgerError, LoadError},
};
use drydock_egress::ParseInjectionError;
use drydock_gate::Grant;
use drydock_store::{ArtifactStore, PutArtifactError};
use serde::{Deserialize, Serialize};

pub use drydock_contract::SecretName;
pub use network::{BadSecretHeader, HostEntry, PrivateEntry, SecretHeader, UrlEntry};
pub use reach::{ExtensionSettings, SecretSource};
pub(crate) use secret::as_text;
pub use secret::{BadSecretRef, SecretRef, StoredSecret, StoredSecrets};

use crate::{
    BadSetup, Dock, DockSession, HANDLER_LIMITS, HandedOver, Setup,
    code::handler::{self, SCRIPT_BYTES_MAX},
    instance::off_thread,
};

/// Extensions of one tenant.
pub const INSTALLATIONS_MAX: usize = 1_000;
/// Hosts and secrets of one extension, each.
pub const ENTRIES_MAX: usize = 64;

/// One extension.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Installation {
    /// What it is called.
    pub name: CommandName,
    /// Which of the installations under this name it is: another one after each change.
    pub version: String,
    /// The module.
    pub module: Digest,
    /// How many bytes it has.
    pub module_bytes: u64,
    /// What it may reach and spend.
    #[serde(flatten)]
    pub settings: InstallationSettings,
    /// When it was installed.
    pub installed_ms: u64,
}

/// What an extension may reach and spend.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstallationSettings {
    /// The hosts that it may fetch from.
    #[serde(default)]
    pub allow_host: Vec<HostEntry>,
    /// The parts of hosts that it may fetch from, by method and by the beginning of the path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow_url: Vec<UrlEntry>,
    /// Addresses that it may fetch from though they are not public.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow_private: Vec<PrivateEntry>,
    /// The keys under which it keeps values, `*` for any text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow_kv: Vec<Pattern>,
    /// The secrets that may be put into its requests, and where each comes from.
    #[serde(default)]
    pub secrets: BTreeMap<SecretName, SecretRef>,
    /// The headers that they are put into, each for one host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secret_headers: Vec<SecretHeader>,
    /// The most that a request may ask for.
    #[serde(default)]
    pub limits: InstallationLimits,
}

/// The most that a request to an extension may ask for, and what one has over HTTP that asks for nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstallationLimits {
    /// Wall clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Guest memory in MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_mb: Option<u64>,
}

/// An extension cannot be installed, found or removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// The name is none.
    #[error(transparent)]
    Name(#[from] BadCommandName),
    /// The module cannot be a handler.
    #[error("the module cannot be installed")]
    Module(#[source] Fault),
    /// The module is no WebAssembly.
    #[error("these bytes are no WebAssembly module: they do not begin with \\0asm")]
    NotWasm,
    /// The module cannot be kept.
    #[error(transparent)]
    Put(#[from] PutArtifactError),
    /// The module cannot be read again.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The ledger.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// No such extension.
    #[error("there is no extension `{0}`; `drydock ext list` shows those there are")]
    Unknown(CommandName),
    /// Somebody else changed it at the same time.
    #[error("somebody else changed extension `{0}` at the same time; try again")]
    Conflict(CommandName),
    /// What is kept makes no sense.
    #[error("what is kept of extension `{0}` cannot be read; install it again")]
    Broken(String),
    /// There are too many.
    #[error("there are {INSTALLATIONS_MAX} extensions already; remove some with `drydock ext rm`")]
    TooMany,
    /// Too many hosts or secrets.
    #[error("{0} of an extension may be {ENTRIES_MAX} at most")]
    TooManyEntries(&'static str),
    /// A header with secrets that cannot be sent.
    #[error("secret header `{0}`")]
    SecretHeader(SecretHeader, #[source] ParseInjectionError),
    /// The script is too long, or no text.
    #[error("a script is text of at most {SCRIPT_BYTES_MAX} bytes")]
    Script,
}

impl InstallError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Name(_) => "bad_name",
            Self::Module(fault) => fault.code(),
            Self::NotWasm => "bad_module",
            Self::Put(error) => error.code(),
            Self::Load(_) => "artifact_read",
            Self::Ledger(error) => error.code,
            Self::Unknown(_) => "unknown_extension",
            Self::Conflict(_) => "conflict",
            Self::Broken(_) => "broken_installation",
            Self::TooMany => "too_many_extensions",
            Self::TooManyEntries(_) => "too_many_entries",
            Self::SecretHeader(..) => "bad_secret_header",
            Self::Script => "bad_module",
        }
    }
}

/// Where installations begin in the ledger.
const PREFIX: &str = "extension/";

/// The extensions of a tenant that are kept.
pub struct Installations {
    ledger: Arc<dyn Ledger>,
    tenant: Tenant,
}

impl Installations {
    /// Those that this ledger keeps for a tenant.
    pub fn new(ledger: Arc<dyn Ledger>, tenant: Tenant) -> Self {
        Self { ledger, tenant }
    }

    /// All of them, by name.
    pub fn all(&self) -> Result<Vec<Installation>, InstallError> {
        let cells = self.ledger.cells(&self.tenant, PREFIX)?;
        cells.iter().map(|(key, value)| read(key, value)).collect()
    }

    /// One by its name, if it is there.
    pub fn find(&self, name: &CommandName) -> Result<Option<Installation>, InstallError> {
        let key = format!("{PREFIX}{name}");
        self.ledger.cell(&self.tenant, &key)?.map(|value| read(&key, &value)).transpose()
    }

    /// Keeps one, in the place of another of its name.
    fn put(&self, installation: &Installation) -> Result<(), InstallError> {
        let key = format!("{PREFIX}{}", installation.name);
        let before = self.ledger.cell(&self.tenant, &key)?;
        if before.is_none() && self.ledger.cells(&self.tenant, PREFIX)?.len() >= INSTALLATIONS_MAX {
            return Err(InstallError::TooMany);
        }
        // Texts and numbers: there is nothing in it that JSON cannot say.
        let value = serde_json::to_vec(installation).unwrap_or_default();
        match self.ledger.swap(&self.tenant, &key, before.as_deref(), Some(&value))? {
            true => Ok(()),
            false => Err(InstallError::Conflict(installation.name.clone())),
        }
    }

    /// Forgets one. Its module stays: others may be made of the same bytes.
    pub fn remove(&self, name: &CommandName) -> Result<(), InstallError> {
        let key = format!("{PREFIX}{name}");
        let before = self.ledger.cell(&self.tenant, &key)?;
        let Some(before) = before else { return Err(InstallError::Unknown(name.clone())) };
        match self.ledger.swap(&self.tenant, &key, Some(&before), None)? {
            true => Ok(()),
            false => Err(InstallError::Conflict(name.clone())),
        }
    }
}

fn read(key: &str, value: &[u8]) -> Result<Installation, InstallError> {
    serde_json::from_slice(value).map_err(|_| InstallError::Broken(key[PREFIX.len()..].to_owned()))
}

impl InstallationSettings {
    fn check(&self) -> Result<(), InstallError> {
        let counts = [
            ("hosts", self.allow_host.len() + self.allow_url.len() + self.allow_private.len()),
            ("keys", self.allow_kv.len()),
            ("secrets", self.secrets.len()),
            ("secret headers", self.secret_headers.len()),
        ];
        if let Some((what, _)) = counts.into_iter().find(|(_, count)| *count > ENTRIES_MAX) {
            return Err(InstallError::TooManyEntries(what));
        }
        for header in &self.secret_headers {
            let wrong = |error| InstallError::SecretHeader(header.clone(), error);
            header.check(self.secrets.keys()).map_err(wrong)?;
        }
        Ok(())
    }
}

impl InstallationLimits {
    /// The most that a session for it has.
    pub fn most(&self) -> Limits {
        let usual = HANDLER_LIMITS;
        Limits {
            wall_max: self.timeout_ms.map_or(usual.wall_max, Duration::from_millis),
            memory_bytes_max: self.memory_mb.map_or(usual.memory_bytes_max, |it| it.saturating_mul(1 << 20)),
            ..usual
        }
    }
}

/// What an extension is: a module of the Runner ABI, or a script in JavaScript with a function `handler`.
#[derive(Debug, Clone)]
pub enum ExtensionCode {
    /// WebAssembly.
    Module(Bytes),
    /// JavaScript.
    Script(String),
}

impl From<Bytes> for ExtensionCode {
    fn from(module: Bytes) -> Self {
        Self::Module(module)
    }
}

impl ExtensionCode {
    /// The bytes that stand for it, which its hash is of.
    fn into_bytes(self) -> Result<Bytes, InstallError> {
        match self {
            Self::Module(bytes) if !bytes.starts_with(b"\0asm") => Err(InstallError::NotWasm),
            Self::Module(bytes) => Ok(bytes),
            Self::Script(text) if text.len() > SCRIPT_BYTES_MAX => Err(InstallError::Script),
            Self::Script(text) => Ok(handler::artifact_of(&text)),
        }
    }
}

/// An extension whose module is at hand.
pub struct Installed {
    /// What is kept of it.
    pub installation: Installation,
    /// Its module.
    pub module: Arc<HandedOver>,
}

impl Dock {
    /// The extensions of the tenant.
    pub fn installations(&self) -> Installations {
        Installations::new(Arc::clone(&self.ledger) as _, self.tenant.clone())
    }

    /// Where the secrets of the tenant come from.
    pub fn secrets(&self) -> StoredSecrets {
        StoredSecrets::new(Arc::clone(&self.ledger) as _, self.tenant.clone())
    }

    /// Installs an extension, in the place of another of its name. A module is compiled and linked first, and a script is
    /// run without a request: what cannot be a handler is not installed.
    pub async fn install_extension(
        &self,
        name: CommandName,
        code: impl Into<ExtensionCode>,
        settings: InstallationSettings,
        now: Timestamp,
    ) -> Result<Installation, InstallError> {
        settings.check()?;
        let module = code.into().into_bytes()?;
        let home = self.home.clone();
        let bytes = module.len() as u64;
        let artifact = off_thread(move || ArtifactStore::new(&home).put(module)).await?;
        self.check_handler(&artifact).await?;
        let seed = [artifact.digest().as_bytes(), &now.0.to_le_bytes()[..]].concat();
        let version = Digest::of(&seed).to_string().get(..12).unwrap_or_default().to_owned();
        let (module, installed_ms) = (artifact.digest(), now.as_millis());
        let made = Installation { name, version, module, module_bytes: bytes, settings, installed_ms };
        let (all, kept) = (self.installations(), made.clone());
        off_thread(move || all.put(&kept)).await?;
        Ok(made)
    }

    /// Says why a module can be no handler, if it cannot.
    pub async fn check_handler(&self, artifact: &Artifact) -> Result<(), InstallError> {
        if let Some(checked) = handler::check(&self.engine, artifact).await {
            return checked.map_err(|error| match error {
                LiveError::Fault(fault) => InstallError::Module(fault),
                other => InstallError::Module(Fault::BadModule {
                    digest: artifact.digest(),
                    reason: format!("its own statements fail: {other}"),
                }),
            });
        }
        self.engine
            .check_live(artifact, &LiveKind::Handler, self.tenant.clone())
            .await
            .map_err(InstallError::Module)
    }

    /// The module or script of an installation, read and hashed.
    pub async fn installed(&self, installation: Installation) -> Result<Installed, InstallError> {
        let (home, digest) = (self.home.clone(), installation.module);
        let artifact = off_thread(move || ArtifactStore::new(&home).load(digest)).await?;
        Ok(Installed { installation, module: Arc::new(self.shelf.put(artifact)) })
    }

    /// A session for requests to an extension: it may make instances of that module under that name, and reach what the
    /// installation says and what is granted `beside`, and nothing else.
    pub fn extension_session(
        &self,
        principal: &str,
        installed: &Installed,
        beside: Setup,
    ) -> Result<DockSession, BadSetup> {
        let Installation { name, module, settings, .. } = &installed.installation;
        let names = [name.as_str().to_owned(), format!("sha256:{module}")];
        // Names and hashes are patterns that mean themselves.
        let terms = Terms::of(names.iter().filter_map(|it| it.parse().ok()));
        let mut grants = vec![Arc::new(Grant::of(Cap::Instance).within(terms))];
        if !settings.allow_kv.is_empty() {
            grants.push(Arc::new(Grant::of(Cap::Kv).within(Terms::of(settings.allow_kv.iter().cloned()))));
        }
        grants.extend(beside.grants.iter().cloned());
        let limits = Some(settings.limits.most());
        let network = self.extension_network(&installed.installation, beside.network.clone())?;
        self.session(principal, Setup { grants, limits, network, ..beside })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_installation_reads_back_as_it_was_kept_and_what_it_does_not_say_is_usual() {
        let installation = Installation {
            name: "shop".parse().unwrap(),
            version: "0123456789ab".into(),
            module: Digest::of(b"m"),
            module_bytes: 1,
            settings: InstallationSettings {
                allow_host: vec!["https://api.example.com:8443".parse().unwrap()],
                allow_url: vec!["GET,HEAD https://api.example.org/v1".parse().unwrap()],
                allow_private: vec!["127.0.0.1:8080".parse().unwrap()],
                allow_kv: vec!["shop/*".parse().unwrap()],
                secrets: [("KEY".parse().unwrap(), "env:SHOP_KEY".parse().unwrap())].into(),
                secret_headers: vec!["api.example.com:8443 X-Key: {{secret:KEY}}".parse().unwrap()],
                limits: InstallationLimits { timeout_ms: Some(250), memory_mb: None },
            },
            installed_ms: 7,
        };
        let kept = serde_json::to_vec(&installation).unwrap();
        assert_eq!(read("extension/shop", &kept).unwrap(), installation);
        let most = installation.settings.limits.most();
        assert_eq!(most.wall_max, Duration::from_millis(250));
        assert_eq!(most.memory_bytes_max, HANDLER_LIMITS.memory_bytes_max);
        assert_eq!(read("extension/shop", b"{}").unwrap_err().code(), "broken_installation");
    }
}
