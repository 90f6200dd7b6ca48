//! Warnings of the rooms below go to stderr, one line each. There is no log file and no level to
//! set: what matters is in the audit journal.

use std::{
    fmt::{self, Write as _},
    sync::atomic::{AtomicBool, Ordering},
};

use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

/// Sends warnings and errors to stderr from now on.
pub(crate) fn install() {
    let _ = tracing::subscriber::set_global_default(Warnings);
}

/// What extensions log is told, too, from now on: for a developer who watches one.
pub(crate) fn show_extensions() {
    EXTENSIONS.store(true, Ordering::Relaxed);
}

static EXTENSIONS: AtomicBool = AtomicBool::new(false);

struct Warnings;

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        if metadata.target() == "drydock::extension" {
            // Told with its answer elsewhere, each line with whose it is: once is enough.
            return metadata.is_event() && EXTENSIONS.load(Ordering::Relaxed);
        }
        *metadata.level() <= Level::WARN && metadata.is_event() && metadata.target().starts_with("drydock")
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line::default();
        event.record(&mut line);
        crate::exit::warn(&format!("{}{}", line.message, line.fields));
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

#[derive(Default)]
struct Line {
    message: String,
    fields: String,
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " ({name}: {value:?})"),
        };
    }
}
