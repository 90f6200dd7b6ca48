//! What a session for an extension reaches: what the installation says, what is granted beside it, and the operator's own
//! list over both. The one place where what is kept becomes a power.

use std::{fmt, io, sync::Arc};

use drydock_contract::{Digest, port::LedgerError};
use drydock_egress::{HostRule, Rules, Secret, Secrets};
use zeroize::Zeroizing;

use super::{Installation, SecretName, SecretRef};
use crate::{BadSetup, Dock, Network};

/// Reads the value that a reference leads to. Whoever opens the dock knows its environment and its files; a dock does not.
pub type SecretSource = dyn Fn(&SecretRef) -> io::Result<Vec<u8>> + Send + Sync;

/// What an operator says of all extensions.
#[derive(Clone, Default)]
pub struct ExtensionSettings {
    /// The hosts of every extension that has no list of its own; one that has may reach what is in both.
    pub allow_list: Option<Vec<HostRule>>,
    /// Where secrets are read. Without it there are none.
    pub secrets: Option<Arc<SecretSource>>,
}

impl fmt::Debug for ExtensionSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExtensionSettings").field("allow_list", &self.allow_list).finish_non_exhaustive()
    }
}

impl Dock {
    /// The same dock, with what this operator says of all extensions.
    #[must_use]
    pub fn with_extensions(self, settings: ExtensionSettings) -> Self {
        Self { extensions: Arc::new(settings), ..self }
    }

    /// The rules of an extension whose own are these, under the operator's list.
    pub fn extension_rules(&self, own: Rules) -> Rules {
        let has_own = !own.hosts.is_empty() || !own.urls.is_empty();
        match self.extensions.allow_list.clone() {
            None => own,
            Some(hosts) if !has_own => Rules { hosts, ..own },
            ceiling => Rules { ceiling, ..own },
        }
    }

    /// What requests to an installation reach, with what is granted beside it.
    pub(super) fn extension_network(
        &self,
        installation: &Installation,
        beside: Network,
    ) -> Result<Network, BadSetup> {
        let Network { mut rules, mut injected } = beside;
        let settings = &installation.settings;
        rules.hosts.extend(settings.allow_host.iter().map(|it| it.0.clone()));
        rules.urls.extend(settings.allow_url.iter().map(|it| it.0.clone()));
        rules.privates.extend(settings.allow_private.iter().map(|it| it.0));
        let mut secrets = Secrets::default();
        // One that no header has in it is not looked for.
        let used = |name: &SecretName| settings.secret_headers.iter().any(|it| it.names(name));
        for (name, from) in settings.secrets.iter().filter(|(name, _)| used(name)) {
            secrets.put(name.to_string(), self.secret(name, from)?);
        }
        for header in &settings.secret_headers {
            injected.push(header.with(&secrets)?);
        }
        Ok(Network { rules: self.extension_rules(rules), injected })
    }

    /// What the secrets of an installation are now: another mark once one of them was kept anew, rotated or removed. For a
    /// thread that may wait, because files are read.
    pub fn secrets_mark(&self, installation: &Installation) -> Result<Digest, LedgerError> {
        let settings = &installation.settings;
        let mut all = Zeroizing::new(Vec::new());
        let mut put = |part: &[u8]| {
            all.extend_from_slice(&(part.len() as u64).to_le_bytes());
            all.extend_from_slice(part);
        };
        for (name, from) in &settings.secrets {
            put(name.as_str().as_bytes());
            let stored = match from {
                SecretRef::Registered | SecretRef::Kept => self.secrets().cell(name)?,
                place => Some((place.clone(), Vec::new())),
            };
            // One that is gone is another mark, too.
            let Some((from, cell)) = stored else { continue };
            put(&cell);
            if from != SecretRef::Kept
                && let Some(Ok(value)) = self.extensions.secrets.as_ref().map(|source| source(&from))
            {
                put(&Zeroizing::new(value));
            }
        }
        Ok(Digest::of(&all))
    }

    fn secret(&self, name: &SecretName, from: &SecretRef) -> Result<Secret, BadSetup> {
        let bad = |why: String| BadSetup::Secret { name: name.clone(), why };
        let registered = match from {
            SecretRef::Registered => {
                let found = self.secrets().find(name).map_err(|error| bad(error.to_string()))?;
                found.ok_or_else(|| bad("it is not registered any more".into()))?
            }
            place => place.clone(),
        };
        if registered == SecretRef::Kept {
            let kept = self.vault.open_for_header(&self.tenant, name);
            let mut value = kept.map_err(|error| bad(error.to_string()))?;
            // Moved, not copied: what is left behind is empty.
            return Secret::new(std::mem::take(&mut *value)).map_err(|error| bad(error.to_string()));
        }
        let source =
            self.extensions.secrets.as_ref().ok_or_else(|| bad("nobody reads secrets here".into()))?;
        let bytes = source(&registered).map_err(|error| bad(format!("{registered}: {error}")))?;
        Secret::new(bytes).map_err(|error| bad(error.to_string()))
    }
}
