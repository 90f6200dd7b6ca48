//! Toolkits: a folder with what a model can read (skills) and what it can run (commands), and what both ask for (seeds 002
//! and 003). A folder has a `manifest.org`, or it is a skill of the public format (`SKILL.md`).
//!
//! Reading one is pure: the caller brings the bytes, and decides what becomes of what was read. Nothing is compiled, granted or
//! run here, and whatever is wrong with a toolkit is told before any of that could happen.

mod ask;
mod command;
mod folder;
mod manifest;
mod provenance;
pub mod reserved;
mod set;
#[cfg(test)]
mod tests;
mod wb;

use drydock_contract::{Cap, Digest, GrantSpec};

pub use ask::{Ask, BadAsk, grants_file};
pub use command::{CommandSource, ToolkitCommand};
pub use folder::{FOLDER_BYTES_MAX, FOLDER_FILES_MAX, Folder, FolderError};
pub use provenance::{BadDid, Did, Origin, Provenance, ProvenanceError, SIGNATURE_FILE, Trust, Unsigned};
pub use set::{ResolveError, ToolkitSet};
pub use wb::{WbAnswer, wb};

use crate::{
    skill::{AllowedTool, Skill, SkillError, SkillFile, allowed_tools, is_slug},
    text::{BadOutline, one_line, shown},
};

/// The file that makes a folder a toolkit.
pub const MANIFEST: &str = "manifest.org";
/// The file that makes a folder a skill.
pub const SKILL: &str = "SKILL.md";
/// Where a session sees the files of its toolkits: `/toolkits/ID/…`.
pub const TOOLKITS_ROOT: &str = "/toolkits";
/// The most skills of one toolkit.
pub const SKILLS_MAX: usize = 200;
/// The most commands of one toolkit.
pub const COMMANDS_MAX: usize = 32;
const TAGLINE_CHARS_MAX: usize = 1024;

/// A toolkit that was read, and found to be whole.
#[derive(Debug, Clone)]
pub struct Toolkit {
    /// What it is called: the name of its folder.
    pub id: String,
    /// What it is called by people.
    pub title: Option<String>,
    /// Which version.
    pub version: Option<String>,
    /// How finished it is, in its author's words.
    pub status: Option<String>,
    /// What it is for, on one line.
    pub tagline: String,
    /// Toolkits that it needs, by their ids.
    pub requires: Vec<String>,
    /// What it can run.
    pub commands: Vec<ToolkitCommand>,
    /// What it can tell, by name.
    pub skills: Vec<Skill>,
    /// What it asks for.
    pub asks: Vec<Ask>,
    /// Who answers for it.
    pub provenance: Provenance,
    /// The digest of all its files but its signature.
    pub digest: Digest,
    /// What a person should know of it: words that mean nothing here.
    pub notes: Vec<String>,
    /// Its files.
    pub folder: Folder,
}

/// A folder is no toolkit that could be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolkitError {
    /// It has neither file.
    #[error("there is no {MANIFEST} and no {SKILL} in it")]
    NoManifest,
    /// It has both.
    #[error("there is a {MANIFEST} and a {SKILL} in it; a skill of a toolkit lies in skills/NAME")]
    TwoManifests,
    /// It says that it is another.
    #[error("it is called `{id}` and its folder `{folder}`; they have one name")]
    WrongFolder {
        /// As it says.
        id: String,
        /// Where it lies.
        folder: String,
    },
    /// A name cannot be one.
    #[error("{what} `{shown}` cannot be used: take 1 to 64 of A-Z a-z 0-9 . _ - and no leading dot")]
    BadName {
        /// What it is for.
        what: &'static str,
        /// As it was written.
        shown: String,
    },
    /// A command has somebody else's name.
    #[error(
        "`{name}` is a name of Drydock's own, and no toolkit can have a command of that name; choose another"
    )]
    ReservedName {
        /// The name.
        name: String,
    },
    /// Two things have one name.
    #[error("{what} `{name}` is there twice; give each its own name")]
    DuplicateId {
        /// Of what.
        what: &'static str,
        /// Which.
        name: String,
    },
    /// There is too much of something.
    #[error("there are more than {max} {what}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there may be.
        max: usize,
    },
    /// A keyword of its manifest makes no sense.
    #[error("{keyword}: {why}")]
    BadKeyword {
        /// Which.
        keyword: &'static str,
        /// What is wrong, and what to write instead.
        why: String,
    },
    /// It would be built by a program that there is none of.
    #[error("BUILD_SRC: there is no lane `{lane}:` here; put a module into the folder and write `wasm:FILE`")]
    LaneUnavailable {
        /// The word before the colon.
        lane: String,
    },
    /// A module is not the one that was promised.
    #[error("`{path}` has sha256 {got}, and the manifest says {expected}")]
    ShaMismatch {
        /// Which file.
        path: String,
        /// The promised hash.
        expected: Digest,
        /// The hash it has.
        got: Digest,
    },
    /// What it asks for cannot be read.
    #[error("CAPS: {0}")]
    Ask(#[from] BadAsk),
    /// A skill of it is none.
    #[error("the skill `{skill}`: {cause}")]
    Skill {
        /// Which.
        skill: String,
        /// Why.
        cause: SkillError,
    },
    /// Nobody answers for it.
    #[error(transparent)]
    Provenance(#[from] ProvenanceError),
    /// Its files cannot be taken.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// Its manifest is no outline.
    #[error("{MANIFEST}: {0}")]
    Outline(#[from] BadOutline),
}

impl ToolkitError {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoManifest => "no_manifest",
            Self::TwoManifests => "two_manifests",
            Self::WrongFolder { .. } => "wrong_folder",
            Self::BadName { .. } => "bad_name",
            Self::ReservedName { .. } => "reserved_name",
            Self::DuplicateId { .. } => "duplicate_id",
            Self::TooMany { .. } => "too_many",
            Self::BadKeyword { .. } => "bad_keyword",
            Self::LaneUnavailable { .. } => "lane_unavailable",
            Self::ShaMismatch { .. } => "sha_mismatch",
            Self::Ask(_) => "bad_capability",
            Self::Skill { cause, .. } => cause.code(),
            Self::Provenance(error) => error.code(),
            Self::Folder(error) => error.code(),
            Self::Outline(_) => "bad_manifest",
        }
    }
}

impl Toolkit {
    /// Reads a folder. Who answers for it is judged first, then its names, then everything else: of a toolkit that is refused
    /// nothing is looked at that its author could have made costly.
    pub fn read(folder: Folder, trust: &Trust) -> Result<Self, ToolkitError> {
        Self::read_beside(folder, trust, &|_| false)
    }

    /// The same where more names are reserved than those of [`reserved`]: the built-in commands, which a registry knows.
    pub fn read_beside(
        folder: Folder,
        trust: &Trust,
        is_taken: &dyn Fn(&str) -> bool,
    ) -> Result<Self, ToolkitError> {
        if !is_slug(folder.name()) {
            return Err(ToolkitError::BadName { what: "the folder", shown: shown(folder.name()) });
        }
        match (folder.has(MANIFEST), folder.has(SKILL)) {
            (true, true) => Err(ToolkitError::TwoManifests),
            (false, false) => Err(ToolkitError::NoManifest),
            (true, false) => manifest::read(folder, trust, is_taken),
            (false, true) => skill(folder, trust),
        }
    }

    /// A skill of it, by its name.
    pub fn skill(&self, name: &str) -> Option<&Skill> {
        self.skills.iter().find(|it| it.name == name)
    }
}

/// A folder of the public format as a toolkit with one skill.
fn skill(folder: Folder, trust: &Trust) -> Result<Toolkit, ToolkitError> {
    let provenance = provenance::judge(&folder, false, trust)?;
    let failed = |cause| ToolkitError::Skill { skill: folder.name().to_owned(), cause };
    let file = SkillFile::read(folder.name(), folder.text(SKILL)?).map_err(failed)?;
    let skill = Skill::named(&file.name, &file.description, &file.body, "").map_err(failed)?;
    let (grants, notes) = asked(&file);
    let asks = match grants.is_empty() {
        true => Vec::new(),
        false => vec![Ask { toolkit: file.name.clone(), wanted_by: file.name.clone(), grants }],
    };
    let version = file.metadata.iter().find(|it| it.0 == "version").map(|it| one_line(&it.1, 64));
    Ok(Toolkit {
        id: file.name.clone(),
        title: None,
        version,
        status: None,
        tagline: skill.summary.clone(),
        requires: Vec::new(),
        commands: Vec::new(),
        skills: vec![skill],
        asks,
        provenance,
        digest: provenance::digest(&folder)?,
        notes,
        folder,
    })
}

/// What a SKILL.md asks for, each once, and what of it means nothing here.
fn asked(file: &SkillFile) -> (Vec<GrantSpec>, Vec<String>) {
    let (mut grants, mut notes) = (Vec::new(), Vec::new());
    for word in &file.allowed_tools {
        match allowed_tools(word) {
            AllowedTool::Grants(more) => more.into_iter().for_each(|grant| {
                if !grants.contains(&grant) {
                    grants.push(grant);
                }
            }),
            AllowedTool::Unknown => {
                notes.push(format!("allowed-tools: nothing here is meant by `{}`", shown(word)));
            }
        }
    }
    notes.extend(file.other.iter().map(|it| format!("the field `{it}` means nothing here")));
    (grants, notes)
}

/// The grant to run a command.
fn may_run(name: &str) -> Option<GrantSpec> {
    GrantSpec::exactly(Cap::Exec, [name])
}
