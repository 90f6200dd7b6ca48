//! `exec`: starts a registered command. There is no operating system underneath, only verified wasm.

mod policy;
mod request;
#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use bytes::{BufMut, Bytes, BytesMut};
pub use drydock_abi::exec::{COMMAND, START};
use drydock_abi::exec::{REQUEST_BYTES_MAX, encode_report};
use drydock_contract::{
    ArgMode, CallError, Cap, Denial, FuelGauge, GuestTime, Outcome, Reply, RunReport, RunRequest, Streams,
    port::{Registry, Runner},
};
use drydock_gate::{
    Audited, CapSpec, Capability, Import, Inside, InsideCommand, NotAdmitted, Operation, Permit, Purse,
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
                request_bytes_max: REQUEST_BYTES_MAX,
                in_flight_max: Some(IN_FLIGHT_MAX),
                audited: Audited::Everything,
                summary: "Runs a registered command to its end. Request and reply: the exec wire.",
            },
            Operation {
                name: COMMAND,
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

    fn not_admitted(request: &ExecStart, _: NotAdmitted) -> Denial {
        Denial::CommandNotGranted(program::short(&request.name))
    }

    fn check(registry: &Arc<dyn Registry>, session: &Session, request: ExecStart) -> Result<Ready, Refused> {
        policy::check(&**registry, session, request)
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
        let start = match target {
            Target::Module(entry) => {
                let asked = Asked { args: &args, env: &env, wall_max };
                Start::of_entry(&*self.registry, spec, &entry, asked)?
            }
            Target::Inside(inside, name) => {
                let streams = Streams { stdin: streams.stdin.after(stdin), ..streams };
                let command = Inner { name: name.to_string(), args, env, wall_max };
                return Ok(ask_inside(&*inside, command, &permit, streams).await);
            }
            Target::File(path) => match program::read(spec, &env, &path)? {
                Program::Module(artifact, held) => {
                    let asked = Asked { args: &args, env: &env, wall_max };
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
                    return Ok(ask_inside(&**inside, command, &permit, streams).await);
                }
            },
        };
        let given = Given { args, stdin, streams };
        self.start(&permit, start, given).await
    }
}

/// What the caller of a run gives it.
struct Given {
    args: Vec<Vec<u8>>,
    stdin: Bytes,
    streams: Streams,
}

impl Exec {
    async fn start(&self, permit: &Permit<'_, Self>, start: Start, given: Given) -> Result<Reply, CallError> {
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
        let Streams { stdin, stdout, stderr } = streams;
        launch::raise_line_memory(spec, &options);
        let bill = spec.purse.as_ref().map(|purse| Bill { purse, gauge: Arc::default(), fuel: None });

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
            caps: session.caps(),
            time: spec.clock.as_ref().map_or(spec.time, |clock| GuestTime::Fixed(clock.stands_at())),
            clock: spec.clock.clone(),
            entropy: spec.entropy,
            door: match own_name {
                Some(name) => permit.door_for(name),
                None => permit.door(),
            },
            switches: session.switches(),
            gauge: bill.as_ref().map(|bill| Arc::clone(&bill.gauge)),
            preparing: Some(Arc::clone(session.preparing())),
            // Who writes programs pays for the time that compiling them takes: each could write another one, and
            // so live for ever on time that is nobody's.
            pays_for_code: by_path.is_some(),
        };
        let ran = self.runner.run(request).await;
        if let Some(mut bill) = bill {
            // A run that could not start has burnt nothing.
            bill.fuel = Some(ran.as_ref().map_or(0, |(report, _)| report.fuel));
        }
        let (report, streams) = ran?;
        Ok(Reply { payload: encode_report(&report), streams })
    }
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
    let caller = permit.session().caller().cloned();
    let command = InsideCommand { name, args, env, wall_max, umask, caller, streams, door, preparing };
    let (outcome, streams) = inside.run(command).await;
    Reply { payload: encode_report(&report_of(outcome)), streams }
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

/// Pays when it is dropped. A run that was dropped too has no report; what it burnt is in its gauge.
struct Bill<'a> {
    purse: &'a Purse,
    gauge: Arc<FuelGauge>,
    fuel: Option<u64>,
}

impl Drop for Bill<'_> {
    fn drop(&mut self) {
        self.purse.spend(self.fuel.unwrap_or_else(|| self.gauge.burnt()));
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
