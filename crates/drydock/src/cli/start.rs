//! How a registered command is started: the flags of `commands add` for modules that need more than a name.

use std::time::Duration;

use clap::Args;
use drydock_embed::contract::{
    Digest,
    port::{EntryCompile, EntryDir, EntryLimits, EntryOptions, Interruption, WasmFeatures},
};

use super::compile::CompileFlags;
use crate::units;

#[derive(Debug, Args)]
pub(crate) struct StartFlags {
    /// What the program sees as its own name, for one binary that is several programs
    #[arg(long, value_name = "NAME")]
    argv0: Option<String>,
    /// An argument that comes before the caller's; may be repeated
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    arg: Vec<String>,
    /// A variable for callers that have none of that name; may be repeated
    #[arg(long, value_name = "K=V")]
    env: Vec<String>,
    /// A directory tree of the store that the program sees read-only; may be repeated
    #[arg(long, value_name = "SHA256:/PATH", value_parser = tree)]
    tree: Vec<EntryDir>,
    /// It goes to $PWD by itself, and needs no directory `.`
    #[arg(long)]
    starts_in_pwd: bool,
    /// Count instructions (fuel), or interrupt by the clock alone (tick), which is faster
    #[arg(long, value_name = "fuel|tick", default_value = "fuel")]
    lane: Interruption,
    /// Memory that it gets where the caller names none
    #[arg(long, value_name = "SIZE", value_parser = units::memory)]
    memory: Option<u64>,
    /// Time that it gets where the caller names none
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    timeout: Option<Duration>,
    /// A feature of WebAssembly that the module needs: exceptions; may be repeated
    #[arg(long, value_name = "NAME", value_parser = feature)]
    feature: Vec<&'static str>,
}

impl StartFlags {
    /// The options they describe. What compiling took is kept, because it is compiled again after an update.
    pub(crate) fn options(&self, compile: &CompileFlags) -> EntryOptions {
        let features =
            self.feature.iter().fold(WasmFeatures::NONE, |all, name| all.with(name).unwrap_or(all));
        let millis = |it: Duration| u64::try_from(it.as_millis()).unwrap_or(u64::MAX);
        let (compile_wall, compile_memory) = compile.chosen();
        EntryOptions {
            image: None,
            argv0: self.argv0.clone(),
            argv: self.arg.clone(),
            env: self.env.clone(),
            dirs: self.tree.clone(),
            limits: EntryLimits {
                memory_bytes_max: self.memory,
                wall_ms_max: self.timeout.map(millis),
                fuel_max: None,
            },
            compile: EntryCompile { memory_bytes_max: compile_memory, wall_ms_max: compile_wall.map(millis) },
            starts_in_pwd: self.starts_in_pwd,
            lane: self.lane,
            features,
        }
    }
}

fn tree(text: &str) -> Result<EntryDir, String> {
    let (tree, path) = text.split_once(':').ok_or("use SHA256:/PATH, such as 3f…:/usr")?;
    let tree: Digest =
        tree.parse().map_err(|error: drydock_embed::contract::NotADigest| error.to_string())?;
    Ok(EntryDir { tree, path: path.to_owned() })
}

fn feature(text: &str) -> Result<&'static str, String> {
    let known = WasmFeatures::NAMES;
    let found = known.into_iter().find(|it| *it == text);
    found
        .ok_or_else(|| format!("`{text}` is no feature that can be turned on; there is {}", known.join(", ")))
}
