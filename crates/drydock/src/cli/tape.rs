//! `drydock tape`: what was recorded, and going through it again.

use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, Parser as _, Subcommand};
use drydock_embed::{
    contract::{Outcome, Timestamp},
    store::{Frames, ListedTape, Seam, TapeError, TapeId, Tapes},
    tape::{Asked, Difference, Player, diff},
};
use serde::Serialize;

use super::{Arguments, Command as Whole, run::PRINCIPAL, usual};
use crate::{
    exit, home, show,
    taped::{self, Taped, Taping},
};

#[derive(Debug, Args)]
#[command(after_help = "\
A tape holds what entered a run from outside: its inputs, answers of hosts, files of mounted directories and
workspaces, verdicts that time gave. What guests compute is computed again.

Exit status: 0 the replay or the tapes are the same, 1 they are not, 2 a tape cannot be read.

Examples:
  drydock sh --record -c 'curl -s https://a.test/ | jq .n' --allow-host a.test
  drydock tape replay 0123456789abcdef
  drydock tape diff 0123456789abcdef fedcba9876543210")]
pub(crate) struct Tape {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the tapes, the oldest first
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what a tape holds, a frame a line
    Show {
        id: TapeId,
        /// Print JSON, one frame a line
        #[arg(long)]
        json: bool,
    },
    /// Go through a recorded run again, without the world
    Replay {
        id: TapeId,
        /// Print what came of it as JSON, and nothing of what the run writes
        #[arg(long)]
        json: bool,
    },
    /// Show the first call at which two tapes differ
    Diff {
        one: TapeId,
        other: TapeId,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove tapes
    Rm {
        #[arg(required = true)]
        ids: Vec<TapeId>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// A tape that cannot be read.
const UNREADABLE: u8 = 2;

pub(crate) fn run(tape: Tape) -> anyhow::Result<ExitCode> {
    let json = match &tape.command {
        Command::List { json }
        | Command::Show { json, .. }
        | Command::Replay { json, .. }
        | Command::Diff { json, .. }
        | Command::Rm { json, .. } => *json,
    };
    let done = match tape.command {
        Command::List { json } => list(json),
        Command::Show { id, json } => show_one(&id, json),
        Command::Replay { id, json } => replay(&id, json),
        Command::Diff { one, other, json } => differ(&one, &other, json),
        Command::Rm { ids, json } => remove(&ids, json),
    };
    match done {
        Err(error) => match error.downcast_ref::<TapeError>().map(TapeError::code) {
            Some(code) => {
                exit::report_code(code, &error, json)?;
                Ok(ExitCode::from(UNREADABLE))
            }
            None => Err(error),
        },
        done => done,
    }
}

fn tapes() -> anyhow::Result<Tapes> {
    Ok(Tapes::of(&home::tenant()?)?)
}

#[derive(Serialize)]
struct Listed {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    principal: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frames: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    /// Why it cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

fn list(json: bool) -> anyhow::Result<ExitCode> {
    let told = |(id, facts): ListedTape| {
        let error = facts.as_ref().err().map(ToString::to_string);
        let facts = facts.ok();
        let id = id.to_string();
        Listed {
            id,
            kind: facts.as_ref().map(|it| it.kind.clone()),
            title: facts.as_ref().map(|it| it.title.clone()),
            principal: facts.as_ref().map(|it| it.principal.clone()),
            recorded: facts.as_ref().map(|it| seconds(it.created)),
            frames: facts.as_ref().map(|it| it.frames),
            bytes: facts.as_ref().map(|it| it.bytes),
            error,
        }
    };
    let all: Vec<Listed> = tapes()?.list()?.into_iter().map(told).collect();
    if json {
        show::json(&all)?;
        return Ok(ExitCode::SUCCESS);
    }
    if all.is_empty() {
        show::line("no tapes; `--record` on run, sh, js, py and ext invoke makes one")?;
        return Ok(ExitCode::SUCCESS);
    }
    let rows = all.into_iter().map(|it| {
        let said = it.error.map(|error| format!("cannot be used: {error}"));
        [
            it.id,
            it.recorded.unwrap_or_default(),
            it.kind.unwrap_or_default(),
            it.frames.map(|it| it.to_string()).unwrap_or_default(),
            it.bytes.map(show::size).unwrap_or_default(),
            said.or(it.title).unwrap_or_default(),
        ]
    });
    show::table(["ID", "RECORDED", "KIND", "FRAMES", "SIZE", "WHAT"], rows)?;
    Ok(ExitCode::SUCCESS)
}

/// The moment without its fraction.
fn seconds(moment: Timestamp) -> String {
    Timestamp(moment.0 / 1_000_000_000 * 1_000_000_000).to_rfc3339()
}

fn frames_of(tapes: &Tapes, id: &TapeId) -> anyhow::Result<(Frames, Frames)> {
    let tape = tapes.open(id)?;
    Ok((tape.frames(), tape.frames()))
}

fn show_one(id: &TapeId, json: bool) -> anyhow::Result<ExitCode> {
    let (mut frames, _) = frames_of(&tapes()?, id)?;
    let unreadable = |cause| TapeError::Frames { id: id.clone(), cause };
    let mut rows = Vec::new();
    for number in 0_u64.. {
        let Some(frame) = frames.read().map_err(unreadable)? else { break };
        if json {
            show::line(
                &serde_json::json!({
                    "frame": number,
                    "seam": frame.seam.as_str(),
                    "call": format!("{:016x}", frame.call),
                    "name": frame.name,
                    "asked": frame.asked.iter().map(|it| format!("{it:02x}")).collect::<String>(),
                    "answer_bytes": frame.answer.len(),
                })
                .to_string(),
            )?;
            continue;
        }
        let answer = match frame.seam {
            Seam::Call if frame.answer.is_empty() => "allowed".to_owned(),
            Seam::Call => "refused".to_owned(),
            _ => show::size(frame.answer.len() as u64),
        };
        rows.push([number.to_string(), frame.seam.as_str().to_owned(), answer, frame.name]);
    }
    if !json {
        show::table(["FRAME", "SEAM", "ANSWER", "ASKED"], rows)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn differ(one: &TapeId, other: &TapeId, json: bool) -> anyhow::Result<ExitCode> {
    let tapes = tapes()?;
    let ((first, _), (second, _)) = (frames_of(&tapes, one)?, frames_of(&tapes, other)?);
    let found = diff(first, second).map_err(|cause| TapeError::Frames { id: one.clone(), cause })?;
    let Some(found) = found else {
        match json {
            true => show::json(&serde_json::json!({ "same": true }))?,
            false => show::line("the same")?,
        }
        return Ok(ExitCode::SUCCESS);
    };
    match json {
        true => show::json(&serde_json::json!({ "same": false, "difference": found }))?,
        false => show_difference(&found)?,
    }
    Ok(ExitCode::FAILURE)
}

fn show_difference(found: &Difference) -> anyhow::Result<()> {
    show::line(&format!("they differ at frame {}", found.frame))?;
    for before in &found.before {
        show::line(&format!("   both: {}", show::plain(&before.to_string())))?;
    }
    let told = |asked: &Option<Asked>| {
        asked.as_ref().map_or("nothing more".to_owned(), |it| show::plain(&it.to_string()))
    };
    show::line(&format!("    one: {}", told(&found.one)))?;
    show::line(&format!("  other: {}", told(&found.other)))?;
    if let Some((at, one, other)) = &found.answers {
        show::line(&format!("the answers differ at byte {at}"))?;
        show::line(&format!("    one: {one}"))?;
        show::line(&format!("  other: {other}"))?;
    }
    Ok(())
}

fn remove(ids: &[TapeId], json: bool) -> anyhow::Result<ExitCode> {
    let tapes = tapes()?;
    for id in ids {
        tapes.remove(id)?;
    }
    match json {
        true => {
            show::json(&serde_json::json!({ "removed": ids.iter().map(TapeId::as_str).collect::<Vec<_>>() }))?
        }
        false => show::line(&format!("removed {}", if ids.len() == 1 { "it" } else { "them" }))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// What tapes of agents are called in a listing.
const AGENT: &str = "agent";

fn replay(id: &TapeId, json: bool) -> anyhow::Result<ExitCode> {
    let dock = home::dock()?;
    let found = dock.tapes()?.list()?.into_iter().find(|it| it.0 == *id);
    if let Some((_, Ok(facts))) = found
        && facts.kind == AGENT
    {
        anyhow::bail!(
            "tape {id} is of a run of an agent; `drydock agent replay {}` goes through it again",
            show::plain(&facts.title)
        );
    }
    let (frames, again) = frames_of(&dock.tapes()?, id)?;
    let player = Player::new(frames, again)?;
    // That it is replayed is on record; what it does meanwhile is done by nobody.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let work = runtime.block_on(dock.begin_replay(PRINCIPAL, id))?;
    let taping = Taping::play(player, &dock, json)?;
    let words = taped::words();
    let command = match usual::read(&words) {
        Some(command) => command,
        None => Arguments::try_parse_from(&words).context("the words on the tape cannot be read")?.command,
    };
    let taped = match command {
        Whole::Run(run) => super::run::on(run, taping)?.1,
        Whole::Sh(sh) => super::sh::on(sh, taping)?.1,
        Whole::Js(js) => super::js::on(js, taping)?.1,
        Whole::Py(py) => super::py::on(py, taping)?.1,
        Whole::Ext(ext) => super::ext::on(ext, taping)?.1,
        _ => anyhow::bail!("the tape is of nothing that is recorded"),
    };
    let same = matches!(taped, Taped::Same(_));
    work.end(Outcome::Exited(i32::from(!same)));
    if let Err(error) = dock.gate().flush() {
        exit::warn(&error);
    }
    std::mem::forget(dock);
    match (&taped, json) {
        (Taped::Same(replayed), true) => show::json(&serde_json::json!({
            "tape": id.as_str(), "same": true, "outcome": replayed.outcome, "frames": replayed.frames,
        }))?,
        (Taped::Differs(diverged), true) => show::json(&serde_json::json!({
            "tape": id.as_str(), "same": false, "divergence": diverged,
        }))?,
        (Taped::Same(replayed), false) => {
            exit::warn(&format!("replayed: the same, {} ({} frames)", replayed.outcome, replayed.frames));
        }
        (Taped::Differs(diverged), false) => exit::warn(&format!("diverged: {diverged}")),
        _ => exit::warn("the replay came to no end"),
    }
    Ok(if same { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
