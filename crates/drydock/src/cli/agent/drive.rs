//! Driving runs: opened, resumed or forked ones, told while they go on. On a terminal a person answers what a run asks in
//! place; in a pipe the run waits, and says how to answer.

use std::{
    io::{self, IsTerminal as _, Write as _},
    path::PathBuf,
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use clap::Args;
use drydock_embed::{
    Dock, Network, Setup,
    agent::{AgentChanges, AgentRun, AgentSettings, DockAgents, Driven, Event, RunOptions},
    contract::{
        AgentHead, AgentId, AgentStatus, GrantFile, ReviewAnswer, ReviewKind,
        exit::{CANCELLED, DENIED, LIMITED},
        port::Wanted,
    },
    store::TAPE_BYTES_MAX,
};
use tokio::sync::mpsc;

use super::{
    Which,
    flags::{OptionFlags, SpecFlags},
    keys::Keys,
    sub, told,
    toolkits::TrustFlags,
    view::View,
};
use crate::{
    cli::{
        grants,
        hosts::{Hosts, SecretFlags},
        review, run,
    },
    exit, home,
    interrupt::Interrupts,
    models, show, units,
};

/// Reviews of one run that are asked about in place, one after another.
const REVIEWS_MAX: usize = 64;

#[derive(Debug, Args)]
pub(super) struct Run {
    #[command(flatten)]
    spec: SpecFlags,
    #[command(flatten)]
    how: DriveFlags,
    /// Record what enters the run from outside; `drydock agent replay` goes through it again
    #[arg(long)]
    record: bool,
    /// The longest tape, compressed [default: 64MiB]
    #[arg(long, value_name = "SIZE", value_parser = units::size, requires = "record")]
    record_max: Option<u64>,
    /// Print one record of the run as JSON, and nothing while it goes on
    #[arg(long)]
    pub(super) json: bool,
}

/// What holds for as long as this process drives the run.
#[derive(Debug, Args)]
pub(super) struct DriveFlags {
    /// In a pipe: when the run asks a person, wait until somebody answers from elsewhere
    #[arg(long)]
    wait: bool,
    /// Let it call for the agents that are defined in this folder, by their names
    #[arg(long, value_name = "DIR")]
    agents: Option<PathBuf>,
    #[command(flatten)]
    pub(super) trust: TrustFlags,
    #[command(flatten)]
    hosts: Hosts,
    #[command(flatten)]
    secrets: SecretFlags,
}

impl DriveFlags {
    /// Hosts, and secrets that go along to them.
    pub(super) fn network(&self) -> anyhow::Result<Network> {
        self.secrets.with(self.hosts.rules())
    }
}

#[derive(Debug, Args)]
pub(super) struct Resume {
    #[command(flatten)]
    pub(super) which: Which,
    #[command(flatten)]
    options: OptionFlags,
    /// So many turns more than it has had
    #[arg(long, value_name = "N", conflicts_with = "max_steps", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    more_steps: Option<u64>,
    /// Say this to it before it goes on
    #[arg(long, value_name = "TEXT")]
    say: Option<String>,
    #[command(flatten)]
    how: DriveFlags,
}

#[derive(Debug, Args)]
pub(super) struct Fork {
    #[command(flatten)]
    pub(super) which: Which,
    /// The turn behind which it goes another way; 0 is the beginning
    #[arg(long, value_name = "N")]
    step: u64,
    /// Another prompt
    #[arg(long, value_name = "TEXT")]
    system: Option<String>,
    /// Another task
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,
    /// Other grants, in the place of those the first one was opened with
    #[arg(long, alias = "grant", value_name = "FILE", value_parser = grants::file)]
    grants: Option<GrantFile>,
    #[command(flatten)]
    options: OptionFlags,
    #[command(flatten)]
    how: DriveFlags,
}

#[derive(Debug, Args)]
pub(super) struct Replay {
    #[command(flatten)]
    pub(super) which: Which,
}

pub(super) fn run(wanted: Run) -> anyhow::Result<ExitCode> {
    let Run { spec, how, record, record_max, json } = wanted;
    with_agents(&how, json, async |dock, agents| {
        let spec = spec.spec(dock, &how)?;
        Ok(match record {
            false => agents.open(spec).await?,
            true => agents.open_recorded(spec, record_max.unwrap_or(TAPE_BYTES_MAX)).await?,
        })
    })
}

pub(super) fn resume(wanted: Resume) -> anyhow::Result<ExitCode> {
    let Resume { which, options, more_steps, say, how } = wanted;
    with_agents(&how, which.json, async |_, agents| {
        let options = changed(&agents, &which.run, &options).await?;
        known(&agents, &which.run, options.as_ref()).await?;
        let changes = AgentChanges { options, more_steps, say, ..AgentChanges::default() };
        Ok(agents.resume(&which.run, &changes).await?)
    })
}

pub(super) fn fork(wanted: Fork) -> anyhow::Result<ExitCode> {
    let Fork { which, step, system, task, grants, options, how } = wanted;
    with_agents(&how, which.json, async |_, agents| {
        let options = changed(&agents, &which.run, &options).await?;
        known(&agents, &which.run, options.as_ref()).await?;
        let grants = grants.map(|it| it.grants().to_vec());
        let changes = AgentChanges { options, system, task, grants, ..AgentChanges::default() };
        Ok(agents.fork(&which.run, step, &changes).await?)
    })
}

/// The options of a run with what was said in the place of what was there, if anything was.
async fn changed(
    agents: &DockAgents,
    run: &AgentId,
    flags: &OptionFlags,
) -> anyhow::Result<Option<RunOptions>> {
    if flags.is_empty() {
        return Ok(None);
    }
    let record = agents.record(run).await?;
    let before = record.events.iter().rev().find_map(|it| match it {
        Event::Started { options, .. } | Event::Resumed { options: Some(options), .. } => {
            Some(options.clone())
        }
        _ => None,
    });
    Ok(before.map(|it| flags.over(it)))
}

/// Refuses to go on with a run whose model nobody configured here, before any of its calls is made.
async fn known(agents: &DockAgents, run: &AgentId, options: Option<&RunOptions>) -> anyhow::Result<()> {
    let model = match options {
        Some(options) => options.model.clone(),
        None => agents.show(run).await?.model,
    };
    models::named(&model).map(drop)
}

/// Opens what there is, opens a run in it, and drives that.
fn with_agents(
    how: &DriveFlags,
    json: bool,
    open: impl AsyncFnOnce(&Dock, DockAgents) -> anyhow::Result<AgentRun>,
) -> anyhow::Result<ExitCode> {
    let setup = Setup { network: how.network()?, ..Setup::default() };
    let dock = home::dock()?;
    dock.serve();
    let agents = dock.agents_with(AgentSettings {
        setup,
        definitions: how.agents.clone().map(sub::definitions),
        ..super::settings(&dock, how.trust.trust())?
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let head = runtime.block_on(async {
        let run = open(&dock, agents.clone()).await?;
        through(&agents, run, how, json).await
    });
    if let Err(error) = dock.gate().flush() {
        exit::warn(&error);
    }
    // Somebody may still be typing an answer that nobody will read.
    runtime.shutdown_timeout(Duration::from_millis(200));
    std::mem::forget(dock);
    Ok(ExitCode::from(status_of(&head?)))
}

pub(super) fn replay(wanted: &Replay) -> anyhow::Result<ExitCode> {
    let (runtime, agents) = super::looking()?;
    let run = &wanted.which.run;
    let same = runtime.block_on(agents.replay(run))?;
    if wanted.which.json {
        show::json(&same)?;
        return Ok(ExitCode::SUCCESS);
    }
    let tape = match (&same.tape, same.frames) {
        (Some(tape), Some(frames)) => format!(", and all {frames} frames of tape {tape} were asked for"),
        _ => "; it was not recorded, so nothing was run again".to_owned(),
    };
    show::line(&format!("run {run}: the same {} events{tape}", same.events))?;
    Ok(ExitCode::SUCCESS)
}

/// The status of this process for a run that is this far.
fn status_of(head: &AgentHead) -> u8 {
    match (head.status, head.reason.as_deref()) {
        (AgentStatus::Done, _) => 0,
        (AgentStatus::Waiting | AgentStatus::Running, _) => DENIED,
        (AgentStatus::Cancelled, _) => CANCELLED,
        (AgentStatus::Failed, Some("max_steps" | "budget_exceeded")) => LIMITED,
        (AgentStatus::Failed, _) => 1,
    }
}

/// Drives a run to its end, or to a question that nobody here answers, and tells it.
async fn through(
    agents: &DockAgents,
    mut run: AgentRun,
    how: &DriveFlags,
    json: bool,
) -> anyhow::Result<AgentHead> {
    let id = run.id().clone();
    let mut view = View::new(json);
    view.begins_at(run.head());
    let files =
        run.head().workspace.clone().map(|it| format!("  files in workspace {it}")).unwrap_or_default();
    let model = told::short(&run.head().model);
    view.line(&format!("run {id}  model {model}{files}"));
    view.doing(format!("asking {model} …"));
    let mut asker = Asker::of_terminal(json);
    // Where nobody answers here, a question of a sub-agent ends this as one of the run itself does.
    let pauses = asker.is_none() && !how.wait;
    let mut interrupts = Interrupts::listen();
    let (to, mut heard) = mpsc::unbounded_channel();
    // As many as a run has events: nothing is dropped, and what is told is bounded by what is kept.
    run.listen(Arc::new(move |_, event| drop(to.send(event.clone()))));
    let ended = loop {
        let driven = drive(agents, &mut run, &mut view, &mut heard, &mut interrupts, pauses).await?;
        if driven == Driven::Waiting {
            let goes_on = match &mut asker {
                Some(asker) => asker.ask_all(agents, &run, &mut view, &mut interrupts).await?,
                None if how.wait => {
                    view.line("waiting for a person: `drydock review list`");
                    tokio::select! {
                        answered = run.until_answered() => answered.map(|()| true)?,
                        () = interrupts.next() => false,
                    }
                }
                None => false,
            };
            if goes_on {
                continue;
            }
        }
        break matches!(driven, Driven::Ended(_));
    };
    let taped = if ended { run.keep_tape().await? } else { None };
    view.wipe();
    drop((run, view));
    let head = agents.show(&id).await?;
    let waiting = sub::waiting(agents, &id).await?;
    let record = agents.record(&id).await?;
    if json {
        let mut told = serde_json::to_value(&record)?;
        told["reviews"] = serde_json::to_value(&waiting)?;
        show::json(&told)?;
        return Ok(head);
    }
    exit::warn(&told::ended(&head));
    if let Some(taped) = taped {
        exit::warn(&format!("recorded as tape {}; `drydock agent replay {id}` goes through it", taped.id));
    }
    for review in &waiting {
        exit::warn(&format!(
            "review {}: {}\n`drydock review show {}` tells more; `drydock review approve {} --once` says yes",
            review.id,
            told::short(&review.title),
            review.id,
            review.id
        ));
    }
    hint(&head);
    if let Some(result) = &record.result {
        let plain = io::stdout().is_terminal();
        for line in result.lines() {
            show::line(&if plain { show::plain(line).to_string() } else { line.to_owned() })?;
        }
    }
    Ok(head)
}

/// What can be done with a run that is not done.
pub(super) fn hint(head: &AgentHead) {
    match head.status {
        AgentStatus::Waiting | AgentStatus::Failed | AgentStatus::Cancelled => {
            let more = match head.reason.as_deref() {
                Some("max_steps") => " --more-steps N",
                Some("budget_exceeded") => " --budget tokens=N,cost=AMOUNT",
                _ => "",
            };
            exit::warn(&format!("`drydock agent resume {}{more}` goes on", head.id));
        }
        AgentStatus::Running | AgentStatus::Done => {}
    }
}

/// Drives a run and tells what happens, until it ends or asks; where it `pauses`, also until all of its work is sub-agents
/// that ask. Ctrl-C ends it, cleanly; a second one at once.
async fn drive(
    agents: &DockAgents,
    run: &mut AgentRun,
    view: &mut View,
    heard: &mut mpsc::UnboundedReceiver<Event>,
    interrupts: &mut Interrupts,
    pauses: bool,
) -> anyhow::Result<Driven> {
    let (id, mut ending, mut questions) = (run.id().clone(), false, sub::Questions::of(run.head()));
    let mut look = tokio::time::interval(sub::LOOK_AGAIN);
    let driven = {
        let mut driving = std::pin::pin!(run.drive());
        loop {
            tokio::select! {
                biased;
                Some(event) = heard.recv() => {
                    questions.happened(&event);
                    view.happened(&[event]);
                }
                driven = &mut driving => break Some(driven?),
                _ = look.tick(), if questions.may_come() => {
                    // Few runs ask anything: only of those that do is the whole log read.
                    let asks = pauses && !sub::waiting(agents, &id).await?.is_empty();
                    if asks && agents.waits_for_people(&id).await? {
                        break None;
                    }
                    questions.tell(agents, &id, view).await;
                }
                () = interrupts.next() => {
                    if ending {
                        std::process::exit(i32::from(CANCELLED));
                    }
                    ending = true;
                    view.line("ending it; a second Ctrl-C ends at once");
                    agents.cancel(&id).await?;
                }
            }
        }
    };
    while let Ok(event) = heard.try_recv() {
        view.happened(&[event]);
    }
    let Some(driven) = driven else {
        run.pause().await?;
        return Ok(Driven::Waiting);
    };
    Ok(driven)
}

/// What came of a question at the terminal.
enum Asked {
    /// This.
    Answer(ReviewAnswer),
    /// Nothing is asked any more: the run is driven on.
    Elsewhere,
    /// Whoever sits there went away.
    Later,
}

/// Asks whoever sits at the terminal.
struct Asker {
    keys: Keys,
}

impl Asker {
    /// Nobody, unless somebody sits there.
    fn of_terminal(json: bool) -> Option<Self> {
        if json {
            return None;
        }
        Keys::of_terminal().map(|keys| Self { keys })
    }

    /// Asks for each review of a run that waits. False if somebody went away instead.
    async fn ask_all(
        &mut self,
        agents: &DockAgents,
        run: &AgentRun,
        view: &mut View,
        interrupts: &mut Interrupts,
    ) -> anyhow::Result<bool> {
        view.wipe();
        let waiting = agents.reviews(Some(run.id()), Wanted::Pending, REVIEWS_MAX).await?;
        for review in waiting.into_iter().filter(|it| it.kind != ReviewKind::Other) {
            for line in review::described(&review) {
                view.line(&line);
            }
            let answer = match self.ask(run, view, interrupts).await? {
                Asked::Answer(answer) => answer,
                Asked::Elsewhere => return Ok(true),
                Asked::Later => return Ok(false),
            };
            match agents.answer(&review.id, answer, run::PRINCIPAL).await {
                Ok(_) => {}
                Err(error) if review::was_answered(&error) => view.line("somebody else answered it"),
                Err(error) => return Err(error.into()),
            }
        }
        run.until_answered().await?;
        Ok(true)
    }

    async fn ask(
        &mut self,
        run: &AgentRun,
        view: &mut View,
        interrupts: &mut Interrupts,
    ) -> anyhow::Result<Asked> {
        loop {
            if self.keys.begin() {
                view.line("what was typed before this question is no answer to it");
            }
            let _ = write!(
                io::stderr(),
                "approve? [o]nce, for the [s]ession, [l]imit N, [d]eny REASON, [q] later: "
            );
            let line = tokio::select! {
                line = self.keys.line() => line,
                () = interrupts.next() => None,
                // Somebody answered from elsewhere or wanted the run's end, or its time was over.
                done = run.until_answered() => {
                    done?;
                    view.line("");
                    return Ok(Asked::Elsewhere);
                }
            };
            let Some(line) = line else {
                view.line("");
                return Ok(Asked::Later);
            };
            match answer_of(&line) {
                Some(answer) => return Ok(answer.map_or(Asked::Later, Asked::Answer)),
                None => view.line("that is none of them"),
            }
        }
    }
}

/// What a line says: an answer, later, or nothing that makes sense.
fn answer_of(line: &str) -> Option<Option<ReviewAnswer>> {
    let (word, rest) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
    let rest = rest.trim();
    Some(match word {
        "o" | "once" if rest.is_empty() => Some(ReviewAnswer::Once),
        "s" | "session" if rest.is_empty() => Some(ReviewAnswer::Session),
        "l" | "limit" => Some(ReviewAnswer::Limit { limit: rest.parse().ok().filter(|it| *it > 0)? }),
        "d" | "deny" => Some(ReviewAnswer::Deny { reason: rest.to_owned() }),
        "q" | "later" if rest.is_empty() => None,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_that_are_answers_answer() {
        for (line, want) in [
            ("o\n", Some(Some(ReviewAnswer::Once))),
            (" session ", Some(Some(ReviewAnswer::Session))),
            ("l 3", Some(Some(ReviewAnswer::Limit { limit: 3 }))),
            ("d not on a Friday", Some(Some(ReviewAnswer::Deny { reason: "not on a Friday".into() }))),
            ("deny", Some(Some(ReviewAnswer::Deny { reason: String::new() }))),
            ("q", Some(None)),
            ("", None),
            ("yes", None),
            ("o o", None),
            ("l", None),
            ("l 0", None),
            ("l -1", None),
        ] {
            assert_eq!(answer_of(line), want, "{line:?}");
        }
    }
}
