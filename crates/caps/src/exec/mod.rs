//! `exec`: starts a registered command. There is no operating system underneath, only verified wasm.

mod policy;
mod request;
#[cfg(test)]
mod tests;

use std::{any::Any, future::poll_fn, pin::pin, sync::Arc, task::Poll, time::Duration};

use bytes::{BufMut, Bytes, BytesMut};
pub use drydock_abi::exec::{COMMAND, START};
use drydock_abi::exec::{REQUEST_BYTES_MAX, encode_report};
use drydock_contract::{
    ArgMode, BoxFuture, CallError, Cap, Denial, Fault, GuestTime, Outcome, Reply, RunReport, RunRequest,
    Sleep, Streams, Terms,
    port::{Registry, Runner},
    schedule,
};
use drydock_gate::{
    Audited, CapSpec, Capability, Class, Import, Inside, InsideCommand, NotAdmitted, Operation, Permit,
    Refused, Session, SessionSpec,
};

pub use policy::Ready;
use policy::Target;
pub use request::ExecStart;

use crate::{
    cut,
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

    fn decode_typed(operation: &str, value: Box<dyn Any + Send>) -> Option<ExecStart> {
        value.downcast::<ExecStart>().ok().filter(|it| operation == START && it.wire.is_some()).map(|it| *it)
    }

    fn digested(request: &ExecStart) -> Option<[&[u8]; 2]> {
        request.wire.as_deref().map(|wire| [wire, &[]])
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

    fn perform(
        &self,
        permit: Permit<'_, Self>,
        ready: Ready,
        streams: Streams,
    ) -> impl Future<Output = Result<Reply, CallError>> + Send {
        // What takes no time is done before there is a future: it is moved with all that it will ever hold. What few
        // calls need is a box in it.
        let begun = match ready.target {
            Target::Module(_) => self.start_module(&permit, ready, streams),
            _ => Begun::Other(Box::new((ready, streams))),
        };
        async move {
            match begun {
                Begun::Failed(error) => Err(*error),
                Begun::Running(running, due) => finish(&permit, running, due).await,
                Begun::Other(asked) => Box::pin(self.perform_other(permit, asked)).await,
            }
        }
    }
}

/// A call that was let through.
enum Begun<'a> {
    /// A run that has begun, and when its time is up where that is not the real time.
    Running(Running<'a>, Option<Box<Sleep>>),
    /// It could not begin.
    Failed(Box<CallError>),
    /// It asks for no module of the registry.
    Other(Box<(Ready, Streams)>),
}

type Running<'a> = BoxFuture<'a, Result<(RunReport, Streams), Fault>>;

impl Exec {
    fn start_module(&self, permit: &Permit<'_, Self>, ready: Ready, streams: Streams) -> Begun<'_> {
        let spec = permit.session().spec();
        let Ready { target, args, env, stdin, wall_max } = ready;
        let Target::Module(entry) = target else {
            return Begun::Failed(Box::new(Fault::Internal("a module was to be started".into()).into()));
        };
        if let Some(tape) = &spec.tape
            && let Err(fault) = tape.code(permit.call(), entry.name.as_str(), &entry.digest)
        {
            return Begun::Failed(Box::new(fault.into()));
        }
        let env = env.unwrap_or_else(|| Arc::clone(&spec.env));
        let (real_max, due) = due(spec, wall_max);
        let asked = Asked { args: &args, env: &env, wall_max: real_max };
        let registry = spec.registry.as_deref().unwrap_or(&*self.registry);
        match Start::of_entry(registry, spec, &entry, asked) {
            Ok(start) => Begun::Running(self.start(permit, start, Given { args, stdin, streams }), due),
            Err(fault) => Begun::Failed(Box::new(fault.into())),
        }
    }

    /// A command of the front end, a program by its path, a script.
    async fn perform_other(
        &self,
        permit: Permit<'_, Self>,
        asked: Box<(Ready, Streams)>,
    ) -> Result<Reply, CallError> {
        let spec = permit.session().spec();
        let (Ready { target, args, env, stdin, wall_max }, streams) = *asked;
        let env = env.unwrap_or_else(|| Arc::clone(&spec.env));
        let (inside, name, args) = match target {
            Target::Module(_) => return Err(Fault::Internal("a module was started otherwise".into()).into()),
            Target::Inside(inside, name) => (inside, name.to_string(), args),
            Target::File(path) => match program::read(spec, &env, &path).await? {
                Program::Module(artifact, held) => {
                    let (real_max, due) = due(spec, wall_max);
                    let asked = Asked { args: &args, env: &env, wall_max: real_max };
                    let start = Start::of_file(spec, &path, artifact, held, asked);
                    let running = self.start(&permit, start, Given { args, stdin, streams });
                    return finish(&permit, running, due).await;
                }
                Program::Other => {
                    let shell = spec.inside.clone().filter(|it| it.offers(SHELL));
                    let no_module = Denial::NotExecutable {
                        path: program::short(&path),
                        why: "it is neither a WebAssembly module nor a script that a shell runs",
                    };
                    let args = std::iter::once(path.into_bytes()).chain(args).collect();
                    (shell.ok_or(no_module)?, SHELL.to_owned(), args)
                }
            },
        };
        let streams = Streams { stdin: streams.stdin.after(stdin), ..streams };
        Ok(ask_inside(&*inside, Inner { name, args, env, wall_max }, &permit, streams).await)
    }
}

/// What `timeout` allows: real time, or, by a clock that is not the real one, time of that clock, however long it takes.
fn due(spec: &SessionSpec, wall_max: Option<Duration>) -> (Option<Duration>, Option<Box<Sleep>>) {
    match &spec.clock {
        None => (wall_max, None),
        Some(clock) => (None, wall_max.map(|it| Box::new(clock.sleep_until(clock.stands_at().plus(it))))),
    }
}

/// What comes of a run, as the caller takes it.
async fn finish(
    permit: &Permit<'_, Exec>,
    running: Running<'_>,
    due: Option<Box<Sleep>>,
) -> Result<Reply, CallError> {
    let ran = match due {
        None => Some(running.await),
        Some(due) => Box::pin(before(*due, running)).await,
    };
    let (report, streams) = match ran {
        Some(ran) => {
            let (report, streams) = ran?;
            (cut::ended(permit, report), streams)
        }
        // By the session's own clock, which is no news to its tape.
        None => (report_of(Outcome::TimedOut), Streams::default()),
    };
    Ok(answer(report, permit.wants_typed(), streams))
}

/// What the caller of a run gives it.
struct Given {
    args: Vec<Vec<u8>>,
    stdin: Bytes,
    streams: Streams,
}

impl Exec {
    fn start(&self, permit: &Permit<'_, Self>, start: Start, given: Given) -> Running<'_> {
        let (session, spec) = (permit.session(), permit.session().spec());
        let Given { args, stdin, streams } = given;
        let Start { artifact, mut argv, env, options, mode, limits, trees, working_dir, by_path, own_name } =
            start;
        let head = match mode {
            ArgMode::Argv => {
                argv.extend(args);
                stdin
            }
            ArgMode::Stdin1 => first_line(&args, stdin),
        };
        launch::raise_line_memory(spec, &options);
        let limits = cut::limits(permit, limits);

        let request = RunRequest {
            artifact,
            argv,
            env,
            streams: Streams { stdin: streams.stdin.after(head), ..streams },
            files: spec.files.clone(),
            trees,
            working_dir,
            file_rules: permit.file_rules(),
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
        self.runner.run(request)
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
    let (file_rules, door, preparing) =
        (permit.file_rules(), permit.door(), Arc::clone(permit.session().preparing()));
    let (caller, entropy) = (permit.session().caller().cloned(), permit.entropy());
    let command =
        InsideCommand { name, args, env, wall_max, file_rules, caller, streams, door, entropy, preparing };
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
