//! Skills: what a model reads when it needs it. A SKILL.md of the public format "Agent Skills" (front matter, then instructions),
//! or a text of a toolkit in org or Markdown.

mod allowed;
#[cfg(test)]
mod tests;

pub use allowed::{AllowedTool, allowed_tools};

use crate::text::{BadFrontMatter, BadOutline, FrontMatter, Node, Outline, one_line, shown};

/// The longest name of a skill of the public format.
pub const SKILL_NAME_CHARS_MAX: usize = 64;
/// The longest description.
pub const DESCRIPTION_CHARS_MAX: usize = 1024;
/// The longest note about compatibility.
pub const COMPATIBILITY_CHARS_MAX: usize = 500;
const FIELDS: &[&str] = &["name", "description", "license", "compatibility", "metadata", "allowed-tools"];

/// One skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// What it is called within its toolkit.
    pub name: String,
    /// What it is for, and when to read it.
    pub summary: String,
    /// What a model reads.
    pub body: String,
    /// Where in the folder of its toolkit its own files are; empty for the folder itself.
    pub dir: String,
}

/// A SKILL.md, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillFile {
    /// Its name, which is its folder's.
    pub name: String,
    /// What it is for, and when to use it.
    pub description: String,
    /// Under which licence.
    pub license: Option<String>,
    /// What it says of where it works.
    pub compatibility: Option<String>,
    /// What else it says of itself.
    pub metadata: Vec<(String, String)>,
    /// The tools it asks for, as they are written.
    pub allowed_tools: Vec<String>,
    /// Fields that the format does not have. Other programs have some of their own; they mean nothing here.
    pub other: Vec<String>,
    /// The instructions.
    pub body: String,
}

/// The text is no skill.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SkillError {
    /// A field that must be there is not.
    #[error("the field `{field}` is missing or empty")]
    MissingField {
        /// Which.
        field: &'static str,
    },
    /// A field has a value that it may not have.
    #[error("field `{field}`: {why}")]
    BadField {
        /// Which.
        field: &'static str,
        /// What is wrong, and what to write instead.
        why: String,
    },
    /// The name is not the folder's.
    #[error("it is called `{name}` and its folder `{folder}`; they have one name")]
    WrongFolder {
        /// As it says.
        name: String,
        /// Where it lies.
        folder: String,
    },
    /// Its name cannot be one.
    #[error("`{shown}` is no name of a skill: take letters, digits, `.`, `_` and `-`")]
    BadName {
        /// As it was written.
        shown: String,
    },
    /// Its front matter cannot be read.
    #[error(transparent)]
    FrontMatter(#[from] BadFrontMatter),
    /// It is no outline.
    #[error(transparent)]
    Outline(#[from] BadOutline),
}

impl SkillError {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::MissingField { .. } | Self::BadField { .. } => "bad_field",
            Self::WrongFolder { .. } => "wrong_folder",
            Self::BadName { .. } => "bad_name",
            Self::FrontMatter(_) | Self::Outline(_) => "bad_skill",
        }
    }
}

impl SkillFile {
    /// Reads a SKILL.md that lies in a folder of this name, by the rules of the public format.
    pub fn read(folder: &str, text: &str) -> Result<Self, SkillError> {
        let read = FrontMatter::read(text)?;
        let bad = |field, why: &str| SkillError::BadField { field, why: why.to_owned() };
        let text_of = |field: &'static str, chars_max: usize| match read.get(field) {
            None => Ok(None),
            Some(Node::Text(text)) if text.trim().is_empty() => Err(bad(field, "it is empty")),
            Some(Node::Text(text)) if text.trim().chars().count() > chars_max => {
                Err(bad(field, &format!("it is longer than {chars_max} characters")))
            }
            Some(Node::Text(text)) => Ok(Some(text.trim().to_owned())),
            Some(_) => Err(bad(field, "write one text")),
        };
        let needed = |field: &'static str, chars_max| {
            text_of(field, chars_max)?.ok_or(SkillError::MissingField { field })
        };
        let name = needed("name", SKILL_NAME_CHARS_MAX)?;
        if !is_skill_name(&name) {
            let why = "take lower-case letters, digits and single hyphens, and no hyphen at either end";
            return Err(bad("name", why));
        }
        if name != folder {
            return Err(SkillError::WrongFolder { name, folder: shown(folder) });
        }
        let metadata = match read.get("metadata") {
            None => Vec::new(),
            Some(Node::Map(entries)) => {
                let pair = |(key, value): &(String, Node)| Some((key.clone(), value.as_text()?.to_owned()));
                let pairs: Option<Vec<_>> = entries.iter().map(pair).collect();
                pairs.ok_or_else(|| bad("metadata", "write texts under names"))?
            }
            Some(_) => return Err(bad("metadata", "write texts under names")),
        };
        let allowed_tools = match read.get("allowed-tools") {
            None => Vec::new(),
            Some(Node::Text(text)) => allowed::split(text),
            Some(other) => {
                let texts = other.as_texts().ok_or_else(|| bad("allowed-tools", "write names of tools"))?;
                texts.into_iter().map(str::to_owned).collect()
            }
        };
        let is_other = |it: &&(String, Node)| !FIELDS.contains(&it.0.as_str());
        Ok(Self {
            name,
            description: needed("description", DESCRIPTION_CHARS_MAX)?,
            license: text_of("license", DESCRIPTION_CHARS_MAX)?,
            compatibility: text_of("compatibility", COMPATIBILITY_CHARS_MAX)?,
            metadata,
            allowed_tools,
            other: read.fields.iter().filter(is_other).map(|it| shown(&it.0)).collect(),
            body: read.body.to_owned(),
        })
    }
}

/// The public format's names: 1 to 64 of `a-z 0-9 -`, no hyphen at either end and no two in a row.
fn is_skill_name(name: &str) -> bool {
    let legal = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-';
    (1..=SKILL_NAME_CHARS_MAX).contains(&name.len())
        && name.bytes().all(legal)
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--")
}

/// The seed's names of skills in a toolkit, and of toolkits: letters, digits, `.`, `_` and `-`, at most 64.
pub(crate) fn is_slug(name: &str) -> bool {
    let legal = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'.' | b'_' | b'-');
    (1..=SKILL_NAME_CHARS_MAX).contains(&name.len()) && name.bytes().all(legal) && !name.starts_with('.')
}

impl Skill {
    /// A skill of a toolkit that is one text in org: its tagline is what it is for, else its title.
    pub(crate) fn org(name: &str, text: &str) -> Result<Self, SkillError> {
        let outline = Outline::read(text)?;
        let said = ["TAGLINE", "DESCRIPTION", "TITLE"].iter().find_map(|it| outline.keywords.get(it));
        let first = outline.headings.first().map(|it| it.title);
        Self::named(name, said.or(first).unwrap_or_default(), text, "")
    }

    /// The same in Markdown: front matter with a `description`, else its first heading.
    pub(crate) fn markdown(name: &str, text: &str) -> Result<Self, SkillError> {
        match FrontMatter::read(text) {
            Ok(read) => {
                let said = read.get("description").and_then(Node::as_text).unwrap_or_default();
                Self::named(name, said, read.body, "")
            }
            Err(BadFrontMatter::Missing) => {
                let heading = text.lines().find_map(|it| it.strip_prefix("# "));
                Self::named(name, heading.unwrap_or_default(), text, "")
            }
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn named(name: &str, summary: &str, body: &str, dir: &str) -> Result<Self, SkillError> {
        if !is_slug(name) {
            return Err(SkillError::BadName { shown: shown(name) });
        }
        let summary = one_line(summary, DESCRIPTION_CHARS_MAX);
        Ok(Self { name: name.to_owned(), summary, body: body.trim().to_owned(), dir: dir.to_owned() })
    }
}
