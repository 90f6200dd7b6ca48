//! `parallel.map`: one command over many inputs. Each input is the stdin of a run of its own, all with the same arguments,
//! and what came of each is told in the order of the inputs.

mod wire;

use std::{fmt, time::Duration};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{IgnoredAny, SeqAccess, Visitor},
};
use serde_json::json;

use crate::broker::{Blob, Failure, OperationText, object, text};

pub use wire::{BadMap, decode_map, encode_map, encode_mapped};

/// The operation.
pub const MAP: &str = "parallel.map";
/// Inputs of one map.
pub const INPUTS_MAX: usize = 1_024;
/// Arguments: each counts as a byte at least of those that a command may have.
pub const ARGS_MAX: usize = crate::exec::ARGV_BYTES_MAX as usize;
/// Tasks of one map that run at once; the others wait their turn.
pub const AT_ONCE_MAX: usize = 16;
/// The time of one task, from its own beginning.
pub const TASK_WALL_MAX: Duration = Duration::from_secs(30);
/// The longest request: as long as one for a single command.
pub const REQUEST_BYTES_MAX: u64 = crate::exec::REQUEST_BYTES_MAX;
/// Output of all tasks of one map together.
pub const OUTPUT_BYTES_MAX: u64 = 64 << 20;

/// More inputs than a map takes.
pub const TOO_MANY_INPUTS: &str = "too_many_inputs";
/// The code of a task whose output no longer fits.
pub const OUTPUT_TOO_LARGE: &str = "output_too_large";

/// A map.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapRequest {
    /// Which command.
    pub command: String,
    /// Its arguments, the same for each input.
    #[serde(default, deserialize_with = "at_most::<ARGS_MAX, _>")]
    pub args: Vec<Blob>,
    /// What each run reads on stdin.
    #[serde(deserialize_with = "at_most::<INPUTS_MAX, _>")]
    pub inputs: Vec<Blob>,
}

/// A list of which no more is held than one part more than there may be: enough to refuse it.
fn at_most<'de, const MAX: usize, D: Deserializer<'de>>(from: D) -> Result<Vec<Blob>, D::Error> {
    struct Parts<const MAX: usize>;
    impl<'de, const MAX: usize> Visitor<'de> for Parts<MAX> {
        type Value = Vec<Blob>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of texts or of objects with `base64`")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<Blob>, A::Error> {
            let mut parts = Vec::new();
            while parts.len() <= MAX {
                let Some(part) = list.next_element()? else { return Ok(parts) };
                parts.push(part);
            }
            while list.next_element::<IgnoredAny>()?.is_some() {}
            Ok(parts)
        }
    }
    from.deserialize_seq(Parts::<MAX>)
}

impl MapRequest {
    /// How many bytes its parts have, for the ladder.
    pub fn bytes(&self) -> u64 {
        let parts = self.args.iter().chain(&self.inputs).map(|it| it.0.len() as u64 + 4);
        self.command.len() as u64 + parts.sum::<u64>()
    }
}

/// What came of one input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Mapped {
    /// The command exited.
    Exited {
        /// With this.
        status: i32,
        /// What it wrote to stdout.
        stdout: Blob,
    },
    /// It did not: it was refused, ended by a limit, or trapped.
    Failed {
        /// Why.
        error: Failure,
    },
}

/// What came of all of them, in the order of the inputs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapAnswer {
    /// One for each input.
    pub results: Vec<Mapped>,
}

/// What people and models are told.
pub const OPERATIONS: &[OperationText] = &[OperationText {
    name: MAP,
    title: "Map a command over inputs",
    description: "Runs one command once for each input, sixteen at a time, with the same arguments and the input as stdin. The results \
                  come in the order of the inputs; one that failed hurts no other.",
    is_read: false,
    input: || {
        let blob = |about: &str| json!({ "description": about, "anyOf": [text("text"), blob_schema()] });
        let list =
            |about: &str, count: usize| json!({ "type": "array", "items": blob(about), "maxItems": count });
        object(
            json!({
                "command": text("the name of a command"),
                "args": list("an argument, the same for each input", 4_096),
                "inputs": list("what one run reads on stdin", INPUTS_MAX),
            }),
            &["command", "inputs"],
        )
    },
    output: || {
        let exited = object(
            json!({ "status": { "type": "integer" }, "stdout": { "anyOf": [text("what it wrote"), blob_schema()] } }),
            &["status", "stdout"],
        );
        let why = object(
            json!({ "code": text("the stable code"), "message": text("in words") }),
            &["code", "message"],
        );
        let failed = object(json!({ "error": why }), &["error"]);
        object(
            json!({ "results": { "type": "array", "items": { "anyOf": [exited, failed] } } }),
            &["results"],
        )
    },
}];

/// Bytes that are no text.
fn blob_schema() -> serde_json::Value {
    object(json!({ "base64": text("bytes in base64") }), &["base64"])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::broker::parse;

    #[test]
    fn a_map_is_an_object_with_a_command_arguments_and_inputs() {
        let read = |text: &str| parse::<MapRequest>(MAP, text.as_bytes()).map_err(|error| error.code());
        let map = read(r#"{"command": "jq", "args": [".n"], "inputs": ["{}", {"base64": "AA=="}]}"#).unwrap();
        assert_eq!((map.command.as_str(), map.inputs[1].0.as_slice()), ("jq", &[0][..]));
        assert_eq!(map.bytes(), 2 + 6 + 6 + 5);
        for bad in [
            "{}",
            r#"{"command":"jq"}"#,
            r#"{"command":"jq","inputs":[1]}"#,
            r#"{"command":"jq","inputs":[],"x":1}"#,
            "[",
        ] {
            assert_eq!(read(bad), Err("malformed"), "{bad}");
        }
    }

    #[test]
    fn of_a_long_list_only_so_much_is_held() {
        let text = format!(r#"{{"command":"x","inputs":[{}""]}}"#, r#""","#.repeat(100_000));
        assert_eq!(parse::<MapRequest>(MAP, text.as_bytes()).unwrap().inputs.len(), INPUTS_MAX + 1);
    }

    #[test]
    fn each_result_says_by_itself_how_it_went() {
        let answer = MapAnswer {
            results: vec![
                Mapped::Exited { status: 1, stdout: Blob(b"x".to_vec()) },
                Mapped::Failed { error: Failure::new("timed_out", "it took more than 30 s") },
            ],
        };
        let text = serde_json::to_string(&answer).unwrap();
        assert_eq!(
            text,
            r#"{"results":[{"status":1,"stdout":"x"},{"error":{"code":"timed_out","message":"it took more than 30 s"}}]}"#
        );
        assert_eq!(serde_json::from_str::<MapAnswer>(&text).unwrap(), answer);
    }
}
