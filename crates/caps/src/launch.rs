//! From what a name stands for to what a run starts with: the options of an entry, and how far they reach.
//!
//! Pure. An entry's limits take the place of defaults that the caller did not choose; what he chose is never exceeded.

use std::{sync::Arc, time::Duration};

use drydock_contract::{
    ArgMode, Artifact, Digest, Fault, Limits, Unit, WorkingDir,
    port::{Entry, EntryLimits, EntryOptions, EntryTree, Registry},
};
use drydock_gate::SessionSpec;

use crate::program::Held;

/// What a run starts with, wherever its module comes from.
pub(crate) struct Start {
    pub(crate) artifact: Artifact,
    /// Without what the caller adds to it.
    pub(crate) argv: Vec<Vec<u8>>,
    pub(crate) env: Arc<[Vec<u8>]>,
    pub(crate) options: Arc<EntryOptions>,
    pub(crate) mode: ArgMode,
    pub(crate) limits: Limits,
    pub(crate) trees: Vec<EntryTree>,
    pub(crate) working_dir: WorkingDir,
    /// It is a file of the session, whose bytes are held so.
    pub(crate) by_path: Option<Held>,
    /// Whom its own calls come from, if it is built in.
    pub(crate) own_name: Option<Arc<str>>,
}

/// What the caller of this very run wants.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) args: &'a [Vec<u8>],
    pub(crate) env: &'a Arc<[Vec<u8>]>,
    pub(crate) wall_max: Option<Duration>,
}

impl Start {
    /// A registered module, or its snapshot where that serves such a run.
    pub(crate) fn of_entry(
        registry: &dyn Registry,
        spec: &SessionSpec,
        entry: &Entry,
        asked: Asked<'_>,
    ) -> Result<Self, Fault> {
        let argv = argv(entry);
        let env = env(Arc::clone(asked.env), &entry.options);
        let (artifact, env) = match image(&entry.options, &argv, asked.args, &env) {
            Some(image) => (registry.to_run(&Entry { digest: image, ..entry.clone() })?, env),
            None => (registry.to_run(entry)?, plain_env(env, &entry.options)),
        };
        tracing::trace!(target: "drydock::hop", "caps/exec: `{}` is an artifact by its hash", entry.name);
        Ok(Self {
            artifact,
            argv,
            env,
            options: Arc::clone(&entry.options),
            mode: entry.mode,
            limits: limits(spec, entry, asked.wall_max),
            trees: registry.trees(entry)?,
            working_dir: working_dir(entry),
            by_path: None,
            own_name: entry.builtin.then(|| entry.name.shared()),
        })
    }

    /// A module of the session's own files: it sees its path as its name, and has the limits of what others made.
    pub(crate) fn of_file(
        spec: &SessionSpec,
        path: &str,
        artifact: Artifact,
        held: Held,
        asked: Asked<'_>,
    ) -> Self {
        Self {
            artifact,
            argv: vec![path.as_bytes().to_vec()],
            env: Arc::clone(asked.env),
            options: Arc::default(),
            mode: ArgMode::Argv,
            limits: within(spec, spec.limits, EntryLimits::default(), asked.wall_max),
            trees: Vec::new(),
            working_dir: WorkingDir::Given,
            by_path: Some(held),
            own_name: None,
        }
    }
}

/// The program's own name, and the arguments it was registered with.
pub(crate) fn argv(entry: &Entry) -> Vec<Vec<u8>> {
    let options = &entry.options;
    let own = options.argv0.as_deref().unwrap_or(entry.name.as_str());
    std::iter::once(own)
        .chain(options.argv.iter().map(String::as_str))
        .map(|it| it.as_bytes().to_vec())
        .collect()
}

/// The caller's environment, and the entry's variables that it has not.
pub(crate) fn env(callers: Arc<[Vec<u8>]>, options: &EntryOptions) -> Arc<[Vec<u8>]> {
    let name = |entry: &[u8]| entry.iter().position(|byte| *byte == b'=').map(|at| entry[..=at].to_vec());
    let missing = |entry: &&String| {
        name(entry.as_bytes()).is_some_and(|name| !callers.iter().any(|it| it.starts_with(&name)))
    };
    let more: Vec<Vec<u8>> = options.env.iter().filter(missing).map(|it| it.as_bytes().to_vec()).collect();
    if more.is_empty() { callers } else { callers.iter().cloned().chain(more).collect() }
}

/// The module to start instead of the entry's own: its snapshot, where that serves such a run.
fn image(options: &EntryOptions, own: &[Vec<u8>], args: &[Vec<u8>], env: &[Vec<u8>]) -> Option<Digest> {
    let image = options.image.as_ref()?;
    let argv: Vec<Vec<u8>> = own.iter().chain(args).cloned().collect();
    image.serves(&argv, env).then_some(image.module)
}

/// What a program that has a snapshot finds in the environment of a run that does not start from it.
fn plain_env(env: Arc<[Vec<u8>]>, options: &EntryOptions) -> Arc<[Vec<u8>]> {
    match &options.image {
        Some(image) if !image.plain_paths.is_empty() => image.plain_env(&env).into(),
        _ => env,
    }
}

/// Our own programs go to `PWD` by themselves, and so do those that say it.
pub(crate) fn working_dir(entry: &Entry) -> WorkingDir {
    if entry.builtin || entry.options.starts_in_pwd { WorkingDir::Own } else { WorkingDir::Given }
}

/// What the run may spend; `wall_max` is what the caller of this very run allows.
pub(crate) fn limits(spec: &SessionSpec, entry: &Entry, wall_max: Option<Duration>) -> Limits {
    let mut limits = spec.limits;
    if entry.builtin {
        limits.memory_bytes_max = spec.builtin_memory_bytes_max;
    }
    within(spec, limits, entry.options.limits, wall_max)
}

fn within(spec: &SessionSpec, mut limits: Limits, own: EntryLimits, wall_max: Option<Duration>) -> Limits {
    let defaults = spec.default_limits;
    limits.memory_bytes_max = instead(limits.memory_bytes_max, own.memory_bytes_max, defaults.memory);
    limits.wall_max = instead(limits.wall_max, own.wall_ms_max.map(Duration::from_millis), defaults.wall);
    limits.wall_max = wall_max.map_or(limits.wall_max, |wanted| wanted.min(limits.wall_max));
    // What an entry says of fuel is a default too, and the budget pays for it as far as it goes.
    let left = spec.budget.as_ref().and_then(|it| it.left(Unit::Fuel));
    let fuel = left.map_or(limits.fuel_max, |left| limits.fuel_max.min(left));
    limits.fuel_max = instead(fuel, own.fuel_max, defaults.fuel);
    limits
}

/// Makes room in the line for an entry whose memory is not the usual: once for the largest of them, not for each.
pub(crate) fn raise_line_memory(spec: &SessionSpec, options: &EntryOptions) {
    let defaults = spec.default_limits;
    if let (Some(line), Some(memory)) = (&spec.memory, options.limits.memory_bytes_max)
        && defaults.memory
        && defaults.line_memory
    {
        line.raise(spec.line_memory_bytes_max.saturating_add(memory));
    }
}

fn instead<T: Ord>(callers: T, own: Option<T>, is_default: bool) -> T {
    match own {
        Some(own) if is_default => own,
        Some(own) => own.min(callers),
        None => callers,
    }
}

#[cfg(test)]
mod tests {
    use drydock_contract::Budget;
    use drydock_contract::Meter;
    use drydock_gate::DefaultLimits;
    use drydock_testkit::principal;

    use super::*;

    fn entry(options: EntryOptions) -> Entry {
        let (name, options) = ("tool".parse().unwrap(), Arc::new(options));
        Entry { name, digest: Digest::of(b"x"), mode: ArgMode::Argv, builtin: false, options }
    }

    fn large() -> Entry {
        let limits =
            EntryLimits { memory_bytes_max: Some(1 << 30), wall_ms_max: Some(600_000), fuel_max: Some(9) };
        entry(EntryOptions { limits, ..EntryOptions::default() })
    }

    #[test]
    fn an_entrys_limits_replace_defaults_and_never_exceed_what_was_chosen() {
        let chosen = SessionSpec::new(principal("me"));
        let got = limits(&chosen, &large(), None);
        assert_eq!(got, Limits { fuel_max: 9, ..Limits::default() }, "less is always taken");
        let defaults = SessionSpec { default_limits: DefaultLimits::ALL, ..chosen };
        let got = limits(&defaults, &large(), None);
        assert_eq!((got.memory_bytes_max, got.wall_max), (1 << 30, Duration::from_secs(600)));
        assert_eq!(got.stdout_bytes_max, Limits::default().stdout_bytes_max);
        let asked = limits(&defaults, &large(), Some(Duration::from_secs(5)));
        assert_eq!(asked.wall_max, Duration::from_secs(5), "whoever asks for less time gets less");
        let plain = entry(EntryOptions::default());
        assert_eq!(limits(&defaults, &plain, None), Limits::default());
        let poor = SessionSpec { budget: Some(Arc::new(Budget::of([(Unit::Fuel, 3)]))), ..defaults };
        assert_eq!(limits(&poor, &plain, None).fuel_max, 3);
    }

    #[test]
    fn a_line_makes_room_once_for_its_largest_entry() {
        let line = Arc::new(Meter::new(100));
        let spec = SessionSpec {
            memory: Some(Arc::clone(&line)),
            line_memory_bytes_max: 100,
            ..SessionSpec::new(principal("me"))
        };
        raise_line_memory(&spec, &large().options);
        assert_eq!(line.max(), 100, "what was chosen stays");
        let spec = SessionSpec { default_limits: DefaultLimits::ALL, ..spec };
        for _ in 0..3 {
            raise_line_memory(&spec, &large().options);
        }
        assert_eq!(line.max(), 100 + (1 << 30));
    }

    #[test]
    fn an_entry_brings_its_name_its_arguments_and_missing_variables() {
        let options = EntryOptions {
            argv0: Some("clang".into()),
            argv: vec!["-Oz".into()],
            env: vec!["A=entry".into(), "AB=entry".into()],
            ..EntryOptions::default()
        };
        assert_eq!(argv(&entry(options.clone())), [b"clang".to_vec(), b"-Oz".to_vec()]);
        assert_eq!(argv(&entry(EntryOptions::default())), [b"tool".to_vec()]);
        let callers: Arc<[Vec<u8>]> = Arc::new([b"A=caller".to_vec()]);
        assert_eq!(*env(Arc::clone(&callers), &options), [b"A=caller".to_vec(), b"AB=entry".to_vec()]);
        assert!(Arc::ptr_eq(&env(Arc::clone(&callers), &EntryOptions::default()), &callers));
    }
}
