//! Proofs for grants.

use drydock_contract::{ArgumentRule, Must};
use drydock_testkit::{MemoryLedger, block_on};

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
    assert!(grant.take_use().is_ok());
    assert!(grant.take_use().is_err());
    assert_eq!(grant.lapsed(Timestamp(0)), Some(": the grant is used up"));
}

#[test]
fn a_child_can_only_be_narrower() {
    let parent = Arc::new(Grant::of(Cap::Exec).only([name("jq"), name("grep")]).times(2));
    let child = parent.narrowed().only([name("jq"), name("rm")]);
    assert!(child.admits("jq"));
    assert!(!child.admits("grep"), "the child leaves it out");
    assert!(!child.admits("rm"), "the parent never had it");
    assert!(child.take_use().is_ok() && child.take_use().is_ok());
    assert!(child.take_use().is_err(), "a use of the child is a use of the parent");
    assert!(parent.lapsed(NOON).is_some());
}

#[test]
fn subjects_that_live_grants_name_letter_for_letter_are_told_and_stars_are_not() {
    let net = |subjects: &[&str]| {
        Grant::of(Cap::Net).within(Terms::of(subjects.iter().map(|it| it.parse().unwrap())))
    };
    let parent = Arc::new(net(&["private:10.0.0.1:80"]));
    let beyond = parent.narrowed().within(Terms::of(["private:10.0.0.2:80".parse().unwrap()]));
    let revoked = net(&["private:10.0.0.3:80"]);
    revoked.revoke();
    let set: GrantSet = [
        net(&["private:127.0.0.1:80", "*", "private:*"]),
        net(&["late"]).until(NOON),
        beyond,
        revoked,
        Grant::of(Cap::Net),
        Grant::of(Cap::Kv).within(Terms::of(["other".parse().unwrap()])),
    ]
    .into_iter()
    .collect();
    assert_eq!(set.named_exactly(Cap::Net, NOON), ["private:127.0.0.1:80"]);
    assert_eq!(set.named_exactly(Cap::Net, Timestamp(0)), ["private:127.0.0.1:80", "late"]);
}

#[test]
fn only_a_grant_without_conditions_admits_freely() {
    let files = |rules| Terms { rules, ..Terms::of(["files.*".parse().unwrap()]) };
    let rule = ArgumentRule::new("/path", Must::StartWith("/a".into()));
    let freely = |grant: Grant| {
        let set: GrantSet = [grant].into_iter().collect();
        set.admits_freely(Cap::Tool, "files.read", NOON)
    };
    let tool = || Grant::of(Cap::Tool);
    assert!(freely(tool()) && freely(tool().within(files(Vec::new()))));
    assert!(!freely(tool().within(files(vec![rule]))), "a condition");
    assert!(!freely(tool().times(9)), "it is counted");
    assert!(!freely(Arc::new(tool().times(9)).narrowed()), "its parent is counted");
    assert!(!freely(tool().until(NOON)) && !freely(Grant::of(Cap::Exec)));
}

#[test]
fn terms_of_every_ancestor_must_be_kept() {
    let terms = |tool: &str| Terms::of([tool.parse().unwrap()]);
    let parent = Arc::new(Grant::of(Cap::Tool).within(terms("files.*")));
    let set: GrantSet = [parent.narrowed().within(terms("files.read"))].into_iter().collect();
    let asked = |tool: &str, strict: Terms| match set.admitting(Cap::Tool, tool, NOON, &|it| *it != strict) {
        Ok(_) => None,
        Err(Unadmitted::Refused(why)) => Some(why),
        Err(Unadmitted::WantsReview(_)) => panic!("none of them wants one"),
    };
    assert_eq!(asked("files.read", Terms::default()), None);
    assert_eq!(asked("files.write", Terms::default()), Some(NotAdmitted::ByName));
    assert_eq!(asked("files.read", terms("files.*")), Some(NotAdmitted::ByTerms));
}

#[test]
fn a_use_that_fails_higher_up_is_given_back_below() {
    let parent = Arc::new(Grant::of(Cap::Exec).times(0));
    let child = parent.narrowed().times(5);
    assert!(child.take_use().is_err());
    assert_eq!(child.spec().uses, Some(5));
}

#[test]
fn the_last_use_is_taken_once_however_many_reach_for_it() {
    let grant = Grant::of(Cap::Exec).times(100);
    let taken = std::thread::scope(|scope| {
        let work = || (0..100).filter(|_| grant.take_use().is_ok()).count();
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|it| it.join().unwrap()).sum::<usize>()
    });
    assert_eq!(taken, 100);
}

#[test]
fn a_revoked_grant_counts_no_more_and_its_children_with_it() {
    let parent = Arc::new(Grant::of(Cap::Exec));
    let child = Arc::new(parent.narrowed().only([name("jq")]));
    let other = Arc::new(parent.narrowed());
    child.revoke();
    assert_eq!(child.lapsed(NOON), Some(": the grant was revoked"));
    assert!(!parent.is_revoked() && !other.is_revoked(), "only downwards");
    parent.revoke();
    assert_eq!(other.lapsed(NOON), Some(": the grant was revoked"));
    assert!(other.is_revoked());
}

#[test]
fn a_set_loses_a_grant_and_what_hangs_from_it() {
    let id = |text: &str| text.parse::<GrantId>().unwrap();
    let parent = Arc::new(Grant::of(Cap::Exec).named(id("a")));
    let child = Arc::new(parent.narrowed().named(id("b")));
    let set: GrantSet = [Arc::clone(&parent), child, Arc::new(Grant::of(Cap::Kv))].into_iter().collect();
    assert_eq!(set.without(&id("b")).iter().count(), 2);
    assert_eq!(set.without(&id("a")).caps(), CapSet::of(&[Cap::Kv]));
    assert!(set.holds(&parent) && !set.without(&id("a")).holds(&parent));
    assert_eq!(set.without(&id("exec")).iter().count(), 3, "a power's name is no id");
}

#[test]
fn grants_of_a_file_hang_together_and_are_written_as_they_were_read() {
    let text = br#"{"grants":[{"id":"jq","cap":"exec","subjects":["jq"],"parent":"all"},{"id":"all","cap":"exec","uses":1}]}"#;
    let grants = Grant::all_of(&GrantFile::parse(text).unwrap(), |it| it);
    let json: Vec<_> = grants.iter().map(|it| it.spec().to_json()).collect();
    assert_eq!(
        json,
        [
            r#"{"id":"all","cap":"exec","uses":1}"#,
            r#"{"id":"jq","cap":"exec","subjects":["jq"],"parent":"all"}"#
        ]
    );
    assert!(grants[1].take_use().is_ok());
    assert_eq!(grants[1].lapsed(NOON), Some(": the grant is used up"), "the parent is");
}

/// Takes a use, and leases what that needs.
fn take(grant: &Grant) -> Result<bool, &'static str> {
    let lender = Arc::default();
    loop {
        match grant.take_use() {
            Ok(()) => return Ok(true),
            Err(NoUse::UsedUp) => return Ok(false),
            Err(NoUse::Unleased(kept)) => block_on(kept.lease(&lender)).map_err(|it| it.code())?,
        }
    }
}

fn kept(ledger: &Arc<MemoryLedger>, id: &str, uses: Option<u64>) -> Grant {
    let grant = Grant::of(Cap::Exec).named(id.parse().unwrap());
    let grant = uses.into_iter().fold(grant, Grant::times);
    grant.counted_in(Arc::clone(ledger) as _, Tenant::default())
}

#[test]
fn uses_that_are_kept_are_counted_once_for_all_processes_and_others_never_ask() {
    let ledger = Arc::new(MemoryLedger::default());
    let one = |uses: Option<u64>| kept(&ledger, "g", uses);
    let (here, there) = (one(Some(3)), one(Some(3)));
    assert_eq!([take(&here), take(&there), take(&here)], [Ok(true); 3]);
    assert_eq!(take(&there), Ok(false), "the others took the rest");
    assert_eq!(there.lapsed(NOON), Some(": the grant is used up"));
    assert_eq!(one(Some(3)).lapsed(NOON), Some(": the grant is used up"), "after a restart too");
    let asked = ledger.asked();
    assert_eq!(take(&one(None)), Ok(true));
    assert_eq!(ledger.asked(), asked, "an uncounted grant asks nobody");
}

#[test]
fn a_ledger_that_does_not_answer_uses_no_grant_up() {
    let ledger = Arc::new(MemoryLedger::default());
    let grant = kept(&ledger, "g", Some(9));
    ledger.break_down();
    assert_eq!(take(&grant), Err("ledger_unavailable"), "what cannot be counted is not done");
    assert_eq!(take(&grant), Err("ledger_unavailable"), "and is not used up");
    assert_eq!(grant.lapsed(NOON), None);
    ledger.mend();
    assert_eq!((0..20).filter(|_| take(&grant) == Ok(true)).count(), 9);
}

#[test]
fn many_uses_are_leased_in_pieces_and_the_first_is_one() {
    let ledger = Arc::new(MemoryLedger::default());
    let grant = kept(&ledger, "g", Some(100_000));
    assert_eq!(take(&grant), Ok(true));
    assert_eq!(ledger.leased(&Tenant::default(), "uses/g").unwrap(), 1, "whoever uses one takes one");
    assert_eq!((0..1_000).filter(|_| take(&grant) == Ok(true)).count(), 1_000);
    assert!(ledger.asked() < 100, "{} questions for a thousand uses", ledger.asked());
}

#[test]
fn a_use_of_a_kept_line_is_taken_of_all_or_of_none() {
    let ledger = Arc::new(MemoryLedger::default());
    let parent = Arc::new(kept(&ledger, "parent", Some(1)));
    let child = parent.narrowed().named("child".parse().unwrap()).times(5);
    let child = child.counted_in(Arc::clone(&ledger) as _, Tenant::default());
    let elsewhere = kept(&ledger, "parent", Some(1));
    assert_eq!(take(&elsewhere), Ok(true), "another process takes the parent's only use");
    assert_eq!(take(&child), Ok(false));
    assert_eq!(child.spec().uses, Some(5), "the child's uses are all there");
    ledger.break_down();
    let alone = kept(&ledger, "other", Some(2));
    let below = Arc::new(alone).narrowed().times(7);
    assert_eq!(take(&below), Err("ledger_unavailable"));
    assert_eq!(below.spec().uses, Some(7));
}
