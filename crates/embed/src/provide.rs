//! Names that are no command yet: whoever knows a catalog says what they are, and installs them where a session may.
//!
//! This room knows no catalog. It asks the [`Provider`] of its settings, behind the gate like any command: a name
//! that was not granted is not installed, and what is installed runs by a second call at the same gate.

use std::{collections::BTreeSet, future::poll_fn, io, sync::Arc};

use drydock_abi::exec::{encode_command, take_report};
use drydock_contract::{
    BoxFuture, Call, CommandName, Outcome, Preparing, Sink, Streams,
    port::{Files, Registry as _},
};
use drydock_gate::{HeldGrants, Inside, InsideCommand};
use parking_lot::Mutex;

use crate::{Dock, HostOutput};

/// Knows programs that are not installed.
pub trait Provider: Send + Sync {
    /// What to say of a name that is no command here, after the name and a colon; nothing if it is unknown.
    fn remedy(&self, name: &str) -> Option<String>;

    /// Whether [`install`](Self::install) could make a command of the name.
    fn knows(&self, name: &str) -> bool;

    /// Every name that it knows.
    fn names(&self) -> Vec<String>;

    /// Makes a command of the name, or says why not.
    fn install(&self, dock: Dock, name: String) -> BoxFuture<'static, Result<(), String>>;

    /// Whether the provider itself answers a command of that name, such as `apt-get`.
    fn stands_in(&self, name: &str) -> bool;

    /// Answers such a command. It may install only where `may_install` says so.
    fn stand_in(&self, dock: Dock, call: StandIn) -> BoxFuture<'static, HostOutput>;
}

/// A command that a provider answers itself.
#[derive(Clone)]
pub struct StandIn {
    /// Its name.
    pub name: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Whether the session may install.
    pub may_install: bool,
    /// The files of whoever called it, if there are any.
    pub files: Option<Arc<dyn Files>>,
    /// Its working directory.
    pub cwd: String,
    /// What its session may call: nothing else is installed for it.
    pub grants: HeldGrants,
    /// Whose time an installation is.
    pub time: InstallTime,
}

/// Installations that a session does not pay for with its own time.
const FREE_INSTALLS_MAX: usize = 16;

/// Time that is not the session's while something is installed for it: the first time for each name, and for so many
/// names. A line that tries again and again what fails does so in its own time.
#[derive(Clone)]
pub struct InstallTime {
    preparing: Arc<Preparing>,
    given: Arc<Mutex<BTreeSet<String>>>,
}

impl InstallTime {
    /// Installs this name by `work`. Only while that waits for the world is it nobody's time: a guard around the whole of
    /// it would stand as long as nobody polls it, and give all that time to whoever computes beside it.
    pub async fn of<T>(&self, name: &str, work: impl Future<Output = T>) -> T {
        match self.is_free(name) {
            true => self.preparing.waits_for(work).await,
            false => work.await,
        }
    }

    fn is_free(&self, name: &str) -> bool {
        let mut given = self.given.lock();
        given.len() < FREE_INSTALLS_MAX && given.insert(name.to_owned())
    }
}

impl Dock {
    /// What to say of a name that is no command here, if anything is known of it.
    pub fn remedy(&self, name: &str) -> Option<String> {
        self.provider.as_ref().and_then(|it| it.remedy(name))
    }

    /// Installs the program that has this command, on the word of whoever embeds the dock: no gate is asked.
    pub async fn install(&self, name: &str) -> Result<(), String> {
        match &self.provider {
            Some(provider) => provider.install(self.clone(), name.to_owned()).await,
            None => Err("there is no catalog".into()),
        }
    }

    /// The names that could be installed and are not, for a session that may install them.
    pub fn installable(&self, may_install: bool) -> Vec<CommandName> {
        let names = self.provider.iter().filter(|_| may_install).flat_map(|it| it.names());
        names.filter(|it| self.registry.lookup(it, None).is_none()).filter_map(|it| it.parse().ok()).collect()
    }

    /// Whether a command of that name is answered without a module, such as `apt-get` and `pip`.
    pub fn stands_in(&self, name: &str) -> bool {
        self.registry.lookup(name, None).is_none()
            && self.provider.as_ref().is_some_and(|it| it.stands_in(name))
    }

    /// Whether a name that nothing is registered under would be answered all the same.
    pub(crate) fn provides(&self, name: &str, may_install: bool) -> bool {
        self.provider.as_ref().is_some_and(|it| it.stands_in(name) || (may_install && it.knows(name)))
    }

    /// The provider behind what the front end answers itself.
    pub(crate) fn providing(
        &self,
        other: Option<Arc<dyn Inside>>,
        may_install: bool,
        files: Option<Arc<dyn Files>>,
        grants: HeldGrants,
    ) -> Option<Arc<dyn Inside>> {
        let (dock, given) = (self.clone(), Arc::default());
        match self.provider {
            None => other,
            Some(_) => Some(Arc::new(Provided { dock, may_install, files, grants, given, other })),
        }
    }
}

struct Provided {
    dock: Dock,
    may_install: bool,
    files: Option<Arc<dyn Files>>,
    grants: HeldGrants,
    given: Arc<Mutex<BTreeSet<String>>>,
    other: Option<Arc<dyn Inside>>,
}

impl Inside for Provided {
    fn offers(&self, name: &str) -> bool {
        self.other.as_ref().is_some_and(|it| it.offers(name)) || self.dock.provides(name, self.may_install)
    }

    fn run(&self, command: InsideCommand) -> BoxFuture<'static, (Outcome, Streams)> {
        if let Some(other) = self.other.as_ref().filter(|it| it.offers(&command.name)) {
            return other.run(command);
        }
        let Some(provider) = self.dock.provider.clone() else {
            return Box::pin(async move { (Outcome::Exited(127), command.streams) });
        };
        let dock = self.dock.clone();
        let time = InstallTime { preparing: Arc::clone(&command.preparing), given: Arc::clone(&self.given) };
        if provider.stands_in(&command.name) {
            let args = command.args.iter().map(|it| String::from_utf8_lossy(it).into_owned()).collect();
            let pwd = command.env.iter().find_map(|it| it.strip_prefix(b"PWD="));
            let cwd = pwd.map_or_else(|| "/".into(), |it| String::from_utf8_lossy(it).into_owned());
            let (name, may_install, files) = (command.name.clone(), self.may_install, self.files.clone());
            let call = StandIn { name, args, may_install, files, cwd, grants: self.grants.clone(), time };
            return Box::pin(answer(command, move || provider.stand_in(dock, call)));
        }
        Box::pin(async move {
            let installed = time.of(&command.name, provider.install(dock, command.name.clone())).await;
            match installed {
                Ok(()) => again(command).await,
                Err(why) => {
                    let mut streams = command.streams;
                    let text = format!("{}: not installed: {why}\n", command.name);
                    let _ = write(&mut streams.stderr, text.as_bytes()).await;
                    (Outcome::Exited(127), streams)
                }
            }
        })
    }
}

async fn answer<F>(command: InsideCommand, body: impl FnOnce() -> F) -> (Outcome, Streams)
where
    F: Future<Output = HostOutput>,
{
    let output = body().await;
    let mut streams = command.streams;
    // A reader that went away is nobody's error.
    let _ = write(&mut streams.stdout, &output.stdout).await;
    let _ = write(&mut streams.stderr, &output.stderr).await;
    (Outcome::Exited(output.status.into()), streams)
}

/// The same call once more, now that the name is registered. The gate decides anew.
async fn again(command: InsideCommand) -> (Outcome, Streams) {
    let InsideCommand { name, args, env, wall_max, file_rules, streams, door, .. } = command;
    let Ok(mut payload) = encode_command(&env, &name, &args, b"") else {
        return (Outcome::Trapped("the arguments are too long".into()), streams);
    };
    if let Some(wall) = wall_max {
        let millis = u32::try_from(wall.as_millis().max(1)).unwrap_or(u32::MAX);
        payload.extend_from_slice(&millis.to_le_bytes());
    }
    let call = Call::new(drydock_caps::exec::COMMAND, &payload, streams)
        .with_file_rules(file_rules)
        .answered_typed();
    match door.dispatch(call).await {
        Ok(mut reply) => {
            let outcome = take_report(&mut reply)
                .map_or_else(|bad| Outcome::Trapped(bad.to_string()), |report| report.outcome);
            (outcome, reply.streams)
        }
        // The streams went with the call.
        Err(error) => (Outcome::Exited(error.exit_status().into()), Streams::default()),
    }
}

async fn write(sink: &mut Sink, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let count = poll_fn(|cx| sink.poll_write(cx, bytes)).await?;
        if count == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = bytes.get(count..).unwrap_or_default();
    }
    poll_fn(|cx| sink.poll_flush(cx)).await
}

#[cfg(test)]
mod tests {
    use std::{
        task::{Context, Waker},
        time::Duration,
    };

    use super::*;

    fn time() -> InstallTime {
        InstallTime { preparing: Arc::default(), given: Arc::default() }
    }

    #[test]
    fn the_first_installation_of_a_few_names_is_nobodys_time_and_no_other() {
        let time = time();
        assert!(time.is_free("php") && !time.is_free("php"), "it failed, and is tried again");
        let free = (0..100).filter(|at| time.is_free(&format!("row-{at}"))).count();
        assert_eq!(free, FREE_INSTALLS_MAX - 1);
    }

    /// `php & echo $((…))`: the installation could go on, and the line computes instead of looking at it.
    #[tokio::test]
    async fn an_installation_that_nobody_looks_at_is_the_sessions_time() {
        let time = time();
        let (done, waits) = tokio::sync::oneshot::channel::<()>();
        let mut work = Box::pin(time.of("php", waits));
        assert!(work.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        std::thread::sleep(Duration::from_millis(30));
        done.send(()).unwrap();
        let given = time.preparing.total();
        assert!(given >= Duration::from_millis(30), "it waited for the world: {given:?}");
        std::thread::sleep(Duration::from_millis(30));
        assert_eq!(time.preparing.total(), given, "and then for its own session");
        assert!(work.await.is_ok());
    }
}
