//! What the host handed over and what sessions have open: modules by their hash, kernels by their number.
//!
//! A kernel belongs to the session that opened it. Sessions are told apart by their own switch, which is as old as they
//! are; one that was cancelled has no kernels any more.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::Arc,
};

use drydock_contract::{Artifact, Denial, Digest, Switch, port::LiveInstance};
use drydock_gate::Session;
use parking_lot::Mutex;

/// Kernels of one session.
pub(crate) const SESSION_KERNELS_MAX: u32 = 1_024;
/// Kernels of all sessions: each costs a handful of mappings, of which a process has some ten thousand.
const KERNELS_MAX: u32 = 4_096;

/// Modules and kernels of one machine.
#[derive(Default)]
pub struct Shelf {
    modules: Mutex<HashMap<Digest, (Artifact, usize)>>,
    kernels: Mutex<Kernels>,
}

#[derive(Default)]
struct Kernels {
    next: u64,
    open: HashMap<u64, Owned>,
}

struct Owned {
    module: Digest,
    instance: Arc<dyn LiveInstance>,
    owner: Arc<Switch>,
}

/// A module on the shelf, for as long as this lives.
pub struct Shelved {
    shelf: Arc<Shelf>,
    digest: Digest,
}

impl Shelved {
    /// Its hash, by which a call names it.
    pub fn digest(&self) -> Digest {
        self.digest
    }
}

impl Drop for Shelved {
    fn drop(&mut self) {
        if let Entry::Occupied(mut module) = self.shelf.modules.lock().entry(self.digest) {
            module.get_mut().1 -= 1;
            if module.get().1 == 0 {
                module.remove();
            }
        }
    }
}

impl Shelf {
    /// Puts a module there, so that calls can name it.
    #[must_use]
    pub fn put(self: &Arc<Self>, artifact: Artifact) -> Shelved {
        let digest = artifact.digest();
        self.modules.lock().entry(digest).or_insert((artifact, 0)).1 += 1;
        Shelved { shelf: Arc::clone(self), digest }
    }

    /// Gives a kernel up. Whoever has its number may: nothing is gained by it.
    pub fn close(&self, id: u64) {
        let closed = self.kernels.lock().open.remove(&id);
        if let Some(closed) = closed {
            closed.instance.close();
        }
    }

    pub(crate) fn module(&self, digest: Digest) -> Option<Artifact> {
        self.modules.lock().get(&digest).map(|(artifact, _)| artifact.clone())
    }

    /// Whether the session may open one more.
    pub(crate) fn has_room(&self, session: &Session) -> Result<(), Denial> {
        let mut kernels = self.kernels.lock();
        let over: Vec<u64> =
            kernels.open.iter().filter(|(_, it)| it.owner.is_tripped()).map(|(id, _)| *id).collect();
        let over: Vec<Owned> = over.iter().filter_map(|id| kernels.open.remove(id)).collect();
        let owner = owner(session);
        let own = kernels.open.values().filter(|it| Arc::ptr_eq(&it.owner, &owner)).count();
        let all = kernels.open.len();
        drop(kernels);
        drop(over);
        for (count, max) in [(own, SESSION_KERNELS_MAX), (all, KERNELS_MAX)] {
            if count >= max as usize {
                return Err(Denial::TooManyProcesses { max });
            }
        }
        Ok(())
    }

    /// How many kernels are open.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.kernels.lock().open.len()
    }

    pub(crate) fn keep(&self, session: &Session, module: Digest, instance: Arc<dyn LiveInstance>) -> u64 {
        let mut kernels = self.kernels.lock();
        let id = kernels.next;
        kernels.next += 1;
        kernels.open.insert(id, Owned { module, instance, owner: owner(session) });
        id
    }

    /// The session's own kernel of that number, if it was made of that module.
    pub(crate) fn kernel(&self, session: &Session, id: u64, module: Digest) -> Option<Arc<dyn LiveInstance>> {
        let kernels = self.kernels.lock();
        let owned = kernels.open.get(&id)?;
        let is_own = Arc::ptr_eq(&owned.owner, &owner(session)) && owned.module == module;
        is_own.then(|| Arc::clone(&owned.instance))
    }
}

/// The switch that is the session's own: the last one.
fn owner(session: &Session) -> Arc<Switch> {
    let [_, own] = session.switches();
    own
}
