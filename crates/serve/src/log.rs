//! What extensions logged, written by a thread of its own: a request waits for no disk. Where more is logged than is
//! written, lines are dropped and counted.

use std::{
    sync::{
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
};

use drydock_contract::{CommandName, LogLevel, Tenant, port::Clock as _};
use drydock_embed::{
    Dock, SystemClock,
    extension::runner::LogLine,
    store::{GuestLogs, Home},
};
use serde_json::json;

/// Requests whose lines are not written yet.
const WAITING_MAX: usize = 1_024;

enum Job {
    Lines { logs: GuestLogs, extension: CommandName, text: Vec<u8> },
    Flush(SyncSender<()>),
}

/// Where lines go.
pub(crate) struct LogWriter {
    to: Option<SyncSender<Job>>,
    dropped: AtomicU64,
}

impl LogWriter {
    /// Begins to write. Without a thread for it nothing is kept.
    pub(crate) fn start() -> Self {
        let (to, from) = sync_channel(WAITING_MAX);
        let started = thread::Builder::new().name("extension logs".into()).spawn(move || write(&from));
        Self { to: started.ok().map(|_| to), dropped: AtomicU64::new(0) }
    }

    /// Lines that were not kept.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Takes the lines of one request.
    pub(crate) fn take(
        &self,
        dock: &Dock,
        tenant: &Tenant,
        extension: &CommandName,
        request_id: &str,
        lines: &[LogLine],
    ) {
        if lines.is_empty() {
            return;
        }
        let at = SystemClock.now().to_rfc3339();
        let mut text = Vec::new();
        for line in lines {
            let level = match line.level {
                LogLevel::Info => "info",
                LogLevel::Error => "error",
            };
            let row = json!({
                "at": at, "level": level, "tenant": tenant, "extension": extension, "request_id": request_id,
                "text": line.text,
            });
            text.extend_from_slice(row.to_string().as_bytes());
            text.push(b'\n');
        }
        let home: &Home = dock.home();
        let logs = GuestLogs::of(&home.tenant(tenant));
        let job = Job::Lines { logs, extension: extension.clone(), text };
        if self.to.as_ref().is_none_or(|to| to.try_send(job).is_err()) {
            self.dropped.fetch_add(lines.len() as u64, Ordering::Relaxed);
        }
    }

    /// Waits until everything that was taken is written.
    pub(crate) fn flush(&self) {
        let (done, wait) = sync_channel(1);
        if self.to.as_ref().is_some_and(|to| to.send(Job::Flush(done)).is_ok()) {
            let _ = wait.recv();
        }
    }
}

fn write(from: &Receiver<Job>) {
    while let Ok(job) = from.recv() {
        match job {
            Job::Lines { logs, extension, text } => {
                if let Err(error) = logs.append(&extension, &text) {
                    tracing::warn!(target: "drydock::serve", "the log of `{extension}` cannot be written: {error}");
                }
            }
            Job::Flush(done) => drop(done.send(())),
        }
    }
}
