//! What a grant is good for: patterns over subjects, and rules about arguments. One shape for commands, tools, hosts,
//! paths, keys and topics. Plain data: what an argument is, and whether a request keeps a rule, is known to the power
//! that can read the request.

use std::{borrow::Cow, fmt, str::FromStr};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, Error as _, MapAccess, Visitor},
    ser::SerializeMap as _,
};

/// The longest subject that a grant can name, in bytes.
pub const SUBJECT_BYTES_MAX: usize = 1024;

/// Texts, lists and names inside a rule.
const RULE_TEXT_BYTES_MAX: usize = 4096;
const ONE_OF_MAX: usize = 1024;

/// The largest whole number that every JSON reader agrees on.
const WHOLE_MAX: u64 = 1 << 53;

/// Which subjects: the text itself, where each `*` stands for any text, `.` and `/` included. `\*` is a star and `\\` a
/// backslash.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pattern(String);

/// The text is no pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{shown}` is not a pattern: {why}")]
pub struct BadPattern {
    shown: String,
    why: &'static str,
}

/// One step of a pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Any,
    One(char),
}

impl Pattern {
    /// Everything.
    pub fn anything() -> Self {
        Self("*".into())
    }

    /// This subject and no other; nothing if it is too long or cannot be written.
    pub fn exact(subject: &str) -> Option<Self> {
        if subject.len() > SUBJECT_BYTES_MAX {
            return None;
        }
        subject.replace('\\', "\\\\").replace('*', "\\*").parse().ok()
    }

    /// Whether the subject is meant.
    pub fn admits(&self, subject: &str) -> bool {
        // What no grant can name is meant only by those that name nothing. It bounds the comparison below as well.
        if subject.len() > SUBJECT_BYTES_MAX {
            return self.0.bytes().all(|b| b == b'*');
        }
        // Most grants name what they mean, letter for letter.
        if *self.0 == *subject && !subject.contains('\\') {
            return true;
        }
        // After a star that took too little, it takes one character more: the last star is the only one that matters.
        let (mut steps, mut rest) = (self.steps(), subject.chars());
        let mut back: Option<(Steps<'_>, std::str::Chars<'_>)> = None;
        loop {
            match steps.next() {
                Some(Step::Any) => {
                    back = Some((steps.clone(), rest.clone()));
                    continue;
                }
                Some(Step::One(wanted)) if rest.next() == Some(wanted) => continue,
                Some(Step::One(_)) => {}
                None if rest.as_str().is_empty() => return true,
                None => {}
            }
            let Some((after, taken)) = &mut back else { return false };
            if taken.next().is_none() {
                return false;
            }
            (steps, rest) = (after.clone(), taken.clone());
        }
    }

    /// The one subject that is meant, if it is only one.
    pub fn literal(&self) -> Option<Cow<'_, str>> {
        if !self.0.contains(['*', '\\']) {
            return Some(Cow::Borrowed(&self.0));
        }
        let one = |step| if let Step::One(it) = step { Some(it) } else { None };
        self.steps().map(one).collect::<Option<String>>().map(Cow::Owned)
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn steps(&self) -> Steps<'_> {
        Steps(self.0.chars())
    }
}

#[derive(Clone)]
struct Steps<'a>(std::str::Chars<'a>);

impl Iterator for Steps<'_> {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        match self.0.next()? {
            '*' => Some(Step::Any),
            '\\' => self.0.next().map(Step::One),
            other => Some(Step::One(other)),
        }
    }
}

impl FromStr for Pattern {
    type Err = BadPattern;

    fn from_str(text: &str) -> Result<Self, BadPattern> {
        let bad = |why| {
            let shown: String = text.chars().take(80).collect();
            Err(BadPattern { shown: shown.escape_debug().to_string(), why })
        };
        if text.is_empty() {
            return bad("it is empty; `*` means everything");
        }
        if text.len() > 2 * SUBJECT_BYTES_MAX {
            return bad("it is longer than 2048 bytes");
        }
        if text.chars().any(char::is_control) {
            return bad("it has a control character");
        }
        let mut chars = text.chars();
        while let Some(next) = chars.next() {
            if next == '\\' && !matches!(chars.next(), Some('*' | '\\')) {
                return bad("after a backslash comes a star or another backslash");
            }
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Pattern {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        <Cow<'de, str>>::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

/// A JSON value that has no parts.
#[derive(Debug, Clone, PartialEq)]
pub enum Scalar {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// Any number.
    Number(f64),
    /// Any string.
    Text(String),
}

impl Serialize for Scalar {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => to.serialize_unit(),
            Self::Bool(value) => to.serialize_bool(*value),
            Self::Number(value) => number(*value, to),
            Self::Text(value) => to.serialize_str(value),
        }
    }
}

/// A whole number is written without a point.
fn number<S: Serializer>(value: f64, to: S) -> Result<S::Ok, S::Error> {
    if value.fract() == 0.0 && value.abs() < WHOLE_MAX as f64 {
        return to.serialize_i64(value as i64);
    }
    to.serialize_f64(value)
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Any;

        impl Visitor<'_> for Any {
            type Value = Scalar;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("null, true, false, a number or a string")
            }

            fn visit_unit<E: de::Error>(self) -> Result<Scalar, E> {
                Ok(Scalar::Null)
            }

            fn visit_bool<E: de::Error>(self, value: bool) -> Result<Scalar, E> {
                Ok(Scalar::Bool(value))
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Scalar, E> {
                match value {
                    0..=WHOLE_MAX => Ok(Scalar::Number(value as f64)),
                    _ => Err(E::custom("a whole number beyond 2^53 cannot be compared exactly")),
                }
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Scalar, E> {
                match value.unsigned_abs() {
                    0..=WHOLE_MAX => Ok(Scalar::Number(value as f64)),
                    _ => Err(E::custom("a whole number beyond 2^53 cannot be compared exactly")),
                }
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Scalar, E> {
                match value.is_finite() {
                    true => Ok(Scalar::Number(value)),
                    false => Err(E::custom("the number is not finite")),
                }
            }

            fn visit_str<E: de::Error>(self, value: &str) -> Result<Scalar, E> {
                match value.len() {
                    0..=RULE_TEXT_BYTES_MAX => Ok(Scalar::Text(value.to_owned())),
                    _ => Err(E::custom("the text is longer than 4096 bytes")),
                }
            }
        }

        from.deserialize_any(Any)
    }
}

/// What must be true of one argument.
#[derive(Debug, Clone, PartialEq)]
pub enum Must {
    /// It is this.
    Equal(Scalar),
    /// It is one of these.
    OneOf(Vec<Scalar>),
    /// It is a string that starts like this. Compared as text: `/data/../etc` starts with `/data/`.
    StartWith(String),
    /// It is a number within these bounds, both included.
    LieBetween {
        /// The least.
        least: Option<f64>,
        /// The most.
        most: Option<f64>,
    },
    /// It is a string of at most so many characters, or a list or an object of at most so many members.
    HaveLengthAtMost(u64),
}

/// Whether an argument that is not there is fine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IfAbsent {
    /// Then the rule is broken.
    #[default]
    Refuse,
    /// Then the rule has nothing to say.
    Allow,
}

/// One rule about one argument: `{"argument": "/path", "starts_with": "/data/"}`.
#[derive(Debug, Clone, PartialEq)]
pub struct ArgumentRule {
    /// Which argument, as the power finds it: for `tool` a JSON pointer into the input (`/path`, `/items/0`, empty for
    /// the input itself), for `exec` the number of a word of the command (`/1` is the first argument, `/*` every one).
    pub argument: String,
    /// What must be true there.
    pub must: Must,
    /// And if nothing is there.
    pub if_absent: IfAbsent,
}

impl ArgumentRule {
    /// A rule that an absent argument breaks.
    pub fn new(argument: impl Into<String>, must: Must) -> Self {
        Self { argument: argument.into(), must, if_absent: IfAbsent::Refuse }
    }
}

impl Serialize for ArgumentRule {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("argument", &self.argument)?;
        match &self.must {
            Must::Equal(value) => map.serialize_entry("equal", value)?,
            Must::OneOf(values) => map.serialize_entry("one_of", values)?,
            Must::StartWith(head) => map.serialize_entry("starts_with", head)?,
            Must::LieBetween { least, most } => {
                for (name, bound) in [("at_least", least), ("at_most", most)] {
                    if let Some(bound) = bound {
                        map.serialize_entry(name, &Scalar::Number(*bound))?;
                    }
                }
            }
            Must::HaveLengthAtMost(most) => map.serialize_entry("length_at_most", most)?,
        }
        if self.if_absent != IfAbsent::Refuse {
            map.serialize_entry("if_absent", &self.if_absent)?;
        }
        map.end()
    }
}

const RULE_FIELDS: &[&str] =
    &["argument", "equal", "one_of", "starts_with", "at_least", "at_most", "length_at_most", "if_absent"];

impl<'de> Deserialize<'de> for ArgumentRule {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Rule;

        impl<'de> Visitor<'de> for Rule {
            type Value = ArgumentRule;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a rule, such as {\"argument\": \"/path\", \"starts_with\": \"/data/\"}")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ArgumentRule, A::Error> {
                let mut found = RuleFields::default();
                while let Some(name) = map.next_key::<Cow<'de, str>>()? {
                    match &*name {
                        "argument" => put(&mut map, &mut found.argument, &name)?,
                        "equal" => put(&mut map, &mut found.equal, &name)?,
                        "one_of" => put(&mut map, &mut found.one_of, &name)?,
                        "starts_with" => put(&mut map, &mut found.starts_with, &name)?,
                        "at_least" => put(&mut map, &mut found.at_least, &name)?,
                        "at_most" => put(&mut map, &mut found.at_most, &name)?,
                        "length_at_most" => put(&mut map, &mut found.length_at_most, &name)?,
                        "if_absent" => put(&mut map, &mut found.if_absent, &name)?,
                        other => return Err(A::Error::unknown_field(&shown(other), RULE_FIELDS)),
                    }
                }
                found.rule().map_err(A::Error::custom)
            }
        }

        from.deserialize_map(Rule)
    }
}

/// What a rule says, field by field.
#[derive(Default)]
struct RuleFields {
    argument: Option<String>,
    equal: Option<Scalar>,
    one_of: Option<Vec<Scalar>>,
    starts_with: Option<String>,
    at_least: Option<f64>,
    at_most: Option<f64>,
    length_at_most: Option<u64>,
    if_absent: Option<IfAbsent>,
}

impl RuleFields {
    fn rule(self) -> Result<ArgumentRule, &'static str> {
        let argument = self.argument.ok_or("the field `argument` is missing: name the argument")?;
        let too_long = |it: &str| it.len() > RULE_TEXT_BYTES_MAX;
        if too_long(&argument) || self.starts_with.as_deref().is_some_and(too_long) {
            return Err("a text of a rule is longer than 4096 bytes");
        }
        if self.one_of.as_ref().is_some_and(|it| it.len() > ONE_OF_MAX) {
            return Err("field `one_of`: it has more than 1024 values");
        }
        let (least, most) = (self.at_least, self.at_most);
        if least.zip(most).is_some_and(|(least, most)| least > most) {
            return Err("`at_least` is more than `at_most`");
        }
        let bounds = (least.is_some() || most.is_some()).then_some(Must::LieBetween { least, most });
        let said = [
            self.equal.map(Must::Equal),
            self.one_of.map(Must::OneOf),
            self.starts_with.map(Must::StartWith),
            bounds,
            self.length_at_most.map(Must::HaveLengthAtMost),
        ];
        let mut said = said.into_iter().flatten();
        match (said.next(), said.next()) {
            (Some(must), None) => {
                Ok(ArgumentRule { argument, must, if_absent: self.if_absent.unwrap_or_default() })
            }
            (None, _) => Err(
                "nothing is said of the argument: use equal, one_of, starts_with, at_least, at_most or length_at_most",
            ),
            (Some(_), Some(_)) => Err("two things are said of the argument: write two rules"),
        }
    }
}

/// Reads the value of a field that must be there once, and names the field if it cannot be read.
pub(crate) fn put<'de, A: MapAccess<'de>, T: Deserialize<'de>>(
    map: &mut A,
    slot: &mut Option<T>,
    field: &str,
) -> Result<(), A::Error> {
    if slot.is_some() {
        return Err(A::Error::custom(format_args!("field `{field}` is there twice")));
    }
    let value = map.next_value();
    *slot = Some(value.map_err(|error| A::Error::custom(format_args!("field `{field}`: {error}")))?);
    Ok(())
}

/// Foreign text for a message: short, and without the power to move a cursor.
pub(crate) fn shown(text: &str) -> String {
    text.chars().take(80).collect::<String>().escape_debug().to_string()
}

/// What a grant is good for. Without anything, for everything the power can do.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Terms {
    /// Any of these subjects; none for every subject.
    pub subjects: Option<Vec<Pattern>>,
    /// And every one of these rules is kept.
    pub rules: Vec<ArgumentRule>,
}

impl Terms {
    /// Good for any subject that one of the patterns means.
    pub fn of(subjects: impl IntoIterator<Item = Pattern>) -> Self {
        Self { subjects: Some(subjects.into_iter().collect()), rules: Vec::new() }
    }

    /// Whether some pattern means this subject.
    pub fn name(&self, subject: &str) -> bool {
        self.subjects.as_ref().is_none_or(|all| all.iter().any(|pattern| pattern.admits(subject)))
    }
}

#[cfg(test)]
#[path = "terms_tests.rs"]
mod tests;
