//! What holds a compile worker: limits of memory and time, and two walls, each where the kernel has it.
//!
//! Landlock takes every file and every TCP port away. Seccomp leaves the system calls that a compiler needs, and
//! answers all others with EPERM: no file, no socket, no process. Both are raised before the module is read, and
//! threads that start later are behind them too.

use std::{collections::BTreeMap, io};

use landlock::{ABI, Access as _, AccessFs, AccessNet, Ruleset, RulesetAttr as _, RulesetStatus};
use rustix::process::{Resource, Rlimit, setrlimit};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter,
};

/// Address space beyond the memory: code of the program, stacks and what allocators reserve and do not use.
const ADDRESSES_BEYOND: u64 = 4 << 30;

/// Which walls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Walls {
    pub(super) seccomp: bool,
    pub(super) landlock: bool,
}

impl Walls {
    pub(super) const ALL: Self = Self { seccomp: true, landlock: true };

    pub(super) fn named(text: &str) -> Self {
        Self { seccomp: text.contains("seccomp"), landlock: text.contains("landlock") }
    }
}

/// Bounds what the process may take, for good.
pub(super) fn limit(memory_bytes_max: u64, cpu_seconds_max: u64) -> io::Result<()> {
    let most = |max: u64| Rlimit { current: Some(max), maximum: Some(max) };
    setrlimit(Resource::Data, most(memory_bytes_max))?;
    setrlimit(Resource::As, most(memory_bytes_max.saturating_add(ADDRESSES_BEYOND)))?;
    setrlimit(Resource::Cpu, most(cpu_seconds_max))?;
    setrlimit(Resource::Core, most(0))?;
    setrlimit(Resource::Fsize, most(0))?;
    Ok(())
}

/// Raises the walls; answers which of them stand.
pub(super) fn raise(walls: Walls) -> Walls {
    Walls {
        landlock: walls.landlock && landlock().unwrap_or(false),
        seccomp: walls.seccomp && seccomp().is_ok(),
    }
}

fn landlock() -> Result<bool, landlock::RulesetError> {
    let abi = ABI::V5;
    let ruleset =
        Ruleset::default().handle_access(AccessFs::from_all(abi))?.handle_access(AccessNet::from_all(abi))?;
    // No rule allows anything.
    let status = ruleset.create()?.restrict_self()?;
    Ok(status.ruleset != RulesetStatus::NotEnforced)
}

/// What a compiler needs besides `clone`: memory, threads, its two pipes, an end.
const CALLS: &[i64] = &[
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_close,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_futex,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_set_robust_list,
    libc::SYS_rseq,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_gettid,
    libc::SYS_getpid,
    libc::SYS_tgkill,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_getrandom,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

fn seccomp() -> Result<(), seccompiler::Error> {
    let arch: TargetArch = std::env::consts::ARCH.try_into()?;
    // The flags of `clone3` lie in memory, where a filter cannot look. With ENOSYS, libc takes `clone`.
    let absent = SeccompAction::Errno(libc::ENOSYS as u32);
    let rules = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    install(rules, SeccompAction::Allow, absent, arch)?;

    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = CALLS.iter().map(|call| (*call, Vec::new())).collect();
    rules.insert(libc::SYS_clone3, Vec::new());
    let thread = libc::CLONE_THREAD as u64;
    let is_thread =
        SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(thread), thread)?;
    rules.insert(libc::SYS_clone, vec![SeccompRule::new(vec![is_thread])?]);
    let names =
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, libc::PR_SET_NAME as u64)?;
    rules.insert(libc::SYS_prctl, vec![SeccompRule::new(vec![names])?]);
    install(rules, SeccompAction::Errno(libc::EPERM as u32), SeccompAction::Allow, arch)
}

fn install(
    rules: BTreeMap<i64, Vec<SeccompRule>>,
    otherwise: SeccompAction,
    matched: SeccompAction,
    arch: TargetArch,
) -> Result<(), seccompiler::Error> {
    let filter: BpfProgram = SeccompFilter::new(rules, otherwise, matched, arch)?.try_into()?;
    apply_filter(&filter)
}
