//! Streams that a run was given beside its three, as a guest opens them: `/dev/fd/N`.
#![allow(clippy::unwrap_used)]

mod common;

use std::{
    sync::Arc,
    task::{Context, Poll, Waker},
};

use common::{
    request, run,
    script::{Arg, Arg::*, Script, text},
};
use drydock_contract::{
    Limits, Meter, Numbered, Outcome, PipeReader, RunRequest, SharedSink, SharedSource, Sink, Source, pipe,
};
use drydock_store::MemoryFiles;

const READ: i64 = 1 << 1;
const WRITE: i64 = 1 << 6;
const ACCES: i32 = 2;
const BADF: i32 = 8;
const NOENT: i32 = 44;
const SPIPE: i32 = 70;
const FD: u32 = 0;
const OTHER: u32 = 4;
const BUFFER: u32 = 4096;

/// Opens a path to read, to write, or both.
fn open(script: Script, path: &str, rights: i64, into: u32, errno: i32) -> Script {
    let args = [I(3), I(0), text(path), I(0), L(rights), L(0), I(0), I(i64::from(into))];
    script.call("path_open", args, errno)
}

/// Reads up to 64 bytes to the buffer; their count is in front of it.
fn read(script: Script, fd: u32, errno: i32) -> Script {
    let list = [BUFFER.to_le_bytes(), 64u32.to_le_bytes()].concat();
    script.call("fd_read", [At(fd), Arg::Bytes(list), I(i64::from(BUFFER - 4))], errno)
}

fn asked(script: &Script, numbered: Vec<(u32, Numbered)>) -> RunRequest {
    let mut request = request(&script.wat());
    request.files = Some(Arc::new(MemoryFiles::with(Arc::new(Meter::new(1 << 20)))));
    request.streams.numbered = numbered;
    request
}

fn taken(reader: &PipeReader) -> Option<Vec<u8>> {
    let mut buffer = [0; 64];
    match reader.poll_read(&mut Context::from_waker(Waker::noop()), &mut buffer) {
        Poll::Ready(Ok(count)) => Some(buffer[..count].to_vec()),
        _ => None,
    }
}

#[tokio::test]
async fn a_stream_that_was_given_is_opened_by_its_number_and_goes_its_way() {
    let (reader, writer) = pipe();
    assert!(writer.poll_write(&mut Context::from_waker(Waker::noop()), b"from a pipe").is_ready());
    drop(writer);
    let (ours, theirs) = pipe();
    let numbered = vec![
        (3, Numbered::PipeIn(reader)),
        (4, Numbered::PipeOut(theirs)),
        (5, Numbered::In(SharedSource::new(Source::from("of the shell")))),
        (6, Numbered::Out(SharedSink::new(Sink::capture()))),
        (63, Numbered::Nothing),
    ];
    let mut script = Script::default();
    script = open(script, "dev/fd/3", READ, FD, 0);
    script = read(script, FD, 0).holds32(BUFFER - 4, 11).holds(BUFFER, b"from a pipe");
    script = read(script, FD, 0).holds32(BUFFER - 4, 0);
    script = script.write(FD, b"no", BADF);
    script = script.call("fd_seek", [At(FD), L(0), I(0), I(BUFFER.into())], SPIPE);
    script = open(script, "dev/fd/3", WRITE, OTHER, ACCES);
    script = open(script, "dev/fd/4", READ | WRITE, OTHER, ACCES);
    script = open(script, "dev/fd/4", WRITE, OTHER, 0).write(OTHER, b"hello", 0);
    script = read(script, OTHER, BADF);
    script = open(script, "dev/fd/5", READ, FD, 0);
    script = read(script, FD, 0).holds32(BUFFER - 4, 12).holds(BUFFER, b"of the shell");
    script = open(script, "dev/fd/6", WRITE, FD, 0).write(FD, b"kept", 0);
    script = open(script, "dev/fd/63", READ | WRITE, FD, 0).write(FD, b"gone", 0);
    script = read(script, FD, 0).holds32(BUFFER - 4, 0);
    for path in ["dev/fd/7", "dev/fd/03", "dev/fd/+3", "dev/fd/3/", "dev/fd/", "dev/fd/4294967299"] {
        script = open(script, path, READ, FD, NOENT);
    }
    let (report, streams) = run(asked(&script, numbered)).await.unwrap();
    assert_eq!(report.outcome, Outcome::Exited(0), "the status is the step that went wrong");
    assert_eq!(report.stdout_bytes, 0);
    assert_eq!(taken(&ours).unwrap(), b"hello");
    // The run has ended, and its caller lets it go.
    assert!(taken(&ours).is_none());
    let kept = streams.numbered.iter().find_map(|it| match &it.1 {
        Numbered::Out(sink) => Some(sink.take().into_captured()),
        _ => None,
    });
    assert_eq!(kept.unwrap(), b"kept");
    drop(streams);
    assert_eq!(taken(&ours).unwrap(), b"");
}

#[tokio::test]
async fn what_is_written_there_has_the_limit_of_stdout_and_a_count_of_its_own() {
    let script = open(Script::default(), "dev/fd/3", WRITE, FD, 0);
    let script =
        open(script, "dev/fd/4", WRITE, OTHER, 0).write(FD, &[b'x'; 60], 0).write(OTHER, &[b'y'; 60], 0);
    let outcome = async |stdout_bytes_max| {
        let mut request = asked(&script, vec![(3, Numbered::Nothing), (4, Numbered::Nothing)]);
        request.limits = Limits { stdout_bytes_max, ..Limits::default() };
        run(request).await.unwrap().0.outcome
    };
    assert_eq!(outcome(120).await, Outcome::Exited(0));
    assert_eq!(outcome(119).await, Outcome::OutputLimit);
}

#[tokio::test]
async fn whoever_writes_there_to_nobody_ends_as_by_sigpipe() {
    let (reader, writer) = pipe();
    drop(reader);
    let script = open(Script::default(), "dev/fd/3", WRITE, FD, 0).write(FD, b"x", 0);
    let (report, _) = run(asked(&script, vec![(3, Numbered::PipeOut(writer))])).await.unwrap();
    assert_eq!(report.outcome, Outcome::Exited(141));
}
