//! Two tenants on one machine: what each keeps is its own, and revoking one leaves the other alone.
#![allow(clippy::unwrap_used)]

use drydock_codemode::provider::Providers;
use drydock_embed::{
    CodeInput, Dock, Setup,
    contract::{
        Node, Tenant, Timestamp,
        port::{Follow, Mode, TreePath},
    },
    store::{Filter, read_audit},
};

fn records(dock: &Dock) -> usize {
    dock.gate().flush().unwrap();
    read_audit(&dock.home().tenant(dock.tenant()), Filter::default()).unwrap().count()
}

#[tokio::test]
async fn what_a_tenant_keeps_no_other_sees_and_revoking_it_ends_only_its_own() {
    let home = tempfile::tempdir().unwrap();
    let dev = Dock::open(home.path()).unwrap();
    let acme = dev.for_tenant("../acme/..".parse::<Tenant>().unwrap());
    dev.warm_js().await.unwrap();

    let name = "notes".parse().unwrap();
    let run = async |dock: &Dock, code: &str| {
        let providers = Providers::new([]).unwrap();
        let programs = dock.code_staying("me", Setup::default(), providers, &name).unwrap();
        let result = programs.execute(code, CodeInput::default()).await;
        result.outcome.map(|it| it.map(|it| it.as_str().to_owned())).map_err(|it| it.message.to_string())
    };
    run(&dev, "globalThis.x = 1; x").await.unwrap();
    assert_eq!(run(&dev, "x").await, Ok(Some("1".into())));
    assert!(run(&acme, "x").await.unwrap_err().contains("not defined"), "the same principal and name");

    let files = |dock: &Dock| dock.workspace("shared").unwrap().files().unwrap();
    let path = TreePath::new("workspace/a").unwrap();
    files(&dev).create_dir(&path, Mode::DIRECTORY, Timestamp(1)).unwrap();
    assert!(files(&dev).stat(&path, Follow::No).is_ok() && files(&acme).stat(&path, Follow::No).is_err());

    let before = (records(&dev), records(&acme));
    let session = |dock: &Dock| dock.session("me", Setup::profile("minimal")).unwrap();
    session(&acme).run("upper", &[], "x").await.unwrap();
    assert_eq!((records(&dev), records(&acme)), (before.0, before.1 + 2));

    dev.gate().revoke(&Node::Tenant(acme.tenant().clone())).unwrap();
    assert_eq!(session(&acme).run("upper", &[], "x").await.unwrap_err().code(), "revoked");
    session(&dev).run("upper", &[], "x").await.unwrap();
    let again = Dock::open(home.path()).unwrap();
    let theirs = session(&again.for_tenant(acme.tenant().clone()));
    assert_eq!(theirs.run("upper", &[], "x").await.unwrap_err().code(), "revoked", "also after a restart");
}

#[tokio::test]
async fn a_revocation_by_one_dock_is_heard_by_another_of_the_same_home_within_a_second() {
    let home = tempfile::tempdir().unwrap();
    let (one, other) = (Dock::open(home.path()).unwrap(), Dock::open(home.path()).unwrap());
    let session = other.session("me", Setup::profile("minimal")).unwrap();
    session.run("upper", &[], "x").await.unwrap();
    one.revoke("me").unwrap();
    let begun = std::time::Instant::now();
    while session.run("upper", &[], "x").await.is_ok() {
        // A hang guard, and no measure: a busy machine is slow to look.
        assert!(begun.elapsed() < std::time::Duration::from_secs(30), "nobody heard of it");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(session.run("upper", &[], "x").await.unwrap_err().code(), "revoked");
}
