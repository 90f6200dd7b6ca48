//! What a vector expects. A word that is not known here fails.

use serde_json::{Map, Value};

use super::{Outcome, Verdict};

/// The known keys. `reason` is for people: it says in the vectors' words what ours say in others.
const KEYS: &[&str] =
    &["valid", "reason", "outcome", "trace", "return", "ctl_ok", "given", "bytes_consumed", "stream"];

pub(crate) struct Expect {
    keys: Map<String, Value>,
    pub(crate) given: Map<String, Value>,
}

impl Expect {
    pub(crate) fn read(json: &Value) -> Result<Self, String> {
        let keys = json.as_object().ok_or("it expects nothing")?.clone();
        if let Some(unknown) = keys.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(format!("the expectation `{unknown}` is not known"));
        }
        let ways =
            ["valid", "outcome", "return", "ctl_ok"].iter().filter(|key| keys.contains_key(**key)).count();
        if ways != 1 {
            return Err("it expects nothing, or two things at once".to_owned());
        }
        let given = match keys.get("given") {
            None => Map::new(),
            Some(given) => given.as_object().ok_or("what is given is no object")?.clone(),
        };
        Ok(Self { keys, given })
    }

    pub(crate) fn compare(&self, verdict: &Verdict) -> Result<(), String> {
        self.compare_outcome(&verdict.outcome)?;
        let trace = self.keys.get("trace").map(|it| it.as_str().unwrap_or("no text"));
        if trace != verdict.trace {
            return Err(format!("expects the trace {trace:?}, got {:?}", verdict.trace));
        }
        if let Some(want) = self.keys.get("bytes_consumed") {
            let got = verdict.consumed.map(Value::from).unwrap_or_default();
            if *want != got {
                return Err(format!("expects {want} bytes to be consumed, got {got}"));
            }
        }
        match (self.keys.get("stream").and_then(Value::as_str), verdict.closed) {
            (None, _) if !self.keys.contains_key("stream") => Ok(()),
            (Some("closed"), Some(true)) | (Some("open"), Some(false)) => Ok(()),
            (want, got) => Err(format!("expects the stream to be {want:?}, closed is {got:?}")),
        }
    }

    fn compare_outcome(&self, outcome: &Outcome) -> Result<(), String> {
        let wrong = |want: &Value| Err(format!("expects {want}, got {outcome:?}"));
        if let Some(valid) = self.keys.get("valid") {
            return match (valid.as_bool(), outcome) {
                (Some(true), Outcome::Valid) | (Some(false), Outcome::Invalid(_)) => Ok(()),
                _ => wrong(valid),
            };
        }
        if let Some(number) = self.keys.get("return") {
            let same = matches!(outcome, Outcome::Returned(it) if number.as_i64() == Some(*it));
            return if same { Ok(()) } else { wrong(number) };
        }
        if let Some(ok) = self.keys.get("ctl_ok") {
            let same = match outcome {
                Outcome::Refused => ok.as_u64() == Some(0),
                Outcome::Valid => ok.as_u64() == Some(1),
                _ => false,
            };
            return if same { Ok(()) } else { wrong(ok) };
        }
        let want = &self.keys["outcome"];
        match (want.as_str(), outcome) {
            (Some(words), Outcome::Events(events)) => match_events(words, events),
            _ => wrong(want),
        }
    }
}

/// The words of an outcome against events in their order. `JOIN` is a join that waits or was told either way.
fn match_events(words: &str, events: &[&str]) -> Result<(), String> {
    let words: Vec<&str> = words.split('+').collect();
    let same = |word: &str, event: &str| match word {
        "ACK" | "FAIL" | "DROP" | "NEED_MORE" | "FUTURE" | "FUTURE_OK" | "FUTURE_FAIL"
        | "FUTURE_CANCELLED" | "JOIN_RESULT" | "JOIN_LIMIT" => Ok(word == event),
        "CANCELLED" => Ok(event == "FUTURE_CANCELLED"),
        "JOIN" => Ok(event.starts_with("JOIN")),
        other => Err(format!("the outcome `{other}` is not known")),
    };
    for word in &words {
        same(word, "")?;
    }
    let all = words.len() == events.len()
        && words.iter().zip(events).all(|(word, event)| same(word, event) == Ok(true));
    if all { Ok(()) } else { Err(format!("expects {words:?}, got {events:?}")) }
}
