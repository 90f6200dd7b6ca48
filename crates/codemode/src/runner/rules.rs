//! What no guest is bothered with, and what may not leave one: the same rules whichever way the messages go.

use std::collections::HashSet;

use drydock_abi::json::depth;
use drydock_contract::FailureCode;

use super::RunnerLimits;
use crate::{
    protocol::{Failure, Json, Manifest},
    provider::check_namespace,
};

/// Whether a program is short enough and its namespaces are names.
pub(crate) fn acceptable(code: &str, providers: &[Manifest], limits: &RunnerLimits) -> Result<(), Failure> {
    let (bytes, max) = (code.len(), limits.code_bytes_max);
    if bytes > max {
        let text = format!("program of {bytes} bytes exceeds the limit of {max}");
        return Err(Failure::new(FailureCode::RuntimeError, text));
    }
    let mut names = HashSet::new();
    for provider in providers {
        let bad = |text: String| Failure::new(FailureCode::InternalError, text);
        check_namespace(&provider.name).map_err(|error| bad(error.to_string()))?;
        if !names.insert(&provider.name) {
            return Err(bad(format!("Duplicate provider namespace: {}", provider.name)));
        }
    }
    Ok(())
}

/// Whether a value is small and flat enough to leave the runner.
pub(crate) fn fits(
    what: &str,
    value: Option<&Json>,
    bytes_max: usize,
    depth_max: usize,
) -> Result<(), Failure> {
    let Some(value) = value else { return Ok(()) };
    let bytes = value.byte_count();
    if bytes > bytes_max {
        let text = format!("{what} of {bytes} bytes exceeds the limit of {bytes_max}");
        return Err(Failure::new(FailureCode::SerializationError, text));
    }
    shallow_enough(what, value.bytes(), depth_max)
}

/// Whether JSON is flat enough to leave the runner.
pub(crate) fn shallow_enough(what: &str, json: &[u8], depth_max: usize) -> Result<(), Failure> {
    // Every level takes two brackets.
    if json.len() <= 2 * depth_max {
        return Ok(());
    }
    let depth = depth(json);
    if depth > depth_max {
        let text = format!("{what} is nested {depth} levels deep; the limit is {depth_max}");
        return Err(Failure::new(FailureCode::SerializationError, text));
    }
    Ok(())
}
