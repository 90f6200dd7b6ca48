//! A grant: one power, given to a session, as narrow as its giver likes.
//!
//! A grant may name what it is good for, when it ends and how often it may be used, and it may hang
//! from a parent: then the parent must allow the call too, and each use is a use of both. A child
//! can therefore only ever be narrower.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use drydock_contract::{Cap, CapSet, CommandName, Timestamp, ToolTerms};

/// What a grant is good for.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Constraint {
    /// Anything the power can do.
    #[default]
    Anything,
    /// These names only.
    Names(BTreeSet<CommandName>),
    /// These tools only, and only with such arguments. Which arguments a request has is nothing the
    /// gate can see: it asks the power.
    Tools(ToolTerms),
}

impl Constraint {
    fn admits(&self, subject: &str) -> bool {
        match self {
            Self::Anything => true,
            Self::Names(names) => names.contains(subject),
            Self::Tools(terms) => terms.name(subject),
        }
    }
}

/// One power given away.
#[derive(Debug)]
pub struct Grant {
    cap: Cap,
    constraint: Constraint,
    expires: Option<Timestamp>,
    uses_left: Option<AtomicU64>,
    parent: Option<Arc<Grant>>,
}

impl Grant {
    /// The whole power, without end.
    pub const fn of(cap: Cap) -> Self {
        Self { cap, constraint: Constraint::Anything, expires: None, uses_left: None, parent: None }
    }

    /// A narrower grant of the same power, hanging from this one.
    pub fn narrowed(self: &Arc<Self>) -> Self {
        Self { parent: Some(Arc::clone(self)), ..Self::of(self.cap) }
    }

    /// Good for these names only.
    #[must_use]
    pub fn only(self, names: impl IntoIterator<Item = CommandName>) -> Self {
        Self { constraint: Constraint::Names(names.into_iter().collect()), ..self }
    }

    /// Good for these tools with such arguments only.
    #[must_use]
    pub fn tools(self, terms: ToolTerms) -> Self {
        Self { constraint: Constraint::Tools(terms), ..self }
    }

    /// Good until this moment, and not at it.
    #[must_use]
    pub fn until(self, moment: Timestamp) -> Self {
        Self { expires: Some(moment), ..self }
    }

    /// Good for this many calls.
    #[must_use]
    pub fn times(self, uses: u64) -> Self {
        Self { uses_left: Some(AtomicU64::new(uses)), ..self }
    }

    /// Which power.
    pub const fn cap(&self) -> Cap {
        self.cap
    }

    /// Why the grant does not count any more, or nothing if it does.
    fn lapsed(&self, now: Timestamp) -> Option<&'static str> {
        self.line().find_map(|grant| {
            if grant.expires.is_some_and(|end| now >= end) {
                return Some(": the grant has expired");
            }
            let spent = grant.uses_left.as_ref().is_some_and(|left| left.load(Ordering::Relaxed) == 0);
            spent.then_some(": the grant is used up")
        })
    }

    fn admits(&self, subject: &str) -> bool {
        self.line().all(|grant| grant.constraint.admits(subject))
    }

    /// Whether the power finds the request within the terms of this grant and of its ancestors.
    fn satisfied(&self, within: &dyn Fn(&Constraint) -> bool) -> bool {
        self.line().all(|grant| within(&grant.constraint))
    }

    /// Uses the grant and its ancestors once, or none of them.
    pub(crate) fn take_use(&self) -> bool {
        for (taken, grant) in self.line().enumerate() {
            let Some(left) = &grant.uses_left else { continue };
            let one_less = |left: u64| left.checked_sub(1);
            if left.fetch_update(Ordering::AcqRel, Ordering::Relaxed, one_less).is_err() {
                let undo = self.line().take(taken).filter_map(|it| it.uses_left.as_ref());
                undo.for_each(|it| {
                    it.fetch_add(1, Ordering::AcqRel);
                });
                return false;
            }
        }
        true
    }

    /// This grant, its parent, and so on.
    fn line(&self) -> impl Iterator<Item = &Grant> {
        std::iter::successors(Some(self), |grant| grant.parent.as_deref())
    }
}

/// What kept every live grant from admitting a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotAdmitted {
    /// None names the subject.
    ByName,
    /// Some name it, and none allows it with what the request says.
    ByTerms,
}

/// Everything a session was given.
#[derive(Debug, Clone, Default)]
pub struct GrantSet(Vec<Arc<Grant>>);

impl GrantSet {
    /// The powers that are granted at all, lapsed or not: what may be imported.
    pub fn caps(&self) -> CapSet {
        self.0.iter().map(|grant| grant.cap).collect()
    }

    /// Whether some grant of the power still counts; if not, why.
    pub(crate) fn live(&self, cap: Cap, now: Timestamp) -> Result<(), &'static str> {
        let mut why = "";
        for grant in self.0.iter().filter(|grant| grant.cap == cap) {
            match grant.lapsed(now) {
                None => return Ok(()),
                Some(reason) => why = reason,
            }
        }
        Err(why)
    }

    /// The first live grant of the power that admits the subject and whose terms the request keeps.
    pub(crate) fn admitting(
        &self,
        cap: Cap,
        subject: &str,
        now: Timestamp,
        within: &dyn Fn(&Constraint) -> bool,
    ) -> Result<&Grant, NotAdmitted> {
        let mut refusal = NotAdmitted::ByName;
        for grant in self.0.iter().filter(|it| it.cap == cap && it.lapsed(now).is_none()) {
            if !grant.admits(subject) {
                continue;
            }
            if grant.satisfied(within) {
                return Ok(grant);
            }
            refusal = NotAdmitted::ByTerms;
        }
        Err(refusal)
    }

    /// Whether a live grant would let this subject through, without using it.
    pub fn would_admit(&self, cap: Cap, subject: &str, now: Timestamp) -> bool {
        self.admitting(cap, subject, now, &|_| true).is_ok()
    }

    /// Whether a live grant lets this subject through whatever the request says, and as often as it is asked.
    pub fn admits_freely(&self, cap: Cap, subject: &str, now: Timestamp) -> bool {
        let free = |it: &Constraint| !matches!(it, Constraint::Tools(terms) if !terms.arguments.is_empty());
        let uncounted = |grant: &Grant| grant.line().all(|it| it.uses_left.is_none());
        let live = self.0.iter().filter(|it| it.cap == cap && it.lapsed(now).is_none());
        live.into_iter().map(|it| &**it).any(|it| it.admits(subject) && it.satisfied(&free) && uncounted(it))
    }
}

impl<G: Into<Arc<Grant>>> FromIterator<G> for GrantSet {
    fn from_iter<I: IntoIterator<Item = G>>(grants: I) -> Self {
        Self(grants.into_iter().map(Into::into).collect())
    }
}

#[cfg(test)]
mod tests {
    use drydock_contract::{ArgumentRule, Must};

    use super::*;

    const NOON: Timestamp = Timestamp(1_000);

    fn name(text: &str) -> CommandName {
        text.parse().unwrap()
    }

    #[test]
    fn a_grant_ends_at_its_moment_and_after_its_uses() {
        let grant = Grant::of(Cap::Exec).until(NOON).times(1);
        assert_eq!(grant.lapsed(Timestamp(999)), None);
        assert_eq!(grant.lapsed(NOON), Some(": the grant has expired"));
        assert!(grant.take_use());
        assert!(!grant.take_use());
        assert_eq!(grant.lapsed(Timestamp(0)), Some(": the grant is used up"));
    }

    #[test]
    fn a_child_can_only_be_narrower() {
        let parent = Arc::new(Grant::of(Cap::Exec).only([name("jq"), name("grep")]).times(2));
        let child = parent.narrowed().only([name("jq"), name("rm")]);
        assert!(child.admits("jq"));
        assert!(!child.admits("grep"), "the child leaves it out");
        assert!(!child.admits("rm"), "the parent never had it");
        assert!(child.take_use() && child.take_use());
        assert!(!child.take_use(), "a use of the child is a use of the parent");
        assert!(parent.lapsed(NOON).is_some());
    }

    #[test]
    fn only_a_grant_without_conditions_admits_freely() {
        let files = |arguments| ToolTerms { tools: vec!["files.*".parse().unwrap()], arguments };
        let rule = ArgumentRule::new("/path", Must::StartWith("/a".into()));
        let freely = |grant: Grant| {
            let set: GrantSet = [grant].into_iter().collect();
            set.admits_freely(Cap::Tool, "files.read", NOON)
        };
        let tool = || Grant::of(Cap::Tool);
        assert!(freely(tool()) && freely(tool().tools(files(Vec::new()))));
        assert!(!freely(tool().tools(files(vec![rule]))), "a condition");
        assert!(!freely(tool().times(9)), "it is counted");
        assert!(!freely(Arc::new(tool().times(9)).narrowed()), "its parent is counted");
        assert!(!freely(tool().until(NOON)) && !freely(Grant::of(Cap::Exec)));
    }

    #[test]
    fn terms_of_every_ancestor_must_be_kept() {
        let terms = |tool: &str| ToolTerms { tools: vec![tool.parse().unwrap()], arguments: Vec::new() };
        let parent = Arc::new(Grant::of(Cap::Tool).tools(terms("files.*")));
        let set: GrantSet = [parent.narrowed().tools(terms("files.read"))].into_iter().collect();
        let asked = |tool: &str, strict: Constraint| {
            set.admitting(Cap::Tool, tool, NOON, &|it| *it != strict).map(drop)
        };
        assert_eq!(asked("files.read", Constraint::Anything), Ok(()));
        assert_eq!(asked("files.write", Constraint::Anything), Err(NotAdmitted::ByName));
        assert_eq!(asked("files.read", Constraint::Tools(terms("files.*"))), Err(NotAdmitted::ByTerms));
    }

    #[test]
    fn a_use_that_fails_higher_up_is_given_back_below() {
        let parent = Arc::new(Grant::of(Cap::Exec).times(0));
        let child = parent.narrowed().times(5);
        assert!(!child.take_use());
        assert_eq!(child.uses_left.as_ref().unwrap().load(Ordering::Relaxed), 5);
    }

    #[test]
    fn the_last_use_is_taken_once_however_many_reach_for_it() {
        let grant = Grant::of(Cap::Exec).times(100);
        let taken = std::thread::scope(|scope| {
            let work = || (0..100).filter(|_| grant.take_use()).count();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
            threads.into_iter().map(|it| it.join().unwrap()).sum::<usize>()
        });
        assert_eq!(taken, 100);
    }
}
