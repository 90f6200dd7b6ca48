//! One vector: which function it is about, and whether that says what is expected.

mod expect;
mod layer;
mod policy;
mod seen;
mod session;

use serde_json::Value;

use self::{expect::Expect, policy::Policy};

/// What the functions said about a vector.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    /// How it went, in the words of the vectors: `valid`, or events with `+` between them.
    pub(crate) outcome: Outcome,
    /// The trace of whatever was refused or failed.
    pub(crate) trace: Option<&'static str>,
    /// How many bytes were consumed, where a stream was read.
    pub(crate) consumed: Option<u64>,
    /// Whether nothing more is taken, where a stream was read.
    pub(crate) closed: Option<bool>,
    /// The fields.
    pub(crate) decoded: Value,
}

/// How it went.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It reads.
    #[default]
    Valid,
    /// It does not read.
    Invalid(String),
    /// `_ctl` returned this number.
    Returned(i64),
    /// `_ctl` answered with ok = 0.
    Refused,
    /// Events, and what began.
    Events(Vec<&'static str>),
}

/// A vector with the policy that it assumes.
#[derive(Debug)]
pub(crate) struct Vector {
    json: Value,
    policy: Value,
}

impl Vector {
    pub(crate) const fn new(json: Value, policy: Value) -> Self {
        Self { json, policy }
    }

    pub(crate) fn name(&self) -> &str {
        self.json["name"].as_str().unwrap_or("a vector without a name")
    }

    pub(crate) const fn json(&self) -> &Value {
        &self.json
    }

    pub(crate) const fn policy(&self) -> &Value {
        &self.policy
    }

    /// Says what is wrong, if anything is.
    pub(crate) fn judge(&self) -> Result<(), String> {
        let bytes = self.bytes()?;
        let expect = Expect::read(&self.json["expect"])?;
        let policy = Policy::read(&self.policy, expect.given.get("policy"))?;
        let layer = self.json["layer"].as_str().ok_or("it names no layer")?;
        let about =
            layer::About { name: self.name(), layer, bytes: &bytes, given: &expect.given, policy: &policy };
        let verdict = about.judge()?;
        expect.compare(&verdict)?;
        seen::compare("decoded", &self.json["decoded"], &verdict.decoded)
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        let hex = self.json["hex"].as_str().ok_or("it has no hex")?;
        let digits: Vec<char> = hex.chars().collect();
        let byte = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).ok();
        let bytes: Option<Vec<u8>> = digits.chunks(2).map(byte).collect();
        let bytes = bytes.ok_or("its hex is none")?;
        match self.json["length"].as_u64() {
            Some(length) if length != bytes.len() as u64 => Err(format!("it has {} bytes", bytes.len())),
            _ => Ok(bytes),
        }
    }
}
