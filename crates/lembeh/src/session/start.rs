//! `exec.start.v1` and `exec.status.v1` over the gate, and `net.tcp.connect.v1`.

use std::sync::Arc;

use drydock_abi::{
    exec::encode_command,
    lembeh::{
        HFLAG_ENDABLE, HFLAG_READABLE, HFLAG_WRITABLE, Opened, Trace,
        exec::{STARTED, StartParams, Started, WANT_STDERR, WANT_STDIN, WANT_STDOUT},
        net::{Connect, PREFER_IPV6},
    },
    tcp::{CONNECT, ConnectAnswer, ConnectFailure, ConnectRequest, Connected},
};
use drydock_contract::{
    Call, CallError, Denial, Dispatch, Fault, PIPE_BYTES_MAX, PipeReader, PipeWriter, Sink, Source, Streams,
    paid_pipe,
};
use futures_util::future::{Either, select};

use super::{
    desk::{Asked, Desk, Done, Pending},
    handle::Handle,
    held::Held,
    process::{self, Running},
};
use crate::policy::exec::Allowed;

/// What a pipe may hold, which is paid for when it is made.
const PIPE_BYTES: u64 = PIPE_BYTES_MAX as u64 + 512;

/// The guest's ends of a process's streams.
#[derive(Default)]
pub(super) struct Streamed {
    pub(super) stdin: Option<PipeWriter>,
    pub(super) stdout: Option<PipeReader>,
    pub(super) stderr: Option<PipeReader>,
}

impl Desk {
    /// Begins a start that is allowed.
    pub(super) fn start_program(&mut self, asked: Asked, allowed: &Allowed<'_, '_>) -> Result<(), Trace> {
        let policy = self.policy.exec.as_ref().ok_or(Trace::CapMissing)?;
        if !self.handles.has_room(allowed.params.handles()) {
            return Err(Trace::ExecTooManyHandles);
        }
        let limits = policy.process;
        if limits.start_timeout_ms == 0 {
            // A start that may take no time at all takes longer.
            return Err(Trace::CtlTimeout);
        }
        let request = encode(allowed.command, &allowed.params).ok_or(Trace::ExecBadArgs)?;
        let (streamed, streams) = self.wire(allowed.params.wants)?;
        let door = Arc::clone(self.door.as_ref().ok_or(Trace::CapDenied)?);
        let late = self.timer.at(self.timer.now_ms().saturating_add(limits.start_timeout_ms));
        let starting = Box::pin(process::start(door, request, streams));
        let work = Box::pin(async move {
            let started = match select(starting, late).await {
                Either::Left((started, _)) => started.map(|running| (running, streamed)),
                Either::Right(_) => Err(Trace::CtlTimeout),
            };
            Done::Started(asked, started)
        });
        let pending = Pending { cancel: self.work.push(work), is_connection: false };
        self.pending.insert(asked, pending);
        self.is_fresh = true;
        Ok(())
    }

    /// Pipes for the streams that are wanted; the others lead nowhere.
    fn wire(&self, wants: u32) -> Result<(Streamed, Streams), Trace> {
        let (mut streamed, mut streams) = (Streamed::default(), Streams::default());
        let pipe = |want: u32| match wants & want {
            0 => Ok(None),
            _ => Held::take(&self.meter, PIPE_BYTES).map(paid_pipe).map(Some).ok_or(Trace::AsyncOverflow),
        };
        if let Some((reader, writer)) = pipe(WANT_STDIN)? {
            streamed.stdin = Some(writer);
            streams.stdin = Source::Stream(Box::new(reader));
        }
        if let Some((reader, writer)) = pipe(WANT_STDOUT)? {
            streamed.stdout = Some(reader);
            streams.stdout = Sink::Stream(Box::new(writer));
        }
        if let Some((reader, writer)) = pipe(WANT_STDERR)? {
            streamed.stderr = Some(reader);
            streams.stderr = Sink::Stream(Box::new(writer));
        }
        Ok((streamed, streams))
    }

    /// A program runs: its number and its handles, in the order stdin, stdout, stderr.
    pub(super) fn started(&mut self, running: Running, streamed: Streamed) -> Result<Vec<u8>, Trace> {
        let exec_id = self.processes.next_id().ok_or(Trace::ExecLimits)?;
        let Streamed { stdin, stdout, stderr } = streamed;
        let wanted = u32::from(stdin.is_some()) + u32::from(stdout.is_some()) + u32::from(stderr.is_some());
        if !self.handles.has_room(wanted) {
            return Err(Trace::ExecTooManyHandles);
        }
        let limit = self.policy.exec.as_ref().map_or(0, |it| it.process.stdin_bytes_max);
        let left = if limit == 0 { u64::MAX } else { limit };
        let stdin = stdin.map(|writer| Handle::Stdin { exec_id, writer: Some(writer), left });
        let output = |reader| Handle::Output { exec_id, reader: Some(reader) };
        let streams = [stdin, stdout.map(output), stderr.map(output)];
        // All of them or none: a start that fails leaves no handle behind.
        let given = self.handles.add_all(streams, &self.meter).ok_or(Trace::AsyncOverflow)?;
        let [stdin_handle, stdout_handle, stderr_handle] = given;
        self.processes.add(wanted, stdin_handle);
        let Running { ended } = running;
        // Nobody cancels it: a process ends by itself, by its limits, or with the guest.
        let _ = self.work.push(Box::pin(async move { Done::Exited(exec_id, ended.await) }));
        self.is_fresh = true;
        let started = Started { exec_id, status_flags: STARTED, stdin_handle, stdout_handle, stderr_handle };
        Ok(started.encode())
    }

    /// Begins a connection that is allowed.
    pub(super) fn connect(&mut self, asked: Asked, connect: &Connect<'_>) -> Result<(), Trace> {
        let policy = self.policy.net.as_ref().ok_or(Trace::CapMissing)?;
        if !self.handles.has_room(1) {
            return Err(Trace::AsyncOverflow);
        }
        let request = ConnectRequest {
            host: connect.host.to_owned(),
            port: connect.port,
            prefer_ipv6: connect.effective_flags() & PREFER_IPV6 != 0,
            timeout_ms: policy.connect_timeout_ms,
        };
        let door = Arc::clone(self.net.as_ref().ok_or(Trace::CapDenied)?);
        let late = self.timer.at(self.timer.now_ms().saturating_add(policy.connect_timeout_ms));
        let connecting = Box::pin(reach(door, request));
        let work = Box::pin(async move {
            let connected = match select(connecting, late).await {
                Either::Left((connected, _)) => connected,
                Either::Right(_) => Err(Trace::CtlTimeout),
            };
            Done::Connected(asked, connected)
        });
        let pending = Pending { cancel: self.work.push(work), is_connection: true };
        self.pending.insert(asked, pending);
        self.is_fresh = true;
        Ok(())
    }

    /// A connection stands: its handle.
    pub(super) fn connected(&mut self, connected: Connected) -> Result<Vec<u8>, Trace> {
        let Connected { source, sink } = connected;
        let handle = Handle::Connection { source: Some(source), sink: Some(sink) };
        let handle = self.handles.add(handle, &self.meter).ok_or(Trace::AsyncOverflow)?;
        let hflags = HFLAG_READABLE | HFLAG_WRITABLE | HFLAG_ENDABLE;
        let mut value = Vec::new();
        Opened { handle, hflags, meta: &[] }.put(&mut value).map_err(|_| Trace::AsyncOverflow)?;
        Ok(value)
    }
}

/// The request of the command behind a program. Its own name stands in the place of the guest's first argument; what an
/// alias says comes before the others.
fn encode(command: &str, params: &StartParams<'_>) -> Option<Vec<u8>> {
    let mut words = command.split_whitespace();
    let name = words.next()?;
    let args: Vec<&str> = words.chain(params.args.iter().skip(1)).collect();
    let env: Vec<String> = params.env().map(|(key, value)| format!("{key}={value}")).collect();
    encode_command(&env, name, &args, b"").ok()
}

async fn reach(door: Arc<dyn Dispatch>, request: ConnectRequest) -> Result<Connected, Trace> {
    let bytes = request.host.len() as u64;
    let call = Call::typed(CONNECT, request, bytes, Streams::default());
    match door.dispatch(call).await {
        Ok(mut reply) => match reply.value::<ConnectAnswer>() {
            Some(Ok(connected)) => Ok(connected),
            Some(Err(ConnectFailure::TimedOut)) => Err(Trace::CtlTimeout),
            Some(Err(ConnectFailure::Unreachable)) => Err(Trace::NetUnreachable),
            Some(Err(ConnectFailure::Quota)) => Err(Trace::AsyncOverflow),
            None => Err(Trace::NetUnreachable),
        },
        Err(CallError::Denied(Denial::NotGranted { .. })) => Err(Trace::CapDenied),
        Err(CallError::Denied(_)) => Err(Trace::NetDenied),
        Err(CallError::Failed(Fault::Overdue)) => Err(Trace::CtlTimeout),
        Err(CallError::Failed(_)) => Err(Trace::NetUnreachable),
    }
}
