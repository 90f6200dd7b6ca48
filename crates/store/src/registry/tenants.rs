//! The registries of all tenants of a home: opened when they are first asked for, and not kept for ever.
//!
//! A tenant costs the names it registered and no descriptor. What was forgotten is read again from its file; whoever
//! still holds a forgotten one has the same names, because both look at the file.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use drydock_contract::Tenant;
use parking_lot::RwLock;

use super::{BadBuiltin, Builtin, CommandRegistry, Common};
use crate::Home;

/// Tenants whose names are held in memory.
const TENANTS_MAX: usize = 256;

/// A registry for each tenant.
#[derive(Debug)]
pub struct Registries {
    home: Home,
    common: Arc<Common>,
    open: RwLock<HashMap<Tenant, Held>>,
    asked: AtomicU64,
}

#[derive(Debug)]
struct Held {
    registry: Arc<CommandRegistry>,
    /// Which asking was the last for it.
    asked: AtomicU64,
}

impl Registries {
    /// Those of a home. The built-ins are everybody's, and neither their names nor `words` can be registered.
    pub fn open(
        home: &Home,
        builtins: Vec<Builtin>,
        words: impl IntoIterator<Item = &'static str>,
    ) -> Result<Self, BadBuiltin> {
        let common = Arc::new(Common::of(home, builtins, words)?);
        Ok(Self { home: home.clone(), common, open: RwLock::default(), asked: AtomicU64::new(0) })
    }

    /// The names as this tenant has them.
    pub fn of(&self, tenant: &Tenant) -> Arc<CommandRegistry> {
        let now = self.asked.fetch_add(1, Ordering::Relaxed);
        if let Some(held) = self.open.read().get(tenant) {
            held.asked.store(now, Ordering::Relaxed);
            return Arc::clone(&held.registry);
        }
        // Read before the lock is taken: nobody waits for another tenant's disk.
        let registry = Arc::new(CommandRegistry::over(&self.home.tenant(tenant), Arc::clone(&self.common)));
        let mut open = self.open.write();
        if open.len() >= TENANTS_MAX && !open.contains_key(tenant) {
            let oldest = open.iter().min_by_key(|(_, held)| held.asked.load(Ordering::Relaxed));
            if let Some(oldest) = oldest.map(|(tenant, _)| tenant.clone()) {
                open.remove(&oldest);
            }
        }
        let held = open.entry(tenant.clone()).or_insert(Held { registry, asked: AtomicU64::new(now) });
        Arc::clone(&held.registry)
    }
}

#[cfg(test)]
mod tests {
    use drydock_contract::{ArgMode, Digest, port::Registry as _};

    use super::*;

    const JQ: &[u8] = b"\0asm\x01\0\0\0jq";

    fn registries() -> (tempfile::TempDir, Registries) {
        let temp = tempfile::tempdir().unwrap();
        let home = Home::open(temp.path()).unwrap();
        let jq = Builtin::single("jq", ArgMode::Argv, Digest::of(JQ), JQ);
        let all = Registries::open(&home, vec![jq], ["cd"]).unwrap();
        (temp, all)
    }

    fn add(registry: &CommandRegistry, name: &str, tail: &str) -> Digest {
        let module = [b"\0asm\x01\0\0\0", tail.as_bytes()].concat();
        registry.add(name, module, ArgMode::Argv, None).unwrap().digest
    }

    #[test]
    fn a_name_is_the_tenants_that_registered_it_and_built_ins_are_everybodys() {
        let (_temp, all) = registries();
        let (ada, bob) = (all.of(&"ada".parse().unwrap()), all.of(&"../bob".parse().unwrap()));
        let (one, two) = (add(&ada, "tool", "one"), add(&bob, "tool", "two"));
        add(&ada, "mine", "mine");
        assert_eq!(ada.lookup("tool", None).unwrap().digest, one);
        assert_eq!(bob.lookup("tool", None).unwrap().digest, two);
        assert_eq!(bob.lookup("mine", None), None);
        for registry in [&ada, &bob, &all.of(&Tenant::default())] {
            assert!(registry.lookup("jq", None).unwrap().builtin);
            assert!(registry.may_register("jq").is_err() && registry.may_register("cd").is_err());
        }
        // The same bytes for two tenants are one file.
        assert_eq!(add(&bob, "same", "one"), one);
        assert_eq!(bob.artifacts().load_to_run(one).unwrap().digest(), one);
        assert_eq!(all.of(&Tenant::default()).names().len(), 1);
    }

    #[test]
    fn a_thousand_tenants_are_held_in_bounded_memory_and_none_loses_its_names() {
        let (_temp, all) = registries();
        let tenant = |n: usize| format!("t{n}").parse::<Tenant>().unwrap();
        let kept = all.of(&tenant(0));
        add(&kept, "tool", "zero");
        for n in 0..1000 {
            all.of(&tenant(n));
        }
        assert_eq!(all.open.read().len(), TENANTS_MAX);
        let again = all.of(&tenant(0));
        assert!(!Arc::ptr_eq(&kept, &again));
        assert_eq!(again.lookup("tool", None), kept.lookup("tool", None));
        add(&again, "later", "later");
        assert!(kept.lookup("later", None).is_some());
    }
}
