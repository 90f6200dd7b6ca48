//! `drydock sh`: a line, a script, or a prompt.

use std::{
    ffi::OsString,
    io::{IsTerminal as _, Read as _},
    os::unix::ffi::OsStrExt as _,
    path::Path,
    process::ExitCode,
};

use anyhow::{Context as _, bail};
use clap::Args;
use drydock_embed::{
    Dock, DockShell, Setup, ShellSetup,
    contract::{Limits, Sink, Source, Streams, exit::CANCELLED, text},
    gate::DenialLog,
    line_limits, ordinary_variables, overlap,
    shell::{LineReport, Mode, Switches, TextFrom},
    store::SessionName,
};

use super::{grants, mistyped, powers::Powers, run, tree};
use crate::{
    exit, home,
    interrupt::Interrupts,
    provide, show, streams,
    taped::{self, RecordFlags, Taped, Taping},
    units,
};

mod colour;
mod complete;
mod lines;
mod prompt;
mod record;
mod session;

/// Longest script that is read at all; how long a text may be is the shell's own limit.
const SCRIPT_BYTES_MAX: u64 = 64 << 20;

#[derive(Debug, Args)]
#[command(after_help = "\
Without -c and SCRIPT the text is read from stdin, or typed at a prompt if stdin is a terminal.
The language is bash's; there is no job control, and nothing outlives the line. Every command is
WebAssembly in a fresh instance; `drydock commands list` names them, `drydock explain` shows what
a line would do.

Exit status: the line's own; 2 not a line, 124 timed out, 125 another limit, 126 denied,
127 unknown command, 130 Ctrl-C.

Examples:
  drydock sh -c 'jq -r .name *.json | sort | uniq -c' --dir .
  drydock sh --workspace notes build.sh release
  drydock sh --json -c 'false | true'")]
pub(crate) struct Sh {
    /// Run this text; further arguments are $0, $1 and on
    #[arg(short = 'c', value_name = "LINE")]
    line: Option<OsString>,
    #[command(flatten)]
    switches: ShellSwitches,
    #[command(flatten)]
    powers: Powers,
    /// Memory that the shell and the stages of a line share [default: 384MiB, and that of the largest command that was
    /// registered with its own]
    #[arg(long, value_name = "SIZE", value_parser = units::memory)]
    line_memory: Option<u64>,
    /// Go on in the session of this name: variables, functions, directory, options and open files are kept after each
    /// line, for the next one
    #[arg(long, value_name = "NAME")]
    session: Option<SessionName>,
    /// Forget the session first; without a line, do nothing else
    #[arg(long, requires = "session")]
    forget: bool,
    /// Begin the session as a copy of this one
    #[arg(long, value_name = "FROM", requires = "session", conflicts_with = "forget")]
    fork: Option<SessionName>,
    /// List the sessions, and run nothing
    #[arg(long, conflicts_with_all = ["session", "line"])]
    sessions: bool,
    /// At a prompt, install these programs of the catalog in the background, unless they are there
    #[arg(long, value_name = "NAME[,NAME]", value_delimiter = ',')]
    catalog: Vec<String>,
    /// Let `eval`, `source`, `bash -c` and scripts of the line's own making parse text again
    #[arg(long)]
    eval: bool,
    /// Leave an unknown $name of a command's words as it was typed, so that jq's own variables survive
    /// (the default)
    #[arg(long, overrides_with = "posix_unknown")]
    literal_unknown: bool,
    /// Expand an unknown $name to nothing, as bash does
    #[arg(long)]
    posix_unknown: bool,
    #[command(flatten)]
    record: RecordFlags,
    /// Print one record of the line as JSON instead of its output
    #[arg(long)]
    json: bool,
    /// A script file and its arguments, which are passed on untouched
    #[arg(value_name = "SCRIPT [ARGS]", trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<OsString>,
}

impl Sh {
    /// What `sh -c LINE` says and nothing more: every flag is what it is where it is not there.
    pub(super) fn of_line(line: OsString) -> Self {
        Self {
            line: Some(line),
            switches: ShellSwitches::default(),
            powers: Powers::default(),
            line_memory: None,
            session: None,
            forget: false,
            fork: None,
            sessions: false,
            catalog: Vec::new(),
            eval: false,
            literal_unknown: false,
            posix_unknown: false,
            record: RecordFlags::default(),
            json: false,
            rest: Vec::new(),
        }
    }

    /// Whether its end is told as JSON, and so is why it has none.
    pub(crate) const fn is_json(&self) -> bool {
        self.json
    }
}

/// What other shells are started with, in clusters too: `-ec LINE`.
#[derive(Debug, Default, Args)]
struct ShellSwitches {
    /// End at the first command that fails, as `set -e` does
    #[arg(short = 'e')]
    errexit: bool,
    /// Make an unset variable an error, as `set -u` does
    #[arg(short = 'u')]
    nounset: bool,
    /// Show each command before it runs, as `set -x` does
    #[arg(short = 'x')]
    xtrace: bool,
    /// Expand no patterns to names of files, as `set -f` does
    #[arg(short = 'f')]
    noglob: bool,
    /// Accepted for bash's sake: a shell here has no profile to read
    #[arg(short = 'l')]
    login: bool,
    /// Switch an option on, as `set -o` does
    #[arg(short = 'o', value_name = "OPTION")]
    options: Vec<ShellOption>,
}

/// What `-o` switches on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ShellOption {
    Errexit,
    Nounset,
    Xtrace,
    Noglob,
    Pipefail,
}

impl ShellSwitches {
    fn all(&self) -> Switches {
        let has = |option| self.options.contains(&option);
        Switches {
            errexit: self.errexit || has(ShellOption::Errexit),
            nounset: self.nounset || has(ShellOption::Nounset),
            xtrace: self.xtrace || has(ShellOption::Xtrace),
            noglob: self.noglob || has(ShellOption::Noglob),
            pipefail: has(ShellOption::Pipefail),
        }
    }
}

/// What there is to run.
enum Text {
    Whole(Vec<u8>),
    Typed,
}

pub(crate) fn run(sh: Sh) -> anyhow::Result<ExitCode> {
    on(sh, Taping::Live).map(|it| it.0)
}

/// Runs it on a tape, or on none.
pub(crate) fn on(sh: Sh, taping: Taping) -> anyhow::Result<(ExitCode, Taped)> {
    // Each line has fuel of its own.
    let mut setup = Setup { budget: None, ..sh.powers.setup(line_limits())? };
    let dock = match taping.machine() {
        Some(dock) => dock,
        None => home::dock_with(sh.powers.compile.limits())?,
    };
    if sh.sessions {
        return Ok((session::list(&dock, sh.json)?, Taped::Nothing));
    }
    if session::prepare(&dock, &sh)? == session::Next::Nothing {
        return Ok((ExitCode::SUCCESS, Taped::Nothing));
    }
    if sh.record.is_on() && sh.session.is_some() {
        bail!("--record and --session do not go together: what a session kept is no part of the run");
    }
    let (text, from_stdin) = text(&sh)?;
    let mode = mode(&sh);
    grants::add_stored(&dock, run::PRINCIPAL, &mut setup)?;
    let mut taping = taping.begin(&sh.record, "sh", &setup, &sh.powers.dir)?;
    taping.deck().prepare(&mut setup);
    let log = setup.denials.clone().unwrap_or_default();
    let limits = setup.limits.unwrap_or_default();
    let mut shell = ShellSetup { mode, ..ShellSetup::default() };
    if let (Some(memory), Some(defaults)) = (sh.line_memory, &mut setup.default_limits) {
        (setup.line_memory_bytes_max, defaults.line_memory) = (memory, false);
    }
    let mut bases = Vec::new();
    if let Some(tree) = tree::of(dock.home(), &sh.powers, sh.powers.builtin_memory(), &taping)? {
        setup.files = Some(tree.files);
        (shell.roots, shell.cwd, bases) = (tree.roots, tree.cwd, tree.bases);
    }
    shell.mode.is_typed = matches!(text, Text::Typed);
    shell.mode.stdin_is_terminal = !from_stdin && std::io::stdin().is_terminal();
    name(&sh, &mut shell);
    for (name, value) in ordinary_variables(&shell.cwd) {
        if !setup.env.iter().any(|(given, _)| given == name) {
            setup.env.push((name.into(), value));
        }
    }
    let shell = match &sh.session {
        None => dock.shell(run::PRINCIPAL, setup, shell)?,
        Some(name) => dock.shell_kept(run::PRINCIPAL, setup, shell, name)?,
    };
    let (status, taped) = match text {
        Text::Typed if !taping.is_live() => bail!("--record wants a line or a script: `-c LINE`, or a file"),
        Text::Typed => {
            provide::in_background(&dock, &sh.catalog);
            (prompt::run(&dock, shell, &log, &limits)?, Taped::Nothing)
        }
        Text::Whole(bytes) => {
            let whole = Whole { text: &text::from_bytes(&bytes), from_stdin, json: sh.json };
            once(shell, &whole, &log, &limits, (&dock, &mut taping))?
        }
    };
    tree::tell_what_is_dropped(&bases);
    if let Err(error) = dock.gate().flush() {
        exit::warn(&error);
    }
    // The process ends here; taking the pool apart page by page would only delay it.
    std::mem::forget::<Dock>(dock);
    Ok((ExitCode::from(status), taped))
}

fn mode(sh: &Sh) -> Mode {
    let text_from = match (&sh.line, sh.rest.first()) {
        (Some(_), _) => TextFrom::Argument,
        (None, Some(path)) if path != "-" => TextFrom::File,
        (None, _) => TextFrom::Stdin,
    };
    Mode {
        literal_unknown: !sh.posix_unknown,
        eval_allowed: sh.eval,
        // A directory that is mounted twice has files with two names.
        scripts_allowed: taped::optional("overlap", || overlap(&sh.powers.dir).then(String::new)).is_none(),
        text_from,
        switches: sh.switches.all(),
        ..Mode::default()
    }
}

/// The text, and whether it was all there was on stdin.
fn text(sh: &Sh) -> anyhow::Result<(Text, bool)> {
    if let Some(line) = &sh.line {
        return Ok((Text::Whole(line.as_bytes().to_vec()), false));
    }
    match sh.rest.first() {
        Some(flag) if flag.as_bytes().starts_with(b"-") && flag.len() > 1 => {
            mistyped::flag("sh", &flag.to_string_lossy())
        }
        Some(path) if path != "-" => {
            let path = Path::new(path);
            let shown = path.display().to_string();
            let bytes = taped::text("script", || {
                let file = std::fs::File::open(path).with_context(|| format!("could not open `{shown}`"))?;
                read(file, &shown)
            })?;
            Ok((Text::Whole(bytes), false))
        }
        None if !taped::is_played() && std::io::stdin().is_terminal() && !sh.json => Ok((Text::Typed, false)),
        _ => {
            let bytes = taped::text("script", || read(std::io::stdin().lock(), "stdin"))?;
            Ok((Text::Whole(bytes), true))
        }
    }
}

fn read(from: impl std::io::Read, what: &str) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(SCRIPT_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .with_context(|| format!("could not read the script from `{what}`"))?;
    if bytes.len() as u64 > SCRIPT_BYTES_MAX {
        bail!("the script from `{what}` is longer than {}", show::size(SCRIPT_BYTES_MAX));
    }
    Ok(bytes)
}

/// `$0` and the arguments.
fn name(sh: &Sh, shell: &mut ShellSetup) {
    let lost = lost_dashes(sh).then(|| "--".to_owned());
    let words = sh.rest.iter().map(|it| text::from_bytes(it.as_bytes()).into_owned());
    let mut words = lost.into_iter().chain(words);
    if let Some(name) = words.next() {
        shell.name = name;
        shell.args = words.collect();
    }
}

/// Whether `--` stood before the arguments of a `-c`: that is `$0` then, as everywhere, and whoever reads our arguments
/// takes it for the end of the options.
fn lost_dashes(sh: &Sh) -> bool {
    let all: Vec<OsString> = taped::words();
    let before = all.len().checked_sub(sh.rest.len() + 1);
    sh.line.is_some() && before.is_some_and(|at| all[at] == "--")
}

/// A text, where it comes from and how its end is told.
struct Whole<'a> {
    text: &'a str,
    from_stdin: bool,
    json: bool,
}

/// Runs one text to its end.
fn once(
    mut shell: DockShell,
    whole: &Whole<'_>,
    log: &DenialLog,
    limits: &Limits,
    (dock, taping): (&Dock, &mut Taping),
) -> anyhow::Result<(u8, Taped)> {
    let Whole { text, from_stdin, json } = *whole;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let status = runtime.block_on(async {
        let streams = Streams {
            stdin: if from_stdin { Source::Empty } else { taping.stdin(streams::stdin)? },
            stdout: if json { Sink::capture() } else { taping.sink("stdout", streams::stdout)? },
            stderr: if json { Sink::capture() } else { taping.sink("stderr", streams::stderr)? },
            ..Streams::default()
        };
        let interrupt = shell.interrupter();
        taping.on_end(shell.canceller());
        match until_interrupted(interrupt, shell.run(text, streams)).await {
            Ok((report, streams)) => {
                let (outcome, status) = (format!("exited({})", report.status), status(&report));
                let ended = json.then(|| record::ended(&report, streams, log.take()));
                let rest = match &ended {
                    _ if taping.is_live() => Vec::new(),
                    Some(ended) => ended.but_for_times(),
                    None => record::ended(&report, Streams::default(), Vec::new()).but_for_times(),
                };
                let taped = taping.keep(dock, &outcome, &rest);
                match ended {
                    _ if !taping.shows() => {}
                    Some(ended) => show::json(&ended.on(&taped))?,
                    None => {
                        taped.tell();
                        explain_end(&report, limits);
                        session::tell(&report);
                        grants::tell_to(run::PRINCIPAL, &log.take());
                    }
                }
                anyhow::Ok((status, taped))
            }
            Err(refused) => {
                let (code, message) = (refused.code(), refused.to_string());
                let taped = taping.keep(dock, code, b"");
                match json {
                    _ if !taping.shows() => {}
                    true => {
                        let told = serde_json::json!({ "code": code, "message": message });
                        show::json(&serde_json::json!({ "error": told }))?;
                    }
                    false => exit::warn(&format!("{code}: {message}")),
                }
                anyhow::Ok((refused.exit_status(), taped))
            }
        }
    });
    // A thread may still wait for stdin, which nobody will read any more.
    runtime.shutdown_background();
    status
}

/// Says why a line was ended before its own end.
fn explain_end(report: &LineReport, limits: &Limits) {
    match report.limit.as_deref() {
        Some("timed_out") => {
            let seconds = limits.wall_max.as_secs_f64();
            exit::warn(&format!("timed_out: the line took {seconds} s; --timeout allows more"));
        }
        Some("output_limit") => {
            let most = show::size(limits.stdout_bytes_max);
            exit::warn(&format!("output_limit: cut off after {most}; --output-max allows more"));
        }
        // Ctrl-C needs no word, and the shell named its own limits.
        _ => {}
    }
}

fn status(report: &LineReport) -> u8 {
    (report.status & 0xff) as u8
}

/// Runs until it ends; Ctrl-C runs the line's trap or ends the line, and after that another one ends the process.
async fn until_interrupted<T>(interrupt: impl Fn() -> bool, line: impl Future<Output = T>) -> T {
    let mut interrupts = Interrupts::listen();
    let mut line = std::pin::pin!(line);
    let mut asked = false;
    loop {
        tokio::select! {
            done = &mut line => return done,
            () = interrupts.next() => {
                if asked {
                    std::process::exit(i32::from(CANCELLED));
                }
                asked = !interrupt();
            }
        }
    }
}
