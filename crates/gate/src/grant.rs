//! A grant: one power, given to a session, as narrow as its giver likes.
//!
//! A grant may name what it is good for, when it ends and how often it may be used, and it may hang
//! from a parent: then the parent must allow the call too, and each use is a use of both. A child
//! can therefore only ever be narrower. Each has a switch of its own: revoked, it counts no more, and its
//! children with it.

use std::{borrow::Cow, collections::HashMap, sync::Arc};

use drydock_contract::{
    Cap, CapSet, CommandName, Denial, GrantFile, GrantId, GrantSpec, Pattern, Switch, Tenant, Terms,
    Timestamp, port::Ledger,
};

use crate::uses::{NoUse, Uses};

/// One power given away.
#[derive(Debug)]
pub struct Grant {
    id: Option<GrantId>,
    cap: Cap,
    terms: Terms,
    expires: Option<Timestamp>,
    uses: Option<Uses>,
    parent: Option<Arc<Grant>>,
    revoked: Arc<Switch>,
    /// It admits nothing by itself: a person is asked first.
    review: bool,
}

impl Grant {
    /// The whole power, without end.
    pub fn of(cap: Cap) -> Self {
        let terms = Terms::default();
        let revoked = Arc::default();
        Self { id: None, cap, terms, expires: None, uses: None, parent: None, revoked, review: false }
    }

    /// The grants of a file, made live, each finished by `finish`. Parents come before their children in one, so each
    /// is found.
    pub fn all_of(file: &GrantFile, finish: impl Fn(Self) -> Self) -> Vec<Arc<Self>> {
        let mut made: HashMap<GrantId, Arc<Self>> = HashMap::new();
        let mut all = Vec::new();
        for spec in file.grants() {
            let parent = spec.parent.as_ref().and_then(|it| made.get(it));
            let grant = Arc::new(finish(Self::from_spec(spec, parent)));
            if let Some(id) = &spec.id {
                made.insert(id.clone(), Arc::clone(&grant));
            }
            all.push(grant);
        }
        all
    }

    /// One grant made live, hanging from the parent that it names.
    pub fn from_spec(spec: &GrantSpec, parent: Option<&Arc<Self>>) -> Self {
        let uses = spec.uses.map(Uses::of);
        Self {
            id: spec.id.clone(),
            terms: spec.terms(),
            expires: spec.until,
            uses,
            parent: parent.map(Arc::clone),
            review: spec.review,
            ..Self::of(spec.cap)
        }
    }

    /// A narrower grant of the same power, hanging from this one.
    pub fn narrowed(self: &Arc<Self>) -> Self {
        Self { parent: Some(Arc::clone(self)), ..Self::of(self.cap) }
    }

    /// Known by this id: it can be revoked by itself, and a session can lose it.
    #[must_use]
    pub fn named(self, id: GrantId) -> Self {
        Self { id: Some(id), ..self }
    }

    /// Good for these names only.
    #[must_use]
    pub fn only(self, names: impl IntoIterator<Item = CommandName>) -> Self {
        // A name has neither a star nor a backslash, so each is a pattern of itself.
        let exact = names.into_iter().filter_map(|it| Pattern::exact(it.as_str()));
        self.within(Terms::of(exact))
    }

    /// Good for such subjects with such arguments only.
    #[must_use]
    pub fn within(self, terms: Terms) -> Self {
        Self { terms, ..self }
    }

    /// Good until this moment, and not at it.
    #[must_use]
    pub fn until(self, moment: Timestamp) -> Self {
        Self { expires: Some(moment), ..self }
    }

    /// Admitting nothing by itself: a person is asked about each call that no other grant admits.
    #[must_use]
    pub fn upon_review(self) -> Self {
        Self { review: true, ..self }
    }

    /// Good for this many calls.
    #[must_use]
    pub fn times(self, uses: u64) -> Self {
        Self { uses: Some(Uses::of(uses)), ..self }
    }

    /// Counts its uses where other processes count theirs, if it has an id and counts them at all.
    #[must_use]
    pub fn counted_in(self, ledger: Arc<dyn Ledger>, tenant: Tenant) -> Self {
        let uses = match (self.uses, &self.id) {
            (Some(uses), Some(id)) => Some(uses.counted_in(ledger, tenant, format!("uses/{id}"))),
            (uses, _) => uses,
        };
        Self { uses, ..self }
    }

    /// Which power.
    pub const fn cap(&self) -> Cap {
        self.cap
    }

    /// The id that was given to it, if one was.
    pub const fn id(&self) -> Option<&GrantId> {
        self.id.as_ref()
    }

    /// What a record calls it: its id, or its power for a grant that nobody named.
    pub fn label(&self) -> &str {
        self.id.as_ref().map_or(self.cap.as_str(), GrantId::as_str)
    }

    /// The grant as data, with the uses that are left.
    pub fn spec(&self) -> GrantSpec {
        GrantSpec {
            id: self.id.clone(),
            cap: self.cap,
            subjects: self.terms.subjects.clone(),
            rules: self.terms.rules.clone(),
            until: self.expires,
            uses: self.uses.as_ref().map(Uses::left),
            parent: self.parent.as_ref().and_then(|it| it.id.clone()),
            review: self.review,
        }
    }

    /// Whether a person is to be asked before it admits anything: a child is as narrow as its parent in this too.
    fn wants_review(&self) -> bool {
        self.line().any(|grant| grant.review)
    }

    /// What it comes to for one call, which `call` names exactly, once a person said yes. Of what it hangs from it keeps
    /// what wants no review. None where that has no name to hang from: then the grant would outlive it.
    pub(crate) fn reviewed(&self, call: GrantSpec) -> Option<GrantSpec> {
        let last = self.line().enumerate().filter(|(_, it)| it.review).last()?.0;
        let skipped = || self.line().take(last + 1);
        let parent = match self.line().nth(last).and_then(|it| it.parent.as_ref()) {
            None => None,
            Some(above) => Some(above.id.clone()?),
        };
        let until = skipped().filter_map(|it| it.expires).min();
        // A power that says no arguments of a call exactly is held to the rules there are.
        let rules = match call.rules.is_empty() {
            true => skipped().flat_map(|it| it.terms.rules.iter().cloned()).collect(),
            false => call.rules,
        };
        Some(GrantSpec { rules, until, parent, ..call })
    }

    /// Takes it back, and what hangs from it: neither lets a call through from now on.
    pub fn revoke(&self) {
        self.revoked.trip();
    }

    /// Whether neither it nor an ancestor was revoked. Work in flight asks this; time and uses are asked only of calls.
    pub fn is_revoked(&self) -> bool {
        self.line().any(|grant| grant.revoked.is_tripped())
    }

    /// Why the grant does not count any more, or nothing if it does.
    fn lapsed(&self, now: Timestamp) -> Option<&'static str> {
        self.line().find_map(|grant| {
            if grant.revoked.is_tripped() {
                return Some(Denial::GRANT_REVOKED);
            }
            if grant.expires.is_some_and(|end| now >= end) {
                return Some(Denial::GRANT_EXPIRED);
            }
            let spent = grant.uses.as_ref().is_some_and(|uses| uses.left() == 0);
            spent.then_some(Denial::GRANT_USED_UP)
        })
    }

    fn admits(&self, subject: &str) -> bool {
        self.line().all(|grant| grant.terms.name(subject))
    }

    /// Whether the power finds the request within the terms of this grant and of its ancestors.
    fn satisfied(&self, within: &dyn Fn(&Terms) -> bool) -> bool {
        self.line().all(|grant| within(&grant.terms))
    }

    /// Uses the grant and its ancestors once, or none of them.
    pub(crate) fn take_use(&self) -> Result<(), NoUse> {
        for (taken, grant) in self.line().enumerate() {
            let Some(uses) = &grant.uses else { continue };
            if let Err(why) = uses.take() {
                self.line().take(taken).filter_map(|it| it.uses.as_ref()).for_each(Uses::give_back);
                return Err(why);
            }
        }
        Ok(())
    }

    /// This grant, its parent, and so on.
    pub(crate) fn line(&self) -> impl Iterator<Item = &Grant> {
        std::iter::successors(Some(self), |grant| grant.parent.as_deref())
    }

    /// The grants that it hangs from.
    pub(crate) fn parent(&self) -> Option<&Arc<Grant>> {
        self.parent.as_ref()
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

/// Why no live grant admits a request.
#[derive(Debug)]
pub(crate) enum Unadmitted<'a> {
    /// None would.
    Refused(NotAdmitted),
    /// This one does once a person said yes.
    WantsReview(&'a Arc<Grant>),
}

/// Everything a session holds at one moment.
#[derive(Debug, Clone, Default)]
pub struct GrantSet(Vec<Arc<Grant>>);

impl GrantSet {
    /// The powers that are granted at all, lapsed or not: what may be imported.
    pub fn caps(&self) -> CapSet {
        self.0.iter().map(|grant| grant.cap).collect()
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Grant>> {
        self.0.iter()
    }

    /// The set and one more.
    #[must_use]
    pub fn with(&self, grant: Arc<Grant>) -> Self {
        Self(self.0.iter().cloned().chain([grant]).collect())
    }

    /// The set without the grants of that id and what hangs from them.
    #[must_use]
    pub fn without(&self, id: &GrantId) -> Self {
        let hangs = |grant: &Grant| grant.line().any(|it| it.id.as_ref() == Some(id));
        Self(self.0.iter().filter(|it| !hangs(it)).cloned().collect())
    }

    /// Whether this very grant is in the set.
    pub fn holds(&self, grant: &Arc<Grant>) -> bool {
        self.0.iter().any(|it| Arc::ptr_eq(it, grant))
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

    /// The first live grant of the power that admits the subject and whose terms the request keeps. One that wants a review
    /// is only named where no other admits it.
    pub(crate) fn admitting(
        &self,
        cap: Cap,
        subject: &str,
        now: Timestamp,
        within: &dyn Fn(&Terms) -> bool,
    ) -> Result<&Arc<Grant>, Unadmitted<'_>> {
        let mut refusal = Unadmitted::Refused(NotAdmitted::ByName);
        for grant in self.0.iter().filter(|it| it.cap == cap && it.admits(subject)) {
            // One that lapsed had rules too: whatever is proposed instead is for these arguments and no others.
            let admits = grant.lapsed(now).is_none() && grant.satisfied(within);
            match (&refusal, admits) {
                (_, true) if !grant.wants_review() => return Ok(grant),
                (Unadmitted::WantsReview(_), _) => {}
                (_, true) => refusal = Unadmitted::WantsReview(grant),
                (_, false) => refusal = Unadmitted::Refused(NotAdmitted::ByTerms),
            }
        }
        Err(refusal)
    }

    /// Whether a live grant would let this subject through, without using it.
    pub fn would_admit(&self, cap: Cap, subject: &str, now: Timestamp) -> bool {
        self.admitting(cap, subject, now, &|_| true).is_ok()
    }

    /// The same where a person may have to say yes first: whoever is told of the subject learns that from the call.
    pub fn could_admit(&self, cap: Cap, subject: &str, now: Timestamp) -> bool {
        !matches!(self.admitting(cap, subject, now, &|_| true), Err(Unadmitted::Refused(_)))
    }

    /// The subjects that live grants of the power name letter for letter, and admit without a review. A star names none.
    pub fn named_exactly(&self, cap: Cap, now: Timestamp) -> Vec<String> {
        let live = self.0.iter().filter(|it| it.cap == cap && it.lapsed(now).is_none() && !it.wants_review());
        let patterns = live.flat_map(|grant| {
            let own = grant.terms.subjects.iter().flatten().filter_map(Pattern::literal);
            own.filter(|it| grant.admits(it)).map(Cow::into_owned)
        });
        patterns.collect()
    }

    /// Whether a live grant lets this subject through whatever the request says, and as often as it is asked.
    pub fn admits_freely(&self, cap: Cap, subject: &str, now: Timestamp) -> bool {
        let free = |it: &Terms| it.rules.is_empty();
        let uncounted = |grant: &Grant| grant.line().all(|it| it.uses.is_none() && !it.review);
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
#[path = "grant_tests.rs"]
mod tests;
