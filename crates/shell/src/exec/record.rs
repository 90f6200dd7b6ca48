//! What a line did, one record a command.

use std::sync::atomic::Ordering;

use drydock_contract::RunReport;

use crate::{StageRecord, state::Env};

impl Env {
    /// Keeps the record of a command, or only counts it if there are too many.
    pub(super) fn record(
        &self,
        command: String,
        status: i32,
        outcome: String,
        report: Option<RunReport>,
        micros: u64,
    ) {
        let figure = |pick: fn(&RunReport) -> u64| report.as_ref().map_or(0, pick);
        self.keep_record(|| StageRecord {
            command,
            builtin: false,
            status,
            outcome,
            quota: report.as_ref().and_then(|it| it.quota).map(|it| it.code().to_owned()),
            stdin_bytes: figure(|it| it.stdin_bytes),
            stdout_bytes: figure(|it| it.stdout_bytes),
            stderr_bytes: figure(|it| it.stderr_bytes),
            fuel: figure(|it| it.fuel),
            micros,
        });
    }

    /// The same for one of the shell's own, whose bytes nobody counts.
    pub(super) fn record_builtin(&self, name: &str, status: i32) {
        self.keep_record(|| StageRecord {
            command: name.to_owned(),
            builtin: true,
            status,
            outcome: "exited".to_owned(),
            quota: None,
            stdin_bytes: 0,
            stdout_bytes: 0,
            stderr_bytes: 0,
            fuel: 0,
            micros: 0,
        });
    }

    fn keep_record(&self, record: impl FnOnce() -> StageRecord) {
        let before = self.shared.stages.fetch_add(1, Ordering::Relaxed);
        if before < self.shared.limits.records_max as u64 {
            self.shared.records.lock().push(record());
        }
    }
}
