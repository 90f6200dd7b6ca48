//! `drydock precompile --out DIR`: code of the built-in modules for any machine of this architecture, and the
//! list of hashes that the next build of this program is given. A step of `cargo xtask dist`.

use std::{fmt::Write as _, path::PathBuf, process::ExitCode};

use anyhow::Context as _;
use clap::Args;
use drydock_embed::built_in_code;

#[derive(Debug, Args)]
pub(crate) struct Precompile {
    /// Where to write it
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub(crate) fn run(precompile: Precompile) -> anyhow::Result<ExitCode> {
    let out = precompile.out;
    std::fs::create_dir_all(&out).with_context(|| format!("could not make `{}`", out.display()))?;
    let mut list = String::new();
    for built in built_in_code() {
        let code = built.compile().map_err(|why| anyhow::anyhow!("`{}`: {why}", built.name))?;
        let file = format!("{}-{}.cwasm", built.name, built.lane);
        let path = out.join(&file);
        std::fs::write(&path, &code).with_context(|| format!("could not write `{}`", path.display()))?;
        writeln!(
            list,
            "{file} {} {} {}",
            built.sha256,
            built.lane,
            drydock_embed::store::shipped_hash(&code)
        )?;
    }
    let path = out.join("list");
    std::fs::write(&path, list).with_context(|| format!("could not write `{}`", path.display()))?;
    Ok(ExitCode::SUCCESS)
}
