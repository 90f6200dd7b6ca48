//! What is said of the machine: its cores, its load, and what this process and its children use. No
//! names.

use std::fs;

use anyhow::Context as _;

/// Linux counts the CPU time it tells in these, on every architecture.
const TICKS_PER_SECOND: f64 = 100.0;

pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The load average of the last minute.
pub(crate) fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|it| it.parse().ok()).unwrap_or(f64::NAN)
}

/// Bytes of this process that are resident.
pub(crate) fn resident_bytes() -> anyhow::Result<u64> {
    let status = fs::read_to_string("/proc/self/status").context("there is no /proc here")?;
    let line =
        status.lines().find_map(|it| it.strip_prefix("VmRSS:")).context("the kernel tells no VmRSS")?;
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse().context("VmRSS is not a number")?;
    Ok(kib * 1024)
}

/// Seconds of CPU that this process took so far, to the hundredth.
pub(crate) fn cpu_seconds() -> f64 {
    of_stat(11)
}

/// Seconds of CPU that children which have ended took together, to the hundredth.
pub(crate) fn children_cpu_seconds() -> f64 {
    of_stat(13)
}

/// Two times that stand side by side, of the user and of the system.
fn of_stat(skipped: usize) -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The second field is a name that may hold anything; its closing bracket is the last one.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks = fields.split_whitespace().skip(skipped).take(2).filter_map(|it| it.parse::<f64>().ok());
    ticks.sum::<f64>() / TICKS_PER_SECOND
}
