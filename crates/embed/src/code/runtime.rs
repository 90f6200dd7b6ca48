//! The guests that came with this program and are no commands. Their bytes and their hashes are both part of the
//! program: code that was compiled before is found by the hash, and whoever needs the bytes, because there is no such
//! code yet, gets them hashed and compared with the lock, once in the life of the process (decision 0082).

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use drydock_commands::{Module, ModuleKind};
use drydock_contract::{Artifact, Digest, Fault, ReadArtifact, port::LoadError};

/// One guest, hashed if somebody needed its bytes.
struct Guest {
    module: &'static Module,
    hashed: OnceLock<Artifact>,
}

static GUESTS: OnceLock<BTreeMap<&'static str, Arc<Guest>>> = OnceLock::new();

/// The guest of this name.
pub(crate) fn artifact(name: &str) -> Result<Artifact, Fault> {
    let guest = GUESTS
        .get_or_init(all)
        .get(name)
        .ok_or_else(|| Fault::Internal(format!("this build has no guest `{name}`")))?;
    let digest: Digest = guest.module.sha256.parse().map_err(|error| Fault::Internal(format!("{error}")))?;
    Ok(guest.hashed.get().cloned().unwrap_or_else(|| Artifact::unread(digest, Arc::clone(guest) as _)))
}

fn all() -> BTreeMap<&'static str, Arc<Guest>> {
    let guests = drydock_commands::MODULES.iter().filter(|it| it.kind == ModuleKind::Runtime);
    guests.map(|module| (module.name, Arc::new(Guest { module, hashed: OnceLock::new() }))).collect()
}

impl ReadArtifact for Guest {
    fn read(&self, digest: Digest) -> Result<Artifact, LoadError> {
        if let Some(artifact) = self.hashed.get() {
            return Ok(artifact.clone());
        }
        let verified = Artifact::verify(self.module.bytes, digest).map_err(|cause| LoadError::Integrity {
            path: format!("<guest {}>", self.module.name).into(),
            cause,
        })?;
        Ok(self.hashed.get_or_init(|| verified).clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guest_is_known_by_the_lock_and_hashed_once_when_its_bytes_are_needed() {
        let unread = artifact("ts").unwrap();
        assert!(unread.is_verified() && unread.bytes().is_empty(), "nobody needed its bytes yet");
        let address = |it: &Artifact| it.loaded().unwrap().bytes().as_ptr();
        let first = address(&unread);
        assert_eq!(first, address(&artifact("ts").unwrap()));
        assert_eq!(artifact("ts").unwrap().bytes().as_ptr(), first, "it was hashed, so it has its bytes");
        assert!(artifact("no-such-guest").is_err());
    }

    #[test]
    fn bytes_that_are_not_what_the_lock_says_are_refused() {
        let module = drydock_commands::runtime("js").unwrap();
        let guest = Guest { module, hashed: OnceLock::new() };
        let refused = guest.read(Digest::of(b"something else")).unwrap_err();
        assert_eq!(refused.code(), "artifact_integrity");
        assert!(guest.hashed.get().is_none());
    }
}
