//! A transcript: one JSON object a line. The first says what it is, the last that it is whole; each between them is a call,
//! with its number and a sum over everything up to it.
//!
//! A line that is missing is a gap in the numbers, one that was changed does not match its sum: both are found when the
//! replay comes to that call, and not before, because everything up to it is still true.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use drydock_contract::{Digest, LembehEnd};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The version of the format.
pub const TRANSCRIPT_VERSION: u32 = 1;
/// Characters of a sum.
const SUM_LENGTH: usize = 16;

/// The text is no transcript.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BadTranscript {
    /// It does not begin as one.
    #[error("this is no transcript: its first line does not say so")]
    NotOne,
    /// It is one of another version.
    #[error("the transcript has version {0}, and this program reads {TRANSCRIPT_VERSION}")]
    Version(u64),
    /// A line cannot be read.
    #[error("line {line} of the transcript cannot be read: {why}")]
    Line {
        /// Which, from 1.
        line: usize,
        /// Why.
        why: String,
    },
    /// Its last line is missing.
    #[error("the transcript ends before its run does: it was cut after line {0}")]
    Cut(usize),
}

impl BadTranscript {
    /// The stable code that logs and tests match on.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotOne => "transcript_not_one",
            Self::Version(_) => "transcript_version",
            Self::Line { .. } => "transcript_line",
            Self::Cut(_) => "transcript_cut",
        }
    }
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "k", rename_all = "snake_case")]
pub(super) enum Line {
    Specimen {
        v: u32,
        guest: String,
    },
    CtlReq {
        i: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        b64: Option<String>,
    },
    CtlRes {
        i: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ret: Option<i32>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        b64: Option<String>,
    },
    Read {
        i: u64,
        h: i32,
        cap: i64,
        ret: i64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        b64: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stop: Option<Stop>,
    },
    Write {
        i: u64,
        h: i32,
        ret: i64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        b64: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stop: Option<Stop>,
    },
    End {
        i: u64,
        h: i32,
    },
    Log {
        i: u64,
        topic_b64: String,
        msg_b64: String,
    },
    Exit {
        i: u64,
    },
}

/// Why the guest was ended by a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Stop {
    OutputLimit,
    InputLimit,
}

/// What a call came to, as a line says it: the number, and why the guest was ended.
pub(super) fn told(result: Result<usize, LembehEnd>) -> (i64, Option<Stop>) {
    match result {
        Ok(count) => (i64::try_from(count).unwrap_or(i64::MAX), None),
        Err(LembehEnd::OutputLimit) => (-1, Some(Stop::OutputLimit)),
        Err(LembehEnd::InputLimit) => (-1, Some(Stop::InputLimit)),
        Err(LembehEnd::Refused | LembehEnd::Diverged | LembehEnd::Unrecorded) => (-1, None),
    }
}

/// One call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    /// Its number.
    pub(super) i: u64,
    /// Whether it is as it was written.
    pub(super) is_intact: bool,
    pub(super) call: Recorded,
}

/// What was called, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Recorded {
    /// A request without bytes is one that pointed nowhere.
    Ctl {
        request: Option<Vec<u8>>,
        response: Option<Vec<u8>>,
    },
    Read {
        h: i32,
        cap: i64,
        result: Result<Vec<u8>, LembehEnd>,
    },
    /// The bytes that were offered, and how many of them were taken.
    Write {
        h: i32,
        bytes: Option<Vec<u8>>,
        result: Result<usize, LembehEnd>,
    },
    End {
        h: i32,
    },
    Log {
        topic: Vec<u8>,
        message: Vec<u8>,
    },
    /// There was a call, and its line is gone.
    Gap,
}

impl Recorded {
    /// As messages call it.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Ctl { .. } => "_ctl".into(),
            Self::Read { h, .. } => format!("req_read of handle {h}"),
            Self::Write { h, .. } => format!("res_write to handle {h}"),
            Self::End { h } => format!("res_end of handle {h}"),
            Self::Log { .. } => "log".into(),
            Self::Gap => "a call whose line is gone".into(),
        }
    }
}

/// A whole transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcript {
    guest: String,
    pub(super) events: Vec<Event>,
}

/// A chain of sums over lines.
#[derive(Debug, Clone, Default)]
pub(super) struct Chain(String);

impl Chain {
    /// The line with its sum, which covers all lines before it.
    pub(super) fn seal(&mut self, line: &Line) -> serde_json::Result<String> {
        let mut object = match serde_json::to_value(line)? {
            Value::Object(object) => object,
            _ => Map::new(),
        };
        self.0 = self.sum(&object);
        object.insert("sum".into(), Value::String(self.0.clone()));
        serde_json::to_string(&object)
    }

    /// Whether a line matches its sum. From here on the chain goes by what the line says, so that one change is one.
    fn follow(&mut self, object: &mut Map<String, Value>) -> bool {
        let said = match object.remove("sum") {
            Some(Value::String(said)) => said,
            _ => String::new(),
        };
        let right = self.sum(object) == said;
        self.0 = said;
        right
    }

    fn sum(&self, object: &Map<String, Value>) -> String {
        // Members are in the order of their names, so a line has one form.
        let text = format!("{}{}", self.0, Value::Object(object.clone()));
        let mut sum = Digest::of(text.as_bytes()).to_string();
        sum.truncate(SUM_LENGTH);
        sum
    }
}

impl Transcript {
    /// The hash of the module that was recorded, as its recorder was told it.
    pub fn guest(&self) -> &str {
        &self.guest
    }

    /// How many calls it has.
    pub const fn calls(&self) -> usize {
        self.events.len()
    }

    /// Reads a transcript.
    pub fn parse(text: &str) -> Result<Self, BadTranscript> {
        let mut chain = Chain::default();
        let mut lines = text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty());
        let (_, first) = lines.next().ok_or(BadTranscript::NotOne)?;
        let guest = read_first(first, &mut chain)?;
        let mut reader = Reader { events: Vec::new(), next: 0, asked: None };
        let mut last = 1;
        let mut is_whole = false;
        for (index, text) in lines {
            last = index + 1;
            let bad = |why: String| BadTranscript::Line { line: last, why };
            if is_whole {
                return Err(bad("it follows the last one".into()));
            }
            let mut object: Map<String, Value> =
                serde_json::from_str(text).map_err(|error| bad(error.to_string()))?;
            let is_intact = chain.follow(&mut object);
            let line: Line =
                serde_json::from_value(Value::Object(object)).map_err(|error| bad(error.to_string()))?;
            is_whole = reader.take(line, is_intact).map_err(bad)?;
        }
        match is_whole {
            true => Ok(Self { guest, events: reader.events }),
            false => Err(BadTranscript::Cut(last)),
        }
    }
}

fn read_first(text: &str, chain: &mut Chain) -> Result<String, BadTranscript> {
    let mut object: Map<String, Value> = serde_json::from_str(text).map_err(|_| BadTranscript::NotOne)?;
    if object.get("k").and_then(Value::as_str) != Some("specimen") {
        return Err(BadTranscript::NotOne);
    }
    match object.get("v").and_then(Value::as_u64) {
        Some(version) if version == u64::from(TRANSCRIPT_VERSION) => {}
        version => return Err(BadTranscript::Version(version.unwrap_or(0))),
    }
    let guest = object.get("guest").and_then(Value::as_str).unwrap_or_default().to_owned();
    if !chain.follow(&mut object) {
        return Err(BadTranscript::Line { line: 1, why: "it was changed after it was written".into() });
    }
    Ok(guest)
}

/// Lines into calls.
struct Reader {
    events: Vec<Event>,
    next: u64,
    /// A request whose response has not come yet.
    asked: Option<(u64, bool, Option<Vec<u8>>)>,
}

impl Reader {
    /// Takes a line; true if it was the last.
    fn take(&mut self, line: Line, is_intact: bool) -> Result<bool, String> {
        if let Line::CtlRes { i, ret, b64 } = &line {
            let response = b64.as_deref().map(bytes).transpose()?;
            if response.is_some() == ret.is_some() {
                return Err("a response has bytes, or a number and none".into());
            }
            match self.asked.take() {
                Some((asked, was_intact, request)) if asked == *i => {
                    self.push(*i, is_intact && was_intact, Recorded::Ctl { request, response });
                }
                _ => self.gap_to(*i + 1),
            }
            return Ok(false);
        }
        if let Some((i, ..)) = self.asked.take() {
            // Its response is gone.
            self.gap_to(i + 1);
        }
        let (i, call) = match line {
            Line::Specimen { .. } => return Err("a transcript begins once".into()),
            Line::Exit { i } => {
                self.gap_to(i);
                if !is_intact {
                    self.push(i, false, Recorded::Gap);
                }
                return Ok(true);
            }
            Line::CtlReq { i, b64 } => {
                self.gap_to(i);
                self.asked = Some((i, is_intact, b64.as_deref().map(bytes).transpose()?));
                return Ok(false);
            }
            Line::Read { i, h, cap, ret, b64, stop } => {
                let read = b64.as_deref().map_or(Ok(Vec::new()), bytes)?;
                let result = result(ret, stop)?.map(|_| read.clone());
                if result.as_ref().is_ok_and(|it| it.len() as i64 != ret) {
                    return Err("its number and its bytes contradict each other".into());
                }
                (i, Recorded::Read { h, cap, result })
            }
            Line::Write { i, h, ret, b64, stop } => {
                let bytes = b64.as_deref().map(bytes).transpose()?;
                let result = result(ret, stop)?;
                if result.is_ok_and(|it| it > bytes.as_ref().map_or(0, Vec::len)) {
                    return Err("more was taken than there was".into());
                }
                (i, Recorded::Write { h, bytes, result })
            }
            Line::End { i, h } => (i, Recorded::End { h }),
            Line::Log { i, topic_b64, msg_b64 } => {
                (i, Recorded::Log { topic: bytes(&topic_b64)?, message: bytes(&msg_b64)? })
            }
            Line::CtlRes { .. } => return Err("a response without its request".into()),
        };
        self.gap_to(i);
        self.push(i, is_intact, call);
        Ok(false)
    }

    fn push(&mut self, i: u64, is_intact: bool, call: Recorded) {
        self.next = i.saturating_add(1);
        self.events.push(Event { i, is_intact, call });
    }

    /// Notes that numbers before `i` are missing; one that was there already is a gap too.
    fn gap_to(&mut self, i: u64) {
        if i != self.next {
            self.events.push(Event { i: self.next, is_intact: true, call: Recorded::Gap });
            self.next = i;
        }
    }
}

fn bytes(b64: &str) -> Result<Vec<u8>, String> {
    STANDARD.decode(b64).map_err(|error| error.to_string())
}

fn result(ret: i64, stop: Option<Stop>) -> Result<Result<usize, LembehEnd>, String> {
    match (usize::try_from(ret), stop) {
        (Ok(count), None) => Ok(Ok(count)),
        (Err(_), None) if ret == -1 => Ok(Err(LembehEnd::Refused)),
        (Err(_), Some(Stop::OutputLimit)) if ret == -1 => Ok(Err(LembehEnd::OutputLimit)),
        (Err(_), Some(Stop::InputLimit)) if ret == -1 => Ok(Err(LembehEnd::InputLimit)),
        _ => Err(format!("no call answers {ret} so")),
    }
}
