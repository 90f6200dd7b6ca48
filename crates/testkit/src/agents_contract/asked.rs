//! What people are asked and what they are told: reviews and issues.

#![allow(clippy::unwrap_used)]

use drydock_contract::{
    AgentStatus, FiledIssue, Review, ReviewAnswer, ReviewState,
    port::{AgentRefusal, Wanted},
};

use super::{Kept, append, at, id, issue, review, tenant, with};
use crate::block_on;

pub(super) fn reviews(kept: &Kept) {
    let _hold = kept.create(1);
    let asked = Review { state: ReviewState::Expired, ..review(2, 1) };
    assert_eq!(kept.ask(asked), Ok(()));
    let found = block_on(kept.0.review(&tenant("a"), &id(2), at(101))).unwrap();
    assert_eq!(found, Some(review(2, 1)), "it waits, whatever whoever asked said");
    let _other = kept.create(8);
    assert_eq!(kept.ask(review(2, 8)), Err(AgentRefusal::Diverged), "another run's");
    let given = ReviewAnswer::Limit { limit: 3 };
    let answered = kept.answer(2, given.clone(), 150).unwrap();
    let state = ReviewState::Answered { given, by: "ada".into(), at_ms: 150 };
    assert_eq!(answered, Review { state: state.clone(), ..review(2, 1) });
    assert_eq!(kept.answer(2, ReviewAnswer::Once, 151), Err(AgentRefusal::Answered));
    assert_eq!(kept.ask(review(2, 1)), Ok(()), "asked again by who does not know that it asked");
    assert_eq!(kept.review(2, 151), Some(state.clone()));
    assert_eq!(kept.review(2, 999), Some(state), "an answer has no end");
}

pub(super) fn reviews_end(kept: &Kept) {
    let _hold = kept.create(1);
    kept.ask(review(2, 1)).unwrap();
    kept.ask(Review { expires_ms: None, ..review(3, 1) }).unwrap();
    assert_eq!(kept.review(2, 199), Some(ReviewState::Pending));
    assert_eq!(kept.review(2, 200), Some(ReviewState::Expired));
    assert_eq!(kept.review(2, 199), Some(ReviewState::Pending), "a look changes nothing");
    assert_eq!(kept.answer(2, ReviewAnswer::Once, 200), Err(AgentRefusal::Expired));
    assert_eq!(kept.reviews(None, Wanted::Pending, 200), [id(3)]);
    assert_eq!(kept.review(3, u64::MAX / 1_000_000), Some(ReviewState::Pending));
    assert!(kept.answer(2, ReviewAnswer::Session, 199).is_ok());
}

pub(super) fn reviews_of_the_ended(kept: &Kept) {
    let hold = kept.create(1);
    for n in [2, 3] {
        kept.ask(review(n, 1)).unwrap();
    }
    let deny = ReviewAnswer::Deny { reason: "no".into() };
    kept.answer(3, deny, 101).unwrap();
    append(&hold, 0, &[], with(AgentStatus::Failed, 1)).unwrap();
    assert_eq!(kept.review(2, 102), Some(ReviewState::Expired));
    assert!(matches!(kept.review(3, 102), Some(ReviewState::Answered { .. })));
    assert_eq!(kept.answer(2, ReviewAnswer::Once, 103), Err(AgentRefusal::Expired));
    let waits = kept.create(5);
    append(&waits, 0, &[], with(AgentStatus::Waiting, 5)).unwrap();
    kept.ask(review(6, 5)).unwrap();
    drop(waits);
    assert!(kept.cancel(5, 110));
    assert_eq!(kept.review(6, 111), Some(ReviewState::Expired));
    assert_eq!(kept.reviews(None, Wanted::Pending, 111), []);
}

pub(super) fn review_lists(kept: &Kept) {
    let _holds = [kept.create(1), kept.create(2)];
    for (n, run) in [(9, 1), (8, 2), (7, 1), (6, 1)] {
        kept.ask(review(n, run)).unwrap();
    }
    kept.answer(7, ReviewAnswer::Once, 101).unwrap();
    assert_eq!(kept.reviews(None, Wanted::Pending, 102), [id(9), id(8), id(6)]);
    assert_eq!(kept.reviews(None, Wanted::All, 102), [id(9), id(8), id(7), id(6)]);
    assert_eq!(kept.reviews(Some(1), Wanted::All, 102), [id(9), id(7), id(6)]);
    assert_eq!(kept.reviews(Some(1), Wanted::Pending, 102), [id(9), id(6)]);
    assert_eq!(kept.reviews(Some(3), Wanted::All, 102), []);
    let one = block_on(kept.0.reviews(&tenant("a"), None, Wanted::Pending, 1, at(102))).unwrap();
    assert_eq!(one.len(), 1);
}

pub(super) fn issues(kept: &Kept) {
    assert_eq!(kept.file(issue(1, "no clock")), Ok(issue(1, "no clock")));
    assert_eq!(kept.file(issue(1, "no clock")), Ok(issue(1, "no clock")), "the same again");
    let again = FiledIssue { body: "other".into(), ..issue(2, "no clock") };
    let first = FiledIssue { seen: 2, ..issue(1, "no clock") };
    assert_eq!(kept.file(again), Ok(first.clone()));
    kept.file(issue(3, "no door")).unwrap();
    kept.file(issue(4, "no\0door")).unwrap();
    let ids = |after, rows_max| kept.issues(after, rows_max).into_iter().map(|it| it.id).collect::<Vec<_>>();
    assert_eq!(ids(None, 9), [id(4), id(3), id(1)]);
    assert_eq!(ids(None, 1), [id(4)]);
    assert_eq!(ids(Some(4), 9), [id(3), id(1)]);
    assert_eq!(ids(Some(2), 9), []);
    assert_eq!(kept.issues(Some(3), 9), [first]);
    assert!(block_on(kept.0.remove_issue(&tenant("a"), &id(1))).unwrap());
    assert!(!block_on(kept.0.remove_issue(&tenant("a"), &id(1))).unwrap());
    assert_eq!(kept.file(issue(5, "no clock")), Ok(issue(5, "no clock")), "a new one of that title");
    assert_eq!(kept.file(issue(6, " \t")), Err(AgentRefusal::NoTitle));
}
