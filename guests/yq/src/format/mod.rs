//! The formats: text to documents, and a value to text.

pub mod comments;
mod csv;
pub mod edit;
mod props;
mod toml;
mod xml;
pub mod yaml;

use jq::cli::{End, Indent, Output};
use jq::value::{Text, Value as Val};

/// Deeper documents than this could not be dropped or printed within the stack a guest has.
pub const DEPTH_MAX: usize = 300;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Yaml,
    Json,
    Toml,
    Xml,
    Csv,
    Tsv,
    Props,
}

/// How a value is laid out.
pub struct Layout {
    pub indent: usize,
    pub sort_keys: bool,
    /// Strings without quotes; by default in YAML only.
    pub raw: Option<bool>,
}

impl Format {
    /// What `-p` and `-o` call it; nothing for `auto`.
    pub fn named(name: &str) -> Result<Option<Self>, String> {
        Ok(Some(match name {
            "auto" | "a" => return Ok(None),
            "yaml" | "yml" | "y" | "kyaml" => Self::Yaml,
            "json" | "j" | "ndjson" => Self::Json,
            "toml" => Self::Toml,
            "xml" | "x" => Self::Xml,
            "csv" | "c" => Self::Csv,
            "tsv" | "t" => Self::Tsv,
            "props" | "properties" | "p" => Self::Props,
            other => {
                return Err(format!(
                    "unknown format '{other}' please use [auto|yaml|json|props|csv|tsv|xml|toml]"
                ));
            }
        }))
    }

    /// What the ending of a file's name says.
    pub fn of_ending(ending: &str) -> Option<Self> {
        Some(match ending {
            "yaml" | "yml" => Self::Yaml,
            "json" | "ndjson" => Self::Json,
            "toml" => Self::Toml,
            "xml" => Self::Xml,
            "csv" => Self::Csv,
            "tsv" => Self::Tsv,
            "properties" => Self::Props,
            _ => return None,
        })
    }

    /// All documents of a text.
    pub fn read(self, text: &str) -> Result<Vec<Val>, String> {
        match self {
            Self::Yaml => yaml::read(text, 0),
            Self::Json => jq::read::parse_all(text.as_bytes().to_vec()),
            Self::Toml => toml::read(text).map(|value| vec![value]),
            Self::Xml => xml::read(text).map(|value| vec![value]),
            Self::Csv => Ok(vec![csv::read(text, b',')]),
            Self::Tsv => Ok(vec![csv::read(text, b'\t')]),
            Self::Props => Ok(vec![props::read(text)]),
        }
    }

    /// Appends one value, without a line end behind it.
    pub fn write(self, out: &mut Vec<u8>, value: &Val, layout: &Layout) -> Result<(), String> {
        if let (Val::Str(text), true) = (value, layout.raw.unwrap_or(self != Self::Json)) {
            out.extend_from_slice(text.as_bytes());
            return Ok(());
        }
        match self {
            Self::Yaml => yaml::write(out, value, layout),
            Self::Json => {
                let indent = if layout.indent == 0 { Indent::Compact } else { Indent::Spaces(layout.indent) };
                let options =
                    Output { indent, sort_keys: layout.sort_keys, end: End::Nothing, ..Output::default() };
                jq::write::write(out, value, &options);
            }
            Self::Toml => toml::write(out, value)?,
            Self::Xml => xml::write(out, value, layout.indent)?,
            Self::Csv => csv::write(out, value, b',')?,
            Self::Tsv => csv::write(out, value, b'\t')?,
            Self::Props => props::write(out, value),
        }
        Ok(())
    }
}

/// A scalar as text; containers as JSON.
pub fn plain(value: &Val) -> String {
    match value {
        Val::Str(text) => text.as_str().to_owned(),
        other => jq::write::compact(other),
    }
}

/// A key for a map.
pub fn key(text: &str) -> Text {
    Text::new(text)
}
