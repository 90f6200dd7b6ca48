//! What keeps runs of agents promises, whatever is behind it: one suite, called by each backing with a fresh and empty one.

#![allow(clippy::unwrap_used)]

mod asked;

use std::{
    sync::Arc,
    task::{Context, Poll, Waker},
};

use drydock_contract::{
    AgentHead, AgentId, AgentStatus, AgentUsage, FiledIssue, Review, ReviewAnswer, ReviewKind, ReviewState,
    Tenant, Timestamp,
    port::{
        AGENT_APPEND_BYTES_MAX, AGENT_EVENT_BYTES_MAX, AgentRefusal, Agents, ISSUE_BODY_BYTES_MAX,
        ISSUE_TITLE_BYTES_MAX, RunHold, Wanted,
    },
};

use crate::block_on;

/// Runs the whole suite; panics at the first broken promise.
#[allow(clippy::print_stderr)] // Shown only where a promise is broken: which one it was.
pub fn agents_contract(make: impl Fn() -> Arc<dyn Agents>) {
    for (promise, check) in [
        ("where nothing is, nothing is found and nothing is changed", nothing_is_nothing as fn(&Kept)),
        ("a run is what was written of it", a_run_is_what_was_written),
        ("events are read from a number on, as many as fit", events_as_many_as_fit),
        ("a run is driven by one, and free when it is let go", one_drives),
        ("events in another's place are refused and nothing is changed", diverged),
        ("what is too long is refused by name", too_long),
        ("one that runs and that nobody holds was interrupted", interrupted),
        ("runs are listed, the last first and behind a cursor", lists),
        ("a tenant has its own", tenants_are_apart),
        ("a run that nobody drives is cancelled at once", cancelled_at_once),
        ("whoever drives a run hears that it is to end", cancel_is_heard),
        ("whoever was told that a run ends finds it ended", cancel_is_kept),
        ("a run is forgotten when it is over, and with it its reviews", removal),
        ("a question is asked once, answered once and by nobody else", asked::reviews),
        ("a question whose time is over is refused", asked::reviews_end),
        ("questions of a run that ended wait no longer", asked::reviews_of_the_ended),
        ("reviews are listed, the oldest first", asked::review_lists),
        ("an issue of one title is one issue", asked::issues),
        ("whoever follows hears of what comes", changes_are_heard),
    ] {
        eprintln!("{promise}");
        check(&Kept(make()));
    }
}

struct Kept(Arc<dyn Agents>);

type Hold = Box<dyn RunHold>;

fn tenant(name: &str) -> Tenant {
    name.parse().unwrap()
}

fn id(n: u128) -> AgentId {
    AgentId::of(n)
}

fn at(ms: u64) -> Timestamp {
    Timestamp(ms * 1_000_000)
}

/// A head of a run that goes on.
fn head(n: u128) -> AgentHead {
    AgentHead {
        id: id(n),
        status: AgentStatus::Running,
        principal: "agent".into(),
        agent: Some("scout".into()),
        model: "large".into(),
        task: "find it\0".into(),
        workspace: None,
        parent: Some(id(77)),
        steps: 0,
        usage: AgentUsage { turns: 1, ..AgentUsage::default() },
        started_ms: 10,
        updated_ms: 10,
        result: None,
        reason: None,
    }
}

fn with(status: AgentStatus, n: u128) -> AgentHead {
    AgentHead { status, ..head(n) }
}

fn review(n: u128, run: u128) -> Review {
    Review {
        id: id(n),
        run: id(run),
        call: Some("c1".into()),
        kind: ReviewKind::Tool,
        title: "may it write".into(),
        what: serde_json::json!({ "tool": "shell", "diff": "-a\n+b" }),
        grant: None,
        asked_ms: 100,
        expires_ms: Some(200),
        state: ReviewState::Pending,
    }
}

fn issue(n: u128, title: &str) -> FiledIssue {
    FiledIssue { id: id(n), run: id(1), title: title.into(), body: "why".into(), filed_ms: 5, seen: 1 }
}

impl Kept {
    fn create(&self, n: u128) -> Hold {
        block_on(self.0.create(&tenant("a"), head(n))).unwrap().unwrap()
    }

    fn hold(&self, n: u128) -> Result<Hold, AgentRefusal> {
        block_on(self.0.hold(&tenant("a"), &id(n))).unwrap()
    }

    fn head(&self, n: u128) -> Option<AgentHead> {
        block_on(self.0.head(&tenant("a"), &id(n))).unwrap()
    }

    fn status(&self, n: u128) -> AgentStatus {
        self.head(n).unwrap().status
    }

    fn events(&self, n: u128, from: u64, bytes_max: usize) -> Vec<Vec<u8>> {
        block_on(self.0.events(&tenant("a"), &id(n), from, bytes_max)).unwrap()
    }

    fn list(&self, after: Option<u128>, rows_max: usize) -> Vec<u128> {
        let heads = block_on(self.0.list(&tenant("a"), after.map(id).as_ref(), rows_max)).unwrap();
        heads.iter().map(|it| u128::from_str_radix(it.id.as_str(), 16).unwrap()).collect()
    }

    fn cancel(&self, n: u128, now: u64) -> bool {
        block_on(self.0.cancel(&tenant("a"), &id(n), at(now))).unwrap()
    }

    fn remove(&self, n: u128) -> Result<bool, AgentRefusal> {
        block_on(self.0.remove(&tenant("a"), &id(n))).unwrap()
    }

    fn ask(&self, review: Review) -> Result<(), AgentRefusal> {
        block_on(self.0.ask(&tenant("a"), review)).unwrap()
    }

    fn review(&self, n: u128, now: u64) -> Option<ReviewState> {
        block_on(self.0.review(&tenant("a"), &id(n), at(now))).unwrap().map(|it| it.state)
    }

    fn reviews(&self, run: Option<u128>, wanted: Wanted, now: u64) -> Vec<AgentId> {
        let run = run.map(id);
        let found = block_on(self.0.reviews(&tenant("a"), run.as_ref(), wanted, 99, at(now))).unwrap();
        found.into_iter().map(|it| it.id).collect()
    }

    fn answer(&self, n: u128, answer: ReviewAnswer, now: u64) -> Result<Review, AgentRefusal> {
        block_on(self.0.answer(&tenant("a"), &id(n), answer, "ada", at(now))).unwrap()
    }

    fn file(&self, issue: FiledIssue) -> Result<FiledIssue, AgentRefusal> {
        block_on(self.0.file_issue(&tenant("a"), issue)).unwrap()
    }

    fn issues(&self, after: Option<u128>, rows_max: usize) -> Vec<FiledIssue> {
        block_on(self.0.issues(&tenant("a"), after.map(id).as_ref(), rows_max)).unwrap()
    }
}

fn append(hold: &Hold, at: u64, events: &[&[u8]], head: AgentHead) -> Result<(), AgentRefusal> {
    let events = events.iter().map(|it| it.to_vec()).collect();
    block_on(hold.append(at, events, head)).unwrap()
}

fn nothing_is_nothing(kept: &Kept) {
    assert_eq!((kept.head(1), kept.events(1, 0, 99), kept.list(None, 9)), (None, vec![], vec![]));
    assert_eq!(kept.hold(1).err(), Some(AgentRefusal::Absent));
    assert!(!kept.cancel(1, 1));
    assert_eq!(kept.remove(1), Ok(false));
    assert_eq!(kept.ask(review(2, 1)), Err(AgentRefusal::Absent));
    assert_eq!((kept.review(2, 1), kept.reviews(None, Wanted::All, 1)), (None, vec![]));
    assert_eq!(kept.answer(2, ReviewAnswer::Once, 1), Err(AgentRefusal::Absent));
    assert_eq!(kept.issues(None, 9), []);
    assert!(!block_on(kept.0.remove_issue(&tenant("a"), &id(3))).unwrap());
    block_on(kept.0.changed(&tenant("a"), &id(1), 0));
}

fn a_run_is_what_was_written(kept: &Kept) {
    let hold = kept.create(1);
    assert_eq!(*hold.run(), id(1));
    assert_eq!(kept.head(1), Some(head(1)), "it is there before anything happened");
    let later = AgentHead { steps: 1, model: "small".into(), updated_ms: 20, ..head(1) };
    assert_eq!(append(&hold, 0, &[b"{}", b"", b"\0\xff"], later.clone()), Ok(()));
    assert_eq!(kept.head(1), Some(later));
    assert_eq!(kept.events(1, 0, 99), [&b"{}"[..], b"", b"\0\xff"]);
    block_on(hold.sync()).unwrap();
    let end = AgentHead { result: Some("found".into()), ..with(AgentStatus::Done, 1) };
    assert_eq!(append(&hold, 3, &[], end.clone()), Ok(()), "a head alone");
    drop(hold);
    assert_eq!((kept.head(1), kept.events(1, 0, 99).len()), (Some(end), 3));
    let again = block_on(kept.0.create(&tenant("a"), head(1))).unwrap();
    assert_eq!(again.err(), Some(AgentRefusal::Diverged), "an id is used once");
}

fn events_as_many_as_fit(kept: &Kept) {
    let hold = kept.create(1);
    assert_eq!(append(&hold, 0, &[b"0000", b"1111", b"2222", b"3333"], head(1)), Ok(()));
    assert_eq!(kept.events(1, 1, 8), [b"1111", b"2222"]);
    assert_eq!(kept.events(1, 1, 9), [b"1111", b"2222"]);
    assert_eq!(kept.events(1, 2, 0), [b"2222"], "one at least");
    assert_eq!(kept.events(1, 3, 99), [b"3333"]);
    for from in [4, 5, u64::MAX] {
        assert_eq!(kept.events(1, from, 99), [[0; 0]; 0]);
    }
    assert_eq!(append(&hold, 4, &[b"4444"], head(1)), Ok(()));
    assert_eq!(kept.events(1, 4, 99), [b"4444"]);
}

fn one_drives(kept: &Kept) {
    let first = kept.create(1);
    assert_eq!(kept.hold(1).err(), Some(AgentRefusal::Held));
    let other = kept.create(2);
    drop(first);
    let second = kept.hold(1).unwrap();
    assert_eq!(kept.hold(1).err(), Some(AgentRefusal::Held));
    assert_eq!(append(&second, 0, &[b"x"], head(1)), Ok(()));
    drop(second);
    for _ in 0..20 {
        drop(kept.hold(1).unwrap());
    }
    // Whoever gives up while it asks holds nothing.
    for _ in 0..20 {
        let (a, run) = (tenant("a"), id(1));
        let mut asking = kept.0.hold(&a, &run);
        let _ = polled(&mut asking);
        drop(asking);
        drop(kept.hold(1).unwrap());
    }
    drop(other);
}

fn diverged(kept: &Kept) {
    let hold = kept.create(1);
    assert_eq!(append(&hold, 0, &[b"a", b"b"], head(1)), Ok(()));
    let changed = AgentHead { steps: 9, ..head(1) };
    for at in [0, 1, 3, u64::MAX] {
        assert_eq!(append(&hold, at, &[b"x"], changed.clone()), Err(AgentRefusal::Diverged), "{at}");
    }
    assert_eq!(append(&hold, 2, &[b"x"], head(2)), Err(AgentRefusal::Diverged), "another run's head");
    assert_eq!((kept.events(1, 0, 99), kept.head(1)), (vec![b"a".to_vec(), b"b".to_vec()], Some(head(1))));
}

fn too_long(kept: &Kept) {
    let hold = kept.create(1);
    let long = vec![7; AGENT_EVENT_BYTES_MAX + 1];
    let refusal = append(&hold, 0, &[b"x", &long], head(1)).unwrap_err();
    assert!(matches!(refusal, AgentRefusal::TooLong { what: "an event", .. }), "{refusal}");
    assert!(refusal.to_string().contains("2097153"), "{refusal}");
    let many = AGENT_APPEND_BYTES_MAX / AGENT_EVENT_BYTES_MAX + 1;
    let refusal = append(&hold, 0, &vec![&long[1..]; many], head(1)).unwrap_err();
    assert!(matches!(refusal, AgentRefusal::TooLong { what: "what is appended at once", .. }), "{refusal}");
    assert_eq!(kept.events(1, 0, 99), [[0; 0]; 0]);
    assert_eq!(append(&hold, 0, &[&long[1..]], head(1)), Ok(()), "as long as it may be");
    let title = issue(1, &"t".repeat(ISSUE_TITLE_BYTES_MAX + 1));
    let body = FiledIssue { body: "b".repeat(ISSUE_BODY_BYTES_MAX + 1), ..issue(1, "t") };
    for issue in [title, body] {
        assert_eq!(kept.file(issue).unwrap_err().code(), "too_long");
    }
}

fn interrupted(kept: &Kept) {
    let hold = kept.create(1);
    append(&hold, 0, &[b"x"], head(1)).unwrap();
    assert_eq!(kept.status(1), AgentStatus::Running);
    drop(hold);
    let told = kept.head(1).unwrap();
    assert_eq!((told.status, told.reason.as_deref()), (AgentStatus::Failed, Some("interrupted")));
    let listed = block_on(kept.0.list(&tenant("a"), None, 9)).unwrap();
    assert_eq!(listed, [told], "a list says the same");
    let hold = kept.hold(1).unwrap();
    assert_eq!(kept.head(1), Some(head(1)), "somebody drives it again");
    append(&hold, 1, &[b"y"], with(AgentStatus::Waiting, 1)).unwrap();
    drop(hold);
    assert_eq!(kept.status(1), AgentStatus::Waiting, "for that nobody need hold it");
}

fn lists(kept: &Kept) {
    let holds: Vec<_> = [5, 3, 9, 1].map(|n| kept.create(n)).into();
    assert_eq!(kept.list(None, 9), [1, 9, 3, 5]);
    assert_eq!(kept.list(None, 2), [1, 9]);
    assert_eq!(kept.list(Some(9), 9), [3, 5]);
    assert_eq!(kept.list(Some(5), 9), []);
    assert_eq!(kept.list(Some(4), 9), [], "behind one that is not there is nothing");
    assert_eq!(kept.list(None, 0), []);
    drop(holds);
    assert_eq!(kept.list(None, usize::MAX), [1, 9, 3, 5]);
}

fn tenants_are_apart(kept: &Kept) {
    let b = tenant("b");
    let ours = kept.create(1);
    append(&ours, 0, &[b"secret"], head(1)).unwrap();
    kept.ask(review(2, 1)).unwrap();
    kept.file(issue(3, "t")).unwrap();
    assert_eq!(block_on(kept.0.head(&b, &id(1))).unwrap(), None);
    assert_eq!(block_on(kept.0.hold(&b, &id(1))).unwrap().err(), Some(AgentRefusal::Absent));
    assert_eq!(block_on(kept.0.events(&b, &id(1), 0, 99)).unwrap(), [[0; 0]; 0]);
    assert_eq!(block_on(kept.0.list(&b, None, 9)).unwrap(), []);
    assert!(!block_on(kept.0.cancel(&b, &id(1), at(1))).unwrap());
    assert_eq!(block_on(kept.0.remove(&b, &id(1))).unwrap(), Ok(false));
    assert_eq!(block_on(kept.0.review(&b, &id(2), at(1))).unwrap(), None);
    assert_eq!(block_on(kept.0.reviews(&b, None, Wanted::All, 9, at(1))).unwrap(), []);
    let answered = block_on(kept.0.answer(&b, &id(2), ReviewAnswer::Once, "eve", at(101))).unwrap();
    assert_eq!(answered, Err(AgentRefusal::Absent));
    assert_eq!(block_on(kept.0.ask(&b, review(4, 1))).unwrap(), Err(AgentRefusal::Absent));
    assert_eq!(block_on(kept.0.issues(&b, None, 9)).unwrap(), []);
    // The same id is another run of theirs.
    let theirs = block_on(kept.0.create(&b, head(1))).unwrap().unwrap();
    append(&theirs, 0, &[b"other"], head(1)).unwrap();
    assert_eq!(kept.events(1, 0, 99), [b"secret"]);
    assert_eq!(kept.review(2, 101), Some(ReviewState::Pending));
}

fn cancelled_at_once(kept: &Kept) {
    let hold = kept.create(1);
    append(&hold, 0, &[b"x"], with(AgentStatus::Waiting, 1)).unwrap();
    drop(hold);
    assert!(kept.cancel(1, 30));
    let told = kept.head(1).unwrap();
    assert_eq!((told.status, told.updated_ms), (AgentStatus::Cancelled, 30));
    assert!(!kept.cancel(1, 40), "it was over");
    drop(kept.create(2));
    assert!(kept.cancel(2, 30), "one that was interrupted is not over yet");
    assert_eq!(kept.status(2), AgentStatus::Cancelled);
    let hold = kept.create(3);
    append(&hold, 0, &[], with(AgentStatus::Done, 3)).unwrap();
    assert!(!kept.cancel(3, 30));
    let hold = kept.hold(1).unwrap();
    assert_eq!(append(&hold, 1, &[b"resumed"], head(1)), Ok(()), "and can be gone on with");
    assert!(polled(&mut hold.cancelled()).is_pending());
}

fn cancel_is_heard(kept: &Kept) {
    let (hold, other) = (kept.create(1), kept.create(2));
    let mut waits = hold.cancelled();
    assert!(polled(&mut waits).is_pending());
    assert!(kept.cancel(1, 30));
    block_on(&mut waits);
    drop(waits);
    block_on(hold.cancelled());
    assert!(polled(&mut other.cancelled()).is_pending(), "another run");
    assert_eq!(kept.status(1), AgentStatus::Running, "until whoever drives it ends it");
    assert!(kept.cancel(1, 31), "asked twice");
    append(&hold, 0, &[b"ended"], with(AgentStatus::Cancelled, 1)).unwrap();
    assert!(!kept.cancel(1, 32));
}

fn cancel_is_kept(kept: &Kept) {
    for (n, status) in [(1, AgentStatus::Running), (2, AgentStatus::Waiting)] {
        let hold = kept.create(n);
        append(&hold, 0, &[b"x"], with(status, n)).unwrap();
        assert!(kept.cancel(n, 30));
        drop(hold);
        assert_eq!(kept.status(n), AgentStatus::Cancelled, "{status:?}");
        assert!(!kept.cancel(n, 31));
    }
    let hold = kept.create(3);
    assert!(kept.cancel(3, 30));
    append(&hold, 0, &[], with(AgentStatus::Done, 3)).unwrap();
    drop(hold);
    assert_eq!(kept.status(3), AgentStatus::Done, "it had come to its end");
}

fn removal(kept: &Kept) {
    let hold = kept.create(1);
    append(&hold, 0, &[b"x", b"y"], with(AgentStatus::Waiting, 1)).unwrap();
    kept.ask(review(2, 1)).unwrap();
    kept.file(issue(3, "t")).unwrap();
    assert_eq!(kept.remove(1), Err(AgentRefusal::Held));
    drop(hold);
    assert_eq!(kept.remove(1), Err(AgentRefusal::NotOver));
    let other = kept.create(9);
    append(&other, 0, &[b"theirs"], head(9)).unwrap();
    assert!(kept.cancel(1, 30));
    assert_eq!(kept.remove(1), Ok(true));
    assert_eq!((kept.head(1), kept.events(1, 0, 99)), (None, vec![]));
    assert_eq!((kept.review(2, 1), kept.remove(1)), (None, Ok(false)));
    assert_eq!(kept.issues(None, 9).len(), 1, "what it filed stays");
    assert_eq!(kept.events(9, 0, 99), [b"theirs"]);
    let again = kept.create(1);
    assert_eq!(kept.events(1, 0, 99), [[0; 0]; 0], "nothing of the one before");
    append(&again, 0, &[b"new"], head(1)).unwrap();
    drop(again);
    assert_eq!(kept.remove(1), Ok(true), "one that was interrupted is over enough");
}

fn polled<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    std::pin::Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}

fn changes_are_heard(kept: &Kept) {
    let (a, run) = (tenant("a"), id(1));
    let hold = kept.create(1);
    append(&hold, 0, &[b"x"], head(1)).unwrap();
    block_on(kept.0.changed(&a, &run, 0));
    // Each of these is a change, and whoever follows hears of it or comes back by itself.
    kept.ask(review(2, 1)).unwrap();
    let changes: [&dyn Fn(); 4] = [
        &|| append(&hold, 1, &[b"y"], head(1)).unwrap(),
        &|| append(&hold, 2, &[], with(AgentStatus::Waiting, 1)).unwrap(),
        &|| drop(kept.answer(2, ReviewAnswer::Once, 101).unwrap()),
        &|| assert!(kept.cancel(1, 102)),
    ];
    for change in changes {
        let mut change_comes = kept.0.changed(&a, &run, 9);
        let _ = polled(&mut change_comes);
        change();
        block_on(change_comes);
    }
    block_on(kept.0.changed(&a, &run, 9));
}
