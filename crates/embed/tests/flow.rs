//! The flow of a command, hop by hop: what `docs/flows/command.md` tells.
#![allow(clippy::unwrap_used)]

use std::{
    fmt,
    sync::{Arc, Mutex},
};

use drydock_embed::{Dock, Setup};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

#[derive(Clone, Default)]
struct Hops(Arc<Mutex<Vec<String>>>);

impl Subscriber for Hops {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "drydock::hop"
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Words(&mut self.0.lock().unwrap()));
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

struct Words<'a>(&'a mut Vec<String>);

impl Visit for Words<'_> {
    fn record_debug(&mut self, _: &Field, value: &dyn fmt::Debug) {
        self.0.push(format!("{value:?}"));
    }
}

#[test]
fn a_command_takes_five_hops() {
    let hops = Hops::default();
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    tracing::subscriber::with_default(hops.clone(), || {
        let dock = Dock::open(folder.path()).unwrap();
        let session = dock.session("me", Setup::profile("minimal")).unwrap();
        runtime.block_on(session.run("upper", &[], "x")).unwrap();
    });
    insta::assert_snapshot!(hops.0.lock().unwrap().join("\n"), @r"
    embed: a name, a list of arguments and streams become a call
    gate: Call{exec.start} climbs the ladder
    caps/exec: `upper` is a verified artifact
    engine: a fresh instance with a deadline and limits of work and memory
    embed: exited(0) and what it cost
    ");
}
