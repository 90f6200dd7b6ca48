//! The extensions of a tenant that were asked for: their modules at hand, linked once, and a session for each caller. What
//! another process installs is heard of within half a second, and so is what became of a secret; a request does not read
//! the ledger.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use drydock_contract::{CommandName, Digest};
use drydock_embed::{BadSetup, Dock, DockSession, InstallError, Installed};
use parking_lot::Mutex;

use crate::app::Locked;

/// How long what the ledger said is believed.
const BELIEVED: Duration = Duration::from_millis(500);
/// Callers of one extension whose sessions are kept.
const SESSIONS_MAX: usize = 1_024;

/// What is at hand.
#[derive(Default)]
pub(crate) struct InstalledCache {
    at_hand: Locked<CommandName, (Instant, Arc<Ready>)>,
    /// One look at the ledger at a time.
    looking: tokio::sync::Mutex<()>,
}

/// An extension that is ready for requests.
pub(crate) struct Ready {
    pub(crate) installed: Installed,
    /// What its secrets were: sessions hold their values.
    secrets: Digest,
    sessions: Locked<Arc<str>, DockSession>,
}

impl InstalledCache {
    /// The extension of that name, if it is installed.
    pub(crate) async fn find(
        &self,
        dock: &Arc<Dock>,
        name: &CommandName,
    ) -> Result<Option<Arc<Ready>>, InstallError> {
        if let Some(ready) = self.fresh(name) {
            return Ok(Some(ready));
        }
        let _looking = self.looking.lock().await;
        if let Some(ready) = self.fresh(name) {
            return Ok(Some(ready));
        }
        let (looks, wanted) = (Arc::clone(dock), name.clone());
        let found = tokio::task::spawn_blocking(move || {
            let Some(found) = looks.installations().find(&wanted)? else { return Ok(None) };
            let secrets = looks.secrets_mark(&found)?;
            Ok(Some((found, secrets)))
        });
        let found = found.await.unwrap_or_else(|_| Err(InstallError::Broken(name.to_string())))?;
        let Some((installation, secrets)) = found else {
            self.at_hand.lock().remove(name);
            return Ok(None);
        };
        let known = self.at_hand.lock().get(name).map(|(_, it)| Arc::clone(it));
        let is_same = |it: &Arc<Ready>| it.secrets == secrets && it.installed.installation == installation;
        let ready = match known.filter(is_same) {
            Some(ready) => ready,
            None => {
                let installed = dock.installed(installation).await?;
                Arc::new(Ready { installed, secrets, sessions: Mutex::default() })
            }
        };
        self.at_hand.lock().insert(name.clone(), (Instant::now(), Arc::clone(&ready)));
        Ok(Some(ready))
    }

    /// Forgets one that was changed here.
    pub(crate) fn forget(&self, name: &CommandName) {
        self.at_hand.lock().remove(name);
    }

    /// The extension, as far as what the ledger said is still believed.
    pub(crate) fn fresh(&self, name: &CommandName) -> Option<Arc<Ready>> {
        let all = self.at_hand.lock();
        let (looked, ready) = all.get(name)?;
        (looked.elapsed() < BELIEVED).then(|| Arc::clone(ready))
    }
}

impl Ready {
    /// The session of a caller for this extension.
    pub(crate) fn session(&self, dock: &Dock, principal: &Arc<str>) -> Result<DockSession, BadSetup> {
        let mut sessions = self.sessions.lock();
        if let Some(session) = sessions.get(principal) {
            return Ok(session.clone());
        }
        if sessions.len() >= SESSIONS_MAX {
            *sessions = HashMap::new();
        }
        let session = dock.extension_session(principal, &self.installed, drydock_embed::Setup::default())?;
        sessions.insert(Arc::clone(principal), session.clone());
        Ok(session)
    }
}
