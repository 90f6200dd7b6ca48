//! The guests that came with this program and are no commands. Their bytes are part of the program and do not
//! change, so each is hashed and compared with the lock once in the life of the process, and not for every session.

use std::collections::BTreeMap;

use bytes::Bytes;
use drydock_contract::{Artifact, Fault};
use parking_lot::Mutex;

static HASHED: Mutex<BTreeMap<&'static str, Artifact>> = Mutex::new(BTreeMap::new());

/// The guest of this name.
pub(super) fn artifact(name: &'static str) -> Result<Artifact, Fault> {
    let mut hashed = HASHED.lock();
    if let Some(artifact) = hashed.get(name) {
        return Ok(artifact.clone());
    }
    let module = drydock_commands::runtime(name)
        .ok_or_else(|| Fault::Internal(format!("this build has no guest `{name}`")))?;
    let artifact = Artifact::hash(Bytes::from_static(module.bytes));
    if artifact.digest().to_string() != module.sha256 {
        return Err(Fault::Internal(format!("the guest `{name}` is not what the lock says")));
    }
    hashed.insert(name, artifact.clone());
    Ok(artifact)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guest_of_javascript_is_hashed_once_however_many_sessions_there_are() {
        let before = artifact("js").unwrap();
        assert!(HASHED.lock().contains_key("js"));
        let address = |it: &Artifact| it.loaded().unwrap().bytes().as_ptr();
        assert_eq!(address(&before), address(&artifact("js").unwrap()));
        assert!(artifact("no-such-guest").is_err());
    }
}
