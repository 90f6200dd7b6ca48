//! `-exec` and `-execdir`: commands with the names of files in them.

use super::expr::{Batch, Place};
use super::printf::parent;
use child::{Children, Command, Ended, Stdin};

/// What one child is given at most: half of what a session allows, for its environment is there too.
const ARGV_BYTES_MAX: usize = 128 << 10;

/// The commands of a search, and the files that wait for them.
pub(super) struct Runs<'a> {
    children: &'a dyn Children,
    batches: Vec<Waiting<'a>>,
    env: Vec<Vec<u8>>,
}

struct Waiting<'a> {
    batch: &'a Batch,
    directory: Option<String>,
    names: Vec<Vec<u8>>,
    bytes: usize,
}

impl<'a> Runs<'a> {
    pub(super) fn new(batches: &'a [Batch], children: &'a dyn Children) -> Self {
        let waiting = |batch| Waiting { batch, directory: None, names: Vec::new(), bytes: 0 };
        Self { children, batches: batches.iter().map(waiting).collect(), env: child::environment() }
    }

    /// Runs a command for one file; whether it succeeded, and what to complain about.
    pub(super) fn one(&self, command: &[String], place: Place, path: &str) -> (bool, Option<String>) {
        let name = named(place, path);
        let words: Vec<Vec<u8>> =
            command.iter().map(|it| facts::name::bytes(&it.replace("{}", &name)).into_owned()).collect();
        let Some((program, args)) = words.split_first() else { return (false, None) };
        let directory = directory(place, path);
        let ended = self.start(program, args, directory.as_deref());
        (ended == Ended::Exited(0), problem(program, &ended))
    }

    /// Adds a file to a batch, and runs it first if it is full. False if a run failed.
    pub(super) fn gather(&mut self, batch: usize, path: &str) -> bool {
        let Some(waiting) = self.batches.get(batch) else { return false };
        let place = waiting.batch.place;
        let (name, directory) = (named(place, path), directory(place, path));
        let full = waiting.bytes + name.len() + 1 > ARGV_BYTES_MAX || waiting.directory != directory;
        let well = !full || self.run_batch(batch);
        let waiting = &mut self.batches[batch];
        waiting.bytes += name.len() + 1;
        waiting.names.push(facts::name::bytes(&name).into_owned());
        waiting.directory = directory;
        well
    }

    /// Runs what is still waiting. False if a run failed.
    pub(super) fn finish(&mut self) -> bool {
        let mut well = true;
        for batch in 0..self.batches.len() {
            well &= self.run_batch(batch);
        }
        well
    }

    fn run_batch(&mut self, batch: usize) -> bool {
        let waiting = &mut self.batches[batch];
        let names = std::mem::take(&mut waiting.names);
        waiting.bytes = 0;
        if names.is_empty() {
            return true;
        }
        let (command, directory) = (&waiting.batch.command, waiting.directory.clone());
        let mut words: Vec<Vec<u8>> = command.iter().map(|it| facts::name::bytes(it).into_owned()).collect();
        words.extend(names);
        let Some((program, args)) = words.split_first() else { return true };
        let ended = self.start(program, args, directory.as_deref());
        if let Some(problem) = problem(program, &ended) {
            crate::complain("find", &problem);
        }
        ended == Ended::Exited(0)
    }

    fn start(&self, name: &[u8], args: &[Vec<u8>], directory: Option<&str>) -> Ended {
        let stdin = Stdin::Ours;
        self.children.run(&Command { name, args, env: &self.env, directory, stdin, wall_ms_max: None })
    }
}

/// What `{}` stands for.
fn named(place: Place, path: &str) -> String {
    match place {
        Place::Here => path.to_owned(),
        Place::Beside => {
            let trimmed = match path.trim_end_matches('/') {
                "" => return path.to_owned(),
                other => other,
            };
            format!("./{}", trimmed.rsplit('/').next().unwrap_or(trimmed))
        }
    }
}

fn directory(place: Place, path: &str) -> Option<String> {
    if place == Place::Here {
        return None;
    }
    let folder = match parent(path) {
        "" => "/",
        other => other,
    };
    if folder.starts_with('/') {
        return Some(folder.to_owned());
    }
    let own = std::env::current_dir().unwrap_or_default();
    let own = facts::name::text(own.as_os_str());
    let below = folder.strip_prefix("./").unwrap_or(folder);
    Some(if below == "." { own } else { format!("{}/{below}", own.trim_end_matches('/')) })
}

fn problem(program: &[u8], ended: &Ended) -> Option<String> {
    let program = String::from_utf8_lossy(program);
    match ended {
        Ended::Exited(_) => None,
        Ended::NotFound => Some(format!("'{program}': No such file or directory")),
        Ended::Refused(why, _) => Some(format!("'{program}': may not run: {why}")),
        Ended::Stopped(why, _) => Some(format!("'{program}' was stopped: {why}")),
        Ended::TimedOut => Some(format!("'{program}' took too long")),
    }
}
