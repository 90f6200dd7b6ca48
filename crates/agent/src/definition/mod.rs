//! Who an agent is: a text that somebody wrote, in org (seed 002) or as Markdown with front matter. Both say the same things:
//! an id, a model, toolkits, a tagline and the prompt.

mod markdown;
mod org;
#[cfg(test)]
mod tests;

use crate::text::{BadFrontMatter, BadOutline, TEXT_BYTES_MAX, shown};

/// The most toolkits of one definition.
pub const TOOLKITS_MAX: usize = 64;
const NAME_BYTES_MAX: usize = 128;

/// An agent as its text says it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentDefinition {
    /// What it is called by programs.
    pub id: Option<String>,
    /// What it is called by people.
    pub name: Option<String>,
    /// Which model it wants, by the name that one is configured under.
    pub model: Option<String>,
    /// The toolkits it works with, by their ids.
    pub toolkits: Vec<String>,
    /// A sentence about it.
    pub tagline: Option<String>,
    /// The only tools that it is offered; none for all that its grants admit.
    pub tools: Option<Vec<String>>,
    /// How many turns it may take.
    pub max_steps: Option<u64>,
    /// What the model is told before everything else. Never empty.
    pub prompt: String,
}

/// How a definition is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefinitionForm {
    /// A heading tagged `:agent:`, with a drawer.
    Org,
    /// Front matter and a body.
    Markdown,
}

impl DefinitionForm {
    /// By the end of a file's name: `.org`, `.md` or `.markdown`.
    pub fn of_path(path: &str) -> Option<Self> {
        match path.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
            "org" => Some(Self::Org),
            "md" | "markdown" => Some(Self::Markdown),
            _ => None,
        }
    }
}

/// The text defines no agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DefinitionError {
    /// It is too long.
    #[error(
        "a definition of {bytes} bytes is longer than the {max} that are read; move what is long into a skill"
    )]
    TooLarge {
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        max: usize,
    },
    /// It is no text.
    #[error("a definition is text in UTF-8, and this is none")]
    NotText,
    /// Its name tells no form.
    #[error("`{shown}` is no definition: its name ends in .org or .md")]
    NoForm {
        /// The name.
        shown: String,
    },
    /// It has no such heading.
    #[error("there is no heading with the tag :agent:, such as `* Ada  :agent:`")]
    NoAgent,
    /// It says nothing to the model.
    #[error(
        "the agent `{agent}` has no prompt: write one below `** System prompt`, or as the text of its heading or file"
    )]
    NoPrompt {
        /// Which.
        agent: String,
    },
    /// An id or a name cannot be one.
    #[error("{what} `{shown}` cannot be used: take 1 to 128 of A-Z a-z 0-9 . _ - / :")]
    BadName {
        /// What it is for.
        what: &'static str,
        /// As it was written.
        shown: String,
    },
    /// Two have one id.
    #[error("{what} `{id}` is there twice; give each its own")]
    DuplicateId {
        /// Of what.
        what: &'static str,
        /// Which.
        id: String,
    },
    /// There is too much of something.
    #[error("there are more than {max} {what}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there may be.
        max: usize,
    },
    /// A field has a value that makes no sense.
    #[error("field `{field}`: {why}")]
    BadField {
        /// Which.
        field: &'static str,
        /// What is wrong, and what to write instead.
        why: &'static str,
    },
    /// A field is none of a definition's.
    #[error("there is no field `{field}` in a definition; there are {}", markdown::FIELDS.join(", "))]
    UnknownField {
        /// As it was written.
        field: String,
    },
    /// It is no outline.
    #[error(transparent)]
    Outline(#[from] BadOutline),
    /// Its fields cannot be read.
    #[error(transparent)]
    FrontMatter(#[from] BadFrontMatter),
}

impl DefinitionError {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } | Self::Outline(BadOutline::TooLarge { .. }) => "definition_too_large",
            Self::NotText => "definition_not_text",
            Self::NoForm { .. } => "no_definition",
            Self::NoAgent => "no_agent",
            Self::NoPrompt { .. } => "no_prompt",
            Self::BadName { .. } => "bad_name",
            Self::DuplicateId { .. } => "duplicate_id",
            Self::TooMany { .. } => "too_many",
            Self::BadField { .. } | Self::UnknownField { .. } => "bad_field",
            Self::Outline(_) | Self::FrontMatter(_) => "bad_definition",
        }
    }
}

impl AgentDefinition {
    /// Reads the bytes of a file, by what its name says it is.
    pub fn read(path: &str, bytes: &[u8]) -> Result<Self, DefinitionError> {
        let form =
            DefinitionForm::of_path(path).ok_or_else(|| DefinitionError::NoForm { shown: shown(path) })?;
        if bytes.len() > TEXT_BYTES_MAX {
            return Err(DefinitionError::TooLarge { bytes: bytes.len(), max: TEXT_BYTES_MAX });
        }
        Self::parse(std::str::from_utf8(bytes).map_err(|_| DefinitionError::NotText)?, form)
    }

    /// Reads a text: of an org text the first agent in it, as the seed has it.
    pub fn parse(text: &str, form: DefinitionForm) -> Result<Self, DefinitionError> {
        if text.len() > TEXT_BYTES_MAX {
            return Err(DefinitionError::TooLarge { bytes: text.len(), max: TEXT_BYTES_MAX });
        }
        let found = match form {
            DefinitionForm::Org => org::parse(text)?,
            DefinitionForm::Markdown => markdown::parse(text)?,
        };
        found.checked()
    }

    /// What the model is told: the prompt, and below it what its toolkits say of themselves.
    pub fn system(&self, index: &str) -> String {
        crate::prompt::assemble(&self.prompt, index)
    }

    fn checked(mut self) -> Result<Self, DefinitionError> {
        self.prompt = self.prompt.trim().to_owned();
        if self.prompt.is_empty() {
            let agent = self.id.or(self.name).unwrap_or_else(|| "(without a name)".into());
            return Err(DefinitionError::NoPrompt { agent: shown(&agent) });
        }
        for (what, name) in [("the id", &self.id), ("the model", &self.model)] {
            if let Some(name) = name.as_deref().filter(|it| !is_name(it)) {
                return Err(DefinitionError::BadName { what, shown: shown(name) });
            }
        }
        check_list("toolkits", "the toolkit", &self.toolkits)?;
        check_list("tools", "the tool", self.tools.as_deref().unwrap_or_default())?;
        if self.max_steps == Some(0) {
            return Err(DefinitionError::BadField { field: "max_steps", why: "a run takes 1 turn or more" });
        }
        Ok(self)
    }
}

fn check_list(many: &'static str, one: &'static str, names: &[String]) -> Result<(), DefinitionError> {
    if names.len() > TOOLKITS_MAX {
        return Err(DefinitionError::TooMany { what: many, max: TOOLKITS_MAX });
    }
    for (index, name) in names.iter().enumerate() {
        if !is_name(name) {
            return Err(DefinitionError::BadName { what: one, shown: shown(name) });
        }
        if names.iter().take(index).any(|it| it == name) {
            return Err(DefinitionError::DuplicateId { what: one, id: shown(name) });
        }
    }
    Ok(())
}

fn is_name(text: &str) -> bool {
    let legal = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'.' | b'_' | b'-' | b'/' | b':');
    (1..=NAME_BYTES_MAX).contains(&text.len()) && text.bytes().all(legal)
}

/// Names that are separated by blanks or commas.
fn names(text: &str) -> Vec<String> {
    let parts = text.split(|it: char| it.is_whitespace() || it == ',');
    parts.filter(|it| !it.is_empty()).map(str::to_owned).collect()
}

/// A number of turns.
fn steps(text: &str) -> Result<u64, DefinitionError> {
    let bad = DefinitionError::BadField { field: "max_steps", why: "write a whole number, such as 12" };
    text.trim().parse().map_err(|_| bad)
}
