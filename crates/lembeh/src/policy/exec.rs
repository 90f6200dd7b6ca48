//! cap.exec.v1: what may be started, and what may be asked about it.

use std::collections::BTreeMap;

use drydock_abi::lembeh::{
    Trace,
    exec::{StartParams, Status, decode_start, decode_status, trace_of},
};
use drydock_gate::process::PROCESSES_MAX;

/// How a program's id is spelled, as CAPS_DESCRIBE says it.
pub const PROG_ID_SYNTAX: &str = "[A-Za-z0-9/_-]+, no '..', no leading '/'";

/// A program on the allowlist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The command behind it; none if it is not there.
    pub command: Option<String>,
    /// Whether it needs a terminal.
    pub needs_tty: bool,
}

/// What a session may start. The default is nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecPolicy {
    /// The allowlist, by logical names.
    pub programs: BTreeMap<String, Program>,
    /// How many arguments, with the program's own name.
    pub args_max: u32,
    /// How many variables.
    pub env_max: u32,
    /// The bytes of all arguments.
    pub argv_bytes_max: u64,
    /// The bytes of all keys and values.
    pub env_bytes_max: u64,
    /// How many handles the session's processes may have.
    pub handles_max: u32,
    /// How many processes may run at once; never more than a principal may have.
    pub processes_max: u32,
    /// Whether a program may have a terminal.
    pub tty_allowed: bool,
    /// Whether the status of processes is told.
    pub listable: bool,
    /// How many programs may be started in all; 0 is as many as one likes.
    pub starts_max: u32,
    /// What each process may take.
    pub process: ProcessLimits,
}

/// What one process may take, and what is told of it afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessLimits {
    /// Bytes of stdin; 0 is as many as one likes.
    pub stdin_bytes_max: u64,
    /// Bytes of stdout, and of stderr: each.
    pub stdout_bytes_max: u64,
    /// Wall clock; 0 is as long as the guest itself lives.
    pub time_limit_ms: u64,
    /// Computing time; 0 is none of its own.
    pub cpu_time_ms: u64,
    /// Memory.
    pub mem_limit_bytes: u64,
    /// What a start itself may take.
    pub start_timeout_ms: u64,
    /// How long status is kept after the end.
    pub grace_ms: u64,
}

/// The shortest time that status is kept.
pub const GRACE_MS_MIN: u64 = 500;

impl Default for ProcessLimits {
    fn default() -> Self {
        Self {
            stdin_bytes_max: 16 << 20,
            stdout_bytes_max: 16 << 20,
            time_limit_ms: 30_000,
            cpu_time_ms: 0,
            mem_limit_bytes: 64 << 20,
            start_timeout_ms: 10_000,
            grace_ms: 1_000,
        }
    }
}

impl Default for ExecPolicy {
    fn default() -> Self {
        Self {
            programs: BTreeMap::new(),
            args_max: 256,
            env_max: 64,
            argv_bytes_max: 64 << 10,
            env_bytes_max: 64 << 10,
            handles_max: 96,
            processes_max: 32,
            tty_allowed: false,
            listable: true,
            starts_max: 0,
            process: ProcessLimits::default(),
        }
    }
}

/// What the session has open now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExecLoad {
    /// Handles of its processes.
    pub handles: u32,
    /// Processes that are not over.
    pub processes: u32,
    /// Whether the session's budget allows another process.
    pub budget_spent: bool,
}

/// A start that is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowed<'a, 'p> {
    /// What was asked for.
    pub params: StartParams<'a>,
    /// The command behind the program's id.
    pub command: &'p str,
}

impl ExecPolicy {
    /// Judges the params of `exec.start.v1`. The first rule that is broken is told.
    pub fn judge_start<'a>(&self, params: &'a [u8], load: &ExecLoad) -> Result<Allowed<'a, '_>, Trace> {
        let params = decode_start(params).map_err(|why| trace_of(&why))?;
        if !is_prog_id(params.prog_id) {
            return Err(Trace::ExecBadProg);
        }
        let program = self.programs.get(params.prog_id).ok_or(Trace::ExecNotAllowed)?;
        if !self.takes(&params) {
            return Err(Trace::ExecBadArgs);
        }
        if program.needs_tty && !self.tty_allowed {
            return Err(Trace::ExecTtyDenied);
        }
        if params.handles() > self.handles_max.saturating_sub(load.handles) {
            return Err(Trace::ExecTooManyHandles);
        }
        if load.budget_spent {
            return Err(Trace::ExecLimits);
        }
        if load.processes >= self.processes_at_once() {
            return Err(Trace::ExecBusy);
        }
        let command = program.command.as_deref().ok_or(Trace::ExecNotFound)?;
        Ok(Allowed { params, command })
    }

    /// How many processes may run at once: what was asked for, and no more than a principal may have.
    pub fn processes_at_once(&self) -> u32 {
        self.processes_max.min(PROCESSES_MAX)
    }

    /// Judges the params of `exec.status.v1`; `find` looks a process up.
    pub fn judge_status(
        &self,
        params: &[u8],
        find: impl FnOnce(u32) -> Option<Status>,
    ) -> Result<Status, Trace> {
        let exec_id = decode_status(params).map_err(|_| Trace::AsyncBadParams)?;
        if !self.listable {
            return Err(Trace::ExecNotListable);
        }
        find(exec_id).ok_or(Trace::ExecNotFound)
    }

    /// Whether arguments and environment are within their limits.
    fn takes(&self, params: &StartParams<'_>) -> bool {
        let args = &params.args;
        (1..=self.args_max).contains(&args.count())
            && params.env_count() <= self.env_max
            && args.total_bytes() <= self.argv_bytes_max
            && params.env_bytes() <= self.env_bytes_max
            && params.env().all(|(key, _)| !key.is_empty() && !key.contains('='))
    }
}

/// Whether a text is spelled as [`PROG_ID_SYNTAX`] says. A dot is no part of it, so `..` is neither.
fn is_prog_id(text: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'_' | b'-');
    !text.is_empty() && !text.starts_with('/') && text.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use drydock_abi::lembeh::exec::{State, encode_start, encode_status};

    use super::*;

    fn policy() -> ExecPolicy {
        let program =
            |command: Option<&str>, needs_tty| Program { command: command.map(str::to_owned), needs_tty };
        let programs = [
            ("tools/echo", program(Some("echo"), false)),
            ("tools/top", program(Some("top"), true)),
            ("tools/ghost", program(None, false)),
        ];
        ExecPolicy {
            programs: programs.into_iter().map(|(id, it)| (id.to_owned(), it)).collect(),
            args_max: 2,
            env_max: 1,
            argv_bytes_max: 8,
            env_bytes_max: 4,
            handles_max: 4,
            processes_max: 2,
            ..ExecPolicy::default()
        }
    }

    /// Each row breaks its own rule and all that come later, so the order is what is shown.
    #[test]
    fn the_first_broken_rule_is_told() {
        let full = ExecLoad { handles: 2, processes: 2, budget_spent: true };
        let idle = ExecLoad { budget_spent: false, ..full };
        let some = ExecLoad { processes: 1, ..idle };
        let free = ExecLoad::default();
        let cases: &[(&str, u32, &[&str], &ExecLoad, &str)] = &[
            ("../\u{1}", 8, &[], &full, "t_async_bad_params"),
            ("../\u{1}", 7, &[], &full, "t_exec_bad_encoding"),
            ("../x", 7, &[], &full, "t_exec_bad_prog"),
            ("/tools/top", 7, &[], &full, "t_exec_bad_prog"),
            ("", 7, &[], &full, "t_exec_bad_prog"),
            ("a.b", 7, &[], &full, "t_exec_bad_prog"),
            ("tools/rm", 7, &[], &full, "t_exec_not_allowed"),
            ("tools/top", 7, &[], &full, "t_exec_bad_args"),
            ("tools/top", 7, &["a", "b", "c"], &full, "t_exec_bad_args"),
            ("tools/top", 7, &["a", "12345678"], &full, "t_exec_bad_args"),
            ("tools/top", 7, &["a", "1234567"], &full, "t_exec_tty_denied"),
            ("tools/ghost", 7, &["a"], &full, "t_exec_too_many_handles"),
            ("tools/ghost", 3, &["a"], &full, "t_exec_limits"),
            ("tools/ghost", 3, &["a"], &idle, "t_exec_busy"),
            ("tools/ghost", 3, &["a"], &some, "t_exec_not_found"),
            ("tools/echo", 3, &["a"], &some, "echo"),
            ("tools/echo", 7, &["a"], &free, "echo"),
        ];
        for (prog, wants, args, load, want) in cases {
            let wire = encode_start(prog, *wants, args, &[]).unwrap();
            let policy = policy();
            let got = policy.judge_start(&wire, load).map_or_else(|trace| trace.code(), |it| it.command);
            assert_eq!(got, *want, "{prog:?} {wants} {args:?} {load:?}");
        }
    }

    #[test]
    fn variables_have_names_and_limits() {
        let cases: &[(&[(&str, &str)], bool)] = &[
            (&[("A", "123")], true),
            (&[("A", "1234")], false),
            (&[("", "1")], false),
            (&[("A=", "1")], false),
            (&[("A", ""), ("B", "")], false),
        ];
        for (env, want) in cases {
            let wire = encode_start("tools/echo", 0, &["a"], env).unwrap();
            assert_eq!(policy().judge_start(&wire, &ExecLoad::default()).is_ok(), *want, "{env:?}");
        }
    }

    #[test]
    fn status_is_told_of_what_is_there_and_if_policy_tells_it() {
        let status = Status { state: State::Exited, code: 3 };
        let find = |id| (id == 7).then_some(status);
        assert_eq!(policy().judge_status(&encode_status(7), find), Ok(status));
        assert_eq!(policy().judge_status(&encode_status(8), find), Err(Trace::ExecNotFound));
        assert_eq!(policy().judge_status(b"\x07\0\0\0\0", find), Err(Trace::AsyncBadParams));
        let quiet = ExecPolicy { listable: false, ..policy() };
        assert_eq!(quiet.judge_status(&encode_status(7), find), Err(Trace::ExecNotListable));
    }
}
