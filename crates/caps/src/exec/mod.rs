//! `exec`: starts a registered command. There is no operating system underneath, only verified wasm.

mod policy;
mod request;
#[cfg(test)]
mod tests;

use std::{future::poll_fn, pin::pin, sync::Arc, task::Poll, time::Duration};

use bytes::{BufMut, Bytes, BytesMut};
pub use drydock_abi::exec::{COMMAND, START};
use drydock_abi::exec::{REQUEST_BYTES_MAX, encode_report};
use drydock_contract::{
    ArgMode, CallError, Cap, Denial, GuestTime, Outcome, Reply, RunReport, RunRequest, Sleep, Streams, Terms,
    port::{Registry, Runner},
    schedule,
};
use drydock_gate::{
    Audited, CapSpec, Capability, Class, Import, Inside, InsideCommand, NotAdmitted, Operation, Permit,
    Refused, Session,
};

pub use policy::Ready;
use policy::Target;
pub use request::ExecStart;

use crate::{
    launch::{self, Asked, Start},
    program::{self, Program},
};

/// Commands of one principal in flight, nested ones included: what a fork bomb gets to.
pub const IN_FLIGHT_MAX: u32 = 64;

/// The power to start commands.
pub struct Exec {
    registry: Arc<dyn Registry>,
    runner: Arc<dyn Runner>,
}

impl Exec {
    /// Commands come from `registry` and run on `runner`.
    pub fn new(registry: Arc<dyn Registry>, runner: Arc<dyn Runner>) -> Self {
        Self { registry, runner }
    }
}

impl Capability for Exec {
    const SPEC: CapSpec = CapSpec {
        cap: Cap::Exec,
        operations: &[
            Operation {
                name: START,
                class: Class::Run,
                request_bytes_max: REQUEST_BYTES_MAX,
                in_flight_max: Some(IN_FLIGHT_MAX),
                audited: Audited::Everything,
                summary: "Runs a registered command to its end. Request and reply: the exec wire.",
            },
            Operation {
                name: COMMAND,
                class: Class::Run,
                request_bytes_max: REQUEST_BYTES_MAX,
                in_flight_max: Some(IN_FLIGHT_MAX),
                audited: Audited::Everything,
                summary: "Runs a registered command in an environment of its own: version, entries, the exec wire.",
            },
        ],
        imports: &[
            Import {
                module: "env",
                name: "host_exec",
                signature: "(req: i32, req_len: i32, out: i32, out_cap: i32) -> i32",
            },
            Import { module: "env", name: "host_status", signature: "() -> i32" },
            Import {
                module: "env",
                name: "host_command",
                signature: "(req: i32, req_len: i32, stdin: i32) -> i32",
            },
        ],
    };

    type Request = ExecStart;
    type Ready = Ready;
    type Policy = Arc<dyn Registry>;

    fn policy(&self) -> &Self::Policy {
        &self.registry
    }

    fn decode(operation: &str, payload: &[u8]) -> Result<ExecStart, Denial> {
        match operation {
            COMMAND => request::decode_with_env(payload),
            _ => request::decode(payload),
        }
    }

    fn subject(request: &ExecStart) -> &str {
        &request.name
    }

    fn within(request: &ExecStart, terms: &Terms) -> bool {
        policy::within(request, terms)
    }

    fn judge_terms(terms: &Terms) -> Result<(), String> {
        policy::judge_terms(terms)
    }

    fn not_admitted(request: &ExecStart, why: NotAdmitted) -> Denial {
        let (why, rules) = match why {
            NotAdmitted::ByName => ("", Some(Vec::new())),
            NotAdmitted::ByTerms => (" with these arguments", policy::exactly(request)),
        };
        Denial::CommandNotGranted {
            command: Denial::subject(&request.name),
            why,
            rules: rules.map(Arc::from),
        }
    }

    fn check(registry: &Arc<dyn Registry>, session: &Session, request: ExecStart) -> Result<Ready, Refused> {
        policy::check(session.spec().registry.as_deref().unwrap_or(&**registry), session, request)
    }

    fn label(ready: &Ready) -> Arc<str> {
        ready.target.name()
    }

    async fn perform(
        &self,
        permit: Permit<'_, Self>,
        ready: Ready,
        streams: Streams,
    ) -> Result<Reply, CallError> {
        let spec = permit.session().spec();
        let Ready { target, args, env, stdin, wall_max } = ready;
        let env = env.unwrap_or_else(|| Arc::clone(&spec.env));
        // By a clock that is not the real one, what `timeout` allows is time of that clock, however long it takes.
        let (real_max, due) = match &spec.clock {
            None => (wall_max, None),
            Some(clock) => (None, wall_max.map(|it| clock.sleep_until(clock.stands_at().plus(it)))),
        };
        // What few calls wait for is boxed: it would be a part of the future of all others, and that is moved.
        let start = match target {
            Target::Module(entry) => {
                let asked = Asked { args: &args, env: &env, wall_max: real_max };
                let registry = spec.registry.as_deref().unwrap_or(&*self.registry);
                Start::of_entry(registry, spec, &entry, asked)?
            }
            Target::Inside(inside, name) => {
                let streams = Streams { stdin: streams.stdin.after(stdin), ..streams };
                let command = Inner { name: name.to_string(), args, env, wall_max };
                return Ok(Box::pin(ask_inside(&*inside, command, &permit, streams)).await);
            }
            Target::File(path) => match Box::pin(program::read(spec, &env, &path)).await? {
                Program::Module(artifact, held) => {
                    let asked = Asked { args: &args, env: &env, wall_max: real_max };
                    Start::of_file(spec, &path, artifact, held, asked)
                }
                Program::Other => {
                    let shell = spec.inside.as_ref().filter(|it| it.offers(SHELL));
                    let no_module = Denial::NotExecutable {
                        path: program::short(&path),
                        why: "it is neither a WebAssembly module nor a script that a shell runs",
                    };
                    let inside = shell.ok_or(no_module)?;
                    let args = std::iter::once(path.into_bytes()).chain(args).collect();
                    let streams = Streams { stdin: streams.stdin.after(stdin), ..streams };
                    let command = Inner { name: SHELL.into(), args, env, wall_max };
                    return Ok(Box::pin(ask_inside(&**inside, command, &permit, streams)).await);
                }
            },
        };
        let given = Given { args, stdin, streams, due };
        self.start(&permit, start, given).await
    }
}

/// What the caller of a run gives it.
struct Given {
    args: Vec<Vec<u8>>,
    stdin: Bytes,
    streams: Streams,
    /// When its time is up, where that is not the real time.
    due: Option<Sleep>,
}

impl Exec {
    async fn start(&self, permit: &Permit<'_, Self>, start: Start, given: Given) -> Result<Reply, CallError> {
        let (session, spec) = (permit.session(), permit.session().spec());
        let Given { args, stdin, streams, due } = given;
        let Start { artifact, mut argv, env, options, mode, limits, trees, working_dir, by_path, own_name } =
            start;
        let head = match mode {
            ArgMode::Argv => {
                argv.extend(args);
                stdin
            }
            ArgMode::Stdin1 => first_line(&args, stdin),
        };
        let Streams { stdin, stdout, stderr } = streams;
        launch::raise_line_memory(spec, &options);

        let request = RunRequest {
            artifact,
            argv,
            env,
            streams: Streams { stdin: stdin.after(head), stdout, stderr },
            files: spec.files.clone(),
            trees,
            working_dir,
            umask: permit.umask(),
            limits,
            memory: spec.memory.clone(),
            lane: by_path.is_none().then(|| options.lane()),
            compile: options.compile_limits(),
            caps: permit.caps(),
            time: spec.clock.as_ref().map_or(spec.time, |clock| GuestTime::Fixed(clock.stands_at())),
            clock: spec.clock.clone(),
            entropy: permit.entropy(),
            door: permit.door_within(limits.wall_max, own_name),
            switches: session.switches(),
            budget: spec.budget.clone(),
            preparing: Some(Arc::clone(session.preparing())),
            depth: session.depth(),
            tenant: spec.tenant.clone(),
            // Who writes programs pays for the time that compiling them takes: each could write another one, and
            // so live for ever on time that is nobody's.
            pays_for_code: by_path.is_some(),
        };
        let running = self.runner.run(request);
        let ran = match due {
            None => running.await,
            Some(due) => Box::pin(before(due, running))
                .await
                .unwrap_or_else(|| Ok((report_of(Outcome::TimedOut), Streams::default()))),
        };
        let (report, streams) = ran?;
        Ok(answer(report, permit.wants_typed(), streams))
    }
}

/// What comes of the work, unless the session's clock is as late as that before; then the work is dropped.
async fn before<T>(due: Sleep, work: impl Future<Output = T>) -> Option<T> {
    let (mut due, mut work) = (pin!(due), pin!(work));
    poll_fn(|cx| {
        // Asked first: how far the work would come by itself depends on the machine.
        if schedule::beside(|| due.as_mut().poll(cx)).is_ready() {
            return Poll::Ready(None);
        }
        work.as_mut().poll(cx).map(Some)
    })
    .await
}

/// The name by which a front end runs scripts.
const SHELL: &str = "sh";

/// A command of the front end, as it is asked for.
struct Inner {
    name: String,
    args: Vec<Vec<u8>>,
    env: Arc<[Vec<u8>]>,
    wall_max: Option<Duration>,
}

async fn ask_inside(
    inside: &dyn Inside,
    command: Inner,
    permit: &Permit<'_, Exec>,
    streams: Streams,
) -> Reply {
    let Inner { name, args, env, wall_max } = command;
    let (umask, door, preparing) = (permit.umask(), permit.door(), Arc::clone(permit.session().preparing()));
    let (caller, entropy) = (permit.session().caller().cloned(), permit.entropy());
    let command =
        InsideCommand { name, args, env, wall_max, umask, caller, streams, door, entropy, preparing };
    let (outcome, streams) = inside.run(command).await;
    answer(report_of(outcome), permit.wants_typed(), streams)
}

/// The report as the caller takes it.
fn answer(report: RunReport, wants_typed: bool, streams: Streams) -> Reply {
    let (outcome, carried) =
        (report.outcome.clone(), [report.stdin_bytes, report.stdout_bytes, report.stderr_bytes]);
    let reply = match wants_typed {
        true => Reply::of_value(report, streams),
        false => Reply::of_bytes(encode_report(&report), streams),
    };
    reply.ended(outcome, carried)
}

/// What a command of the front end cost: what it started has paid for itself.
fn report_of(outcome: Outcome) -> RunReport {
    RunReport {
        outcome,
        fuel: 0,
        memory_bytes: 0,
        duration: Duration::ZERO,
        stdin_bytes: 0,
        stdout_bytes: 0,
        stderr_bytes: 0,
        quota: None,
    }
}

/// The arguments as a first line of input, for commands that expect them there.
fn first_line(args: &[Vec<u8>], stdin: Bytes) -> Bytes {
    if args.is_empty() {
        return stdin;
    }
    let mut line = BytesMut::from(args.join(&b' ').as_slice());
    line.put_u8(b'\n');
    line.put(stdin);
    line.freeze()
}
