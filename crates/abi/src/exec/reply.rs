//! The reply of `exec.start`: how the run ended and what it cost. Its output travels in the streams.
//!
//! `[kind:u32][status:i32][fuel:u64][memory:u64][micros:u64][stdin:u64][stdout:u64][stderr:u64][reason_len:u32][reason]`,
//! and then, only where a limit of its files was met, `[limit:u32]`.

use std::time::Duration;

use drydock_contract::{Outcome, Reply, RunReport, port::FileLimit};

use crate::{Reader, Truncated};

/// The longest trap reason that is carried; the rest is cut at a character.
const REASON_BYTES_MAX: usize = 1024;

/// The bytes are not a reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadReply {
    /// A length points past the end.
    #[error(transparent)]
    Truncated(#[from] Truncated),
    /// No limit has this number.
    #[error("no limit has the number {0}")]
    Limit(u32),
    /// No ending has this number.
    #[error("no outcome has the number {0}")]
    Kind(u32),
}

/// Writes a report.
pub fn encode_report(report: &RunReport) -> Vec<u8> {
    let (kind, status, reason) = match &report.outcome {
        Outcome::Exited(status) => (0u32, *status, ""),
        Outcome::Trapped(reason) => (1, 0, reason.as_str()),
        Outcome::OutOfFuel => (2, 0, ""),
        Outcome::TimedOut => (3, 0, ""),
        Outcome::OutOfMemory => (4, 0, ""),
        Outcome::OutputLimit => (5, 0, ""),
        Outcome::InputLimit => (6, 0, ""),
        Outcome::Cancelled => (7, 0, ""),
    };
    let reason = &reason[..reason.floor_char_boundary(REASON_BYTES_MAX)];
    let micros = u64::try_from(report.duration.as_micros()).unwrap_or(u64::MAX);
    let mut bytes = Vec::with_capacity(60 + reason.len());
    bytes.extend_from_slice(&kind.to_le_bytes());
    bytes.extend_from_slice(&status.to_le_bytes());
    let figures = [
        report.fuel,
        report.memory_bytes,
        micros,
        report.stdin_bytes,
        report.stdout_bytes,
        report.stderr_bytes,
    ];
    for figure in figures {
        bytes.extend_from_slice(&figure.to_le_bytes());
    }
    bytes.extend_from_slice(&(reason.len() as u32).to_le_bytes());
    bytes.extend_from_slice(reason.as_bytes());
    let limit = report.quota.and_then(|it| FileLimit::ALL.iter().position(|one| *one == it));
    if let Some(limit) = limit {
        bytes.extend_from_slice(&(limit as u32).to_le_bytes());
    }
    bytes
}

/// The report of a reply, whether it came as a value or in bytes.
pub fn take_report(reply: &mut Reply) -> Result<RunReport, BadReply> {
    reply.value::<RunReport>().map_or_else(|| decode_report(&reply.payload), Ok)
}

/// Reads a report.
pub fn decode_report(bytes: &[u8]) -> Result<RunReport, BadReply> {
    let mut reader = Reader::new(bytes);
    let kind = reader.u32("outcome")?;
    let status = reader.i32("status")?;
    let mut figure = || reader.u64("a figure");
    let (fuel, memory_bytes, micros) = (figure()?, figure()?, figure()?);
    let (stdin_bytes, stdout_bytes, stderr_bytes) = (figure()?, figure()?, figure()?);
    let reason = String::from_utf8_lossy(reader.counted("reason")?).into_owned();
    let quota = match reader.left() == 0 {
        true => None,
        false => {
            let number = reader.u32("a limit")?;
            Some(*FileLimit::ALL.get(number as usize).ok_or(BadReply::Limit(number))?)
        }
    };
    let outcome = match kind {
        0 => Outcome::Exited(status),
        1 => Outcome::Trapped(reason),
        2 => Outcome::OutOfFuel,
        3 => Outcome::TimedOut,
        4 => Outcome::OutOfMemory,
        5 => Outcome::OutputLimit,
        6 => Outcome::InputLimit,
        7 => Outcome::Cancelled,
        other => return Err(BadReply::Kind(other)),
    };
    let duration = Duration::from_micros(micros);
    Ok(RunReport { outcome, fuel, memory_bytes, duration, stdin_bytes, stdout_bytes, stderr_bytes, quota })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_outcome_round_trips() {
        for outcome in Outcome::samples() {
            let report = RunReport {
                outcome,
                fuel: 1,
                memory_bytes: u64::MAX,
                duration: Duration::from_micros(3),
                stdin_bytes: 4,
                stdout_bytes: 5,
                stderr_bytes: 6,
                quota: None,
            };
            assert_eq!(decode_report(&encode_report(&report)), Ok(report));
        }
    }

    #[test]
    fn every_limit_round_trips_and_a_report_without_one_reads_as_before() {
        let report = |quota| RunReport {
            outcome: Outcome::Trapped("why".into()),
            fuel: 1,
            memory_bytes: 2,
            duration: Duration::from_micros(3),
            stdin_bytes: 4,
            stdout_bytes: 5,
            stderr_bytes: 6,
            quota,
        };
        let plain = encode_report(&report(None));
        assert_eq!(plain.len(), 60 + 3, "the first version of the wire, byte for byte");
        assert_eq!(decode_report(&plain), Ok(report(None)));
        for limit in FileLimit::ALL {
            let bytes = encode_report(&report(Some(limit)));
            assert_eq!((&bytes[..plain.len()], bytes.len()), (&plain[..], plain.len() + 4));
            assert_eq!(decode_report(&bytes), Ok(report(Some(limit))));
            assert!(decode_report(&bytes[..bytes.len() - 1]).is_err());
        }
        let unknown = [&plain[..], &99_u32.to_le_bytes()].concat();
        assert_eq!(decode_report(&unknown), Err(BadReply::Limit(99)));
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_decoder_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode_report(&bytes);
        }
    }
}
