//! What a program may be before it runs, and what it may leave behind.

use std::collections::HashSet;

use drydock_contract::FailureCode;

use crate::{
    protocol::{Failure, Json, Manifest},
    provider::check_namespace,
};

/// Whether a program is short enough.
pub(crate) fn program_fits(code: &str, bytes_max: usize) -> Result<(), Failure> {
    let bytes = code.len();
    if bytes > bytes_max {
        let text = format!("program of {bytes} bytes exceeds the limit of {bytes_max}");
        return Err(Failure::new(FailureCode::RuntimeError, text));
    }
    Ok(())
}

/// Whether the namespaces of a program are names, each its own.
pub(crate) fn namespaces_are_names(providers: &[Manifest]) -> Result<(), Failure> {
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

/// Whether a host takes what its program returned.
pub(crate) fn returned_fits(result: Option<&Json>, bytes_max: usize) -> Result<(), Failure> {
    match result.map(Json::byte_count) {
        Some(bytes) if bytes > bytes_max => {
            let text = format!("Guest code returned a value of {bytes} bytes; the limit is {bytes_max}");
            Err(Failure::new(FailureCode::SerializationError, text))
        }
        _ => Ok(()),
    }
}
