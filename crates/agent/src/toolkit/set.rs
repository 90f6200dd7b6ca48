//! The toolkits of one agent: those it names, and those that these require, each once. And the index of them that stands in the
//! prompt: enough to know what there is, and no more (the seed's progressive disclosure; bodies come through `wb`).

use super::{Ask, TOOLKITS_ROOT, Toolkit};
use crate::text::{one_line, shown};

/// The most toolkits of one agent, required ones included.
const SET_MAX: usize = 64;
/// The most bytes of all of them.
const SET_BYTES_MAX: u64 = 256 << 20;
/// How many may require one another in a line.
const DEPTH_MAX: usize = 16;
/// How many skills of a toolkit the index names.
const SHOWN_SKILLS_MAX: usize = 8;
/// How much of a tagline the index shows.
const INDEX_CHARS_MAX: usize = 240;

/// The toolkits of one agent.
#[derive(Debug, Clone, Default)]
pub struct ToolkitSet {
    /// In the order in which they were named, each after those that it requires.
    toolkits: Vec<Toolkit>,
    /// Named by the agent, and not there.
    missing: Vec<String>,
}

/// Toolkits cannot be had together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError<E> {
    /// They require one another.
    #[error("toolkits require one another: {}", way.join(" requires "))]
    Cycle {
        /// From one of them to itself.
        way: Vec<String>,
    },
    /// One requires another that is not there.
    #[error("the toolkit `{toolkit}` requires `{required}`, which is not installed")]
    Missing {
        /// Which.
        toolkit: String,
        /// What it requires.
        required: String,
    },
    /// They are too large together.
    #[error("the toolkits of one agent have more than {max} bytes together")]
    TooLarge {
        /// How many they may have.
        max: u64,
    },
    /// They are too many, or require one another through too many others.
    #[error("more than {max} toolkits {how}")]
    TooMany {
        /// How many there may be.
        max: usize,
        /// In which way.
        how: &'static str,
    },
    /// Two have a command of one name.
    #[error("the toolkits `{one}` and `{other}` both have a command `{name}`; leave one of them out")]
    DuplicateCommand {
        /// The name.
        name: String,
        /// One of them.
        one: String,
        /// The other.
        other: String,
    },
    /// One of them cannot be read.
    #[error("the toolkit `{toolkit}`: {cause}")]
    Toolkit {
        /// Which.
        toolkit: String,
        /// Why.
        cause: E,
    },
}

impl<E> ResolveError<E> {
    /// The stable code; of a toolkit that cannot be read what `of` says.
    pub fn code(&self, of: impl Fn(&E) -> &'static str) -> &'static str {
        match self {
            Self::Cycle { .. } => "toolkit_cycle",
            Self::Missing { .. } => "missing_toolkit",
            Self::TooLarge { .. } => "toolkit_too_large",
            Self::TooMany { .. } => "too_many",
            Self::DuplicateCommand { .. } => "duplicate_id",
            Self::Toolkit { cause, .. } => of(cause),
        }
    }
}

impl ToolkitSet {
    /// Loads what is wanted and what that requires. `load` answers nothing for an id that is not installed: an agent may name
    /// such a one, and its index says so; a toolkit may not.
    pub fn resolve<E>(
        wanted: &[String],
        mut load: impl FnMut(&str) -> Result<Option<Toolkit>, E>,
    ) -> Result<Self, ResolveError<E>> {
        let mut set = Self::default();
        for id in wanted {
            set.add(id, &mut load)?;
        }
        set.commands_are_apart()?;
        Ok(set)
    }

    /// One toolkit and what it requires. Depth first, with the way to the present one as a stack: its length is the depth.
    fn add<E>(
        &mut self,
        id: &str,
        load: &mut impl FnMut(&str) -> Result<Option<Toolkit>, E>,
    ) -> Result<(), ResolveError<E>> {
        let mut way: Vec<Toolkit> = Vec::new();
        let mut next = Some(id.to_owned());
        loop {
            if let Some(id) = next.take() {
                if let Some(at) = way.iter().position(|it| it.id == id) {
                    let names = way.iter().skip(at).map(|it| it.id.clone()).chain([id]);
                    return Err(ResolveError::Cycle { way: names.collect() });
                }
                if !self.has(&id) {
                    if way.len() >= DEPTH_MAX {
                        let how = "require one another in a line";
                        return Err(ResolveError::TooMany { max: DEPTH_MAX, how });
                    }
                    if self.toolkits.len() + self.missing.len() + way.len() >= SET_MAX {
                        return Err(ResolveError::TooMany { max: SET_MAX, how: "belong to one agent" });
                    }
                    let failed = |cause| ResolveError::Toolkit { toolkit: shown(&id), cause };
                    match (load(&id).map_err(failed)?, way.last()) {
                        (Some(toolkit), _) => way.push(toolkit),
                        (None, Some(by)) => {
                            return Err(ResolveError::Missing {
                                toolkit: by.id.clone(),
                                required: shown(&id),
                            });
                        }
                        (None, None) => self.missing.push(id),
                    }
                }
            }
            let bytes = |all: &[Toolkit]| all.iter().map(|it| it.folder.bytes()).sum::<u64>();
            if bytes(&self.toolkits).saturating_add(bytes(&way)) > SET_BYTES_MAX {
                return Err(ResolveError::TooLarge { max: SET_BYTES_MAX });
            }
            let Some(last) = way.last() else { return Ok(()) };
            next = last.requires.iter().find(|it| !self.has(it)).cloned();
            if next.is_none() {
                self.toolkits.extend(way.pop());
            }
        }
    }

    fn has(&self, id: &str) -> bool {
        self.toolkits.iter().any(|it| it.id == id) || self.missing.iter().any(|it| it == id)
    }

    fn commands_are_apart<E>(&self) -> Result<(), ResolveError<E>> {
        let mut seen: Vec<(&str, &str)> = Vec::new();
        let all = self.toolkits.iter().flat_map(|it| it.commands.iter().map(move |command| (it, command)));
        for (toolkit, command) in all {
            let name = command.name.as_str();
            if let Some((_, other)) = seen.iter().find(|it| it.0 == name) {
                let (one, other) = ((*other).to_owned(), toolkit.id.clone());
                return Err(ResolveError::DuplicateCommand { name: name.to_owned(), one, other });
            }
            seen.push((name, &toolkit.id));
        }
        Ok(())
    }

    /// Those that are there.
    pub fn toolkits(&self) -> &[Toolkit] {
        &self.toolkits
    }

    /// One of them.
    pub fn get(&self, id: &str) -> Option<&Toolkit> {
        self.toolkits.iter().find(|it| it.id == id)
    }

    /// Those that the agent names and that are not installed.
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// What all of them ask for.
    pub fn asks(&self) -> impl Iterator<Item = &Ask> {
        self.toolkits.iter().flat_map(|it| &it.asks)
    }

    /// What stands in the prompt: a line for each toolkit, and names of skills. Nothing where there are none. What comes
    /// from a toolkit is on one line each, so that it cannot look like a part of the prompt.
    pub fn index(&self) -> String {
        if self.toolkits.is_empty() && self.missing.is_empty() {
            return String::new();
        }
        let mut text = format!(
            "## Toolkits\n\nBefore you use a toolkit, read its skill with the tool `wb` (`show TOOLKIT/SKILL`); its files are \
             in {TOOLKITS_ROOT}/TOOLKIT.\n\n"
        );
        for toolkit in &self.toolkits {
            text.push_str(&format!("- {}: {}\n", toolkit.id, one_line(&toolkit.tagline, INDEX_CHARS_MAX)));
            let names: Vec<&str> = toolkit.skills.iter().map(|it| it.name.as_str()).collect();
            let shown = names.iter().take(SHOWN_SKILLS_MAX).copied().collect::<Vec<_>>().join(", ");
            match names.len().saturating_sub(SHOWN_SKILLS_MAX) {
                _ if names.is_empty() => {}
                0 => text.push_str(&format!("  skills: {shown}\n")),
                more => text.push_str(&format!("  skills: {shown} (+{more} more)\n")),
            }
            let commands: Vec<&str> = toolkit.commands.iter().map(|it| it.name.as_str()).collect();
            if !commands.is_empty() {
                text.push_str(&format!("  commands: {}\n", commands.join(", ")));
            }
        }
        for id in &self.missing {
            text.push_str(&format!("- {}: (not installed)\n", shown(id)));
        }
        text.truncate(text.trim_end().len());
        text
    }
}
