//! Where the data lives: `$DRYDOCK_HOME`, else the platform's data directory.

use std::{path::PathBuf, sync::Arc};

use anyhow::{Context as _, bail};
use drydock_embed::{
    CompileLimits, Dock, DockSettings, WorkerProgram,
    contract::Tenant,
    egress::{Egress, Parts, QuotaLimits},
    engine::EngineSettings,
    gate::{GateSettings, Recording},
    store::{Home, Shipped, ShippedCode, TenantHome},
};
use etcetera::BaseStrategy as _;

use crate::{extensions, models, progress, provide, searches};

/// The data directory.
pub(crate) fn path() -> anyhow::Result<PathBuf> {
    match std::env::var_os("DRYDOCK_HOME") {
        Some(home) if home.is_empty() => bail!("DRYDOCK_HOME is empty; unset it, or name a directory"),
        Some(home) => Ok(home.into()),
        None => {
            let base = etcetera::choose_base_strategy().context("no home directory; set DRYDOCK_HOME")?;
            Ok(base.data_dir().join("drydock"))
        }
    }
}

/// Opens the data directory alone.
pub(crate) fn open() -> anyhow::Result<Home> {
    Ok(Home::open(path()?)?)
}

/// What is kept for the tenant of the command line.
pub(crate) fn tenant() -> anyhow::Result<TenantHome> {
    Ok(open()?.tenant(&Tenant::default()))
}

/// Opens the whole machine, for one command and then the end of the process.
pub(crate) fn dock() -> anyhow::Result<Dock> {
    dock_with(CompileLimits::default())
}

/// The same with other limits for compiling a command that is not built in.
pub(crate) fn dock_with(compile: CompileLimits) -> anyhow::Result<Dock> {
    open_dock(DockSettings { compile, ..for_one() })
}

/// The settings of a process that does one thing.
fn for_one() -> DockSettings {
    let gate = GateSettings { recording: Recording::Ahead, ..GateSettings::default() };
    // One command, and at most 64 of its own in flight: a pool for a thousand takes a thousand
    // system calls to lay out, which is most of the start. So does each stack, and there is one handler at most.
    let engine = EngineSettings { slots: Some(72), spare_stacks: Some(1), ..EngineSettings::default() };
    DockSettings { gate, engine, ..DockSettings::default() }
}

/// The same for one request to an extension.
pub(crate) fn dock_invoking() -> anyhow::Result<Dock> {
    open_dock(DockSettings { extensions: extensions::settings()?, ..for_one() })
}

/// Opens the whole machine for a server: many callers at once, each principal with so many calls in a minute, and with so
/// much on its way out.
pub(crate) fn dock_serving(calls_max: u32, quota: QuotaLimits) -> anyhow::Result<Dock> {
    let gate = GateSettings { calls_max, ..GateSettings::default() };
    let egress = Some(Arc::new(Egress::new(Parts { quota, ..Parts::default() })));
    open_dock(DockSettings { gate, egress, extensions: extensions::settings()?, ..DockSettings::default() })
}

fn open_dock(settings: DockSettings) -> anyhow::Result<Dock> {
    let settings = DockSettings {
        on_compile: Some(Arc::new(progress::on_compile)),
        worker: Some(worker()),
        shipped: shipped(),
        provider: Some(Arc::new(provide::provider())),
        models: Some(models::source()),
        search: Some(searches::source()),
        ..settings
    };
    Ok(Dock::open_with(path()?, settings)?)
}

/// This program is its own compile worker.
pub(crate) fn worker() -> WorkerProgram {
    WorkerProgram::this_one(["compile-worker"])
}

/// The code that `cargo xtask dist` made; nothing in other builds.
const SHIPPED: &[ShippedCode] = include!(concat!(env!("OUT_DIR"), "/shipped.rs"));

/// Where it lies: beside the folder of the binary, as in the archive.
fn shipped() -> Option<Shipped> {
    if SHIPPED.is_empty() {
        return None;
    }
    let bin = std::env::current_exe().ok()?;
    Some(Shipped { dir: bin.parent()?.parent()?.join("lib/drydock/code"), codes: SHIPPED })
}
