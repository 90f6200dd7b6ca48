//! Grants that are kept, over a ledger in memory; and what a setup holds of its profile, of a file and of those.
#![allow(clippy::unwrap_used)]

use std::{collections::BTreeSet, sync::Arc};

use drydock_embed::{
    Dock, Setup, ShellSetup, StoredGrants,
    contract::{
        Cap, GrantFile, GrantId, Node, Principal, Sink, Streams, Tenant, Timestamp, port::Ledger as _,
    },
    gate::{Grant, Profile},
};
use drydock_testkit::MemoryLedger;

fn room() -> (Arc<MemoryLedger>, StoredGrants) {
    let ledger = Arc::new(MemoryLedger::default());
    (Arc::clone(&ledger), StoredGrants::new(ledger, Tenant::default()))
}

fn principal(name: &str) -> Principal {
    name.parse().unwrap()
}

fn id(text: &str) -> GrantId {
    text.parse().unwrap()
}

const NOON: Timestamp = Timestamp(1_000);

#[test]
fn kept_grants_are_the_principals_own_and_a_revoked_one_stays_to_be_seen() {
    let (_, stored) = room();
    let file = br#"{"grants":[{"id":"all","cap":"exec"},{"id":"jq","cap":"exec","subjects":["jq"],"parent":"all"}]}"#;
    stored.add(&principal("a"), file, NOON).unwrap();
    stored.add(&principal("a/b"), br#"{"grants":[{"cap":"kv"}]}"#, NOON).unwrap();
    assert_eq!(stored.of(&principal("a")).unwrap().len(), 2, "and none of `a/b`");
    assert_eq!(stored.of(&principal("a/b")).unwrap()[0].cap(), Cap::Kv);
    assert!(stored.of(&principal("b")).unwrap().is_empty());
    assert!(stored.revoke(&id("all"), NOON).unwrap() && !stored.revoke(&id("all"), NOON).unwrap());
    assert!(stored.of(&principal("a")).unwrap().is_empty(), "the child hangs from it");
    let all = stored.all().unwrap();
    let seen: Vec<_> = all.iter().map(|it| (it.principal.as_str(), it.grant.cap, it.revoked)).collect();
    assert_eq!(seen, [("a", Cap::Exec, true), ("a", Cap::Exec, true), ("a/b", Cap::Kv, false)]);
}

#[tokio::test]
async fn a_grant_of_a_file_is_revoked_by_its_id_though_it_is_kept_nowhere() {
    let (_folder, dock) = dock();
    let file = GrantFile::parse(br#"{"grants":[{"id":"mine","cap":"exec"}]}"#).unwrap();
    let setup = Setup { grants: Grant::all_of(&file, |it| it), only_grants: true, ..Setup::default() };
    let session = dock.session("me", setup).unwrap();
    assert!(session.run("upper", &[], "x").await.is_ok());
    assert!(dock.stored_grants(Tenant::default()).revoke(&id("mine"), NOON).unwrap());
    let begun = std::time::Instant::now();
    while session.run("upper", &[], "x").await.is_ok() {
        // A hang guard, and no measure: a busy machine is slow to look.
        assert!(begun.elapsed() < std::time::Duration::from_secs(30), "nobody heard of it");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[test]
fn an_id_is_given_once_and_a_revoked_one_never_again() {
    let (ledger, stored) = room();
    let file = br#"{"grants":[{"id":"x","cap":"exec"}]}"#;
    stored.add(&principal("a"), file, NOON).unwrap();
    assert_eq!(stored.add(&principal("b"), file, NOON).unwrap_err().code(), "duplicate_grant");
    ledger.revoke(&Node::Grant(Tenant::default(), "y".into()), NOON).unwrap();
    let late =
        stored.add(&principal("a"), br#"{"grants":[{"id":"z","cap":"kv"},{"id":"y","cap":"kv"}]}"#, NOON);
    assert_eq!(late.unwrap_err().code(), "revoked_grant");
    assert_eq!(stored.all().unwrap().len(), 1, "all of a file or none");
    let bare = br#"{"grants":[{"cap":"kv"},{"cap":"kv"}]}"#;
    let ids: BTreeSet<_> = [Timestamp(1), Timestamp(2)]
        .into_iter()
        .flat_map(|at| stored.add(&principal("a"), bare, at).unwrap())
        .map(|it| it.id.unwrap())
        .collect();
    assert_eq!(ids.len(), 4, "{ids:?}");
}

#[test]
fn grants_that_mean_nothing_are_not_kept() {
    let (_, stored) = room();
    for (file, code) in [
        (br#"{"grants":[{"cap":"exec","subjects":["jq -r"]}]}"#.as_slice(), "bad_terms"),
        (br#"{"grants":[{"cap":"exec","parent":"x"}]}"#, "no_such_parent"),
        (b"nonsense", "bad_grants"),
    ] {
        assert_eq!(stored.add(&principal("a"), file, NOON).unwrap_err().code(), code);
    }
    assert!(stored.all().unwrap().is_empty());
}

#[test]
fn a_cell_that_was_damaged_is_named_with_its_principal() {
    let (ledger, stored) = room();
    ledger.swap(&Tenant::default(), "grant/me/x", None, Some(b"{")).unwrap();
    let error = stored.of(&principal("me")).unwrap_err();
    assert!(error.to_string().contains("principal `me`"), "{error}");
    assert_eq!(error.code(), "bad_grants");
}

#[test]
fn an_id_belongs_to_whoever_took_it_first_and_a_file_is_kept_whole_or_not_at_all() {
    let (ledger, stored) = room();
    let file = br#"{"grants":[{"id":"a","cap":"exec"},{"id":"b","cap":"exec","parent":"a"}]}"#;
    let dev = Tenant::default();
    // Another process has taken the second id, and has not kept its grant yet.
    assert!(ledger.swap(&dev, "grant-id/b", None, Some(b"grant/other/b")).unwrap());
    assert_eq!(stored.add(&principal("me"), file, NOON).unwrap_err().code(), "duplicate_grant");
    assert_eq!(ledger.cells(&dev, "").unwrap().len(), 1, "nothing of it is left");
    ledger.swap(&dev, "grant-id/b", Some(b"grant/other/b"), None).unwrap();
    // One that was killed after it took the ids may be followed by itself.
    ledger.swap(&dev, "grant-id/a", None, Some(b"grant/me/a")).unwrap();
    stored.add(&principal("me"), file, NOON).unwrap();
    assert_eq!(ledger.cells(&dev, "grant/").unwrap().len(), 1, "both are there by one swap");
    assert_eq!(stored.of(&principal("me")).unwrap().len(), 2);
    let other = stored.add(&principal("other"), br#"{"grants":[{"id":"b","cap":"kv"}]}"#, NOON);
    assert_eq!(other.unwrap_err().code(), "duplicate_grant");
    ledger.break_down();
    assert_eq!(stored.all().unwrap_err().code(), "ledger_unavailable");
}

#[test]
fn uses_of_a_kept_grant_are_shown_as_they_are_taken() {
    let (ledger, stored) = room();
    stored.add(&principal("a"), br#"{"grants":[{"id":"twice","cap":"exec","uses":2}]}"#, NOON).unwrap();
    assert_eq!(stored.find(&id("twice")).unwrap().used, Some(0));
    ledger.lease(&Tenant::default(), "uses/twice", 1, 2).unwrap();
    assert_eq!(stored.find(&id("twice")).unwrap().used, Some(1));
    assert_eq!(stored.of(&principal("a")).unwrap()[0].spec().uses, Some(1), "one is left");
}

fn dock() -> (tempfile::TempDir, Dock) {
    let folder = tempfile::tempdir().unwrap();
    let dock = Dock::open(folder.path()).unwrap();
    (folder, dock)
}

fn held(dock: &Dock, setup: Setup) -> Vec<String> {
    let session = dock.session("me", setup).unwrap();
    session.inner().grants().iter().map(|it| it.spec().to_json()).collect()
}

#[test]
fn a_setup_that_nobody_filled_in_is_compute_and_may_run_nothing() {
    let setup = Setup::default();
    assert_eq!(setup.profile, Profile::named("compute"));
    let (_folder, dock) = dock();
    assert_eq!(held(&dock, setup), [r#"{"cap":"vfs"}"#]);
    // What the pages say of it.
    let page =
        |path: &str| std::fs::read_to_string(format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let decision = page("docs/decisions/0070-profiles-make-powers-importable.md");
    assert!(decision.contains("`Setup::default()` in the library is `compute`"));
    assert!(
        page("README.md").contains("`Setup::default()` is the profile\n`compute`, under which nothing may.")
    );
}

#[test]
fn a_file_of_grants_takes_the_place_of_what_the_profile_grants() {
    let (_folder, dock) = dock();
    let file = GrantFile::parse(br#"{"grants":[{"id":"jq","cap":"exec","subjects":["jq"]}]}"#).unwrap();
    let only =
        Setup { grants: Grant::all_of(&file, |it| it), only_grants: true, ..Setup::profile("minimal") };
    let jq = r#"{"id":"jq","cap":"exec","subjects":["jq"]}"#;
    assert_eq!(held(&dock, only.clone()), [r#"{"cap":"vfs"}"#, jq]);
    assert!(
        dock.session("me", only.clone()).unwrap().inner().caps().contains(Cap::Tcp),
        "importable by the profile"
    );
    let further =
        Setup { only_grants: false, grants: Vec::new(), stored: only.grants, ..Setup::profile("minimal") };
    assert_eq!(
        held(&dock, further),
        [r#"{"cap":"vfs"}"#, r#"{"cap":"commands"}"#, r#"{"cap":"exec"}"#, r#"{"cap":"kv"}"#, jq]
    );
}

#[tokio::test]
async fn a_shell_that_is_given_a_grant_has_it_from_the_next_line_on() {
    let (_folder, dock) = dock();
    let mut shell = dock.shell("me", Setup::default(), ShellSetup::default()).unwrap();
    let mut line = async |text: &str| {
        let streams = Streams { stdout: Sink::capture(), stderr: Sink::capture(), ..Streams::default() };
        let (report, streams) = shell.run_line(text, streams).await.unwrap();
        (report.status, streams.stdout.into_captured(), shell.session().clone())
    };
    let (status, _, session) = line("upper < /dev/null").await;
    assert_eq!(status, 126, "it is not granted");
    session.give(Grant::of(Cap::Exec).named(id("all"))).unwrap();
    assert_eq!(line("echo hi | upper").await.1, b"HI\n");
    assert!(session.lose(&id("all")));
    assert_eq!(line("echo hi | upper").await.0, 126);
}
