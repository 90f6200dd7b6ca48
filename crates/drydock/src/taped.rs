//! A run of the command line on a tape: what it was started with goes onto the tape as it is read, and comes from there
//! when the run is gone through again.
//!
//! The words of the command line, the files that they name and the grants that were kept are inputs; what the run itself
//! meets of the world is recorded by `embed`.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io,
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    sync::{Mutex, MutexGuard, PoisonError},
};

use anyhow::{Context as _, bail};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use clap::Args;
use drydock_embed::{
    Dock, Mount, Setup,
    contract::{Entropy, GrantFile, GrantSpec, GuestTime, Sink, Source},
    gate::Grant,
    store::{TAPE_BYTES_MAX, TapeFacts, TapeLabel, Tapes},
    tape::{Deck, Divergence, Live, Player, RecordSettings, Recorder, Replayed, Through},
};
use serde::{Deserialize, Serialize};

use crate::{exit, units};

/// What `run`, `sh`, `js`, `py` and `ext invoke` have of recording.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct RecordFlags {
    /// Record what enters the run from outside; `drydock tape replay` goes through it again
    #[arg(long)]
    record: bool,
    /// The longest tape, compressed [default: 64MiB]
    #[arg(long, value_name = "SIZE", value_parser = units::size, requires = "record")]
    record_max: Option<u64>,
}

impl RecordFlags {
    /// Whether it was asked for.
    pub(crate) fn is_on(&self) -> bool {
        self.record
    }
}

/// What a run was started with.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Inputs {
    words: Vec<String>,
    /// Files that the words name, and variables that count.
    texts: BTreeMap<String, String>,
    /// Grants that were kept for the principal.
    stored: Vec<String>,
    /// Mounts, with the places that were made of them.
    dirs: Vec<String>,
}

/// The inputs of this process, and whether they come from a tape.
#[derive(Default)]
struct Given {
    inputs: Inputs,
    played: bool,
}

static GIVEN: Mutex<Option<Given>> = Mutex::new(None);

fn given() -> MutexGuard<'static, Option<Given>> {
    GIVEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The words of this process, with what files say added.
pub(crate) fn began_with(words: &[OsString]) {
    let words = words.iter().map(|it| STANDARD.encode(it.as_bytes())).collect();
    *given() = Some(Given { inputs: Inputs { words, ..Inputs::default() }, played: false });
}

/// The words that count: this process's, or those of the tape.
pub(crate) fn words() -> Vec<OsString> {
    let given = given();
    let words = given.iter().flat_map(|it| &it.inputs.words);
    words.filter_map(|it| STANDARD.decode(it).ok().map(OsString::from_vec)).collect()
}

/// Whether the inputs come from a tape: then nothing of the host is looked at.
pub(crate) fn is_played() -> bool {
    given().as_ref().is_some_and(|it| it.played)
}

/// An input under this name: read by `read` and kept, or from the tape.
pub(crate) fn text(name: &str, read: impl FnOnce() -> anyhow::Result<Vec<u8>>) -> anyhow::Result<Vec<u8>> {
    if is_played() {
        let kept = given().as_ref().and_then(|it| it.inputs.texts.get(name).cloned());
        let kept = kept.with_context(|| format!("the tape has no input `{name}`"))?;
        return STANDARD.decode(kept).context("an input on the tape cannot be read");
    }
    let bytes = read()?;
    if let Some(given) = &mut *given() {
        given.inputs.texts.insert(name.to_owned(), STANDARD.encode(&bytes));
    }
    Ok(bytes)
}

/// The same of what may not be there.
pub(crate) fn optional(name: &str, read: impl FnOnce() -> Option<String>) -> Option<String> {
    let bytes = text(name, || read().map(String::into_bytes).context("it is not there")).ok()?;
    String::from_utf8(bytes).ok()
}

/// How a run meets the world.
pub(crate) enum Taping {
    Live,
    Record { recorder: Recorder, kind: &'static str, title: String, outputs: Outputs },
    Play { player: Player, machine: Box<Dock>, quiet: bool, outputs: Outputs },
}

/// Accounts of what a run wrote.
#[derive(Default)]
pub(crate) struct Outputs(Vec<Through>);

/// What is left of a run for its tape.
pub(crate) enum Taped {
    Nothing,
    Kept(TapeFacts),
    Same(Replayed),
    Differs(Box<Divergence>),
}

impl Taping {
    /// As the flags say, unless it is a replay.
    pub(crate) fn begin(
        self,
        flags: &RecordFlags,
        kind: &'static str,
        setup: &Setup,
        dirs: &[Mount],
    ) -> anyhow::Result<Self> {
        if !flags.record || !matches!(self, Self::Live) {
            return Ok(self);
        }
        let title = words().iter().skip(2).map(|it| it.to_string_lossy()).collect::<Vec<_>>().join(" ");
        if setup.install_missing {
            bail!("--record and --install-missing do not go together: what is installed is no part of a run");
        }
        if let Some(given) = &mut *given() {
            given.inputs.stored = setup.stored.iter().map(|it| it.spec().to_json()).collect();
            given.inputs.dirs = dirs.iter().map(Mount::to_text).collect();
        }
        let inputs =
            given().as_ref().map(|it| serde_json::to_vec(&it.inputs)).transpose()?.unwrap_or_default();
        let seed = match setup.entropy {
            Entropy::Seeded(seed) => Some(seed),
            Entropy::System => None,
        };
        let start = match setup.time {
            GuestTime::Fixed(start) => Some(start),
            GuestTime::Real => None,
        };
        let bytes_max = flags.record_max.unwrap_or(TAPE_BYTES_MAX);
        let recorder = Recorder::begin(RecordSettings { bytes_max, inputs, seed, start });
        Ok(Self::Record { recorder, kind, title, outputs: Outputs::default() })
    }

    /// A replay: from now on the inputs of this process are those of the tape. `quiet` where nobody is to see what the run
    /// writes.
    pub(crate) fn play(player: Player, machine: &Dock, quiet: bool) -> anyhow::Result<Self> {
        let mut inputs: Inputs =
            serde_json::from_slice(player.inputs()).context("the tape was not recorded on a command line")?;
        set_dirs(&mut inputs)?;
        *given() = Some(Given { inputs, played: true });
        let machine = Box::new(machine.replaying(&player).0);
        Ok(Self::Play { player, machine, quiet, outputs: Outputs::default() })
    }

    pub(crate) fn is_live(&self) -> bool {
        matches!(self, Self::Live)
    }

    /// Whether what it says of the run is for somebody.
    pub(crate) fn shows(&self) -> bool {
        !matches!(self, Self::Play { quiet: true, .. })
    }

    pub(crate) fn deck(&self) -> &dyn Deck {
        match self {
            Self::Live => &Live,
            Self::Record { recorder, .. } => recorder,
            Self::Play { player, .. } => player,
        }
    }

    /// The machine of a replay, if it is one.
    pub(crate) fn machine(&self) -> Option<Dock> {
        match self {
            Self::Play { machine, .. } => Some((**machine).clone()),
            _ => None,
        }
    }

    /// What ends the run from outside.
    pub(crate) fn on_end(&self, end: impl Fn() + Send + Sync + 'static) {
        if let Self::Play { player, .. } = self {
            player.on_end(end);
        }
    }

    pub(crate) fn stdin(&self, open: impl Fn() -> io::Result<Source>) -> io::Result<Source> {
        self.deck().stream("stdin", &mut || open())
    }

    /// An outgoing stream; those are counted in the order in which they are asked for.
    pub(crate) fn sink(
        &mut self,
        name: &'static str,
        open: impl FnOnce() -> io::Result<Sink>,
    ) -> io::Result<Sink> {
        let (sink, through, outputs) = match self {
            Self::Live => return open(),
            Self::Record { recorder, outputs, .. } => {
                let (sink, through) = recorder.sink(name, open()?);
                (sink, through, outputs)
            }
            Self::Play { player, quiet, outputs, .. } => {
                let (sink, through) = player.sink(name, if *quiet { Sink::Discard } else { open()? });
                (sink, through, outputs)
            }
        };
        outputs.0.push(through);
        Ok(sink)
    }

    /// The run is over: `outcome` in a word, and what else came of it.
    pub(crate) fn finish(&self, dock: &Dock, outcome: &str, rest: &[u8]) -> anyhow::Result<Taped> {
        let hashes = |outputs: &Outputs| outputs.0.iter().map(Through::hash).collect::<Vec<_>>();
        match self {
            Self::Live => Ok(Taped::Nothing),
            Self::Record { recorder, kind, title, outputs } => {
                let hashes = hashes(outputs);
                let pieces: Vec<&[u8]> = hashes.iter().map(|it| &it[..]).chain([rest]).collect();
                let tapes = Tapes::of(&dock.home().tenant(dock.tenant()))?;
                let (principal, kind) = (crate::cli::run::PRINCIPAL.to_owned(), (*kind).to_owned());
                let label = TapeLabel { principal, kind, title: title.clone(), ..TapeLabel::default() };
                Ok(Taped::Kept(recorder.keep(&tapes, label, outcome, &pieces)?))
            }
            Self::Play { player, outputs, .. } => {
                let hashes = hashes(outputs);
                let pieces: Vec<&[u8]> = hashes.iter().map(|it| &it[..]).chain([rest]).collect();
                Ok(match player.finish(outcome, &pieces) {
                    Ok(replayed) => Taped::Same(replayed),
                    Err(diverged) => Taped::Differs(Box::new(diverged)),
                })
            }
        }
    }

    /// The same, said on stderr: which tape it is, or why there is none. The run's own end is not changed by that.
    pub(crate) fn keep(&self, dock: &Dock, outcome: &str, rest: &[u8]) -> Taped {
        match self.finish(dock, outcome, rest) {
            Ok(taped) => taped,
            Err(error) => {
                exit::warn(&format!("no tape: {error:#}"));
                Taped::Nothing
            }
        }
    }
}

impl Taped {
    /// Says which tape it is.
    pub(crate) fn tell(&self) {
        if let Self::Kept(facts) = self {
            exit::warn(&format!("tape: {}", facts.id));
        }
    }

    /// The same, where no record in JSON says it.
    pub(crate) fn tell_unless(&self, json: bool) {
        if !json {
            self.tell();
        }
    }

    /// The id, for a record in JSON.
    pub(crate) fn id(&self) -> Option<String> {
        match self {
            Self::Kept(facts) => Some(facts.id.to_string()),
            _ => None,
        }
    }
}

/// The grants that were kept for the principal when it was recorded.
pub(crate) fn stored() -> anyhow::Result<Vec<std::sync::Arc<Grant>>> {
    let texts: Vec<String> = given().as_ref().map(|it| it.inputs.stored.clone()).unwrap_or_default();
    if texts.is_empty() {
        return Ok(Vec::new());
    }
    let specs = texts.iter().map(|it| GrantSpec::parse(it.as_bytes())).collect::<Result<Vec<_>, _>>()?;
    Ok(Grant::all_of(&GrantFile::of(specs, "taped")?, |it| it))
}

/// Puts mounts as they were understood in the place of what was said: a replay looks at no directory.
fn set_dirs(inputs: &mut Inputs) -> anyhow::Result<()> {
    let mut words: Vec<Vec<u8>> = Vec::new();
    for word in &inputs.words {
        words.push(STANDARD.decode(word).context("a word on the tape cannot be read")?);
    }
    let mut dirs = inputs.dirs.iter();
    let mut at = 0;
    while at < words.len() {
        if words[at] == b"--dir" && at + 1 < words.len() {
            at += 1;
            match dirs.next() {
                Some(dir) => words[at] = dir.clone().into_bytes(),
                None => break,
            }
        } else if words[at].starts_with(b"--dir=") {
            match dirs.next() {
                Some(dir) => words[at] = format!("--dir={dir}").into_bytes(),
                None => break,
            }
        }
        at += 1;
    }
    inputs.words = words.into_iter().map(|it| STANDARD.encode(it)).collect();
    Ok(())
}
