//! What a person is told of a limit that ended a run: its name, its figure, and the flag that raises it.
//! The same words in `run`, in a line and in a program.

use crate::{Limits, Outcome, port::FileLimit};

/// A size as people write one: `256.0 MiB`.
pub fn size_text(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

impl Outcome {
    /// Why it was ended before its own end; nothing of a guest that exited. `shared` is the memory that a
    /// line's shell and stages share, where there is such a line.
    pub fn remark(&self, limits: &Limits, shared: Option<u64>) -> Option<String> {
        Some(match self {
            Self::Exited(_) => return None,
            Self::Trapped(reason) => format!("trapped: {reason}"),
            Self::OutOfFuel => {
                format!("out_of_fuel: {} instructions are used up; --fuel allows more", limits.fuel_max)
            }
            Self::TimedOut => {
                format!("timed_out: {} s have passed; --timeout allows more", limits.wall_max.as_secs_f64())
            }
            Self::OutOfMemory => {
                let own = size_text(limits.memory_bytes_max);
                match shared.map(size_text) {
                    None => format!("out_of_memory: the limit is {own}; --memory allows more"),
                    Some(line) => format!(
                        "out_of_memory: the limit is {own}, and {line} for the whole line; \
                         --memory and --line-memory allow more"
                    ),
                }
            }
            Self::OutputLimit => format!(
                "output_limit: cut off after {}; --output-max allows more",
                size_text(limits.stdout_bytes_max.min(limits.stderr_bytes_max))
            ),
            Self::InputLimit => format!(
                "input_limit: stdin is longer than {}; --input-max allows more",
                size_text(limits.stdin_bytes_max)
            ),
            Self::Cancelled => "cancelled".into(),
        })
    }
}

impl FileLimit {
    /// The limit of its files that a run met, and what to do about it.
    pub fn remark(self) -> String {
        let more = match self {
            Self::Bytes | Self::FileBytes => "; --memory and --disk-max allow more",
            _ => "",
        };
        format!("quota_exceeded: {}: {self}{more}", self.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_names_its_figure_and_its_flag() {
        let limits = Limits::default();
        let mut rows: Vec<String> =
            Outcome::samples().iter().filter_map(|it| it.remark(&limits, None)).collect();
        rows.extend(Outcome::OutOfMemory.remark(&limits, Some(384 << 20)));
        insta::assert_snapshot!(rows.join("\n"), @r"
        trapped: unreachable
        out_of_fuel: 5000000000 instructions are used up; --fuel allows more
        timed_out: 30 s have passed; --timeout allows more
        out_of_memory: the limit is 64.0 MiB; --memory allows more
        output_limit: cut off after 8.0 MiB; --output-max allows more
        input_limit: stdin is longer than 64.0 MiB; --input-max allows more
        cancelled
        out_of_memory: the limit is 64.0 MiB, and 384.0 MiB for the whole line; --memory and --line-memory allow more
        ");
    }
}
