//! `drydock profiles`.

use std::process::ExitCode;

use clap::Args;
use drydock_embed::{
    SPECS,
    contract::{Cap, CapSet},
    gate::Profile,
};
use serde_json::json;

use crate::show;

#[derive(Debug, Args)]
pub(crate) struct Profiles {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(profiles: Profiles) -> anyhow::Result<ExitCode> {
    let names = |caps: CapSet| caps.iter().map(Cap::as_str).collect::<Vec<_>>();
    if profiles.json {
        let rows: Vec<_> = Profile::ALL
            .iter()
            .map(|it| {
                json!({ "name": it.name, "memory_bytes_max": it.memory_bytes_max,
                        "call_ms_max": it.call_max.as_millis() as u64, "capabilities": names(it.importable),
                        "granted": names(it.granted()) })
            })
            .collect();
        show::json(&rows)?;
        return Ok(ExitCode::SUCCESS);
    }
    // What a guest can really be given: files, and the powers that are specified.
    let there = |cap: &str| cap == Cap::Vfs.as_str() || SPECS.iter().any(|spec| spec.cap.as_str() == cap);
    let marked = |it: &Profile| -> Vec<String> {
        let marked = |cap: Cap| {
            let mark = if it.granted().contains(cap) { "" } else { "*" };
            if there(cap.as_str()) { format!("{cap}{mark}") } else { format!("({cap}){mark}") }
        };
        it.importable.iter().map(marked).collect()
    };
    let rows = Profile::ALL.iter().map(|it| {
        let memory = format!("{} MiB", it.memory_bytes_max >> 20);
        [it.name.to_owned(), memory, format!("{} s", it.call_max.as_secs()), marked(it).join(" ")]
    });
    show::table(["PROFILE", "MEMORY", "CALL", "CAPABILITIES"], rows)?;
    show::line(
        "\nBehind a power in brackets there is nothing yet. A power with a star can be imported, and reaches only what a grant \
         names\n(`drydock grants --help`). `net` can be imported wherever `tcp` can, and reaches the hosts that `--allow-host` names.\nAn unknown profile is `compute`. A command may run for 30 s under any of them.",
    )?;
    Ok(ExitCode::SUCCESS)
}
