//! A definition as Markdown: the same fields in front matter, and the body is the prompt.

use crate::text::{FrontMatter, Node};

use super::{AgentDefinition, DefinitionError, names, shown, steps};

/// The fields there are. `description` is what other programs call the tagline; what `metadata` holds is nobody's here.
pub(super) const FIELDS: &[&str] =
    &["id", "name", "model", "toolkits", "tagline", "description", "tools", "max_steps", "metadata"];

pub(super) fn parse(text: &str) -> Result<AgentDefinition, DefinitionError> {
    let read = FrontMatter::read(text)?;
    // A field that was mistyped would be a toolkit that is missing, or a tool that is not taken away.
    if let Some((field, _)) = read.fields.iter().find(|it| !FIELDS.contains(&it.0.as_str())) {
        return Err(DefinitionError::UnknownField { field: shown(field) });
    }
    let text_of = |field: &'static str| match read.get(field).map(Node::as_text) {
        Some(None) => Err(DefinitionError::BadField { field, why: "write one text" }),
        Some(Some(text)) => Ok(Some(text.trim()).filter(|it| !it.is_empty()).map(str::to_owned)),
        None => Ok(None),
    };
    let list_of = |field: &'static str| match read.get(field) {
        None => Ok(None),
        Some(Node::Text(text)) => Ok(Some(names(text))),
        Some(other) => match other.as_texts() {
            Some(texts) => Ok(Some(texts.into_iter().map(str::to_owned).collect())),
            None => Err(DefinitionError::BadField { field, why: "write a list of names" }),
        },
    };
    let name = text_of("name")?;
    let tagline = match text_of("tagline")? {
        Some(tagline) => Some(tagline),
        None => text_of("description")?,
    };
    // Other programs know their agents by a name without blanks, and nothing else.
    let id = text_of("id")?.or_else(|| name.clone().filter(|it| super::is_name(it)));
    Ok(AgentDefinition {
        id,
        name,
        model: text_of("model")?,
        toolkits: list_of("toolkits")?.unwrap_or_default(),
        tagline,
        tools: list_of("tools")?,
        max_steps: text_of("max_steps")?.as_deref().map(steps).transpose()?,
        prompt: read.body.to_owned(),
    })
}
