//! `drydock ext dev FILE`: an extension under development, served, and installed anew whenever its file changes.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, SystemTime},
};

use anyhow::{Context as _, bail};
use clap::Args;
use drydock_embed::{
    Dock, InstallationSettings, SystemClock,
    contract::{CommandName, port::Clock as _},
    egress::QuotaLimits,
};
use drydock_serve::{Reach, ServeSettings};

use super::{
    super::serve::{self, Listening, serve_until_told},
    manage::{Settings, tell_unused},
};
use crate::{exit, home, log, module};

/// Between two looks at the file.
const LOOK: Duration = Duration::from_millis(200);
/// Calls of one principal in a minute.
const CALLS_PER_MINUTE: u32 = 6_000_000;

#[derive(Debug, Args)]
#[command(after_help = "\
The extension is installed for the tenant dev under the name of its file, or NAME, and stays
installed. What it logs is printed. A file that cannot be installed is told of, and what was there
before goes on answering.

Example:
  drydock ext dev shop.wat --listen 8080    then: curl http://127.0.0.1:8080/x/shop/")]
pub(super) struct Dev {
    /// WebAssembly, its text (.wat), or JavaScript with a function `handler` (.js)
    file: PathBuf,
    /// What it is called [default: the name of the file]
    #[arg(long, value_name = "NAME")]
    name: Option<CommandName>,
    #[command(flatten)]
    settings: Settings,
    #[command(flatten)]
    listening: Listening,
}

pub(super) fn run(dev: Dev) -> anyhow::Result<ExitCode> {
    let stem = dev.file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let name = match dev.name {
        Some(name) => name,
        None => {
            stem.parse().with_context(|| format!("`{stem}` cannot be its name; give it one with --name"))?
        }
    };
    if !dev.listening.listen.ip().is_loopback() {
        bail!("{} is not loopback; `drydock serve` is for others", dev.listening.listen);
    }
    log::show_extensions();
    let dock = home::dock_serving(CALLS_PER_MINUTE, QuotaLimits::default())?;
    let seen = changed(&dev.file);
    let settings = dev.settings.of()?;
    tell_unused(&settings);
    let runtime = serve::runtime()?;
    runtime.block_on(install(&dock, &name, &dev.file, &settings))?;
    let serving = ServeSettings {
        reach: Reach::Loopback,
        host_names: dev.listening.host_name.clone(),
        ..ServeSettings::default()
    };
    let reloading = move |dock| reload(dock, name, dev.file, settings, seen);
    let code = serve_until_told(&runtime, dock, serving, dev.listening.listen, None, reloading)?;
    serve::end(runtime);
    Ok(code)
}

/// When the file was written last, as far as anybody knows.
fn changed(file: &Path) -> Option<(SystemTime, u64)> {
    let facts = std::fs::metadata(file).ok()?;
    Some((facts.modified().ok()?, facts.len()))
}

async fn reload(
    dock: Dock,
    name: CommandName,
    file: PathBuf,
    settings: InstallationSettings,
    mut seen: Option<(SystemTime, u64)>,
) {
    loop {
        tokio::time::sleep(LOOK).await;
        let now = changed(&file);
        // A file that is gone is about to be written.
        if now.is_none() || now == seen {
            continue;
        }
        seen = now;
        if let Err(error) = install(&dock, &name, &file, &settings).await {
            exit::warn(&format!("{error:#}; what was there before goes on answering"));
        }
    }
}

async fn install(
    dock: &Dock,
    name: &CommandName,
    file: &Path,
    settings: &InstallationSettings,
) -> anyhow::Result<()> {
    let code = module::read_extension(file)?;
    let made = dock.install_extension(name.clone(), code, settings.clone(), SystemClock.now()).await?;
    exit::warn(&format!("installed {} as version {}: /x/{}/", made.name, made.version, made.name));
    Ok(())
}
