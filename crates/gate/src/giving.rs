//! Giving a grant to a session that lives, taking one from it, and adding to its budget. All of it is on record.

use std::sync::{Arc, Weak};

use drydock_contract::{
    Denial, GrantId, GrantSpec, Unit,
    port::{AuditEvent, AuditRecord, CallEnd, CallFacts, Clock, EndKind, Subjects},
};

use crate::{Grant, Session, audit::Audit, grant_table::GrantTable, held::not_counted};

/// What the records call the three.
const GIVE: &str = "grant.give";
const LOSE: &str = "grant.lose";
const ADD: &str = "budget.add";

/// What a session needs of its gate to be given a grant.
pub(crate) struct Giving {
    pub(crate) table: Arc<GrantTable>,
    /// Not held: the audit closes with its gate, whoever still has a session.
    pub(crate) audit: Weak<Audit>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Session {
    /// Gives it one more grant, at once and for sessions that share its grants.
    pub fn give(&self, grant: impl Into<Arc<Grant>>) -> Result<(), Denial> {
        let (grant, spec) = (grant.into(), self.spec());
        self.giving().table.register(&spec.tenant, &grant).map_err(|_| not_counted(grant.cap()))?;
        spec.grants.give(Arc::clone(&grant))?;
        self.record_change(GIVE, grant.label().into(), grant.id().cloned());
        Ok(())
    }

    /// A grant as data, made live for this session: it hangs from the grant of the session that it names. None where the
    /// session holds none of that id: without it the grant would be wider than was meant.
    pub fn grant_of(&self, spec: &GrantSpec) -> Option<Grant> {
        let Some(id) = &spec.parent else { return Some(Grant::from_spec(spec, None)) };
        let held = self.grants();
        let above = held.iter().flat_map(|it| std::iter::successors(Some(it), |it| it.parent()));
        let parent = above.into_iter().find(|it| it.cap() == spec.cap && it.id() == Some(id))?;
        Some(Grant::from_spec(spec, Some(parent)))
    }

    /// Takes the grants of that id from it and from sessions that share its grants, and what hangs from them; false if
    /// it held none. What they let begin ends. Other sessions keep theirs.
    pub fn lose(&self, id: &GrantId) -> bool {
        let lost = self.spec().grants.lose(id);
        if lost {
            // The calls in flight of every session that shares them look again.
            self.own_switches()[0].wake();
            self.record_change(LOSE, id.shared(), Some(id.clone()));
        }
        lost
    }

    /// Adds to what its budget has left of a unit, for everybody who shares it; false where it has no end of that to move. A
    /// guest has no way here: the host says what a person answered.
    pub fn add_budget(&self, unit: Unit, more: u64) -> bool {
        let Some(budget) = self.spec().budget.as_ref().filter(|it| it.left(unit).is_some()) else {
            return false;
        };
        budget.add(unit, more);
        self.record_change(ADD, format!("{unit} +{more}").into(), None);
        true
    }

    fn record_change(&self, operation: &'static str, label: Arc<str>, grant: Option<GrantId>) {
        let (call, parent) = self.lineage().next();
        let facts = CallFacts {
            who: Arc::clone(&self.account().who),
            trace: self.lineage().trace,
            call,
            parent,
            operation,
            subjects: Subjects::One(label),
            grant,
            request: None,
        };
        let Giving { audit, clock, .. } = self.giving();
        let event = AuditEvent::Ended(CallEnd::plain(EndKind::Done));
        if let Some(audit) = audit.upgrade() {
            audit.ended(AuditRecord { at: clock.now(), call: facts, event });
        }
    }
}
