//! What a tool answers.

use drydock_contract::DenialDetails;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a tool answers, as JSON at the gate.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolOutput {
    /// Text for the model, whole: the loop cuts it.
    pub output: String,
    /// The exit status of what it ran, if it ran something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Whether files of the workspace are others now; where that is not said, a tool that only reads changed none, and
    /// every other may have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files_changed: Option<bool>,
    /// What was refused to whatever it ran. A run that asks about refusals asks about these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denials: Vec<ToolDenial>,
}

/// What was refused to something that a tool ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolDenial {
    /// The stable code.
    pub code: String,
    /// In words.
    pub why: String,
    /// The smallest grant that would have helped, as a file of grants holds it, where one would.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<Value>,
}

impl ToolOutput {
    /// A text, and nothing else to say.
    pub fn text(output: impl Into<String>) -> Self {
        Self { output: output.into(), ..Self::default() }
    }

    /// As the gate carries it.
    pub fn to_json(&self) -> Vec<u8> {
        // Texts and numbers: there is nothing in them that JSON cannot say.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

impl From<&DenialDetails> for ToolDenial {
    fn from(details: &DenialDetails) -> Self {
        let grant = details.grant.as_ref().and_then(|it| serde_json::from_str(&it.to_json()).ok());
        Self { code: details.code.into(), why: details.why.clone(), grant }
    }
}
