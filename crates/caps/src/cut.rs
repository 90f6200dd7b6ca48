//! Runs that time or a person ended, on a tape: the fuel they had burnt says where, so that a replay ends them there.

use drydock_contract::{Limits, Outcome, RunReport};
use drydock_gate::{Cut, Permit};

use crate::exec::Exec;

/// The limits of a run. Where it is replayed, real time does not end it; what ended it then does, after as much fuel.
pub(crate) fn limits(permit: &Permit<'_, Exec>, limits: Limits) -> Limits {
    let Some(tape) = &permit.session().spec().tape else { return limits };
    let limits = Limits { wall_max: tape.time(limits.wall_max), ..limits };
    match tape.was_cut(permit.call()) {
        Some(Cut { fuel, .. }) if fuel > 0 => Limits { fuel_max: fuel, ..limits },
        _ => limits,
    }
}

/// What came of a run: told to the tape if it did not end by itself, or as the tape has it.
pub(crate) fn ended(permit: &Permit<'_, Exec>, mut report: RunReport) -> RunReport {
    let Some(tape) = &permit.session().spec().tape else { return report };
    if let Some(was) = tape.was_cut(permit.call()) {
        report.outcome = if was.timed_out { Outcome::TimedOut } else { Outcome::Cancelled };
        return report;
    }
    if matches!(report.outcome, Outcome::TimedOut | Outcome::Cancelled) {
        let timed_out = report.outcome == Outcome::TimedOut;
        tape.cut(permit.call(), Cut { timed_out, fuel: report.fuel });
    }
    report
}
