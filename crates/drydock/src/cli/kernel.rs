//! `drydock kernel call FILE`: bytes through a kernel that lives for as long as there is input.

use std::{path::PathBuf, process::ExitCode, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use clap::{Args, Subcommand};
use drydock_embed::{
    Dock, DockSession, KERNEL_LIMITS, KernelError, Setup,
    contract::{
        Kernel, Limits,
        exit::{CANCELLED, LIMITED, TIMED_OUT},
    },
};
use serde_json::json;

use super::run::{PRINCIPAL, cancellable};
use crate::{exit, home, module, show};

/// The largest input that is read. How much a kernel takes is said by its arena.
const INPUT_BYTES_MAX: u64 = 64 << 20;

#[derive(Debug, Args)]
pub(crate) struct KernelCommand {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Call a kernel once for each input and print its outputs
    Call(Call),
}

#[derive(Debug, Args)]
#[command(after_help = "\
A kernel exports `memory` and `process(in_len) -> out_len`, and imports nothing. It is made once and keeps its memory
from input to input.
Exit status: 0; 1 the kernel answered a negative number; 124 timed out; 125 any other failure; 126 denied; 130 Ctrl-C.")]
struct Call {
    /// The module, as WebAssembly or as its text (.wat)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// An input; may be repeated; - is stdin [default: -]
    #[arg(long, value_name = "FILE")]
    input: Vec<PathBuf>,
    /// The function that is called
    #[arg(long, value_name = "NAME", default_value = "process")]
    entry: String,
    /// Where its input is put
    #[arg(long, value_name = "N", default_value_t = 1_024)]
    in_offset: u32,
    /// Where its output is read
    #[arg(long, value_name = "N", default_value_t = 65_536)]
    out_offset: u32,
    /// Time of one call
    #[arg(long, value_name = "N", default_value_t = 60_000, value_parser = clap::value_parser!(u64).range(1..=86_400_000))]
    timeout_ms: u64,
    /// Its memory in MiB
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..=4096))]
    memory_mb: u64,
    /// Print one JSON object for each input: output_b64, fuel, memory_bytes, duration_us
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(kernel: KernelCommand) -> anyhow::Result<ExitCode> {
    let Command::Call(call) = kernel.command;
    let module = module::read(&call.file)?;
    let wall_max = Duration::from_millis(call.timeout_ms);
    let limits = Limits { wall_max, memory_bytes_max: call.memory_mb << 20, ..KERNEL_LIMITS };
    let dock = home::dock()?;
    let session = dock.session(PRINCIPAL, Setup::instances(limits))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let done = runtime.block_on(cancellable(&session, call.over_all(&dock, &session, module)));
    if let Err(error) = dock.gate().flush() {
        exit::warn(&error);
    }
    // The process ends here; taking the pool apart page by page would only delay it.
    std::mem::forget(dock);
    match done {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => match error.downcast::<KernelError>() {
            Ok(failed) => Ok(ExitCode::from(call.tell(&failed)?)),
            Err(other) => Err(other),
        },
    }
}

impl Call {
    async fn over_all(&self, dock: &Dock, session: &DockSession, module: Vec<u8>) -> anyhow::Result<()> {
        let entry = self.entry.clone();
        let kernel = Kernel { entry, in_offset: self.in_offset, out_offset: self.out_offset };
        let module = dock.hand_over(module).await;
        let kernel = dock.open_kernel(session, &module, kernel).await?;
        let stdin = [PathBuf::from("-")];
        let inputs = if self.input.is_empty() { &stdin[..] } else { &self.input[..] };
        for file in inputs {
            let input = module::read_data(file, INPUT_BYTES_MAX)?;
            let output = kernel.call(&input, Duration::from_millis(self.timeout_ms)).await?;
            match self.json {
                true => show::json(&json!({
                    "output_b64": STANDARD.encode(&output.bytes), "fuel": output.fuel,
                    "memory_bytes": output.memory_bytes, "duration_us": output.duration_us,
                }))?,
                false => show::bytes(&output.bytes)?,
            }
        }
        Ok(())
    }

    /// Says why there is no output, and answers the status for it.
    fn tell(&self, failed: &KernelError) -> anyhow::Result<u8> {
        let (code, text) = (failed.code(), failed.to_string());
        match self.json {
            true => show::json(&json!({ "error": { "code": code, "message": text } }))?,
            false => exit::warn(&format!("{code}: {text}")),
        }
        Ok(match (failed, code) {
            (KernelError::Call(error), _) => error.exit_status(),
            (_, "timed_out") => TIMED_OUT,
            (_, "cancelled") => CANCELLED,
            (_, "bad_entry_result") => 1,
            _ => LIMITED,
        })
    }
}
