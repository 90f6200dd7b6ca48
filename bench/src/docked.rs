//! Ourselves: a real dock in a temporary home, with the journal on and every rung climbed.

use std::time::Instant;

use anyhow::{Context as _, ensure};
use bytes::Bytes;
use drydock_embed::{
    Dock, DockSession, DockSettings, Setup,
    gate::{GateSettings, Recording},
};
use tokio::runtime::Runtime;

/// A dock and one session of it.
pub(crate) struct Docked {
    pub(crate) dock: Dock,
    pub(crate) session: DockSession,
    _home: tempfile::TempDir,
}

impl Docked {
    /// Opens a dock whose rate limit counts but does not stop us.
    pub(crate) fn open() -> anyhow::Result<Self> {
        let home = tempfile::tempdir().context("no temporary folder")?;
        let gate =
            GateSettings { calls_max: u32::MAX, recording: Recording::Behind, ..GateSettings::default() };
        let dock = Dock::open_with(home.path(), DockSettings { gate, ..DockSettings::default() })?;
        let session = dock.session("bench", Setup::allowing(["upper", "jq"])?)?;
        Ok(Self { dock, session, _home: home })
    }

    /// Runs `upper` once over the text and looks at what comes back.
    pub(crate) async fn try_upper(&self, text: &Bytes) -> anyhow::Result<()> {
        let run = self.session.run("upper", &[], text.clone()).await?;
        ensure!(run.success() && run.stdout == text.to_ascii_uppercase(), "upper did not: {:?}", run.outcome);
        Ok(())
    }

    /// Runs `upper` so many times on the runtime, and answers the seconds of each.
    pub(crate) fn time_upper(
        &self,
        runtime: &Runtime,
        text: &Bytes,
        calls: usize,
    ) -> anyhow::Result<Vec<f64>> {
        runtime.block_on(async {
            let mut seconds = Vec::with_capacity(calls);
            for _ in 0..calls {
                let started = Instant::now();
                let run = self.session.run("upper", &[], text.clone()).await?;
                seconds.push(started.elapsed().as_secs_f64());
                ensure!(run.stdout.len() == text.len(), "upper lost something: {:?}", run.outcome);
            }
            Ok(seconds)
        })
    }
}

/// A runtime like the binary's.
pub(crate) fn runtime() -> anyhow::Result<Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().context("no runtime")
}

/// 1 KiB of lower case in lines, what the tiny command is fed.
pub(crate) fn one_kib() -> Bytes {
    let line = b"the quick brown fox jumps over the lazy dog, and once again....\n";
    Bytes::from(line.repeat(1024 / line.len()))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_text_is_one_kib() {
        assert_eq!(super::one_kib().len(), 1024);
    }
}
