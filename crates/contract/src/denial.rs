//! Policy said no. A closed list with stable codes: guests, logs and tests match on them.

use std::sync::Arc;

use crate::Cap;

/// Why a call was refused, and what would have allowed it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Denial {
    /// The principal lost every power.
    #[error("principal is revoked")]
    Revoked,
    /// Too many calls in the current minute, or too many principals to count.
    #[error("rate limit of {calls_max} calls in {window_s} s reached; try again later")]
    RateLimited {
        /// Calls allowed in a window.
        calls_max: u32,
        /// Length of the window.
        window_s: u32,
    },
    /// No live grant covers the power. The default.
    #[error("capability `{cap}` is not granted{why}")]
    NotGranted {
        /// The power that was asked for.
        cap: Cap,
        /// Empty, or why a grant that was there does not count.
        why: &'static str,
    },
    /// A command started a command that started a command, too many times.
    #[error("nesting depth {depth} exceeds {max}")]
    MaxDepth {
        /// The depth of this call.
        depth: u32,
        /// The deepest allowed.
        max: u32,
    },
    /// The request is larger than the operation allows.
    #[error("{what} of {bytes} bytes exceeds the limit of {max}")]
    TooLarge {
        /// Which part of it.
        what: &'static str,
        /// Its size.
        bytes: u64,
        /// The limit.
        max: u64,
    },
    /// The bytes do not parse.
    #[error("malformed request: {0}")]
    Malformed(String),
    /// Nothing answers to this operation.
    #[error("unknown operation `{}`", shown(.0))]
    UnknownOperation(String),
    /// The grant names other commands.
    #[error("command `{}` is not in the granted list", shown(.0))]
    CommandNotGranted(Arc<str>),
    /// Nobody registered the name.
    #[error("unknown command `{}`", shown(.0))]
    UnknownCommand(Arc<str>),
    /// A file that was called by its path is none that runs.
    #[error("`{}` cannot be executed: {why}", shown(.path))]
    NotExecutable {
        /// The path as it was called.
        path: Arc<str>,
        /// What it lacks.
        why: &'static str,
    },
    /// No grant names the tool, or none allows it with these arguments.
    #[error("tool `{}` is not granted{why}", shown(tool))]
    ToolNotGranted {
        /// `provider.tool`.
        tool: Arc<str>,
        /// Empty, or which part of a grant that names it stands in the way.
        why: &'static str,
    },
    /// The principal has as many runs in flight as it may.
    #[error("{max} commands are running already for this principal")]
    TooManyProcesses {
        /// The cap.
        max: u32,
    },
    /// The session's budget is spent.
    #[error("budget exceeded: {0}")]
    BudgetExceeded(&'static str),
}

/// A guest's text without the power to move a cursor or to start a line.
fn shown(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

impl Denial {
    /// The stable code, as the seeds spell it.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Revoked => "revoked",
            Self::RateLimited { .. } => "rate_limited",
            Self::NotGranted { .. } => "denied",
            Self::MaxDepth { .. } => "max_depth",
            Self::TooLarge { .. } => "too_large",
            Self::Malformed(_) => "malformed",
            Self::UnknownOperation(_) => "unknown_operation",
            Self::CommandNotGranted(_) => "command_not_granted",
            Self::UnknownCommand(_) => "unknown_command",
            Self::NotExecutable { .. } => "not_executable",
            Self::ToolNotGranted { .. } => "tool_not_granted",
            Self::TooManyProcesses { .. } => "too_many_processes",
            Self::BudgetExceeded(_) => "budget_exceeded",
        }
    }

    /// The smallest grant that would have allowed the call, where a grant would.
    pub fn remedy(&self) -> Option<String> {
        match self {
            Self::NotGranted { cap, .. } => Some(format!("grant `{cap}`")),
            Self::CommandNotGranted(name) => Some(format!("grant `exec` for `{name}`")),
            Self::ToolNotGranted { tool, .. } => Some(format!("grant `tool` for `{tool}`")),
            _ => None,
        }
    }

    /// One of each, for docs and snapshots.
    pub fn samples() -> Vec<Denial> {
        vec![
            Self::Revoked,
            Self::RateLimited { calls_max: 120_000, window_s: 60 },
            Self::NotGranted { cap: Cap::Exec, why: "" },
            Self::NotGranted { cap: Cap::Exec, why: ": the grant has expired" },
            Self::MaxDepth { depth: 9, max: 8 },
            Self::TooLarge { what: "argv", bytes: 300_000, max: 262_144 },
            Self::Malformed("4 bytes of a name were promised, 2 are there".into()),
            Self::UnknownOperation("exec.destroy".into()),
            Self::CommandNotGranted("jq".into()),
            Self::UnknownCommand("rm -rf /".into()),
            Self::NotExecutable { path: "./prog".into(), why: "it has no permission bit for it" },
            Self::ToolNotGranted { tool: "files.write".into(), why: "" },
            Self::ToolNotGranted { tool: "files.write".into(), why: " with these arguments" },
            Self::TooManyProcesses { max: 64 },
            Self::BudgetExceeded("fuel"),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_denial_has_a_stable_code_and_a_clear_message() {
        let list: Vec<String> = Denial::samples()
            .iter()
            .map(|it| format!("{:<20} {it} [{}]", it.code(), it.remedy().unwrap_or_default()))
            .collect();
        insta::assert_snapshot!(list.join("\n"), @r"
        revoked              principal is revoked []
        rate_limited         rate limit of 120000 calls in 60 s reached; try again later []
        denied               capability `exec` is not granted [grant `exec`]
        denied               capability `exec` is not granted: the grant has expired [grant `exec`]
        max_depth            nesting depth 9 exceeds 8 []
        too_large            argv of 300000 bytes exceeds the limit of 262144 []
        malformed            malformed request: 4 bytes of a name were promised, 2 are there []
        unknown_operation    unknown operation `exec.destroy` []
        command_not_granted  command `jq` is not in the granted list [grant `exec` for `jq`]
        unknown_command      unknown command `rm -rf /` []
        not_executable       `./prog` cannot be executed: it has no permission bit for it []
        tool_not_granted     tool `files.write` is not granted [grant `tool` for `files.write`]
        tool_not_granted     tool `files.write` is not granted with these arguments [grant `tool` for `files.write`]
        too_many_processes   64 commands are running already for this principal []
        budget_exceeded      budget exceeded: fuel []
        ");
    }
}
