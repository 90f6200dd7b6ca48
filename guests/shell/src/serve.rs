//! One call: the request is taken, carried out and answered.

use crate::door::HostDoor;
use crate::ends::{Reader, Writer};
use crate::{executor, host, inside};
use drydock_abi::shell::decode;
use drydock_abi::shell::{Answer, LineAnswer, LineRequest, Opening, Request, SavedWhen, ShellLimits};
use drydock_contract::Limits;
use drydock_shell::door::LineEnds;
use drydock_shell::{AtEnd, Saved, Shell, ShellSpec, explain, typed_words};
use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

/// The shell, between its lines, and what it was saved as last.
#[derive(Default)]
struct Kept {
    shell: Option<Box<Shell>>,
    saved: Option<Saved>,
}

thread_local! {
    static KEPT: RefCell<Kept> = const { RefCell::new(Kept { shell: None, saved: None }) };
}

/// Text that a shell reads often, read once before anybody waits: what it leaves in memory is there for all.
const WARM_UP: &str =
    "for i in a b; do case $i in a) x=${i#a};; esac; done | { read y; }; f() { [[ $1 == b ]]; }; (( 1 + 2 ))";

/// What is said where neither shell nor host has room for what would be kept.
const NO_ROOM: &str =
    "the shell's state is not kept: there is no memory left to write it out; unset what is large";

/// Makes everything ready that does not depend on who asks.
pub(crate) fn warm_up() {
    let _ = explain(WARM_UP, &ShellLimits::default());
}

pub(crate) fn serve(bytes: u32) {
    let Some(request) = host::take(bytes) else { return };
    let decoded = decode(&request);
    drop(request);
    let answer = match decoded {
        Ok(Request::Line(line)) => match run(*line) {
            Ok((answer, saved)) => return tell(answer, saved),
            Err(why) => Answer::NotOpened(why),
        },
        Ok(Request::Explain { text, limits }) => Answer::Plan(explain(&text, &limits)),
        Ok(Request::Words { text, limits }) => Answer::Words(typed_words(&text, &limits)),
        Err(error) => Answer::NotOpened(error.to_string()),
    };
    host::answer(&answer.encode());
}

/// Answers with what the shell keeps behind it. Where there is no room for that, the line is told without it: it did its
/// work.
fn tell(mut answer: LineAnswer, saved: Option<Saved>) {
    answer.trim();
    answer.saved_bytes = saved.as_ref().map(|it| it.bytes() as u64);
    let answer = Answer::Line(Box::new(answer));
    let mut bytes = answer.encode();
    let Some(saved) = saved else {
        host::answer(&bytes);
        return;
    };
    if bytes.try_reserve_exact(saved.bytes()).is_ok() {
        saved.pieces().for_each(|piece| bytes.extend_from_slice(piece));
        if host::answer(&bytes) {
            return KEPT.with_borrow_mut(|kept| kept.saved = Some(saved));
        }
    }
    drop(bytes);
    let Answer::Line(mut answer) = answer else { return };
    answer.saved_bytes = None;
    answer.report.lost.push(NO_ROOM.to_owned());
    answer.trim();
    host::answer(&Answer::Line(answer).encode());
}

/// What came of a line and what the shell keeps, or why there is no shell.
fn run(line: LineRequest) -> Result<(LineAnswer, Option<Saved>), String> {
    let LineRequest { opening, text, is_whole, status, columns, is_typed, saved_when } = line;
    let mut lost = Vec::new();
    let shell = match opening {
        Some(opening) => match open(*opening) {
            Ok((shell, missing)) => {
                lost = missing;
                Some(Box::new(shell))
            }
            Err(why) => return Err(why),
        },
        None => KEPT.with_borrow_mut(|it| it.shell.take()),
    };
    let Some(mut shell) = shell else { return Err("there is no shell yet".to_owned()) };
    if let Some(status) = status {
        shell.set_status(status);
    }
    let at_end = if is_whole { AtEnd::RunExitTrap } else { AtEnd::KeepExitTrap };
    let mut nested = inside::Shells::new(shell.nested());
    let (ends, interrupter) = (own_streams(columns), shell.interrupter());
    let line = async {
        let mut report = shell.run_between(&text, ends.clone(), at_end).await;
        if is_typed && !report.exited {
            report.exited = shell.run_prompt_command(ends).await;
        }
        report
    };
    let mut report = executor::drive(line, &mut nested, interrupter);
    let cwd = shell.cwd().to_owned();
    let names = if is_typed { shell.names_with("") } else { Vec::new() };
    let saved = KEPT.with_borrow_mut(|kept| {
        let saved = save(&mut shell, kept, saved_when, &mut lost);
        kept.shell = Some(shell);
        saved
    });
    report.lost = lost;
    Ok((LineAnswer { report, cwd, names, saved_bytes: None }, saved))
}

fn own_streams([out, err]: [Option<u16>; 2]) -> LineEnds {
    let writer = |handle, columns| Arc::new(Writer { handle, columns, is_flushed: true });
    LineEnds { stdin: Arc::new(Reader(0)), stdout: writer(1, out), stderr: writer(2, err) }
}

/// The state to go on from, unless it is what the host has already.
fn save(shell: &mut Shell, kept: &Kept, when: SavedWhen, lost: &mut Vec<String>) -> Option<Saved> {
    // Most lines change nothing, and none of the code behind this is run for them.
    let is_known = when == SavedWhen::StateChanged
        && kept.saved.as_ref().is_some_and(|before| shell.is_as_saved(before));
    if when == SavedWhen::Never || is_known {
        return None;
    }
    save_changed(shell, kept, when, lost)
}

#[cold]
#[inline(never)]
fn save_changed(shell: &mut Shell, kept: &Kept, when: SavedWhen, lost: &mut Vec<String>) -> Option<Saved> {
    let is_known = |now: &Saved| match (&kept.saved, when) {
        (Some(before), SavedWhen::StateChanged) => now.is_same_state(before),
        (Some(before), SavedWhen::AnythingChanged) => now.is_same(before),
        (None, _) | (_, SavedWhen::Never) => false,
    };
    match shell.save() {
        Ok(now) if is_known(&now) => None,
        Ok(now) => Some(now),
        Err(error) => {
            lost.push(error.to_string());
            None
        }
    }
}

/// A shell, new or as an earlier one was left, and what of that is lost.
#[cold]
#[inline(never)]
fn open(opening: Opening) -> Result<(Shell, Vec<String>), String> {
    let [fuel_max, memory_bytes_max, wall_ms_max, stdin_bytes_max, stdout_bytes_max, stderr_bytes_max] =
        opening.stage_limits;
    let spec = ShellSpec {
        door: Arc::new(HostDoor::LINE),
        roots: opening.roots,
        cwd: opening.cwd,
        env: opening.env,
        name: opening.name,
        args: opening.args,
        mode: opening.mode,
        seed: opening.seed,
        limits: opening.limits,
        stage_limits: Limits {
            fuel_max,
            memory_bytes_max,
            wall_max: Duration::from_millis(wall_ms_max),
            stdin_bytes_max,
            stdout_bytes_max,
            stderr_bytes_max,
            ..Limits::default()
        },
        line_memory_bytes_max: opening.line_memory_bytes_max,
    };
    match opening.saved {
        None => Ok((Shell::new(spec), Vec::new())),
        Some(saved) => {
            let (shell, lost) = Shell::restore(spec, &saved).map_err(|error| error.to_string())?;
            Ok((shell, lost.0))
        }
    }
}
