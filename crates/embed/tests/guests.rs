//! The built-in commands do what their users expect: golden cases, run through the whole path.
#![allow(clippy::unwrap_used)]

use std::{collections::BTreeMap, path::Path, sync::Arc};

use drydock_embed::{
    Dock, Setup, ShellSetup,
    contract::{Budget, Meter, Outcome, Sink, Source, Streams, Unit},
    shell::Mode,
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
    /// It runs in a line of a shell that may parse text again, because it asks for a shell.
    #[serde(default)]
    in_shell: bool,
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
        let stdin = Source::from(case.stdin.clone().into_bytes());
        let streams =
            Streams { stdin, stdout: Sink::capture(), stderr: Sink::capture(), ..Streams::default() };
        let (outcome, streams) = match case.in_shell {
            true => run_in_shell(&dock, setup, command, &case.argv, streams).await,
            false => {
                let session = dock.session("cases", setup).unwrap();
                let (report, streams) = session.run_with(command, &case.argv, streams).await.unwrap();
                (report.outcome, streams)
            }
        };
        let stdout = String::from_utf8_lossy(&streams.stdout.into_captured()).into_owned();
        let stderr = String::from_utf8_lossy(&streams.stderr.into_captured()).into_owned();
        let said = case.stderr_contains.as_ref().is_none_or(|it| stderr.contains(it));
        let told = case.stdout.as_ref().is_none_or(|it| stdout == *it);
        if outcome != Outcome::Exited(case.status) || !told || !said {
            wrong.push(format!(
                "{}: {:?}\n  want {} {:?} {:?}\n  got  {} {stdout:?} {stderr:?}",
                case.name, case.argv, case.status, case.stdout, case.stderr_contains, outcome
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

/// The same as a line of a shell with `eval`.
async fn run_in_shell(
    dock: &Dock,
    setup: Setup,
    command: &str,
    argv: &[String],
    streams: Streams,
) -> (Outcome, Streams) {
    let mode = Mode { eval_allowed: true, ..Mode::default() };
    let mut shell = dock
        .shell(
            "cases",
            setup,
            ShellSetup { mode, cwd: "/".into(), roots: Vec::new(), ..ShellSetup::default() },
        )
        .unwrap();
    let quoted = argv.iter().map(|it| format!(" '{}'", it.replace('\'', r"'\''")));
    let line = format!("{command}{}", quoted.collect::<String>());
    let (report, streams) = shell.run(&line, streams).await.unwrap();
    (Outcome::Exited(report.status), streams)
}

/// Several commands over one tree, in the profile with the least memory: status, output and complaints.
struct Bench {
    _folder: tempfile::TempDir,
    session: drydock_embed::DockSession,
    tree: Arc<MemoryFiles>,
}

impl Bench {
    fn new(files_bytes_max: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let dock = Dock::open(folder.path()).unwrap();
        let tree = Arc::new(MemoryFiles::with(Arc::new(Meter::new(files_bytes_max))));
        let setup = Setup { files: Some(tree.clone()), ..Setup::profile("minimal") };
        Self { session: dock.session("cases", setup).unwrap(), tree, _folder: folder }
    }

    async fn run(&self, line: &[&str], stdin: Vec<u8>) -> (Outcome, String, String) {
        let args: Vec<String> = line[1..].iter().map(|it| (*it).to_owned()).collect();
        let stdin = Source::from(stdin);
        let streams =
            Streams { stdin, stdout: Sink::capture(), stderr: Sink::capture(), ..Streams::default() };
        let (report, streams) = self.session.run_with(line[0], &args, streams).await.unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let (stdout, stderr) = (streams.stdout.into_captured(), streams.stderr.into_captured());
        (report.outcome, text(stdout), text(stderr))
    }
}

#[tokio::test]
async fn a_command_has_the_same_fuel_under_others_as_alone() {
    let folder = tempfile::tempdir().unwrap();
    let dock = Dock::open(folder.path()).unwrap();
    let lines = (0..60_000).rev().map(|it| format!("{it}\n")).collect::<String>();
    let run = async |fuel: Option<u64>, line: &[&str]| {
        let budget = fuel.map(|it| Arc::new(Budget::of([(Unit::Fuel, it)])));
        let session = dock.session("me", Setup { budget, ..Setup::profile("minimal") }).unwrap();
        session.run(line[0], &line[1..], lines.clone()).await.unwrap().report
    };
    let alone = run(None, &["sort", "-n"]).await.fuel;
    let spare = 12_000_000;
    assert!(alone > 4 * spare, "it is no test of a budget: {alone}");
    for line in [&["env", "env", "sort", "-n"][..], &["timeout", "600", "env", "nice", "sort", "-n"]] {
        assert_eq!(run(Some(alone + spare), line).await.outcome, Outcome::Exited(0), "{line:?}");
    }
}

#[tokio::test]
async fn jq_and_yq_read_more_values_than_fit_into_memory() {
    let bench = Bench::new(1 << 20);
    let line = format!("{{\"a\":1,\"b\":\"{}\"}}\n", "x".repeat(1000));
    let lines = line.repeat(66_000);
    let count = ["jq", "-n", "reduce inputs as $x (0; . + $x.a)"];
    let (outcome, out, said) = bench.run(&count, lines.into_bytes()).await;
    assert_eq!((outcome, out.as_str()), (Outcome::Exited(0), "66000\n"), "{said}");
    let documents = format!("a: 1\nb: {}\n---\n", "x".repeat(1000)).repeat(12_000);
    let (outcome, out, said) = bench.run(&["yq", "-N", ".a"], documents.into_bytes()).await;
    assert_eq!((outcome, out.len()), (Outcome::Exited(0), 24_000 + 5), "{said}");
}

#[tokio::test]
async fn sed_edits_a_file_of_21_megabytes_in_place_and_keeps_its_mode() {
    let bench = Bench::new(64 << 20);
    bench.tree.write("f", "one two three four\n".repeat(1_150_000).as_bytes()).unwrap();
    assert_eq!(bench.run(&["chmod", "750", "f"], Vec::new()).await.0, Outcome::Exited(0));
    let (outcome, _, said) = bench.run(&["sed", "-i", "s/two/2/", "f"], Vec::new()).await;
    assert_eq!(outcome, Outcome::Exited(0), "{said}");
    let (_, out, _) = bench.run(&["grep", "-c", "^one 2 three four$", "f"], Vec::new()).await;
    assert_eq!(out, "1150000\n");
    let (_, out, _) = bench.run(&["stat", "-c", "%a %n", "f"], Vec::new()).await;
    assert_eq!(out, "750 f\n");
    let (_, out, _) = bench.run(&["find", ".", "-type", "f"], Vec::new()).await;
    assert_eq!(out, "./f\n", "nothing is left beside it");
}

#[tokio::test]
async fn yq_edits_in_place_and_keeps_comments_and_anchors() {
    let bench = Bench::new(1 << 20);
    let text = "# top\nname: 'a' # why\nmap: &m {x: 1}\nuse: *m\n";
    bench.tree.write("f.yaml", text.as_bytes()).unwrap();
    let (outcome, _, said) = bench.run(&["yq", "-i", ".name = \"b\" | .new = 1", "f.yaml"], Vec::new()).await;
    assert_eq!(outcome, Outcome::Exited(0), "{said}");
    let (_, out, _) = bench.run(&["cat", "f.yaml"], Vec::new()).await;
    assert_eq!(out, text.replace("'a'", "b") + "new: 1\n");
    let (outcome, _, said) = bench.run(&["yq", "-i", ".use.x = 2", "f.yaml"], Vec::new()).await;
    assert_eq!(outcome, Outcome::Exited(1));
    assert!(said.contains("would lose its comments and anchors"), "{said}");
    let (_, again, _) = bench.run(&["cat", "f.yaml"], Vec::new()).await;
    assert_eq!(out, again, "the file is left as it is");
}

#[tokio::test]
async fn tar_zip_gzip_and_patch_keep_modes() {
    let bench = Bench::new(4 << 20);
    bench.tree.write("d/run", b"#!/bin/sh\n").unwrap();
    bench.tree.write("d/text", b"a\n").unwrap();
    bench.tree.write("p", b"diff --git a/d/text b/d/text\nold mode 100644\nnew mode 100755\n--- a/d/text\n+++ b/d/text\n@@ -1 +1 @@\n-a\n+b\n").unwrap();
    for line in [
        &["chmod", "755", "d/run"][..],
        &["tar", "cf", "x.tar", "d"],
        &["zip", "-qr", "x.zip", "d"],
        &["mkdir", "t"],
        &["tar", "xf", "x.tar", "-C", "t"],
        &["unzip", "-q", "x.zip", "-d", "z"],
        &["patch", "-p1", "-i", "p"],
        &["gzip", "d/run"],
    ] {
        let (outcome, _, said) = bench.run(line, Vec::new()).await;
        assert_eq!(outcome, Outcome::Exited(0), "{line:?}: {said}");
    }
    let files = ["stat", "-c", "%a %n", "t/d/run", "t/d/text", "z/d/run", "z/d/text", "d/text", "d/run.gz"];
    let (_, out, _) = bench.run(&files, Vec::new()).await;
    assert_eq!(out, "755 t/d/run\n644 t/d/text\n755 z/d/run\n644 z/d/text\n755 d/text\n755 d/run.gz\n");
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
async fn dc_calculates_on_its_stack() {
    check("dc", 12).await;
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
async fn zip_and_unzip_have_info_zips_words() {
    check("zip", 5).await;
    check("unzip", 4).await;
}

#[tokio::test]
async fn envsubst_puts_in_the_environment_and_nothing_else() {
    check("envsubst", 4).await;
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
