//! `exec`: starts a registered command. There is no operating system underneath, only verified wasm.

mod launch;
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
    port::{Entry, Registry, Runner},
};
use drydock_gate::{
    Audited, CapSpec, Capability, Import, InsideCommand, NotAdmitted, Operation, Permit, Purse, Refused,
    Session,
};

pub use policy::Ready;
use policy::Target;
pub use request::ExecStart;

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
        Denial::CommandNotGranted(policy::short(&request.name))
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
        let session = permit.session();
        let spec = session.spec();
        let Ready { target, args, env, stdin, wall_max } = ready;
        let entry = match target {
            Target::Module(entry) => entry,
            Target::Inside(inside, name) => {
                let streams = Streams { stdin: streams.stdin.after(stdin), ..streams };
                let command = InsideCommand {
                    name: name.to_string(),
                    args,
                    env: env.unwrap_or_else(|| Arc::clone(&spec.env)),
                    wall_max,
                    umask: permit.umask(),
                    streams,
                    door: permit.door(),
                    preparing: Arc::clone(session.preparing()),
                };
                let (outcome, streams) = inside.run(command).await;
                return Ok(Reply { payload: encode_report(&report_of(outcome)), streams });
            }
        };
        let options = &*entry.options;
        let trees = self.registry.trees(&entry).map_err(drydock_contract::Fault::from)?;
        let mut argv = launch::argv(&entry);
        let head = match entry.mode {
            ArgMode::Argv => {
                argv.extend(args);
                stdin
            }
            ArgMode::Stdin1 => first_line(&args, stdin),
        };
        let env = launch::env(env.unwrap_or_else(|| Arc::clone(&spec.env)), options);
        let artifact = match launch::image(options, &argv, &env) {
            Some(image) => self.registry.load(&Entry { digest: image, ..entry.clone() }),
            None => self.registry.load(&entry),
        };
        let artifact = artifact.map_err(drydock_contract::Fault::from)?;
        tracing::trace!(target: "drydock::hop", "caps/exec: `{}` is a verified artifact", entry.name);
        let Streams { stdin, stdout, stderr } = streams;
        let limits = launch::limits(spec, &entry, wall_max);
        launch::raise_line_memory(spec, options);
        let bill = spec.purse.as_ref().map(|purse| Bill { purse, gauge: Arc::default(), fuel: None });

        let request = RunRequest {
            artifact,
            argv,
            env,
            streams: Streams { stdin: stdin.after(head), stdout, stderr },
            files: spec.files.clone(),
            trees,
            working_dir: launch::working_dir(&entry),
            umask: permit.umask(),
            limits,
            memory: spec.memory.clone(),
            lane: options.lane(),
            compile: options.compile_limits(),
            caps: session.caps(),
            time: spec.clock.as_ref().map_or(spec.time, |clock| GuestTime::Fixed(clock.stands_at())),
            clock: spec.clock.clone(),
            entropy: spec.entropy,
            door: permit.door(),
            switches: session.switches(),
            gauge: bill.as_ref().map(|bill| Arc::clone(&bill.gauge)),
            preparing: Some(Arc::clone(session.preparing())),
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
