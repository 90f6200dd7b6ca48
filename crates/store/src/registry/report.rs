//! What there is, and whether it still is what it claims. For people; no run comes by here.

use std::{fs, path::PathBuf};

use drydock_contract::{
    CommandName, Digest,
    port::{Entry, LoadError, Registry as _},
};

use super::{CommandRegistry, RegisterError, view::Slot};

/// One name and what is behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// What the name stands for.
    pub entry: Entry,
    /// The size of its module; `None` if the file is gone.
    pub size: Option<u64>,
    /// Where it comes from.
    pub origin: Origin,
}

/// Where a command comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// It came with Drydock.
    Builtin,
    /// It is part of a multicall command that came with Drydock.
    Applet {
        /// Of which one.
        of: CommandName,
    },
    /// It was registered.
    Registered {
        /// Its artifact.
        path: PathBuf,
    },
}

/// Whether the bytes behind one name still have their hash.
#[derive(Debug)]
pub struct Verdict {
    /// The name.
    pub name: CommandName,
    /// The hash they must have.
    pub digest: Digest,
    /// Whether they came with Drydock.
    pub builtin: bool,
    /// How many bytes were hashed and found right, or what is wrong.
    pub outcome: Result<u64, LoadError>,
}

impl CommandRegistry {
    /// Every name, sorted.
    pub fn list(&self) -> Vec<Listed> {
        self.refresh();
        let document = self.view.read().document.clone();
        let registered =
            document.commands.iter().map(|(name, bound)| self.registered(bound.entry(name.clone())));
        let builtins = self.common.builtins.slots.values().map(|slot| self.builtin(slot));
        let mut all: Vec<_> = registered.chain(builtins).collect();
        all.sort_by(|a, b| a.entry.name.cmp(&b.entry.name));
        all
    }

    /// One name.
    pub fn show(&self, name: &str) -> Result<Listed, RegisterError> {
        let known = name.parse::<CommandName>()?;
        if let Some(slot) = self.common.builtins.slots.get(name) {
            return Ok(self.builtin(slot));
        }
        let found = self.lookup(name, None);
        found.map(|it| self.registered(it)).ok_or(RegisterError::UnknownCommand { name: known })
    }

    /// Hashes every registered artifact as it lies on disk with the directories it is started with, and every module of
    /// every built-in.
    pub fn verify(&self) -> Vec<Verdict> {
        self.refresh();
        let document = self.view.read().document.clone();
        let registered = document.commands.into_iter().map(|(name, bound)| {
            let trees =
                || bound.options.dirs.iter().try_for_each(|dir| self.common.trees.verify(dir.tree).map(drop));
            let outcome = self.common.artifacts.load_from_disk(bound.sha256);
            let outcome = outcome.and_then(|artifact| trees().map(|()| artifact));
            Verdict::new(name, bound.sha256, false, outcome)
        });
        let compiled = self
            .common
            .builtins
            .parts
            .iter()
            .map(|(digest, part)| Verdict::new(part.owner.clone(), *digest, true, part.hash(*digest)));
        let mut all: Vec<_> = registered.chain(compiled).collect();
        all.sort_by(|a, b| (&a.name, a.digest).cmp(&(&b.name, b.digest)));
        all
    }

    fn registered(&self, entry: Entry) -> Listed {
        let path = self.common.artifacts.path_of(entry.digest);
        let size = fs::metadata(&path).ok().map(|facts| facts.len());
        Listed { entry, size, origin: Origin::Registered { path } }
    }

    fn builtin(&self, slot: &Slot) -> Listed {
        let size = self.common.builtins.parts.get(&slot.entry.digest).map(|part| part.bytes.len() as u64);
        let origin = match slot.applet_of.clone() {
            Some(of) => Origin::Applet { of },
            None => Origin::Builtin,
        };
        Listed { entry: slot.entry.clone(), size, origin }
    }
}

impl Verdict {
    fn new(
        name: CommandName,
        digest: Digest,
        builtin: bool,
        loaded: Result<drydock_contract::Artifact, LoadError>,
    ) -> Self {
        let outcome = loaded.map(|artifact| artifact.bytes().len() as u64);
        Self { name, digest, builtin, outcome }
    }
}
