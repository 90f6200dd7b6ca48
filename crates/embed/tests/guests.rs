//! The built-in commands do what their users expect: golden cases, run through the whole path.
#![allow(clippy::unwrap_used)]

use std::{collections::BTreeMap, path::Path, sync::Arc};

use drydock_embed::{
    Dock, Setup,
    contract::{Meter, Outcome, Sink, Source, Streams},
    store::MemoryFiles,
};

#[derive(serde::Deserialize)]
struct Case {
    name: String,
    argv: Vec<String>,
    #[serde(default)]
    stdin: String,
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    status: i32,
    /// Absent where it is random.
    #[serde(default)]
    stdout: Option<String>,
    #[serde(default)]
    stderr_contains: Option<String>,
}

async fn check(command: &str, at_least: usize) {
    let page =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../commands/tests/guest_cases/{command}.json"));
    let cases: Vec<Case> = serde_json::from_str(&std::fs::read_to_string(page).unwrap()).unwrap();
    assert!(cases.len() >= at_least, "{command} has {} cases", cases.len());
    let folder = tempfile::tempdir().unwrap();
    let dock = Dock::open(folder.path()).unwrap();
    let mut wrong = Vec::new();
    for case in &cases {
        let tree = MemoryFiles::with(Arc::new(Meter::new(16 << 20)));
        for (path, content) in &case.files {
            tree.write(path, content.as_bytes()).unwrap();
        }
        let env = case.env.clone().into_iter().collect();
        let setup = Setup { files: Some(Arc::new(tree)), env, ..Setup::profile("minimal") };
        let session = dock.session("cases", setup).unwrap();
        let stdin = Source::from(case.stdin.clone().into_bytes());
        let streams = Streams { stdin, stdout: Sink::capture(), stderr: Sink::capture() };
        let (report, streams) = session.run_with(command, &case.argv, streams).await.unwrap();
        let stdout = String::from_utf8_lossy(&streams.stdout.into_captured()).into_owned();
        let stderr = String::from_utf8_lossy(&streams.stderr.into_captured()).into_owned();
        let said = case.stderr_contains.as_ref().is_none_or(|it| stderr.contains(it));
        let told = case.stdout.as_ref().is_none_or(|it| stdout == *it);
        if report.outcome != Outcome::Exited(case.status) || !told || !said {
            wrong.push(format!(
                "{}: {:?}\n  want {} {:?} {:?}\n  got  {} {stdout:?} {stderr:?}",
                case.name, case.argv, case.status, case.stdout, case.stderr_contains, report.outcome
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} cases of {command} fail:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}

#[tokio::test]
async fn upper_keeps_every_byte_but_the_case() {
    check("upper", 8).await;
}

#[tokio::test]
async fn jq_has_jqs_flags_and_exit_codes() {
    check("jq", 60).await;
}

#[tokio::test]
async fn grep_has_greps_flags_and_exit_codes() {
    check("grep", 60).await;
}

#[tokio::test]
async fn sed_does_what_gnu_sed_does() {
    check("sed", 600).await;
}

#[tokio::test]
async fn awk_does_what_gawk_does() {
    check("awk", 500).await;
}

#[tokio::test]
async fn bc_counts_as_gnu_bc_does() {
    check("bc", 25).await;
}

#[tokio::test]
async fn xan_cuts_joins_and_counts_csv() {
    check("xan", 30).await;
    check("qsv", 3).await;
}

#[tokio::test]
async fn tar_and_gzip_have_gnus_words_and_never_lead_out() {
    check("tar", 20).await;
    check("gzip", 8).await;
}

#[tokio::test]
async fn yq_speaks_jq_over_every_format() {
    check("yq", 40).await;
    check("tomlq", 2).await;
}

#[tokio::test]
async fn wbox_has_more_than_sixty_applets_that_work() {
    check("wbox", 90).await;
}

#[tokio::test]
async fn find_has_finds_expressions_and_runs_commands() {
    check("find", 35).await;
}

#[tokio::test]
async fn xargs_and_its_kin_run_commands_through_the_gate() {
    check("xargs", 17).await;
    check("env", 7).await;
    check("timeout", 6).await;
}

#[tokio::test]
async fn diff_cmp_and_patch_are_gnus() {
    check("diff", 24).await;
    check("cmp", 7).await;
    check("patch", 18).await;
}

#[tokio::test]
async fn rg_writes_what_ripgrep_writes_into_a_pipe() {
    check("rg", 41).await;
}

#[tokio::test]
async fn files_and_bytes_are_looked_at() {
    let least = [
        ("chmod", 4),
        ("column", 8),
        ("du", 5),
        ("file", 9),
        ("hexdump", 5),
        ("stat", 8),
        ("strings", 3),
        ("tree", 11),
        ("xxd", 9),
    ];
    for (command, at_least) in least {
        check(command, at_least).await;
    }
}
