//! What the host handed over and what sessions have open: modules by their hash, kernels by their number.
//!
//! A kernel belongs to the session that opened it. Sessions are told apart by their own switch, which is as old as they
//! are; one that was cancelled or revoked has no kernels any more. Sessions and tenants have a share of them each, so that
//! none locks the others out.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::Arc,
};

use drydock_contract::{Artifact, Denial, Digest, Switch, SwitchMark, Tenant, port::LiveInstance};
use drydock_gate::Session;
use parking_lot::{Mutex, RwLock};

/// Kernels of one session.
pub(crate) const SESSION_KERNELS_MAX: u32 = 1_024;
/// Kernels of one tenant.
const TENANT_KERNELS_MAX: u32 = 2_048;
/// Kernels of all sessions: each costs a handful of mappings, of which a process has some ten thousand.
const KERNELS_MAX: u32 = 4_096;

/// Modules and kernels of one machine.
#[derive(Default)]
pub struct Shelf {
    modules: RwLock<HashMap<Digest, (Artifact, usize)>>,
    kernels: Mutex<Kernels>,
}

#[derive(Default)]
struct Kernels {
    next: u64,
    open: HashMap<u64, Owned>,
}

struct Owned {
    /// None until it was made.
    instance: Option<Arc<dyn LiveInstance>>,
    module: Digest,
    tenant: Tenant,
    /// The principal's switch, and the session's own.
    owner: [Arc<Switch>; 2],
    /// When it was opened: a revocation ends it for good.
    mark: SwitchMark,
}

impl Owned {
    /// Whether nobody can call it any more: its session was cancelled, or its principal was revoked since.
    fn is_over(&self) -> bool {
        let [principal, session] = &self.owner;
        principal.tripped_since(self.mark) || session.is_tripped()
    }
}

/// A place for one more kernel, given back unless a kernel takes it.
pub(crate) struct Place {
    shelf: Arc<Shelf>,
    id: Option<u64>,
}

impl Place {
    /// The kernel was made: its number.
    pub(crate) fn keep(mut self, instance: Arc<dyn LiveInstance>) -> Option<u64> {
        let id = self.id.take()?;
        // The session may have ended meanwhile, and its places with it.
        self.shelf.kernels.lock().open.get_mut(&id)?.instance = Some(instance);
        Some(id)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            self.shelf.close(id);
        }
    }
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
        if let Entry::Occupied(mut module) = self.shelf.modules.write().entry(self.digest) {
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
        self.modules.write().entry(digest).or_insert((artifact, 0)).1 += 1;
        Shelved { shelf: Arc::clone(self), digest }
    }

    /// Gives a kernel up. Whoever has its number may: nothing is gained by it.
    pub fn close(&self, id: u64) {
        let closed = self.kernels.lock().open.remove(&id);
        if let Some(instance) = closed.and_then(|it| it.instance) {
            instance.close();
        }
    }

    /// Gives up the kernels of sessions that were cancelled or whose principal was revoked. Nobody can call them any more;
    /// what they hold is free when this was done, or when somebody opens another one.
    pub fn sweep(&self) {
        let over: Vec<Owned> =
            self.kernels.lock().open.extract_if(|_, it| it.is_over()).map(|(_, it)| it).collect();
        // Their memory is given back when nobody waits for the shelf.
        drop(over);
    }

    pub(crate) fn module(&self, digest: Digest) -> Option<Artifact> {
        self.modules.read().get(&digest).map(|(artifact, _)| artifact.clone())
    }

    /// Takes a place for one more kernel of the session.
    pub(crate) fn reserve(self: &Arc<Self>, session: &Session, module: Digest) -> Result<Place, Denial> {
        let (owner, tenant) = (session.switches(), &session.spec().tenant);
        let mut kernels = self.kernels.lock();
        let over: Vec<Owned> = kernels.open.extract_if(|_, it| it.is_over()).map(|(_, it)| it).collect();
        let own = kernels.open.values().filter(|it| Arc::ptr_eq(&it.owner[1], &owner[1])).count();
        let tenants = kernels.open.values().filter(|it| it.tenant == *tenant).count();
        let counts =
            [(own, SESSION_KERNELS_MAX), (tenants, TENANT_KERNELS_MAX), (kernels.open.len(), KERNELS_MAX)];
        let full = counts.into_iter().find(|(count, max)| *count >= *max as usize);
        let id = kernels.next;
        if full.is_none() {
            kernels.next += 1;
            let (tenant, mark) = (tenant.clone(), session.mark());
            kernels.open.insert(id, Owned { instance: None, module, tenant, owner, mark });
        }
        drop(kernels);
        // Their memory is given back when nobody waits for the shelf.
        drop(over);
        match full {
            Some((_, max)) => Err(Denial::TooManyProcesses { max }),
            None => Ok(Place { shelf: Arc::clone(self), id: Some(id) }),
        }
    }

    /// How many kernels are open.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.kernels.lock().open.len()
    }

    /// The session's own kernel of that number, if it was made of that module.
    pub(crate) fn kernel(&self, session: &Session, id: u64, module: Digest) -> Option<Arc<dyn LiveInstance>> {
        let [_, own] = session.switches();
        let kernels = self.kernels.lock();
        let is_own = |it: &&Owned| Arc::ptr_eq(&it.owner[1], &own) && it.module == module && !it.is_over();
        kernels.open.get(&id).filter(is_own)?.instance.clone()
    }
}
