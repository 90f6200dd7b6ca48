//! Warnings of the rooms below go to stderr, one line each. There is no log file and no level to
//! set: what matters is in the audit journal. Spans go where `drydock serve` was told, if it was.

use std::{
    fmt::{self, Write as _},
    sync::atomic::{AtomicBool, Ordering},
};

use drydock_serve::Telemetry;
use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    Layer, filter::filter_fn, layer::Context, layer::SubscriberExt as _, registry,
    util::SubscriberInitExt as _,
};

/// Sends warnings and errors to stderr from now on, and spans to that collector if there is one. The first who says it
/// is heard.
pub(crate) fn install(telemetry: Option<&Telemetry>) {
    let told = registry().with(Warnings.with_filter(filter_fn(is_told)));
    // Two stacks, and not one with a layer that may be none: such a layer would have every span made for nobody.
    let _ = match telemetry {
        None => told.try_init(),
        Some(telemetry) => told.with(telemetry.layer()).try_init(),
    };
}

/// What extensions log is told, too, from now on: for a developer who watches one.
pub(crate) fn show_extensions() {
    EXTENSIONS.store(true, Ordering::Relaxed);
}

static EXTENSIONS: AtomicBool = AtomicBool::new(false);

fn is_told(metadata: &Metadata<'_>) -> bool {
    if metadata.target() == "drydock::extension" {
        // Told with its answer elsewhere, each line with whose it is: once is enough.
        return metadata.is_event() && EXTENSIONS.load(Ordering::Relaxed);
    }
    *metadata.level() <= Level::WARN && metadata.is_event() && metadata.target().starts_with("drydock")
}

struct Warnings;

impl<S: Subscriber> Layer<S> for Warnings {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut line = Line::default();
        event.record(&mut line);
        crate::exit::warn(&format!("{}{}", line.message, line.fields));
    }
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
