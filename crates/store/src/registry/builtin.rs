//! What came with Drydock: bytes compiled in, under names nobody else can have.
//!
//! A multicall command may be split over several modules, so that a run of one small applet does
//! not pay for all of them. Each applet is a command of its own as well.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, OnceLock},
};

use drydock_contract::{
    ArgMode, Artifact, BadCommandName, CommandName, Digest, ReadArtifact,
    port::{Entry, LoadError},
};
use rustc_hash::FxBuildHasher;

use super::view::Slot;

/// One command that came with Drydock.
#[derive(Debug, Clone)]
pub struct Builtin {
    /// Its name.
    pub name: &'static str,
    /// How it, and each of its applets, takes arguments.
    pub mode: ArgMode,
    /// Its modules: one, or for a multicall command several. The first answers for an applet that
    /// is in none of them.
    pub parts: Vec<Part>,
}

/// One module of a built-in.
#[derive(Debug, Clone)]
pub struct Part {
    /// The hash it must have.
    pub digest: Digest,
    /// The module.
    pub bytes: &'static [u8],
    /// The applets in it. Empty for a command that is just itself.
    pub applets: &'static [&'static str],
}

/// The list of built-ins contradicts itself.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BadBuiltin {
    /// A built-in has no legal name.
    #[error(transparent)]
    Name(#[from] BadCommandName),
    /// Two have the same name.
    #[error("two built-in commands are named `{0}`")]
    Twice(&'static str),
    /// One has no module.
    #[error("built-in command `{0}` has no module")]
    NoPart(&'static str),
}

impl Builtin {
    /// A command in one module, without applets.
    pub fn single(name: &'static str, mode: ArgMode, digest: Digest, bytes: &'static [u8]) -> Self {
        Self { name, mode, parts: vec![Part { digest, bytes, applets: &[] }] }
    }
}

/// The built-ins, checked. They are asked before what was registered.
#[derive(Debug)]
pub(super) struct Builtins {
    /// Filled once, with names and hashes of our own: nobody can fill it so that they collide.
    pub(super) slots: HashMap<CommandName, Slot, FxBuildHasher>,
    pub(super) parts: HashMap<Digest, Arc<Compiled>, FxBuildHasher>,
    /// Names that nobody may register although no bytes stand behind them.
    words: HashSet<&'static str>,
}

#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) owner: CommandName,
    pub(super) bytes: &'static [u8],
    verified: OnceLock<Artifact>,
}

impl Builtins {
    pub(super) fn new(
        list: Vec<Builtin>,
        words: impl IntoIterator<Item = &'static str>,
    ) -> Result<Self, BadBuiltin> {
        let words = words.into_iter().collect();
        let mut all = Self { slots: HashMap::default(), parts: HashMap::default(), words };
        for builtin in &list {
            let name: CommandName = builtin.name.parse()?;
            let slot = Slot::multicall(&name, builtin).ok_or(BadBuiltin::NoPart(builtin.name))?;
            if all.slots.insert(name.clone(), slot).is_some() {
                return Err(BadBuiltin::Twice(builtin.name));
            }
            for part in &builtin.parts {
                all.parts.entry(part.digest).or_insert_with(|| {
                    let verified = OnceLock::new();
                    Arc::new(Compiled { owner: name.clone(), bytes: part.bytes, verified })
                });
            }
        }
        // Bare applets second, so that `grep` the command beats `grep` the applet.
        for builtin in &list {
            let owner: CommandName = builtin.name.parse()?;
            for (part, applet) in builtin.parts.iter().flat_map(|it| it.applets.iter().map(move |a| (it, a)))
            {
                // `[` is an applet in some boxes, and no command name: it stays behind its box.
                let Ok(name) = applet.parse::<CommandName>() else { continue };
                let slot = Slot::applet(entry(&name, part, builtin.mode), owner.clone());
                all.slots.entry(name).or_insert(slot);
            }
        }
        Ok(all)
    }

    pub(super) fn find(&self, name: &str, first_argument: Option<&[u8]>) -> Option<Entry> {
        let slot = self.slots.get(name)?;
        let applet = match (&slot.applets, first_argument) {
            (Some(applets), Some(argument)) => applets.get(argument),
            _ => None,
        };
        Some(applet.unwrap_or(&slot.entry).clone())
    }

    pub(super) fn reserves(&self, name: &str) -> bool {
        self.slots.contains_key(name) || self.words.contains(name)
    }

    /// The bytes of a built-in, hashed when they are first asked for; `None` if it is not one.
    pub(super) fn load(&self, digest: Digest) -> Option<Result<Artifact, LoadError>> {
        Some(self.parts.get(&digest)?.read(digest))
    }

    /// The same, unhashed if it was never asked for. Its hash is part of this program, as the bytes are, and code that was
    /// compiled before is found by it: only whoever compiles needs the bytes, and gets them hashed (decision 0082).
    pub(super) fn to_run(&self, digest: Digest) -> Option<Artifact> {
        let compiled = self.parts.get(&digest)?;
        let unread = || Artifact::unread(digest, Arc::clone(compiled) as _);
        Some(compiled.verified.get().cloned().unwrap_or_else(unread))
    }
}

impl ReadArtifact for Compiled {
    fn read(&self, digest: Digest) -> Result<Artifact, LoadError> {
        if let Some(artifact) = self.verified.get() {
            return Ok(artifact.clone());
        }
        self.hash(digest).map(|artifact| self.verified.get_or_init(|| artifact).clone())
    }
}

impl Compiled {
    /// Hashes the bytes, whatever was found before.
    pub(super) fn hash(&self, digest: Digest) -> Result<Artifact, LoadError> {
        Artifact::verify(self.bytes, digest).map_err(|cause| LoadError::Integrity {
            path: format!("<built-in {}>", self.owner).into(),
            cause,
        })
    }
}

impl Slot {
    fn multicall(name: &CommandName, builtin: &Builtin) -> Option<Self> {
        let first = builtin.parts.first()?;
        let mut applets = HashMap::new();
        for part in &builtin.parts {
            for applet in part.applets {
                applets.entry(applet.as_bytes()).or_insert_with(|| entry(name, part, builtin.mode));
            }
        }
        let applets = (!applets.is_empty()).then(|| Arc::new(applets));
        Some(Self { entry: entry(name, first, builtin.mode), applets, applet_of: None })
    }

    fn applet(entry: Entry, owner: CommandName) -> Self {
        Self { entry, applets: None, applet_of: Some(owner) }
    }
}

fn entry(name: &CommandName, part: &Part, mode: ArgMode) -> Entry {
    Entry { name: name.clone(), digest: part.digest, mode, builtin: true, options: Arc::default() }
}
