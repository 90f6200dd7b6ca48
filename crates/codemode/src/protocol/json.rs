//! A JSON value as the text it is: checked once, shared without copying, never looked into on the way.

use std::fmt;

use bytes::Bytes;
use drydock_abi::json::{depth, mend_surrogates};
use serde_json::{Value, value::RawValue};

/// How deep a value may be nested that somebody has to look into.
pub const DEPTH_MAX: usize = 120;

/// One JSON value. Equal means the same text.
#[derive(Clone, PartialEq, Eq)]
pub struct Json(Bytes);

/// Why a text cannot be used as a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// It is none.
    #[error("not JSON: {0}")]
    Malformed(String),
    /// It is nested too deeply to be looked into.
    #[error("nested {depth} levels deep; the limit is {max}")]
    TooDeep {
        /// How deep it is.
        depth: usize,
        /// The limit.
        max: usize,
    },
}

impl Json {
    /// Checks a text. Halves of surrogate pairs become U+FFFD.
    pub fn parse(text: impl Into<Bytes>) -> Result<Self, JsonError> {
        let bytes = text.into();
        let bad = |error: &dyn fmt::Display| JsonError::Malformed(error.to_string());
        let text = std::str::from_utf8(&bytes).map_err(|error| bad(&error))?;
        let mended = mend_surrogates(text);
        let raw: &RawValue = serde_json::from_str(&mended).map_err(|error| bad(&error))?;
        Ok(match &mended {
            // The same bytes: only their count of owners goes up.
            std::borrow::Cow::Borrowed(_) => Self(bytes.slice_ref(raw.get().as_bytes())),
            std::borrow::Cow::Owned(_) => Self(Bytes::copy_from_slice(raw.get().as_bytes())),
        })
    }

    /// Checks a text and reads it, for whoever needs both. Nothing if either is not to be had just so: then
    /// the long way tells why.
    pub(crate) fn read(text: &Bytes) -> Option<(Self, Value)> {
        let edges = [text.first()?, text.last()?];
        if edges.iter().any(|byte| byte.is_ascii_whitespace()) || too_deep(text).is_err() {
            return None;
        }
        serde_json::from_slice(text).ok().map(|value| (Self(text.clone()), value))
    }

    /// The text of a value.
    pub fn of(value: &Value) -> Self {
        Self(value.to_string().into())
    }

    /// `null`.
    pub const fn null() -> Self {
        Self(Bytes::from_static(b"null"))
    }

    pub(crate) fn of_raw(raw: &RawValue) -> Self {
        Self(Bytes::copy_from_slice(raw.get().as_bytes()))
    }

    /// The text.
    pub fn bytes(&self) -> &Bytes {
        &self.0
    }

    /// The text.
    pub fn into_bytes(self) -> Bytes {
        self.0
    }

    /// The text.
    #[expect(clippy::expect_used, reason = "it was checked, or made from a string")]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("it was checked, or made from a string")
    }

    /// How many bytes the text has.
    pub fn byte_count(&self) -> usize {
        self.0.len()
    }

    /// How deep it is nested.
    pub fn depth(&self) -> usize {
        depth(&self.0)
    }

    /// The value, if it is not too deep to be one.
    pub fn to_value(&self) -> Result<Value, JsonError> {
        too_deep(&self.0)?;
        serde_json::from_slice(&self.0).map_err(|error| JsonError::Malformed(error.to_string()))
    }
}

/// An error for a text that is nested too deeply to be looked into. Every level takes two brackets, so most
/// are too short to be.
fn too_deep(text: &[u8]) -> Result<(), JsonError> {
    if text.len() <= 2 * DEPTH_MAX {
        return Ok(());
    }
    match depth(text) {
        depth if depth > DEPTH_MAX => Err(JsonError::TooDeep { depth, max: DEPTH_MAX }),
        _ => Ok(()),
    }
}

impl AsRef<[u8]> for Json {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.as_str();
        let cut = text.floor_char_boundary(200);
        f.write_str(&text[..cut])?;
        if cut < text.len() {
            write!(f, "… ({} bytes)", text.len())?;
        }
        Ok(())
    }
}

/// Drops a value of any depth without the stack that dropping it as a whole would take.
pub fn dismantle(value: Value) {
    let mut rest = vec![value];
    while let Some(value) = rest.pop() {
        match value {
            Value::Array(items) => rest.extend(items),
            Value::Object(members) => rest.extend(members.into_iter().map(|(_, value)| value)),
            _ => {}
        }
    }
}
