//! Any calls to any host, written down and replayed: the same answers, the same streams however they are cut, and the first
//! line that is gone or changed found at its call.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::{
    collections::BTreeMap,
    io::Write,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

use drydock_contract::{Dispatch, LembehEnd, LembehFault, LembehHost, Meter};
use drydock_lembeh::specimen::{Cut, Recorder, Replay, Schedule, Transcript};
use proptest::prelude::*;

/// Answers as its list says, call by call.
struct Listed(std::vec::IntoIter<Result<Vec<u8>, LembehEnd>>);

impl Listed {
    fn next(&mut self) -> Result<Vec<u8>, LembehEnd> {
        self.0.next().unwrap_or(Err(LembehEnd::Refused))
    }
}

impl LembehHost for Listed {
    fn begin(&mut self, _: Arc<dyn Dispatch>, _: Arc<Meter>) {}

    fn ctl(&mut self, _: &mut Context<'_>, _: &[u8], room: usize) -> Result<Vec<u8>, LembehEnd> {
        self.next().and_then(|it| if it.len() <= room { Ok(it) } else { Err(LembehEnd::Refused) })
    }

    fn poll_read(
        &mut self,
        _: &mut Context<'_>,
        _: i32,
        buffer: &mut [u8],
    ) -> Poll<Result<usize, LembehEnd>> {
        Poll::Ready(self.next().map(|it| {
            let count = it.len().min(buffer.len());
            buffer[..count].copy_from_slice(&it[..count]);
            count
        }))
    }

    fn poll_write(&mut self, _: &mut Context<'_>, _: i32, bytes: &[u8]) -> Poll<Result<usize, LembehEnd>> {
        Poll::Ready(self.next().map(|it| it.len().min(bytes.len())))
    }

    fn end(&mut self, _: &mut Context<'_>, _: i32) -> Result<(), LembehEnd> {
        Ok(())
    }

    fn log(&mut self, _: &[u8], _: &[u8]) -> Result<(), LembehEnd> {
        Ok(())
    }

    fn fault(&mut self, _: LembehFault) -> Result<(), LembehEnd> {
        Ok(())
    }

    fn finish(&mut self) {}
}

/// What a guest calls.
#[derive(Debug, Clone)]
enum Made {
    Ctl(Vec<u8>, usize),
    Read(i32, usize),
    Write(i32, Vec<u8>),
    End(i32),
    Log(Vec<u8>, Vec<u8>),
    Fault(i32),
}

/// What it is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Got {
    Bytes(Result<Vec<u8>, LembehEnd>),
    Count(Result<usize, LembehEnd>),
    Nothing(Result<(), LembehEnd>),
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop_oneof![Just(b'\r'), Just(b'\n'), any::<u8>()], 0..40)
}

fn made() -> impl Strategy<Value = Made> {
    let handle = 0..5i32;
    prop_oneof![
        (bytes(), 0usize..64).prop_map(|(it, room)| Made::Ctl(it, room)),
        (handle.clone(), 0usize..64).prop_map(|(it, cap)| Made::Read(it, cap)),
        (handle.clone(), 0usize..64).prop_map(|(it, cap)| Made::Read(it, cap)),
        (handle.clone(), bytes()).prop_map(|(it, bytes)| Made::Write(it, bytes)),
        handle.clone().prop_map(Made::End),
        (bytes(), bytes()).prop_map(|(topic, message)| Made::Log(topic, message)),
        handle.prop_map(Made::Fault),
    ]
}

fn answers() -> impl Strategy<Value = Vec<Result<Vec<u8>, LembehEnd>>> {
    let one = prop_oneof![6 => bytes().prop_map(Ok), 1 => Just(Err(LembehEnd::Refused))];
    prop::collection::vec(one, 0..40)
}

fn call(host: &mut impl LembehHost, made: &Made) -> Got {
    let mut cx = Context::from_waker(Waker::noop());
    let now = |poll: Poll<_>| match poll {
        Poll::Ready(done) => done,
        Poll::Pending => panic!("nothing here waits"),
    };
    match made {
        Made::Ctl(request, room) => Got::Bytes(host.ctl(&mut cx, request, *room)),
        Made::Read(handle, cap) => {
            let mut buffer = vec![0; *cap];
            let count = now(host.poll_read(&mut cx, *handle, &mut buffer));
            Got::Bytes(count.map(|it| buffer[..it].to_vec()))
        }
        Made::Write(handle, bytes) => Got::Count(now(host.poll_write(&mut cx, *handle, bytes))),
        Made::End(handle) => Got::Nothing(host.end(&mut cx, *handle)),
        Made::Log(topic, message) => Got::Nothing(host.log(topic, message)),
        Made::Fault(handle) => Got::Nothing(host.fault(LembehFault::Read(*handle, -1))),
    }
}

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The calls of a guest, what they were answered, and their transcript.
fn record(calls: &[Made], answers: Vec<Result<Vec<u8>, LembehEnd>>) -> (Vec<Got>, String) {
    let written = Written::default();
    let mut recorder =
        Recorder::new(Listed(answers.into_iter()), Box::new(written.clone()), "guest", 1 << 20);
    let got = calls.iter().map(|it| call(&mut recorder, it)).collect();
    recorder.finish();
    assert!(recorder.is_whole());
    let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
    (got, text)
}

fn schedule() -> impl Strategy<Value = Schedule> {
    prop_oneof![
        Just(Schedule::All),
        Just(Schedule::Byte),
        Just(Schedule::Pow2),
        Just(Schedule::Crlf),
        any::<u64>().prop_map(Schedule::Random),
    ]
}

/// What was read from each handle before it first failed or ended.
fn streams(calls: &[Made], got: &[Got]) -> BTreeMap<i32, Vec<u8>> {
    let mut all: BTreeMap<i32, (Vec<u8>, bool)> = BTreeMap::new();
    for (made, got) in calls.iter().zip(got) {
        let (Made::Read(handle, cap), Got::Bytes(read)) = (made, got) else {
            if let Made::Fault(handle) = made {
                all.entry(*handle).or_default().1 = true;
            }
            continue;
        };
        let (stream, is_over) = all.entry(*handle).or_default();
        match read {
            Ok(bytes) if !*is_over && (!bytes.is_empty() || *cap == 0) => stream.extend_from_slice(bytes),
            _ => *is_over = true,
        }
    }
    all.into_iter().map(|(handle, (stream, _))| (handle, stream)).collect()
}

#[test]
fn a_read_with_other_room_is_worth_a_warning_and_no_divergence() {
    let calls = [Made::Read(0, 8), Made::Read(0, 8), Made::Read(0, 8)];
    let (_, text) = record(&calls, vec![Ok(b"abc".to_vec()), Ok(b"d".to_vec())]);
    let replay = |rooms: [usize; 3]| {
        let mut replay = Replay::exact(Transcript::parse(&text).unwrap());
        let got = rooms.map(|room| call(&mut replay, &Made::Read(0, room)));
        (got, replay.warning(), replay.divergence().cloned())
    };
    let (same, none, _) = replay([8, 8, 8]);
    assert_eq!(none, None);
    let (got, warning, divergence) = replay([8, 5, 9]);
    assert_eq!((&got, divergence), (&same, None));
    assert!(warning.unwrap().ends_with("recorded: 2, call 1 first"));
    let (_, _, divergence) = replay([2, 8, 8]);
    assert_eq!(divergence.unwrap().code, "t_specimen_call_mismatch", "what has no room is one");
}

#[test]
fn a_stream_that_is_read_beyond_its_transcript_is_told_where_that_ends() {
    let calls = [Made::Read(0, 8), Made::Log(b"a".to_vec(), b"b".to_vec()), Made::Write(1, b"x".to_vec())];
    let (_, text) = record(&calls, vec![Ok(b"abc".to_vec()), Ok(b"d".to_vec())]);
    let beyond =
        [Made::Write(1, b"xy".to_vec()), Made::Read(2, 1), Made::Ctl(b"a".to_vec(), 9), Made::End(3)];
    for made in beyond {
        let mut replay = Replay::by_stream(Transcript::parse(&text).unwrap());
        for _ in 0..2 {
            call(&mut replay, &made);
        }
        let divergence = replay.divergence().unwrap();
        assert_eq!((divergence.code, divergence.call), ("t_specimen_eof", 3), "{made:?}");
    }
}

proptest! {
    #[test]
    fn what_was_recorded_is_answered_again(calls in prop::collection::vec(made(), 0..30), answers in answers()) {
        let (got, text) = record(&calls, answers);
        let transcript = Transcript::parse(&text).unwrap();
        prop_assert_eq!(transcript.calls(), calls.len());
        let mut replay = Replay::exact(transcript);
        let again: Vec<Got> = calls.iter().map(|it| call(&mut replay, it)).collect();
        replay.finish();
        prop_assert_eq!(replay.divergence(), None);
        prop_assert_eq!(again, got);
    }

    #[test]
    fn streams_are_the_same_however_they_are_cut(
        calls in prop::collection::vec(made(), 0..30), answers in answers(), schedule in schedule(), cap in 1usize..50,
    ) {
        let (got, text) = record(&calls, answers);
        let mut cut = Cut::new(Replay::by_stream(Transcript::parse(&text).unwrap()), schedule);
        for (handle, want) in streams(&calls, &got) {
            let mut stream = Vec::new();
            while stream.len() < want.len() {
                match call(&mut cut, &Made::Read(handle, cap)) {
                    Got::Bytes(Ok(bytes)) if !bytes.is_empty() => stream.extend_from_slice(&bytes),
                    other => prop_assert!(false, "{handle}: {other:?}"),
                }
            }
            prop_assert_eq!(&stream[..want.len()], &want[..]);
        }
    }

    #[test]
    fn a_line_that_is_gone_or_changed_is_found_at_its_call(
        calls in prop::collection::vec(made(), 1..20), answers in answers(), which in any::<prop::sample::Index>(), change in any::<bool>(),
    ) {
        let (got, text) = record(&calls, answers);
        let lines: Vec<&str> = text.lines().collect();
        // Neither the first, which says what it is, nor the last, which says that it is whole.
        let at = 1 + which.index(lines.len() - 2);
        let mut line: serde_json::Value = serde_json::from_str(lines[at]).unwrap();
        let i = line["i"].as_u64().unwrap();
        line["sum"] = "0".into();
        let edited: String = lines
            .iter()
            .enumerate()
            .filter(|(index, _)| change || *index != at)
            .map(|(index, it)| if index == at { format!("{line}\n") } else { format!("{it}\n") })
            .collect();
        let mut replay = Replay::exact(Transcript::parse(&edited).unwrap());
        let again: Vec<Got> = calls.iter().map(|it| call(&mut replay, it)).collect();
        let divergence = replay.divergence().unwrap();
        prop_assert_eq!(divergence.call, i);
        prop_assert_eq!(divergence.code, if change { "t_specimen_edited" } else { "t_specimen_gap" });
        let before = usize::try_from(i).unwrap();
        prop_assert_eq!(&again[..before], &got[..before], "what came before is still true");
    }

    #[test]
    fn no_text_makes_a_reader_panic(text in "[ -~\n]{0,200}", cut in any::<prop::sample::Index>()) {
        let _ = Transcript::parse(&text);
        let _ = text.parse::<Schedule>();
        let _ = drydock_lembeh::LembehPolicy::parse(text.as_bytes());
        let (_, whole) = record(&[Made::Read(0, 4), Made::Log(b"a".to_vec(), b"b".to_vec())], vec![Ok(b"x".to_vec())]);
        let half = &whole[..cut.index(whole.len())];
        prop_assert!(half.trim_end() == whole.trim_end() || Transcript::parse(half).is_err(), "{half}");
    }
}
