//! What the guest answers. The host reads it outside of the guest, so it says how much there may be of everything: a
//! list of empty names is a byte each here and two dozen there.
//!
//! What a shell keeps is not part of that. It stands behind the answer, as long as that says, and is bytes to the host.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{Error as _, SeqAccess, Visitor},
};

use super::{BadMessage, LineReport, Plan, SyntaxError, TypedWords, decode_front, encode};

/// Longest answer without what the shell keeps.
pub const ANSWER_BYTES_MAX: usize = 4 << 20;

/// Most records of commands in an answer.
pub const ANSWER_RECORDS_MAX: usize = 16_384;
/// Most names of functions in an answer.
pub const ANSWER_NAMES_MAX: usize = 8_192;
/// Most sentences about what is lost.
pub const ANSWER_LOST_MAX: usize = 1_024;

/// Bytes of all records, all names, all sentences, and of one text. Together they leave room for the directory.
const RECORD_BYTES_MAX: usize = 2 << 20;
const NAME_BYTES_MAX: usize = 1 << 20;
const LOST_BYTES_MAX: usize = 256 << 10;
const TEXT_BYTES_MAX: usize = 64 << 10;

/// What one record takes beside its texts, at most.
const RECORD_BYTES: usize = 80;

/// What the guest answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// The line ran.
    Line(Box<LineAnswer>),
    /// What the text would do.
    Plan(Result<Plan, SyntaxError>),
    /// What its words are.
    Words(TypedWords),
    /// There is no shell: what it should have gone on from is no state of one.
    NotOpened(String),
}

/// What came of a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineAnswer {
    /// What it did.
    pub report: LineReport,
    /// The working directory now.
    pub cwd: String,
    /// The names of functions, where they were asked for.
    #[serde(deserialize_with = "few::<ANSWER_NAMES_MAX, _, _>")]
    pub names: Vec<String>,
    /// How long what the shell keeps is, which follows; none if that was not asked for, or nothing of it changed.
    pub saved_bytes: Option<u64>,
}

impl LineAnswer {
    /// Leaves out what is more than an answer may hold: records, names and sentences from the end of their lists.
    pub fn trim(&mut self) {
        let report = &mut self.report;
        keep(&mut report.stages, (ANSWER_RECORDS_MAX, RECORD_BYTES_MAX), |it| {
            RECORD_BYTES + it.command.len() + it.outcome.len() + it.quota.as_ref().map_or(0, String::len)
        });
        keep(&mut self.names, (ANSWER_NAMES_MAX, NAME_BYTES_MAX), |it| text_bytes(it));
        keep(&mut report.lost, (ANSWER_LOST_MAX, LOST_BYTES_MAX), |it| text_bytes(it));
        let syntax = report.syntax.as_mut().map(|it| &mut it.message);
        for text in report.limit.as_mut().into_iter().chain(syntax) {
            text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
        }
    }
}

/// A text and its length.
const fn text_bytes(text: &str) -> usize {
    5 + text.len()
}

/// Keeps the front of a list, as many and as long as it may be.
fn keep<T>(list: &mut Vec<T>, (count_max, bytes_max): (usize, usize), bytes: impl Fn(&T) -> usize) {
    let mut left = bytes_max;
    let fits = |it: &&T| match left.checked_sub(bytes(it)) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    let kept = list.iter().take(count_max).take_while(fits).count();
    list.truncate(kept);
}

impl Answer {
    /// The answer as bytes. What a shell keeps goes behind them. A plan that is too long is told as one that cannot be
    /// read.
    pub fn encode(&self) -> Vec<u8> {
        let bytes = encode(self);
        match self {
            Self::Plan(Ok(_)) if bytes.len() > ANSWER_BYTES_MAX => encode(&Self::Plan(Err(SyntaxError {
                message: format!("what the text would do takes more than {ANSWER_BYTES_MAX} bytes to say"),
                line: 1,
                column: 1,
                incomplete: false,
            }))),
            _ => bytes,
        }
    }

    /// Reads an answer, and where in the bytes what the shell keeps begins.
    pub fn decode(bytes: &[u8]) -> Result<(Self, usize), BadMessage> {
        let front = &bytes[..bytes.len().min(ANSWER_BYTES_MAX)];
        let (answer, rest) = decode_front::<Self>(front)?;
        let at = front.len() - rest.len();
        let saved_bytes = match &answer {
            Self::Line(line) => line.saved_bytes.unwrap_or(0),
            Self::Plan(_) | Self::Words(_) | Self::NotOpened(_) => 0,
        };
        match (bytes.len() - at) as u64 == saved_bytes {
            true => Ok((answer, at)),
            false => Err(BadMessage(format!("{} bytes follow it", bytes.len() - at))),
        }
    }
}

/// A list of so many at most. One that claims more is refused before any of it is read.
pub(super) fn few<'de, const MAX: usize, T, D>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    deserializer.deserialize_seq(Few::<MAX, T>(std::marker::PhantomData))
}

struct Few<const MAX: usize, T>(std::marker::PhantomData<T>);

impl<'de, const MAX: usize, T: Deserialize<'de>> Visitor<'de> for Few<MAX, T> {
    type Value = Vec<T>;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "a list of at most {MAX}")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Vec<T>, A::Error> {
        let mut list = Vec::new();
        if from.size_hint().is_some_and(|it| it > MAX) {
            return Err(A::Error::custom("a list is too long"));
        }
        while let Some(it) = from.next_element()? {
            if list.len() == MAX {
                return Err(A::Error::custom("a list is too long"));
            }
            list.push(it);
        }
        Ok(list)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::StageRecord, *};

    fn line(names: Vec<String>, saved_bytes: Option<u64>) -> LineAnswer {
        LineAnswer { report: LineReport::default(), cwd: "/workspace".into(), names, saved_bytes }
    }

    fn record(command: String) -> StageRecord {
        StageRecord {
            command,
            builtin: true,
            status: i32::MIN,
            outcome: "exited".into(),
            quota: None,
            stdin_bytes: u64::MAX,
            stdout_bytes: u64::MAX,
            stderr_bytes: u64::MAX,
            fuel: u64::MAX,
            micros: u64::MAX,
        }
    }

    #[test]
    fn what_a_shell_keeps_stands_behind_its_answer_and_nothing_else_does() {
        let answer = Answer::Line(Box::new(line(vec!["f".into()], Some(3))));
        let mut bytes = answer.encode();
        let at = bytes.len();
        bytes.extend_from_slice(b"abc");
        assert_eq!(Answer::decode(&bytes), Ok((answer, at)));
        for wrong in [&bytes[..at], &bytes[..at + 2], &[&bytes[..], b"d"].concat()] {
            assert!(Answer::decode(wrong).is_err());
        }
        let none = Answer::NotOpened("why".into()).encode();
        assert!(Answer::decode(&none).is_ok() && Answer::decode(&[&none[..], b"d"].concat()).is_err());
    }

    /// A byte of a message is an empty text, and that takes 24 on the host: 64 MiB of them were a gigabyte and a half.
    #[test]
    fn lists_that_are_longer_than_they_may_be_are_refused() {
        let names = |count| Answer::Line(Box::new(line(vec![String::new(); count], None))).encode();
        assert!(Answer::decode(&names(ANSWER_NAMES_MAX)).is_ok());
        assert!(Answer::decode(&names(ANSWER_NAMES_MAX + 1)).is_err());
        let of = |stages: usize, lost: usize| {
            let (stages, lost) = (vec![record(String::new()); stages], vec![String::new(); lost]);
            let report = LineReport { stages, lost, ..LineReport::default() };
            Answer::Line(Box::new(LineAnswer { report, ..line(Vec::new(), None) })).encode()
        };
        assert!(Answer::decode(&of(ANSWER_RECORDS_MAX, ANSWER_LOST_MAX)).is_ok());
        assert!(Answer::decode(&of(ANSWER_RECORDS_MAX + 1, 0)).is_err());
        assert!(Answer::decode(&of(0, ANSWER_LOST_MAX + 1)).is_err());
        let long = Answer::NotOpened("x".repeat(ANSWER_BYTES_MAX)).encode();
        assert!(Answer::decode(&long).is_err());
    }

    #[test]
    fn an_answer_that_was_trimmed_can_be_read() {
        let long = || "x".repeat(100_000);
        let stages = (0..20_000).map(|it| record(if it % 7 == 0 { "y".repeat(500) } else { "cat".into() }));
        let report = LineReport {
            stages: stages.collect(),
            lost: vec![long(); 2_000],
            limit: Some("é".repeat(100_000)),
            ..LineReport::default()
        };
        let mut answer = LineAnswer { report, ..line(vec![long(); 10_000], None) };
        answer.trim();
        assert!(
            !answer.report.stages.is_empty() && !answer.names.is_empty() && !answer.report.lost.is_empty()
        );
        assert!(Answer::decode(&Answer::Line(Box::new(answer)).encode()).is_ok());
    }

    #[test]
    fn a_plan_that_is_too_long_is_no_plan() {
        let files = vec![(super::super::Touch::Reads, "x".repeat(1 << 20)); 5];
        let plan = Answer::Plan(Ok(Plan { files, ..Plan::default() }));
        assert!(matches!(Answer::decode(&plan.encode()), Ok((Answer::Plan(Err(_)), _))));
    }

    proptest! {
        #[test]
        fn what_is_read_can_be_written_again(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            if let Ok((answer, at)) = Answer::decode(&bytes) {
                let again = [&answer.encode()[..], &bytes[at..]].concat();
                prop_assert_eq!(Answer::decode(&again).map(|it| it.0), Ok(answer));
            }
        }
    }
}
