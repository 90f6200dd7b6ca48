//! One budget for everything that is opened with a setup.
#![allow(clippy::unwrap_used)]

use std::{sync::Arc, time::Duration};

use drydock_codemode::provider::Providers;
use drydock_embed::{
    CodeInput, Dock, Setup, ShellSetup, command_tools,
    contract::{Budget, Cap, Streams, Unit},
    gate::Grant,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_its_commands_and_its_lines_spend_one_budget() {
    let home = tempfile::tempdir().unwrap();
    let dock = Arc::new(Dock::open(home.path()).unwrap());
    dock.warm_js().await.unwrap();
    let budget = Arc::new(Budget::of([(Unit::Fuel, 400_000_000)]));
    let setup = Setup {
        grants: vec![Arc::new(Grant::of(Cap::Exec))],
        budget: Some(Arc::clone(&budget)),
        ..Setup::default()
    };
    let commands = command_tools(&dock, "me", &setup, &ShellSetup::default()).unwrap();
    let code = dock.code("me", setup, Providers::new([commands]).unwrap()).unwrap();
    // Each line has the limits of a line, and would have fuel without end if that were all.
    let program = r#"
        let lines = 0;
        for (; lines < 60; lines++) {
            const { status } = await commands.sh({ line: "seq 20000 | sort -n | sha256sum" });
            if (status !== 0) break;
        }
        // What was too little for a line is enough for some small commands, and then for none.
        let after = "ran";
        try { for (let n = 0; n < 500; n++) await commands.seq({ args: ["20000"] }) } catch (error) { after = String(error) }
        [lines, after]
    "#;
    let result = code.execute(program, CodeInput::default()).await;
    let told = result.outcome.unwrap().unwrap().as_str().to_owned();
    let (lines, after): (u32, String) = serde_json::from_str(&told).unwrap();
    assert!((1..60).contains(&lines), "{told}");
    assert!(after.contains("budget exceeded: fuel") || after.contains("out_of_fuel"), "{told}");
    let left = budget.left(Unit::Fuel).unwrap();
    assert!(left < 20_000_000, "{left} of the budget are left: the lines have spent something else");
}

#[tokio::test]
async fn calls_and_bytes_are_settable_and_shared_by_sessions_of_one_setup() {
    let home = tempfile::tempdir().unwrap();
    let dock = Dock::open(home.path()).unwrap();
    let budget = Arc::new(Budget::of([(Unit::Calls, 3)]));
    let setup = Setup { budget: Some(Arc::clone(&budget)), ..Setup::profile("minimal") };
    let sessions = [dock.session("a", setup.clone()).unwrap(), dock.session("b", setup).unwrap()];
    for session in [&sessions[0], &sessions[1], &sessions[0]] {
        session.run("upper", &[], "x").await.unwrap();
    }
    let refused = sessions[1].run("upper", &[], "x").await.unwrap_err();
    assert_eq!(refused.to_string(), "budget exceeded: calls");
}

#[tokio::test]
async fn a_line_that_only_computes_spends_the_sessions_budget() {
    let home = tempfile::tempdir().unwrap();
    let dock = Dock::open(home.path()).unwrap();
    let budget = Arc::new(Budget::of([(Unit::Fuel, 400_000_000)]));
    let setup = Setup { budget: Some(Arc::clone(&budget)), ..Setup::profile("minimal") };
    let mut shell = dock.shell("me", setup, ShellSetup::default()).unwrap();
    let line = shell.run_line("while :; do :; done", Streams::default());
    let (report, _) = tokio::time::timeout(Duration::from_secs(30), line).await.unwrap().unwrap();
    assert!(report.was_reset && report.limit.as_ref().unwrap().starts_with("out_of_fuel"), "{report:?}");
    // Less than a turn cannot be drawn any more.
    assert!(budget.left(Unit::Fuel).unwrap() < 1_000_000);
    // Its next line has nothing to begin with.
    let (report, _) = shell.run_line("while :; do :; done", Streams::default()).await.unwrap();
    assert_ne!(report.status, 0);
}
