//! A Python program's end as a person would want to see it. Its outputs were there all along.

use drydock_embed::{
    PyResult,
    contract::{FailureCode, Limits, Outcome},
};

use crate::{exit, show};

/// The value goes to stdout where the program printed nothing; a limit, or what Python did not say, to stderr.
pub(super) fn show(result: &PyResult, limits: &Limits, was_interrupted: bool) -> anyhow::Result<()> {
    let ended = result.outcome.as_ref().and_then(|it| it.remark(limits, None));
    match (&result.execute.outcome, ended) {
        (Ok(Some(value)), _) if result.stdout_bytes == 0 => show::line(value.as_str())?,
        (Ok(_), _) => {}
        (Err(failure), _) if was_interrupted && failure.code == FailureCode::Timeout => {
            exit::warn("interrupted");
        }
        (Err(_), Some(remark)) => exit::warn(&format!("python: {remark}")),
        // Python itself said what happened, or the program wanted no word.
        (Err(_), None) if result.traceback.is_some() || left_by_itself(result) => {}
        (Err(failure), None) => exit::warn(&format!("{}: {}", failure.code, failure.message)),
    }
    if let Some(hint) = &result.hint {
        exit::warn(hint);
    }
    Ok(())
}

/// By `os._exit`, without an answer.
fn left_by_itself(result: &PyResult) -> bool {
    let code = result.execute.code();
    code == Some(FailureCode::RuntimeError) && matches!(result.outcome, Some(Outcome::Exited(_)))
}
