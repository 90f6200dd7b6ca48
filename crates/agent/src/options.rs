//! What a run may be told besides its prompt and its task. The names and the defaults are the seed's, where it has them.

use serde::{Deserialize, Serialize};

use crate::tools::{CATALOGUE, tool};

/// Turns of a run of the library.
pub const STEPS_MAX: u64 = 12;
/// Turns of a session.
pub const SESSION_STEPS_MAX: u64 = 40;
/// How long a call of a tool may take.
pub const TOOL_WALL_MS: u64 = 150_000;
/// How much of a tool's answer a model reads.
pub const TOOL_OUTPUT_BYTES: usize = 8_000;
/// From how many bytes on a transcript is compacted.
pub const COMPACT_BYTES: usize = 160_000;

/// The most turns that a run may be given.
const MAX_STEPS_MAX: u64 = 10_000;
/// The longest that one call may take: a day.
const TOOL_WALL_MS_MAX: u64 = 24 * 3_600_000;
/// The most that a model is shown of one answer: an event has no room for more.
const TOOL_OUTPUT_BYTES_MAX: u64 = 2 << 20;
/// The most that a transcript may weigh before it is compacted.
const COMPACT_BYTES_MAX: u64 = 64 << 20;

/// Options of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunOptions {
    /// Which model, by the name it is configured under.
    pub model: String,
    /// How many turns it may take.
    pub max_steps: u64,
    /// How freely it chooses its words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The most that one turn may say, in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// The only tools that are offered; none for all that its grants admit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// How long a call of a tool may take, in milliseconds.
    pub tool_wall_ms: u64,
    /// How much of a tool's answer the model reads, in bytes.
    pub tool_output_bytes: usize,
    /// From how many bytes on the transcript is compacted.
    pub compact_bytes: usize,
    /// Tokens that it may use, read and written together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_max: Option<u64>,
    /// Millionths of money that it may spend.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micros_max: Option<u64>,
    /// What happens where the budget has no tokens or money left.
    pub at_limit: AtLimit,
    /// What happens where a call is refused.
    pub on_denial: OnDenial,
    /// Tools each call of which a person is asked about: names, or `*`.
    pub review: Vec<String>,
    /// How long a person has to answer, in milliseconds; none for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review_wait_ms: Option<u64>,
}

/// What happens where a budget ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AtLimit {
    /// The run ends.
    #[default]
    Stop,
    /// A person is asked for more.
    Ask,
}

/// What happens where a call is refused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnDenial {
    /// The model is told.
    #[default]
    Tell,
    /// A person is asked for the smallest grant that would have helped, if there is one.
    Ask,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            model: String::new(),
            max_steps: STEPS_MAX,
            temperature: None,
            max_tokens: None,
            tools: None,
            tool_wall_ms: TOOL_WALL_MS,
            tool_output_bytes: TOOL_OUTPUT_BYTES,
            compact_bytes: COMPACT_BYTES,
            tokens_max: None,
            cost_micros_max: None,
            at_limit: AtLimit::default(),
            on_denial: OnDenial::default(),
            review: Vec::new(),
            review_wait_ms: None,
        }
    }
}

/// Options that no run can have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadOptions {
    /// One names a tool that is none.
    #[error(transparent)]
    Tool(#[from] UnknownTool),
    /// One is too small or too large.
    #[error("`{option}` is {value}; it may be {least} to {most}")]
    Range {
        /// Which option.
        option: &'static str,
        /// What it is.
        value: String,
        /// The least that it may be.
        least: u64,
        /// The most.
        most: u64,
    },
}

impl BadOptions {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Tool(_) => "unknown_tool",
            Self::Range { .. } => "bad_options",
        }
    }
}

/// Options of a run name a tool that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{option}` names the tool `{shown}`, and there is none of that name; there are {}", names())]
pub struct UnknownTool {
    /// Which option.
    pub option: &'static str,
    /// The name, as far as it is shown.
    pub shown: String,
}

fn names() -> String {
    CATALOGUE.iter().map(|it| it.name).collect::<Vec<_>>().join(", ")
}

impl RunOptions {
    /// Whether a run can have them. A review of a mistyped tool would never be asked for, and that would be found out too
    /// late; so would a bound that lets nothing through, or everything.
    pub fn check(&self) -> Result<(), BadOptions> {
        self.check_bounds()?;
        let offered = self.tools.iter().flatten().map(|it| ("tools", it));
        let reviewed = self.review.iter().filter(|it| *it != "*").map(|it| ("review", it));
        match offered.chain(reviewed).find(|(_, name)| tool(name).is_none()) {
            Some((option, name)) => {
                let shown = name.chars().take(80).collect::<String>().escape_debug().to_string();
                Err(UnknownTool { option, shown }.into())
            }
            None => Ok(()),
        }
    }

    fn check_bounds(&self) -> Result<(), BadOptions> {
        let bytes = |it: usize| it as u64;
        let counts = [
            ("max_steps", self.max_steps, MAX_STEPS_MAX),
            ("max_tokens", self.max_tokens.map_or(1, u64::from), u64::from(u32::MAX)),
            ("tool_wall_ms", self.tool_wall_ms, TOOL_WALL_MS_MAX),
            ("tool_output_bytes", bytes(self.tool_output_bytes), TOOL_OUTPUT_BYTES_MAX),
            ("compact_bytes", bytes(self.compact_bytes), COMPACT_BYTES_MAX),
        ];
        if let Some((option, value, most)) = counts.into_iter().find(|it| !(1..=it.2).contains(&it.1)) {
            return Err(BadOptions::Range { option, value: value.to_string(), least: 1, most });
        }
        match self.temperature.filter(|it| !(0.0..=2.0).contains(it)) {
            Some(value) => {
                let (option, value) = ("temperature", value.to_string());
                Err(BadOptions::Range { option, value, least: 0, most: 2 })
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_is_none_is_named_before_a_run_goes_on_without_its_review() {
        let with = |tools: Option<&[&str]>, review: &[&str]| {
            let all = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
            let options = RunOptions { tools: tools.map(all), review: all(review), ..RunOptions::default() };
            options.check().map_err(|it| it.to_string())
        };
        assert_eq!(with(None, &["*", "edit_file"]), Ok(()));
        assert_eq!(with(Some(&["shell"]), &[]), Ok(()));
        let told = with(None, &["edit-file"]).unwrap_err();
        assert!(told.starts_with("`review` names the tool `edit-file`, and there is none"), "{told}");
        assert!(told.contains("edit_file"), "{told}");
        assert!(with(Some(&["Bash"]), &[]).unwrap_err().starts_with("`tools` names the tool `Bash`"));
    }

    #[test]
    fn bounds_that_let_nothing_through_or_everything_are_refused_by_name() {
        let usual = RunOptions::default;
        for (options, name) in [
            (RunOptions { max_steps: 0, ..usual() }, "`max_steps` is 0; it may be 1 to 10000"),
            (RunOptions { max_steps: u64::MAX, ..usual() }, "`max_steps`"),
            (RunOptions { temperature: Some(9.0), ..usual() }, "`temperature` is 9; it may be 0 to 2"),
            (RunOptions { temperature: Some(f64::NAN), ..usual() }, "`temperature`"),
            (RunOptions { max_tokens: Some(0), ..usual() }, "`max_tokens`"),
            (RunOptions { tool_wall_ms: 0, ..usual() }, "`tool_wall_ms`"),
            (RunOptions { tool_wall_ms: u64::MAX, ..usual() }, "`tool_wall_ms`"),
            (RunOptions { tool_output_bytes: 0, ..usual() }, "`tool_output_bytes`"),
            (RunOptions { tool_output_bytes: usize::MAX, ..usual() }, "`tool_output_bytes`"),
            (RunOptions { compact_bytes: 0, ..usual() }, "`compact_bytes`"),
        ] {
            let bad = options.check().unwrap_err();
            assert!(bad.to_string().starts_with(name), "{bad}");
            assert_eq!(bad.code(), "bad_options");
        }
        assert_eq!(RunOptions { temperature: Some(2.0), max_steps: 10_000, ..usual() }.check(), Ok(()));
    }
}
