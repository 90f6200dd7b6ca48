//! A grant as data: what a file holds, what the ledger keeps, what a denial proposes and a person approves.
//!
//! Reading one checks everything that needs no power's knowledge: fields, patterns, parents, cycles, sizes. What a
//! power makes of subjects and rules it says itself, where grants become live.

use std::{borrow::Cow, collections::HashMap, fmt, str::FromStr, sync::Arc};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error as _, MapAccess, SeqAccess, Visitor},
};

use crate::{
    ArgumentRule, Cap, Pattern, Terms, Timestamp,
    terms::{put, shown},
};

/// The largest file of grants that is read.
pub const GRANTS_BYTES_MAX: u64 = 1 << 20;

const GRANTS_MAX: usize = 1024;
const SUBJECTS_MAX: usize = 1024;
const RULES_MAX: usize = 64;

/// How many grants may hang from one another.
const ANCESTORS_MAX: usize = 16;

/// What a grant is called: 1 to 64 of `A-Z a-z 0-9 _ . -`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GrantId(Arc<str>);

/// The text is not the id of a grant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the id of a grant: use 1 to 64 of A-Z a-z 0-9 _ . -")]
pub struct BadGrantId(String);

impl GrantId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The shared text.
    pub fn shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }
}

impl FromStr for GrantId {
    type Err = BadGrantId;

    fn from_str(text: &str) -> Result<Self, BadGrantId> {
        // No slash: ids are the last part of a key whose first parts may have some.
        let legal = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
        match (1..=64).contains(&text.len()) && text.bytes().all(legal) {
            true => Ok(Self(text.into())),
            false => Err(BadGrantId(shown(text))),
        }
    }
}

impl fmt::Display for GrantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for GrantId {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for GrantId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        <Cow<'de, str>>::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

/// One grant as it is written: `{"cap": "exec", "subjects": ["jq"]}`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GrantSpec {
    /// What it is called; whoever keeps it makes a name where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<GrantId>,
    /// Which power.
    pub cap: Cap,
    /// Which subjects; none for every one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subjects: Option<Vec<Pattern>>,
    /// What must be true of the arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<ArgumentRule>,
    /// When it ends, as RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "moment")]
    pub until: Option<Timestamp>,
    /// How often it may be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uses: Option<u64>,
    /// The grant that it narrows: that one must allow the call too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<GrantId>,
    /// Whether it admits nothing by itself: a person is to be asked about each call that no other grant admits.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub review: bool,
}

fn moment<S: Serializer>(moment: &Option<Timestamp>, to: S) -> Result<S::Ok, S::Error> {
    moment.map(Timestamp::to_rfc3339).serialize(to)
}

impl GrantSpec {
    /// The whole power, without end.
    pub fn of(cap: Cap) -> Self {
        Self {
            id: None,
            cap,
            subjects: None,
            rules: Vec::new(),
            until: None,
            uses: None,
            parent: None,
            review: false,
        }
    }

    /// The power for these subjects, if patterns can name them all.
    pub fn exactly<'a>(cap: Cap, subjects: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let subjects = subjects.into_iter().map(Pattern::exact).collect::<Option<_>>()?;
        Some(Self { subjects: Some(subjects), ..Self::of(cap) })
    }

    /// What it is good for.
    pub fn terms(&self) -> Terms {
        Terms { subjects: self.subjects.clone(), rules: self.rules.clone() }
    }

    /// Reads one that was kept by itself.
    pub fn parse(bytes: &[u8]) -> Result<Self, BadGrants> {
        small(bytes)?;
        serde_json::from_slice(bytes).map_err(unreadable)
    }

    /// As a file would hold it, on one line.
    pub fn to_json(&self) -> String {
        // Texts, finite numbers and lists of them: there is nothing that JSON could not say.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// What a message calls the grant that stands at this place of a list.
    fn called(&self, index: usize) -> String {
        match &self.id {
            Some(id) => format!("grant {} (`{id}`)", index + 1),
            None => format!("grant {}", index + 1),
        }
    }
}

const FIELDS: &[&str] = &["id", "cap", "subjects", "rules", "until", "uses", "parent", "review"];

impl<'de> Deserialize<'de> for GrantSpec {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Spec;

        impl<'de> Visitor<'de> for Spec {
            type Value = GrantSpec;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a grant, such as {\"cap\": \"exec\", \"subjects\": [\"jq\"]}")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<GrantSpec, A::Error> {
                let (mut id, mut cap, mut parent, mut review) = (None, None::<Text<Cap>>, None, None);
                let (mut subjects, mut rules) = (None::<Listed<Pattern>>, None::<Listed<ArgumentRule>>);
                let (mut until, mut uses) = (None::<Text<Timestamp>>, None::<u64>);
                while let Some(name) = map.next_key::<Cow<'de, str>>()? {
                    match &*name {
                        "id" => put(&mut map, &mut id, &name)?,
                        "cap" => put(&mut map, &mut cap, &name)?,
                        "subjects" => put(&mut map, &mut subjects, &name)?,
                        "rules" => put(&mut map, &mut rules, &name)?,
                        "until" => put(&mut map, &mut until, &name)?,
                        "uses" => put(&mut map, &mut uses, &name)?,
                        "parent" => put(&mut map, &mut parent, &name)?,
                        "review" => put(&mut map, &mut review, &name)?,
                        other => return Err(A::Error::unknown_field(&shown(other), FIELDS)),
                    }
                }
                let missing = || A::Error::custom("the field `cap` is missing: name the capability");
                let cap = cap.ok_or_else(missing)?.0;
                let (subjects, rules) = (subjects.map(|it| it.0), rules.map(|it| it.0).unwrap_or_default());
                let too_many = |field: &str, max: usize| {
                    A::Error::custom(format_args!("field `{field}`: there are more than {max}"))
                };
                if subjects.as_ref().is_some_and(|it| it.len() > SUBJECTS_MAX) {
                    return Err(too_many("subjects", SUBJECTS_MAX));
                }
                if rules.len() > RULES_MAX {
                    return Err(too_many("rules", RULES_MAX));
                }
                if uses == Some(0) {
                    return Err(A::Error::custom(
                        "field `uses`: a grant without uses grants nothing; use 1 or more",
                    ));
                }
                let (until, review) = (until.map(|it| it.0), review.unwrap_or_default());
                Ok(GrantSpec { id, cap, subjects, rules, until, uses, parent, review })
            }
        }

        from.deserialize_map(Spec)
    }
}

/// A value that is written as text.
struct Text<T>(T);

impl<'de, T: FromStr<Err: fmt::Display>> Deserialize<'de> for Text<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        <Cow<'de, str>>::deserialize(from)?.parse().map(Self).map_err(D::Error::custom)
    }
}

/// A list whose errors say which item they are about.
struct Listed<T>(Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Listed<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Items<T>(std::marker::PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Items<T> {
            type Value = Listed<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Listed<T>, A::Error> {
                let mut all = Vec::new();
                loop {
                    let number = all.len() + 1;
                    let item = items.next_element();
                    match item.map_err(|error| A::Error::custom(format_args!("number {number}: {error}")))? {
                        Some(item) => all.push(item),
                        None => return Ok(Listed(all)),
                    }
                }
            }
        }

        from.deserialize_seq(Items(std::marker::PhantomData))
    }
}

/// A file of grants: `{"grants": [{"cap": "exec", "subjects": ["jq"]}]}`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct GrantFile {
    /// Each has an id, and each parent comes before its children.
    grants: Vec<GrantSpec>,
    /// What a message calls each: its place in the file, and its id if somebody wrote one.
    #[serde(skip)]
    called: Vec<String>,
}

/// The bytes are no grants that could be held together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadGrants {
    /// Too many bytes.
    #[error("{bytes} bytes of grants are more than the {max} that are read: split the file")]
    TooLarge {
        /// How many there are.
        bytes: u64,
        /// How many are read.
        max: u64,
    },
    /// Not JSON, or not of this shape. Says where, and in which grant and field.
    #[error("{0}")]
    Unreadable(String),
    /// Too many grants.
    #[error("{count} grants are more than the {max} that one session may hold")]
    TooMany {
        /// How many there are.
        count: usize,
        /// How many there may be.
        max: usize,
    },
    /// Two grants with one id.
    #[error("{grant}: another grant has that id; give each its own")]
    DuplicateId {
        /// Which.
        grant: String,
    },
    /// A parent that is nowhere.
    #[error("{grant}: field `parent`: there is no grant `{parent}` here; add it, or take the field away")]
    NoParent {
        /// Which.
        grant: String,
        /// What it names.
        parent: GrantId,
    },
    /// A parent of another power.
    #[error(
        "{grant}: field `parent`: `{parent}` grants `{theirs}`, and only a grant of `{ours}` can be narrowed to this one"
    )]
    OtherPower {
        /// Which.
        grant: String,
        /// What it names.
        parent: GrantId,
        /// The parent's power.
        theirs: Cap,
        /// Its own.
        ours: Cap,
    },
    /// A grant that hangs from itself.
    #[error(
        "{grant}: field `parent`: it hangs from itself by way of its parents; one of them must have none"
    )]
    Cycle {
        /// Which.
        grant: String,
    },
    /// Too long a line of parents.
    #[error("{grant}: field `parent`: it has more than {max} ancestors")]
    TooDeep {
        /// Which.
        grant: String,
        /// How many it may have.
        max: usize,
    },
    /// The power finds no sense in it.
    #[error("{grant}: {why}")]
    Terms {
        /// Which.
        grant: String,
        /// What is wrong, and what to write instead.
        why: String,
    },
}

impl BadGrants {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "too_large",
            Self::Unreadable(_) => "bad_grants",
            Self::TooMany { .. } => "too_many_grants",
            Self::DuplicateId { .. } => "duplicate_grant",
            Self::NoParent { .. } => "no_such_parent",
            Self::OtherPower { .. } => "other_power",
            Self::Cycle { .. } => "grant_cycle",
            Self::TooDeep { .. } => "too_deep",
            Self::Terms { .. } => "bad_terms",
        }
    }
}

fn small(bytes: &[u8]) -> Result<(), BadGrants> {
    let (bytes, max) = (bytes.len() as u64, GRANTS_BYTES_MAX);
    if bytes > max { Err(BadGrants::TooLarge { bytes, max }) } else { Ok(()) }
}

fn unreadable(error: serde_json::Error) -> BadGrants {
    let text = error.to_string();
    // An item of the outermost list is called as it is everywhere else.
    let of_grant = text.strip_prefix("field `grants`: number ").map(|rest| format!("grant {rest}"));
    BadGrants::Unreadable(of_grant.unwrap_or(text))
}

impl GrantFile {
    /// Reads a file.
    pub fn parse(bytes: &[u8]) -> Result<Self, BadGrants> {
        Self::parse_naming(bytes, "grant")
    }

    /// Reads a file, and calls what has no id `stem-1`, `stem-2` and on.
    pub fn parse_naming(bytes: &[u8], stem: &str) -> Result<Self, BadGrants> {
        small(bytes)?;
        let Whole(grants) = serde_json::from_slice(bytes).map_err(unreadable)?;
        Self::of(grants, stem)
    }

    /// The grants as they can be held together: ids where there were none, parents before their children.
    pub fn of(mut grants: Vec<GrantSpec>, stem: &str) -> Result<Self, BadGrants> {
        if grants.len() > GRANTS_MAX {
            return Err(BadGrants::TooMany { count: grants.len(), max: GRANTS_MAX });
        }
        let mut by_id: HashMap<GrantId, usize> = HashMap::new();
        for (index, grant) in grants.iter().enumerate() {
            if let Some(id) = &grant.id
                && by_id.insert(id.clone(), index).is_some()
            {
                return Err(BadGrants::DuplicateId { grant: grant.called(index) });
            }
        }
        let mut generation = Vec::with_capacity(grants.len());
        for (index, grant) in grants.iter().enumerate() {
            generation.push(ancestors(&grants, &by_id, index, grant)?);
        }
        let called = grants.iter().enumerate().map(|(index, grant)| grant.called(index)).collect::<Vec<_>>();
        let mut number = 0;
        for grant in grants.iter_mut().filter(|it| it.id.is_none()) {
            let id = loop {
                number += 1;
                let id = GrantId(format!("{stem}-{number}").into());
                if !by_id.contains_key(&id) {
                    break id;
                }
            };
            grant.id = Some(id);
        }
        let mut placed: Vec<_> = generation.into_iter().zip(grants.into_iter().zip(called)).collect();
        placed.sort_by_key(|(generation, _)| *generation);
        let (grants, called) = placed.into_iter().map(|(_, it)| it).unzip();
        Ok(Self { grants, called })
    }

    /// Asks the powers what they make of each grant.
    pub fn check(self, judge: impl Fn(Cap, &Terms) -> Result<(), String>) -> Result<Self, BadGrants> {
        for (grant, called) in self.grants.iter().zip(&self.called) {
            judge(grant.cap, &grant.terms())
                .map_err(|why| BadGrants::Terms { grant: called.clone(), why })?;
        }
        Ok(self)
    }

    /// The grants, each with an id, each parent before its children.
    pub fn grants(&self) -> &[GrantSpec] {
        &self.grants
    }
}

/// How many grants this one hangs from.
fn ancestors(
    grants: &[GrantSpec],
    by_id: &HashMap<GrantId, usize>,
    index: usize,
    grant: &GrantSpec,
) -> Result<usize, BadGrants> {
    let called = || grant.called(index);
    let mut count = 0;
    let mut at = grant;
    while let Some(parent) = &at.parent {
        let found = by_id.get(parent).and_then(|it| Some((*it, grants.get(*it)?)));
        let no_parent = || BadGrants::NoParent { grant: called(), parent: parent.clone() };
        let (place, above) = found.ok_or_else(no_parent)?;
        if above.cap != at.cap {
            let (parent, theirs, ours) = (parent.clone(), above.cap, at.cap);
            return Err(BadGrants::OtherPower { grant: called(), parent, theirs, ours });
        }
        count += 1;
        if place == index || count > grants.len() {
            return Err(BadGrants::Cycle { grant: called() });
        }
        at = above;
    }
    if count > ANCESTORS_MAX {
        return Err(BadGrants::TooDeep { grant: called(), max: ANCESTORS_MAX });
    }
    Ok(count)
}

/// The outermost object.
struct Whole(Vec<GrantSpec>);

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Whole;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object {\"grants\": [...]}")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Whole, A::Error> {
                let mut grants = None::<Listed<GrantSpec>>;
                while let Some(name) = map.next_key::<Cow<'de, str>>()? {
                    match &*name {
                        "grants" => put(&mut map, &mut grants, &name)?,
                        other => return Err(A::Error::unknown_field(&shown(other), &["grants"])),
                    }
                }
                let missing = || A::Error::custom("the field `grants` is missing: write {\"grants\": [...]}");
                Ok(Whole(grants.ok_or_else(missing)?.0))
            }
        }

        from.deserialize_map(Object)
    }
}

#[cfg(test)]
#[path = "grant_tests.rs"]
mod tests;
