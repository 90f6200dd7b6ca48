//! Runs that are written down and replayed: the same again, cut however, and stopped at the first call that differs.
#![allow(clippy::unwrap_used)]

mod lembeh_room;

use drydock_embed::{
    LEMBEH_LIMITS, LembehSetup,
    contract::{Limits, Outcome},
    specimen::{Schedule, Transcript},
};
use lembeh_room::{FILTER, LembehRoom, PROBE, VIEW, policy, with_input};

const SCHEDULES: [Schedule; 6] =
    [Schedule::All, Schedule::Byte, Schedule::Pow2, Schedule::Crlf, Schedule::Random(7), Schedule::Random(8)];

const SCRIPT: &str = "caps\nhub\nstart tools/cat 7 cat\nwrite 4 hello\nend 4\nall 5\nall 6\nwait 1\nstart tools/rm 0 rm\nlog a b\nread 77\n";

#[tokio::test]
async fn a_recording_replays_the_same_under_every_schedule_and_touches_nothing() {
    let room = LembehRoom::new();
    let filter = r#"{"programs": {"tools/filter": "sed s/a/AA/"}}"#;
    let lines = "a line\r\nanother\r\n\r\nlast";
    let view = r#"{"files": {}, "config": {"greeting": "hello"}}"#;
    let files = || LembehSetup { files: Some(lembeh_room::tree()), ..LembehSetup::default() };
    let cases = [
        (PROBE, policy(""), with_input(SCRIPT)),
        (FILTER, filter.to_owned(), with_input(lines)),
        (FILTER, filter.to_owned(), LembehSetup { schedule: Schedule::Byte, ..with_input(lines) }),
        (VIEW, view.to_owned(), files()),
    ];
    for (guest, policy, setup) in cases {
        let (run, text) = room.record(guest, &policy, setup).await;
        let transcript = Transcript::parse(&text).unwrap();
        assert!(transcript.calls() > 3);
        // Nothing was granted to the session of a replay: whatever reached the world would be refused.
        let exact = room.replay(guest, transcript.clone(), None).await;
        assert_eq!(exact.divergence, None);
        assert_eq!((&exact.stdout, &exact.report.outcome), (&run.stdout, &run.report.outcome));
        for schedule in SCHEDULES {
            let cut = room.replay(guest, transcript.clone(), Some(schedule)).await;
            assert_eq!(cut.divergence, None, "{schedule}");
            assert_eq!(cut.stdout, run.stdout, "{schedule}");
        }
    }
}

#[tokio::test]
async fn live_runs_end_the_same_however_their_input_is_cut() {
    let room = LembehRoom::new();
    let filter = r#"{"programs": {"tools/filter": "sort"}}"#;
    for schedule in SCHEDULES {
        let setup = LembehSetup { schedule, ..with_input("c\r\nb\r\na\r\n") };
        let run = room.run(FILTER, filter, setup).await.unwrap();
        assert_eq!(run.stdout, b"a\r\nb\r\nc\r\n", "{schedule}");
    }
}

/// Lines of a transcript, and that with one of them gone or changed.
fn without(text: &str, line: usize) -> String {
    text.lines().enumerate().filter(|(at, _)| *at != line).map(|(_, it)| format!("{it}\n")).collect()
}

#[tokio::test]
async fn each_line_that_is_gone_is_noticed_at_its_call() {
    let room = LembehRoom::new();
    let (_, text) = room.record(PROBE, &policy(""), with_input(SCRIPT)).await;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(Transcript::parse(&without(&text, 0)).unwrap_err().code(), "transcript_not_one");
    assert_eq!(Transcript::parse(&without(&text, lines.len() - 1)).unwrap_err().code(), "transcript_cut");
    assert_eq!(Transcript::parse(&text[..text.len() / 2]).unwrap_err().code(), "transcript_line");
    for (at, line) in lines.iter().enumerate().take(lines.len() - 1).skip(1) {
        let call: serde_json::Value = serde_json::from_str(line).unwrap();
        let transcript = Transcript::parse(&without(&text, at)).unwrap();
        let run = room.replay(PROBE, transcript.clone(), None).await;
        let divergence = run.divergence.unwrap();
        assert_eq!(
            (divergence.code, divergence.call),
            ("t_specimen_gap", call["i"].as_u64().unwrap()),
            "{line}"
        );
        let cut = room.replay(PROBE, transcript, Some(Schedule::Byte)).await;
        assert_eq!(cut.divergence.unwrap().call, divergence.call, "{line}");
    }
}

#[tokio::test]
async fn each_line_that_was_changed_is_noticed_at_its_call() {
    let room = LembehRoom::new();
    let (_, text) = room.record(PROBE, &policy(""), with_input(SCRIPT)).await;
    for (at, line) in text.lines().enumerate() {
        let mut call: serde_json::Value = serde_json::from_str(line).unwrap();
        let member = ["b64", "topic_b64"].into_iter().find(|it| call.get(it).is_some());
        let Some(member) = member.filter(|it| call[*it].as_str().is_some_and(|it| it.len() >= 4)) else {
            continue;
        };
        let mut b64 = call[member].as_str().unwrap().to_owned().into_bytes();
        b64[0] = if b64[0] == b'A' { b'B' } else { b'A' };
        call[member] = String::from_utf8(b64).unwrap().into();
        let edited: String = text
            .lines()
            .enumerate()
            .map(|(index, it)| if index == at { format!("{call}\n") } else { format!("{it}\n") })
            .collect();
        let run = room.replay(PROBE, Transcript::parse(&edited).unwrap(), None).await;
        let divergence = run.divergence.unwrap();
        assert_eq!(divergence.call, call["i"].as_u64().unwrap(), "{call}");
        let want = match call["k"].as_str().unwrap() {
            "ctl_req" => "t_specimen_ctl_mismatch",
            "write" => "t_specimen_write_mismatch",
            "log" => "t_specimen_log_mismatch",
            _ => "t_specimen_edited",
        };
        assert!(divergence.code == want || divergence.code == "t_specimen_edited", "{want}: {divergence}");
        assert!(matches!(run.report.outcome, Outcome::Trapped(_)), "the guest is stopped there");
    }
}

#[tokio::test]
async fn another_guest_another_version_and_a_longer_run_diverge_by_name() {
    let room = LembehRoom::new();
    let (_, text) = room.record(PROBE, &policy(""), with_input("caps\n")).await;
    let transcript = || Transcript::parse(&text).unwrap();
    let other = room.replay(FILTER, transcript(), None).await.divergence.unwrap();
    assert_eq!((other.code, other.call), ("t_specimen_call_mismatch", 0));
    let newer = text.replacen("\"v\":1", "\"v\":2", 1);
    assert_eq!(Transcript::parse(&newer).unwrap_err().code(), "transcript_version");
    assert_eq!(Transcript::parse("").unwrap_err().code(), "transcript_not_one");
    assert_eq!(Transcript::parse("{}").unwrap_err().code(), "transcript_not_one");
    // A guest that ends early leaves calls over; one that goes on finds none.
    let quiet = wat::parse_str(
        "(module (memory (export \"memory\") 1) (func (export \"lembeh_handle\") (param i32 i32)))",
    )
    .unwrap();
    assert_eq!(room.replay(&quiet, transcript(), None).await.divergence.unwrap().code, "t_specimen_surplus");
    let (_, nothing) = room.record(&quiet, "{}", LembehSetup::default()).await;
    let longer = room.replay(PROBE, Transcript::parse(&nothing).unwrap(), None).await.divergence.unwrap();
    assert_eq!((longer.code, longer.call), ("t_specimen_eof", 0));
}

#[tokio::test]
async fn a_replay_has_its_own_deadline_and_what_cannot_be_written_down_is_not_done() {
    struct Full(usize);
    impl std::io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let room = LembehRoom::new();
    let setup = LembehSetup { record: Some(Box::new(Full(600))), ..with_input(SCRIPT) };
    let run = room.run(PROBE, &policy(""), setup).await.unwrap();
    assert!(
        !run.is_recorded && matches!(run.report.outcome, Outcome::Trapped(_)),
        "{:?}",
        run.report.outcome
    );
    let endless = wat::parse_str(
        "(module (memory (export \"memory\") 1) (func (export \"lembeh_handle\") (param i32 i32) (loop $l (br $l))))",
    )
    .unwrap();
    let empty = "{\"k\":\"exit\",\"i\":0}";
    let (_, text) = room.record(PROBE, "{}", LembehSetup::default()).await;
    let limits = Limits { wall_max: std::time::Duration::from_millis(100), ..LEMBEH_LIMITS };
    let run = room.replay_within(&endless, Transcript::parse(&text).unwrap(), None, limits).await;
    assert_eq!(run.report.outcome, Outcome::TimedOut);
    assert!(Transcript::parse(empty).is_err());
}
