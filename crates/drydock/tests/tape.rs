//! `--record` and `drydock tape` as a person or a script uses them.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs;

use common::{
    Said, Shell,
    web::{Server, answer, serve},
};
use serde_json::Value;

fn site() -> Server {
    let asked = std::sync::atomic::AtomicU64::new(0);
    serve(move |head, to| {
        if head.contains(" /hangs-up ") {
            return;
        }
        let n = asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        answer(to, "200 OK", "", &format!("{{\"n\":{n}}}\n"));
    })
}

/// The id of the tape that a run told of.
fn id(said: &Said) -> String {
    let told = said.stderr.lines().find_map(|it| it.strip_prefix("drydock: tape: "));
    told.unwrap_or_else(|| panic!("no tape: {}", said.all())).to_owned()
}

const HANDLER: &str = r#"(module (memory (export "memory") 2) (data (i32.const 16) "{\"status\":201}")
  (global $next (mut i32) (i32.const 8192))
  (func (export "alloc") (param i32) (result i32)
    (global.get $next) (global.set $next (i32.add (global.get $next) (local.get 0))))
  (func (export "handler") (param i32 i32 i32) (result i32)
    (i32.store (local.get 2) (i32.const 16)) (i32.store offset=4 (local.get 2) (i32.const 14)) (i32.const 0)))"#;

#[test]
fn what_is_recorded_on_the_command_line_is_replayed_without_files_and_network() {
    let (shell, site) = (Shell::sharing(), site());
    let dir = shell.path("data");
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("words.txt"), "alpha\nbeta\n").unwrap();
    let script =
        shell.file("script.sh", "read -r a < words.txt; echo $a $RANDOM $1; sleep 1; date +%s | wc -c\n");
    let program =
        shell.file("program.js", "[Math.random(), (await commands.cat({args: ['words.txt']})).stdout, args]");
    let module = shell.file("shop.wat", HANDLER);
    let (dir, place, url) = (dir.to_str().unwrap().to_owned(), site.place(), site.url("/"));
    let (ask, fetch) =
        (format!("curl -s {url} | jq .n"), format!("(await (await fetch('{url}')).json()).n >= 0"));
    let hung_up = format!("curl -sS {url}hangs-up; echo $?");
    let writable = format!("{dir}:/data:rw");
    let cases: &[(&[&str], &[u8])] = &[
        (&["run", "--record", "--dir", &dir, "sort", "-r", "words.txt"], b""),
        (&["run", "--record", "tr", "a-z", "A-Z"], b"some input\n"),
        (&["run", "--record", "--json", "shuf", "-i", "1-99"], b""),
        (&["run", "--record", "no-such-command"], b""),
        (&["sh", "--record", "--dir", &dir, &script, "x"], b""),
        (&["sh", "--record", "--allow-private", &place, "-c", &ask], b""),
        (&["sh", "--record", "--json", "--allow-private", &place, "-c", &ask], b""),
        (&["sh", "--record", "--allow-private", &place, "-c", &hung_up], b""),
        (&["sh", "--record"], b"echo from stdin; seq 3 | tac\n"),
        (
            &["sh", "--record", "--dir", &writable, "-c", "echo new > made; cat made words.txt; rm made; ls"],
            b"",
        ),
        (&["sh", "--record", "-c", "curl http://192.0.2.1/ | cat; exit 3"], b""),
        (&["sh", "--record", "--workspace", "notes", "-c", "echo kept >> log; wc -l < log; ls"], b""),
        (&["js", "--record", "--dir", &dir, "--args", "[7]", &program], b""),
        (&["js", "--record", "--json", "--allow-private", &place, "-e", &fetch], b""),
        (&["ext", "invoke", "--record", &module, "--path", "/x"], b""),
    ];
    let mut taped = Vec::new();
    for (args, stdin) in cases {
        let said = shell.pipe(args, stdin);
        let id = match args.contains(&"--json") {
            true => serde_json::from_str::<Value>(&said.stdout).unwrap()["tape"].as_str().unwrap().to_owned(),
            false => id(&said),
        };
        taped.push((args, said, id));
    }
    assert!(taped.iter().any(|(_, said, _)| said.stdout == "52\n"), "a server hung up");
    fs::remove_dir_all(&dir).unwrap();
    for gone in [&script, &program, &module] {
        fs::remove_file(gone.replace("TMP", shell.path("").to_str().unwrap())).unwrap();
    }
    let heads = site.heads().len();
    assert!(heads >= 3, "{heads}");
    for (args, said, id) in &taped {
        let again = shell.run(&["tape", "replay", id]);
        assert_eq!(again.status, 0, "{args:?}\n--- recorded\n{}\n--- replayed\n{}", said.all(), again.all());
        if !args.contains(&"--json") {
            assert_eq!(again.stdout, said.stdout, "{args:?}");
        }
        let json: Value = serde_json::from_str(&shell.run(&["tape", "replay", id, "--json"]).stdout).unwrap();
        assert_eq!((&json["same"], &json["tape"]), (&true.into(), &id.as_str().into()), "{args:?} {json}");
        assert_eq!(shell.run(&["tape", "rm", id]).status, 0);
    }
    assert_eq!(site.heads().len(), heads, "nobody was asked again");
    let audit = shell.run(&["audit", "--limit", "400"]).stdout;
    assert!(audit.contains("tape.replay"), "{audit}");
}

#[test]
fn tapes_are_listed_shown_compared_and_removed() {
    let shell = Shell::new();
    let record =
        |day: &str, line: &str| id(&shell.run(&["sh", "--record", "--seed", "7", "--now", day, "-c", line]));
    let one = record("2026-01-01T00:00:00Z", "echo a | rev");
    let same = record("2026-01-02T00:00:00Z", "echo a | rev");
    let other = record("2026-01-03T00:00:00Z", "echo a | rev; echo b | tr b c");
    // How well a tape is packed follows from the hashes of the modules on it.
    let plain = |said: Said| {
        let text = said.all().replace(&one, "ONE").replace(&same, "SAME").replace(&other, "OTHER");
        let lines = text.lines().map(|line| match line.split_once(" B  ") {
            Some((before, after)) => {
                format!("{}N B  {after}", before.trim_end_matches(|it: char| it.is_ascii_digit()))
            }
            None => line.to_owned(),
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(plain(shell.run(&["tape", "list"])));
    insta::assert_snapshot!(plain(shell.run(&["tape", "show", &one])));
    assert_eq!(shell.run(&["tape", "diff", &one, &same]).stdout, "the same\n");
    let found = shell.run(&["tape", "diff", &one, &other]);
    assert_eq!(found.status, 1, "{}", found.all());
    assert!(found.stdout.contains("other: call `exec.command tr`"), "{}", found.stdout);
    let json: Value = serde_json::from_str(&shell.run(&["tape", "list", "--json"]).stdout).unwrap();
    assert_eq!(json.as_array().unwrap().len(), 3);
    assert_eq!(shell.run(&["tape", "rm", &one, &same]).status, 0);
    insta::assert_snapshot!(plain(shell.run(&["tape", "replay", &one])));
    assert_eq!(shell.run(&["tape", "rm", &other]).status, 0);
    insta::assert_snapshot!(plain(shell.run(&["tape", "list"])));
}

#[test]
fn a_tape_that_is_cut_edited_or_none_is_a_clear_error() {
    let shell = Shell::new();
    let taped = id(&shell.run(&["run", "--record", "seq", "3"]));
    let found =
        walk(&shell.home()).into_iter().find(|it| it.extension().is_some_and(|it| it == "tape")).unwrap();
    let whole = fs::read(&found).unwrap();
    let mut edited = whole.clone();
    *edited.last_mut().unwrap() ^= 1;
    let mut later = whole.clone();
    later[8] = 9;
    let mut told = String::new();
    for bytes in
        [&whole[..whole.len() / 2], &edited, &later, b"no tape at all, but long enough to be one ......"]
    {
        fs::write(&found, bytes).unwrap();
        told += &shell.run(&["tape", "replay", &taped]).all().replace(&taped, "ID");
        told += &shell.run(&["tape", "show", &taped, "--json"]).all().replace(&taped, "ID");
    }
    told += &shell.run(&["tape", "replay", "../../etc"]).all();
    insta::assert_snapshot!(told);
}

fn walk(dir: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => all.extend(walk(&entry.path())),
            false => all.push(entry.path()),
        }
    }
    all
}

#[test]
fn what_does_not_go_together_with_recording_is_said() {
    let shell = Shell::new();
    let mut told = String::new();
    for args in [
        &["sh", "--record", "--session", "s", "-c", "true"][..],
        &["js", "--record", "--session", "s", "-e", "1"],
        &["run", "--record", "--install-missing", "seq", "1"],
        &["run", "--record-max", "1KiB", "seq", "1"],
        &["run", "--record", "--record-max", "100", "seq", "10000"],
    ] {
        let said = shell.run(args);
        told += &format!("{args:?} [{}]\n{}", said.status, said.stderr);
    }
    insta::assert_snapshot!(told);
}
