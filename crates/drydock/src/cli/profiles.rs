//! `drydock profiles`.

use std::process::ExitCode;

use clap::Args;
use drydock_embed::{SPECS, contract::Cap, gate::Profile};
use serde_json::json;

use crate::show;

#[derive(Debug, Args)]
pub(crate) struct Profiles {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(profiles: Profiles) -> anyhow::Result<ExitCode> {
    let caps = |profile: &Profile| profile.caps.iter().map(Cap::as_str).collect::<Vec<_>>();
    if profiles.json {
        let rows: Vec<_> = Profile::ALL
            .iter()
            .map(|it| {
                json!({ "name": it.name, "memory_bytes_max": it.memory_bytes_max,
                        "call_ms_max": it.call_max.as_millis() as u64, "capabilities": caps(it) })
            })
            .collect();
        show::json(&rows)?;
        return Ok(ExitCode::SUCCESS);
    }
    // What a guest can really be given: files, and the powers that are specified.
    let there = |cap: &str| cap == Cap::Vfs.as_str() || SPECS.iter().any(|spec| spec.cap.as_str() == cap);
    let marked = |it: &Profile| -> Vec<String> {
        caps(it).into_iter().map(|cap| if there(cap) { cap.to_owned() } else { format!("({cap})") }).collect()
    };
    let rows = Profile::ALL.iter().map(|it| {
        let memory = format!("{} MiB", it.memory_bytes_max >> 20);
        [it.name.to_owned(), memory, format!("{} s", it.call_max.as_secs()), marked(it).join(" ")]
    });
    show::table(["PROFILE", "MEMORY", "CALL", "CAPABILITIES"], rows)?;
    show::line(
        "\nBehind a power in brackets there is nothing yet. An unknown profile is `compute`. A command may run for 30 s under any of them.",
    )?;
    Ok(ExitCode::SUCCESS)
}
