//! `drydock sh` and `drydock explain`, with the real binary and the real commands.
#![allow(clippy::unwrap_used)]

mod common;

use std::{
    fs,
    io::Write as _,
    os::unix::fs::symlink,
    process::Child,
    time::{Duration, Instant},
};

use common::{Said, Shell};

/// Nothing here takes a minute unless it hangs.
const HANG: Duration = Duration::from_secs(60);

fn sh(line: &str) -> Said {
    Shell::sharing().run(&["sh", "-c", line])
}

#[test]
fn a_shell_is_a_command_of_commands() {
    let shell = Shell::sharing();
    let line = r#"printf 'a\nb\n' | xargs -n1 sh -c 'echo "got $1"' _; env X=1 bash -c 'echo $X; exit 3'; echo $?
        timeout 0.2 bash -c 'while :; do :; done'; echo $?; f() { echo "f $1"; }; export -f f
        echo z | xargs -I@ bash -c 'f @'"#;
    let said = shell.run(&["sh", "--eval", "--posix-unknown", "-c", line]);
    assert_eq!(said.stdout, "got a\ngot b\n1\n3\n124\nf z\n", "{}", said.stderr);
    let refused = shell.run(&["sh", "-c", "echo a | xargs sh -c 'echo no'"]);
    assert_eq!(refused.stdout, "");
    assert!(refused.stderr.contains("--eval"), "{}", refused.stderr);
}

#[test]
fn awk_asks_the_lines_shell_and_has_none_outside_of_a_line() {
    let shell = Shell::sharing();
    let line = r#"f() { echo "f $1"; }; export -f f; echo 'x y' | awk '{
            r = system("for w in " $0 "; do f $w; done > out; cat out; exit 3")
            "echo {1..3} | tr 1-3 a-c" | getline s; print r, s; print "in" | "cat; echo \"$((6 * 7))\"" }'"#;
    let said = shell.run(&["sh", "--eval", "-c", line]);
    assert_eq!(said.stdout, "f x\nf y\n3 a b c\nin\n42\n", "{}", said.stderr);
    let refused = shell.run(&["sh", "-c", r#"awk 'BEGIN { print system("echo no") }'"#]);
    assert_eq!(refused.stdout, "126\n");
    assert!(refused.stderr.contains("--eval"), "{}", refused.stderr);
    let alone = shell.run(&["run", "awk", r#"BEGIN { print system("echo no") }"#]);
    assert_eq!(alone.stdout, "127\n");
    assert!(alone.stderr.contains("there is no shell here"), "{}", alone.stderr);
}

#[test]
fn read_waits_no_longer_than_it_was_told_to() {
    let line = r#"read -t 0.2 x < <(printf ab; sleep 1; echo late); echo "$? $x"
        echo in time | { read -t 30 y; echo "$? $y"; }; read -t 0.1 z < f; echo "$? $z"
        trap 'echo trapped' USR1; { sleep 0.1; kill -USR1 $$; } & read -t 0.4 x < <(sleep 1); echo $?
        read -t -1 x; echo $?; read -t y x; echo $?"#;
    let said = Shell::sharing().run(&["sh", "-c", &format!("echo 'of a file' > f; {line}")]);
    assert_eq!(said.stdout, "142 ab\n0 in time\n0 of a file\ntrapped\n142\n1\n1\n", "{}", said.stderr);
}

#[test]
fn what_a_command_writes_by_itself_keeps_to_ulimit_too() {
    let cases = [
        ("ulimit -f 1; seq 2000 | tee big > /dev/null; echo ${PIPESTATUS[1]}; wc -c < big", "153\n1024\n"),
        ("ulimit -f 1; seq 100 | tee small > /dev/null; echo ${PIPESTATUS[1]}", "0\n"),
        (
            "ulimit -f 1; seq 2000 | env tee big > /dev/null; echo ${PIPESTATUS[1]}; wc -c < big",
            "153\n1024\n",
        ),
        ("(ulimit -f 1; truncate -s 2K t; echo $?); truncate -s 2K t; echo $?", "153\n0\n"),
        (
            "ulimit -f 1; xargs -I@ sh -c 'ulimit -f; ulimit -f 9; seq 2000 | tee @ > /dev/null' <<< n; wc -c < n",
            "1\n1024\n",
        ),
    ];
    for (line, want) in cases {
        let said = Shell::sharing().run(&["sh", "--eval", "-c", line]);
        assert_eq!(said.stdout, want, "{line}: {}", said.stderr);
    }
}

#[test]
fn what_chmod_agreed_to_is_kept_with_the_file() {
    let line =
        "touch f; test -x f || echo no; chmod +x f; test -x f && echo yes; chmod 644 f; test -x f || echo no
        mkdir b; echo 'echo ran $1' > b/tool; chmod +x b/tool; PATH=$PWD/b:$PATH; tool 1; type tool";
    let said = Shell::sharing().run(&["sh", "--eval", "--posix-unknown", "-c", line]);
    assert_eq!(said.stdout, "no\nyes\nno\nran 1\ntool is /workspace/b/tool\n", "{}", said.stderr);
}

#[test]
fn writers_of_one_pipe_take_turns() {
    let line = "set -x; for i in 1 2 3 4 5 6 7 8; do echo $i >&2 & echo $i >&2 | echo $i >&2; done; wait";
    let said = Shell::sharing().run(&["sh", "-c", line]);
    assert_eq!(said.status, 0, "{}", said.stderr);
    let plain = said.stderr.lines().filter(|it| !it.starts_with('+')).count();
    assert_eq!(plain, 24, "{}", said.stderr);
}

#[test]
fn flags_of_other_shells_are_taken_alone_and_in_clusters() {
    let shell = Shell::sharing();
    let cases: [(&[&str], i32, &str, &str); 9] = [
        (&["-ec", "false; echo never"], 1, "", ""),
        (&["-lc", "echo login"], 0, "login\n", ""),
        (&["-xc", "echo a"], 0, "a\n", "+ echo a\n"),
        (&["-e", "-c", "false; echo never"], 1, "", ""),
        (&["-euo", "pipefail", "-c", "false | true; echo never"], 1, "", ""),
        (&["-o", "noglob", "-c", "echo *"], 0, "*\n", ""),
        (&["-c", "echo $0 $1 $2", "--", "a", "b"], 0, "-- a b\n", ""),
        (&["-c", "echo $0 $1 $2", "n", "--", "b"], 0, "n -- b\n", ""),
        (&["-c", "echo $0 $1", "n", "-e"], 0, "n -e\n", ""),
    ];
    for (args, status, stdout, stderr) in cases {
        let said = shell.run(&[&["sh"], args].concat());
        assert_eq!(
            (said.status, said.stdout.as_str(), said.stderr.as_str()),
            (status, stdout, stderr),
            "{args:?}"
        );
    }
}

#[test]
fn substitutions_are_pipes_to_commands() {
    let shell = Shell::sharing();
    // Neither fills the disk, nor takes more time than its reader does.
    let line =
        "cat <(yes) | head -1; head -c 3 <(yes); yes | tee >(head -1) > /dev/null; echo ${PIPESTATUS[@]}";
    let said = shell.run(&["sh", "--posix-unknown", "-c", line]);
    assert_eq!((said.status, said.stdout.as_str()), (0, "y\ny\nyy\n141 141\n"), "{}", said.stderr);
    let started = Instant::now();
    for line in ["cat <(sleep 100)", "yes | tee >(cat > /dev/null) > /dev/null", "cat <(while :; do :; done)"]
    {
        let said = shell.run(&["sh", "--timeout", "1s", "-c", line]);
        assert_eq!((said.status, said.stdout.as_str()), (124, ""), "{line}: {}", said.stderr);
    }
    assert!(started.elapsed() < HANG, "{:?}", started.elapsed());
}

#[test]
fn a_line_is_stages_with_argument_lists() {
    let said = sh("echo hi | tr a-z A-Z; X='a; rm -rf /'; echo $X");
    assert_eq!((said.status, said.stdout.as_str(), said.stderr.as_str()), (0, "HI\na; rm -rf /\n", ""));
}

#[test]
fn the_working_directory_is_the_workspace() {
    let said = sh(
        "pwd; echo text > f; ls; cat f; mkdir d && cd d && echo more > g && cat g ../f; jq -n '1' > j; grep -c 1 j",
    );
    assert_eq!(
        (said.status, said.stdout.as_str()),
        (0, "/workspace\nf\ntext\nmore\ntext\n1\n"),
        "{}",
        said.stderr
    );
}

#[test]
fn an_unknown_name_is_127_and_can_be_caught() {
    let said = sh("nosuch || echo caught $?; nosuch");
    assert_eq!((said.status, said.stdout.as_str()), (127, "caught 127\n"));
    assert_eq!(said.stderr, "drydock: line 1: nosuch: command not found\n".repeat(2));
}

#[test]
fn unknown_variables_stay_as_typed_unless_posix_is_wanted() {
    let shell = Shell::sharing();
    let line = r#"jq -n --arg x 1 "$x"; echo "[$nobody]""#;
    let literal = shell.run(&["sh", "-c", line]);
    assert_eq!((literal.status, literal.stdout.as_str()), (0, "\"1\"\n[$nobody]\n"));
    let posix = shell.run(&["sh", "--posix-unknown", "-c", r#"echo "[$nobody]""#]);
    assert_eq!(posix.stdout, "[]\n");
    let last = shell.run(&["sh", "--posix-unknown", "--literal-unknown", "-c", r#"echo "[$nobody]""#]);
    assert_eq!(last.stdout, "[$nobody]\n");
}

#[test]
fn text_is_parsed_again_only_if_it_is_allowed() {
    let shell = Shell::sharing();
    let refused = shell.run(&["sh", "-c", "eval 'echo no'"]);
    assert_ne!(refused.status, 0);
    assert!(refused.stdout.is_empty() && refused.stderr.contains("--eval"), "{}", refused.stderr);
    let allowed =
        shell.run(&["sh", "--eval", "-c", "eval 'echo yes'; echo 'v=sourced' > f; source ./f; echo $v"]);
    assert_eq!((allowed.status, allowed.stdout.as_str()), (0, "yes\nsourced\n"));
}

#[test]
fn a_script_takes_arguments_and_stdin_is_its_input() {
    let shell = Shell::sharing();
    let script = shell.file("greet.sh", "#!/bin/bash\nread -r line\necho \"$0 $# $1 $2: $line\"\nexit 3\n");
    let said = shell.pipe(&["sh", &script, "one", "--two"], b"typed\n");
    assert_eq!((said.status, said.stdout.as_str()), (3, "TMP/greet.sh 2 one --two: typed\n"));
    let named = shell.run(&["sh", "-c", "echo $0 $1", "name", "first"]);
    assert_eq!(named.stdout, "name first\n");
    let from_stdin = shell.pipe(&["sh"], b"echo from stdin\nexit 4\n");
    assert_eq!((from_stdin.status, from_stdin.stdout.as_str()), (4, "from stdin\n"));
    let missing = shell.run(&["sh", "no-such-script.sh"]);
    assert_eq!(missing.status, 125);
    assert!(missing.stderr.contains("no-such-script.sh"), "{}", missing.stderr);
}

#[test]
fn the_record_has_stages_statuses_times_and_bytes() {
    let said = Shell::sharing().run(&["sh", "--json", "-c", "seq 3 | wc -l; nosuch; echo err >&2"]);
    let record: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((said.status, &record["status"]), (0, &0.into()));
    assert_eq!(record["stdout"], "3\n");
    assert!(record["stderr"].as_str().unwrap().ends_with("err\n"));
    let stages = record["stages"].as_array().unwrap();
    let brief: Vec<_> = stages
        .iter()
        .map(|it| {
            format!(
                "{} {} {} {}>{}",
                it["command"], it["status"], it["outcome"], it["stdin_bytes"], it["stdout_bytes"]
            )
        })
        .collect();
    assert_eq!(
        brief,
        [
            r#""seq" 0 "exited" 0>6"#,
            r#""wc" 0 "exited" 6>2"#,
            r#""nosuch" 127 "unknown_command" 0>0"#,
            r#""echo" 0 "exited" 0>0"#
        ]
    );
    assert_eq!((&stages[0]["builtin"], &stages[3]["builtin"]), (&serde_json::Value::Null, &true.into()));
    assert!(stages[0]["duration_us"].is_u64() && record["duration_us"].is_u64());
}

#[test]
fn every_stage_is_audited_and_needs_its_grant() {
    let shell = Shell::new();
    let said = shell.run(&["sh", "--allow", "seq", "-c", "seq 2; sort; echo $?"]);
    assert_eq!(said.stdout, "1\n2\n126\n");
    assert!(said.stderr.contains("command_not_granted") || said.stderr.contains("sort"), "{}", said.stderr);
    let audit = shell.run(&["audit", "--json"]);
    assert!(audit.stdout.contains("\"subject\":\"seq\""), "{}", audit.stdout);
    assert!(audit.stdout.contains("command_not_granted"), "{}", audit.stdout);
    // What is not granted and what is not there are one, and both are on record.
    let said = shell.run(&["sh", "--allow", "seq", "-c", "nosuch; echo $?; type sort nosuch; which sort"]);
    assert_eq!(said.stdout, "126\n");
    assert!(shell.run(&["audit", "--json"]).stdout.contains("nosuch"));
}

#[test]
fn a_line_has_one_budget_that_its_stages_share() {
    let shell = Shell::sharing();
    let one = shell.run(&["sh", "--json", "-c", "seq 20000 | tail -1"]);
    let record: serde_json::Value = serde_json::from_str(&one.stdout).unwrap();
    let fuel: u64 = record["stages"].as_array().unwrap().iter().map(|it| it["fuel"].as_u64().unwrap()).sum();
    // Enough for three such pipelines, and not for ten.
    let fuel = (fuel * 3).to_string();
    let many = "for i in 1 2 3 4 5 6 7 8 9 10; do seq 20000 | tail -1 || break; done; echo stopped at $i";
    let said = shell.run(&["sh", "--fuel", &fuel, "-c", many]);
    assert!(said.stdout.lines().filter(|it| *it == "20000").count() < 10, "{}", said.stdout);
    assert!(said.stderr.contains("fuel") || said.stderr.contains("budget"), "{}", said.stderr);
    let started = Instant::now();
    let late = shell.run(&["sh", "--timeout", "1s", "-c", "while true; do sleep 0.2; done"]);
    assert_eq!(late.status, 124);
    assert_eq!(late.stderr, "drydock: timed_out: the line took 1 s; --timeout allows more\n");
    assert!(started.elapsed() < HANG);
}

#[test]
fn upstream_stops_when_downstream_closes() {
    let started = Instant::now();
    let said = sh("yes | head -1; echo ${PIPESTATUS[@]}");
    assert_eq!(said.stdout, "y\n141 0\n");
    assert!(started.elapsed() < HANG);
}

#[test]
fn lines_that_are_not_lines_say_what_and_where() {
    for (line, says) in [
        ("echo \"abc", "line 1, column 6: the double quote is never closed"),
        ("echo 'abc", "line 1, column 6"),
        ("| x", "near unexpected token `|`"),
        ("a |", "line 1"),
        ("echo >", "a name after `>` is missing"),
        ("exec bash", "bash"),
        ("fg", "job control"),
    ] {
        let said = sh(line);
        assert!(said.status != 0 && said.stderr.contains(says), "{line}: [{}] {}", said.status, said.stderr);
        assert!(said.stdout.is_empty(), "{line}");
    }
}

#[test]
fn redirections_stay_inside() {
    let shell = Shell::sharing();
    let inside = shell.path("inside");
    fs::create_dir(&inside).unwrap();
    fs::write(shell.path("secret"), "secret\n").unwrap();
    symlink(shell.path("secret"), inside.join("link")).unwrap();
    symlink("/etc", inside.join("etc")).unwrap();
    let dir = format!("{}:rw", inside.display());
    for (line, says) in [
        ("echo x > /etc/passwd", "outside_sandbox"),
        ("cat < /etc/passwd", "outside_sandbox"),
        ("echo x > ../../x", "outside_sandbox"),
        ("echo x > ../x", "outside_sandbox"),
        ("echo x > link", ""),
        ("echo x >> link", ""),
        ("cat link", ""),
        ("cat etc/passwd", ""),
        ("echo x > etc/new", ""),
        ("echo x > .", "directory"),
        ("mkdir d; echo x > d", "directory"),
    ] {
        let said = shell.run(&["sh", "--dir", &dir, "-c", line]);
        assert_ne!(said.status, 0, "{line}: {}", said.stdout);
        assert!(said.stderr.contains(says), "{line}: {}", said.stderr);
        assert!(!said.stdout.contains("secret") && !said.stdout.contains("root"), "{line}");
    }
    assert_eq!(fs::read_to_string(shell.path("secret")).unwrap(), "secret\n");
}

#[test]
fn the_shell_sees_a_directory_that_a_command_made_beside_the_mounts() {
    let shell = Shell::sharing();
    let inside = shell.path("beside");
    fs::create_dir(&inside).unwrap();
    let line = "mkdir -p /app && cd /app && printf 'hi\\n' > /app/x.py && [ -f /app/x.py ] && echo /app/*.py && cat < x.py";
    let said = shell.run(&["sh", "--dir", &inside.display().to_string(), "-c", line]);
    assert_eq!((said.status, said.stdout.as_str()), (0, "/app/x.py\nhi\n"), "{}", said.stderr);
    let said =
        shell.run(&["sh", "--dir", &inside.display().to_string(), "-c", "cat > /app/x.py < /dev/null"]);
    assert!(said.status != 0 && said.stderr.contains("outside_sandbox"), "{}", said.stderr);
}

#[test]
fn too_much_of_anything_is_refused() {
    let shell = Shell::sharing();
    let stages = vec!["cat"; 10_000].join("|");
    let nested = "$(".repeat(500_000);
    let long = format!("echo {}", "x".repeat(10 << 20));
    for (what, text) in [("stages", stages), ("nested", nested), ("long", long)] {
        let started = Instant::now();
        let script = shell.file(what, &text);
        let said = shell.run(&["sh", &script]);
        assert!(said.status != 0 && said.stdout.is_empty(), "{what}: {}", said.status);
        assert!(
            said.stderr.contains("limit")
                || said.stderr.contains("more than")
                || said.stderr.contains("deep"),
            "{what}: {}",
            said.stderr
        );
        assert!(said.stderr.len() < 1_000, "{what}: {} bytes of stderr", said.stderr.len());
        assert!(started.elapsed() < HANG, "{what}");
    }
    for bomb in ["f() { f | f & }; f", "f() { f; }; f", ":(){ :|:& };:"] {
        let said = shell.run(&["sh", "-c", bomb]);
        assert!(said.status != 0 && !said.stderr.is_empty(), "{bomb}");
    }
}

#[test]
fn a_file_that_never_ends_meets_its_quota() {
    let said = sh("yes > file; echo $?; head -c 4 file");
    assert_eq!(said.stdout, "1\ny\ny\n", "{}", said.stderr);
    assert!(said.stderr.contains("No space left on device"), "{}", said.stderr);
}

#[test]
fn paths_that_cannot_be_are_errors_of_one_command() {
    let said =
        sh(r#"cat $'a\x00b'; p=$(printf 'd/%.0s' $(seq 5000)); cat "$p"x; echo x > "$p"y; echo alive"#);
    assert_eq!((said.status, said.stdout.as_str()), (0, "alive\n"), "{}", said.stderr);
}

#[test]
fn output_beyond_the_limit_ends_the_line() {
    let said = Shell::sharing().run(&["sh", "--output-max", "1KiB", "-c", "seq 100000; echo never >&2"]);
    assert_eq!((said.status, said.stdout.len()), (125, 1024));
    assert_eq!(said.stderr, "drydock: output_limit: cut off after 1.0 KiB; --output-max allows more\n");
}

#[test]
fn a_workspace_keeps_what_a_line_wrote() {
    let shell = Shell::new();
    assert_eq!(shell.run(&["sh", "--workspace", "w", "-c", "echo kept > f; echo gone > /tmp/t"]).status, 0);
    let said = shell.run(&["sh", "--workspace", "w", "-c", "cat f; cat /tmp/t"]);
    assert_eq!(said.stdout, "kept\n");
    assert_eq!(shell.run(&["ws", "cat", "w", "f"]).stdout, "kept\n");
}

#[test]
fn a_mounted_directory_is_copied_on_write() {
    let shell = Shell::sharing();
    let dir = shell.path("d");
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("a"), "old\n").unwrap();
    let at = dir.to_str().unwrap();
    let said = shell.run(&["sh", "--dir", at, "-c", "pwd; echo new > a; cat a; rm a; ls"]);
    assert_eq!(said.stdout, "/d\nnew\n");
    assert_eq!(fs::read_to_string(dir.join("a")).unwrap(), "old\n");
}

#[test]
fn explain_tells_and_does_not_run() {
    let shell = Shell::sharing();
    let said =
        shell.run(&["explain", "jq -r .name *.json | sort > out; f() { nosuch; }; f $(cat < x) >> log"]);
    let filtered = without_hashes(&said.all());
    insta::assert_snapshot!(filtered);
    let json = shell.run(&["explain", "--json", "upper < a | cat > b"]);
    let told: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(told["stages"][0]["kind"], "built-in");
    assert_eq!(told["stages"][0]["sha256"].as_str().unwrap().len(), 64);
    assert_eq!((&told["reads"][0], &told["writes"][0]), (&"a".into(), &"b".into()));
    assert_eq!(told["grants"], serde_json::json!(["cat", "upper"]));
    let bad = shell.run(&["explain", "echo 'x"]);
    assert_eq!(bad.status, 1);
    assert!(bad.stderr.contains("column 6"), "{}", bad.stderr);
}

#[test]
fn explain_names_the_files_of_arguments_and_the_commands_that_others_start() {
    let said = Shell::sharing().run(&["explain", "--json", "ls d | xargs rm; sort a -o b; timeout 1 cat c"]);
    let told: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(told["grants"], serde_json::json!(["cat", "ls", "rm", "sort", "timeout", "xargs"]));
    assert_eq!(told["reads"], serde_json::json!(["a", "c", "d"]));
    assert_eq!(told["writes"], serde_json::json!(["b"]));
    assert_eq!(told["open_ended"], true);
}

/// Hashes change with every build of the commands.
fn without_hashes(text: &str) -> String {
    let hash = |word: &str| word.len() == 12 && word.chars().all(|it| it.is_ascii_hexdigit());
    let word = |word: &str| if hash(word) { "HASH_OF_CODE".to_owned() } else { word.to_owned() };
    let line = |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ");
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn ctrl_c_ends_the_line() {
    let shell = Shell::sharing();
    let mut child = shell.command(&["sh", "-c", "echo started; sleep 60; echo never"]).spawn().unwrap();
    wait_for(&mut child, "started");
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT)
        .unwrap();
    let started = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(output.stdout.is_empty() && started.elapsed() < HANG);
}

fn wait_for(child: &mut Child, text: &str) {
    use std::io::Read as _;
    let mut seen = vec![0; text.len() + 1];
    child.stdout.as_mut().unwrap().read_exact(&mut seen).unwrap();
    assert_eq!(String::from_utf8_lossy(&seen).trim_end(), text);
}

#[test]
fn big_input_flows_through_a_pipeline() {
    let shell = Shell::sharing();
    let mut big = Vec::new();
    for number in 0..1_500_000 {
        writeln!(big, "{number}").unwrap();
    }
    let said = shell.pipe(&["sh", "-c", "tr 0-9 a-j | sort -r | tail -1 | wc -c; cat"], &big);
    assert_eq!((said.status, said.stdout.as_str()), (0, "2\n"), "{}", said.stderr);
}

#[test]
fn a_command_does_not_read_what_it_writes() {
    let shell = Shell::sharing();
    for (line, want) in [
        ("echo a > a; cat a >> a; echo $?; cat a", "cat: a: input file is output file\n1\na\n"),
        ("echo a > a; cat < a >> a; echo $?", "cat: -: input file is output file\n1\n"),
        (
            "echo a > a; echo b > b; cat -n b a >> a; echo $?; cat a",
            "cat: a: input file is output file\n1\na\n     1\tb\n",
        ),
        ("echo a > a; ln a b; cat ./b >> a; echo $?", "cat: ./b: input file is output file\n1\n"),
        ("echo a > a; cat a > a; echo $?; wc -c < a", "0\n0\n"),
        ("echo a > a; cat a >> b; cat a >> b; echo $?; cat b", "0\na\na\n"),
        ("echo a > /workspace/a; echo b > /memory/a; cat /workspace/a >> /memory/a; cat /memory/a", "b\na\n"),
        ("echo a > a; { read x; cat; } < a >> a; echo $?", "0\n"),
        ("echo a > a; echo a | xargs cat >> a; echo $?", "cat: a: input file is output file\n123\n"),
        ("echo a > a; grep a a >> a; echo $?", "grep: a: input file is also the output\n2\n"),
        (
            "echo a > a; grep a < a >> a; echo $?",
            "grep: (standard input): input file is also the output\n2\n",
        ),
        ("echo a > a; grep -c a a >> a; echo $?; cat a", "0\na\n1\n"),
        ("echo a > a; grep -r a . >> a; echo $?", "grep: ./a: input file is also the output\n2\n"),
        ("echo a > a; grep a a > b; echo $?", "0\n"),
    ] {
        let said = shell.run(&["sh", "-c", &format!("{{ {line}; }} 2>&1")]);
        assert_eq!(said.stdout, want, "{line}: {}", said.stderr);
    }
}

#[test]
fn a_command_that_is_killed_leaves_the_rest_of_the_line_its_fuel() {
    let shell = Shell::sharing();
    let line = "yes > /dev/null & kill %1; wait; yes > /dev/null & sleep 0.2; kill %1; wait; seq 3 | tail -1";
    let said = shell.run(&["sh", "-c", line]);
    assert_eq!(said.stdout, "3\n", "{}", said.stderr);
}

#[test]
fn the_seeds_worked_line_runs_as_written() {
    let shell = Shell::sharing();
    let users = br#"{"users":[{"name":"ada lovelace"},{"name":"grace hopper"},{"name":"ada yonath"}]}"#;
    let said = shell.pipe(&["sh", "-c", "jq '.users[].name' | grep ada | upper"], users);
    assert_eq!(
        (said.status, said.stdout.as_str()),
        (0, "\"ADA LOVELACE\"\n\"ADA YONATH\"\n"),
        "{}",
        said.stderr
    );
}

/// Every byte there is, in an order that is no text in any encoding.
fn no_text() -> Vec<u8> {
    (0..=255_u8).rev().chain([0xff, 0x00, 0xc3, 0x28, b'\n', 0xed, 0xa0, 0x80]).collect()
}

#[test]
fn bytes_that_are_no_text_pass_a_line_unchanged() {
    let shell = Shell::sharing();
    let rows = ["cat", "cat | cat | cat", "cat > f; cat < f | cat", "tee f | cat; cmp f f", "{ cat; } | cat"];
    for line in rows {
        let mut child = shell.command(&["sh", "-c", line]).spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), &no_text()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.stdout, no_text(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
    // Through a variable, an argument and the script's own text too, but for the NUL no argument can hold.
    let mut script = b"x='\xff\xc3\x28'; printf '%s' \"$x\" | cat; printf '%s' \"$(printf '\\xfe')\"; echo -n '\xed\xa0\x80'".to_vec();
    script.push(b'\n');
    let mut child = shell.command(&["sh"]).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), &script).unwrap();
    assert_eq!(child.wait_with_output().unwrap().stdout, b"\xff\xc3\x28\xfe\xed\xa0\x80");
}

#[test]
fn a_lines_stages_share_one_memory() {
    let shell = Shell::sharing();
    // One after another they fit; all at once they do not, though none of them is near its own limit.
    let many = format!("{}; echo $?", ["sleep 0.5"; 24].join(" | "));
    let said = shell.run(&["sh", "--line-memory", "8MiB", "-c", &many]);
    assert_eq!(said.stdout, "125\n", "{}", said.all());
    let why = "out_of_memory: the limit is 256.0 MiB, and 8.0 MiB for the whole line; --memory and --line-memory allow more";
    assert!(said.stderr.contains(why), "{}", said.stderr);
    let turns = "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 0; done; echo $?";
    assert_eq!(shell.run(&["sh", "--line-memory", "8MiB", "-c", turns]).stdout, "0\n");
    assert_eq!(shell.run(&["sh", "-c", &many]).stdout, "0\n");
    // A stage's own limit, in the middle of a pipeline.
    let bomb = "awk 'BEGIN { s = \"x\"; while (1) s = s s }' | md5sum";
    let own = shell.run(&["sh", "--memory", "32MiB", "-c", bomb]);
    assert_ne!(own.status, 0, "{}", own.stdout);
    let alone = shell.run(&["sh", "--memory", "1MiB", "-c", "jq -n 1 | md5sum"]);
    assert_eq!(alone.status, 125, "{}", alone.all());
    assert!(alone.stderr.contains("jq: out_of_memory: the limit is 1.0 MiB"), "{}", alone.stderr);
}

#[test]
fn no_real_time_is_seen_under_now() {
    let shell = Shell::sharing();
    let now = ["sh", "--now", "2001-02-03T04:05:06Z", "--posix-unknown", "-c"];
    let rows = [
        ("echo $EPOCHSECONDS", "981173106\n"),
        ("echo ${EPOCHREALTIME%.*}", "981173106\n"),
        (
            "x=$EPOCHREALTIME; seq 1 20000 | sort > /dev/null; y=$EPOCHREALTIME; (( (${y/./} - ${x/./}) < 1000 )) && echo no real time",
            "no real time\n",
        ),
        ("echo $SECONDS; sleep 90; echo $SECONDS", "0\n90\n"),
        ("printf '%(%s)T %(%F %T)T\n' -1 -1", "981173106 2001-02-03 04:05:06\n"),
        ("TIMEFORMAT=%1R; { time sleep 30; } 2>&1", "30.0\n"),
        ("echo x > f; stat -c %Y f", "981173106\n"),
        ("sleep 3600; date -u +%T", "05:05:06\n"),
        ("echo a > a; touch b; [ b -nt a ] && echo newer", "newer\n"),
        ("timeout 60 sleep 50; date -u +%T", "04:05:56\n"),
    ];
    for (line, want) in rows {
        let said = shell.run(&[&now[..], &[line]].concat());
        assert_eq!(said.stdout, want, "{line}: {}", said.stderr);
    }
    // A tool of a program writes with the same clock.
    let js = "await files.write({ path: 'f', content: 'x' }); await commands.sleep({ args: ['60'] }); \
              await files.write({ path: 'g', content: 'x' }); \
              return (await commands.sh({ line: 'stat -c %Y f g' })).stdout";
    let said = shell.run(&["js", "--now", "2001-02-03T04:05:06Z", "-e", js]);
    assert!(said.stdout.contains("981173106") && said.stdout.contains("981173166"), "{}", said.all());
}

#[test]
fn one_ending_has_one_status_wherever_it_happens() {
    let shell = Shell::sharing();
    let fuel = ["--fuel", "50000"];
    let work = ["seq", "1", "3000000"];
    let run = shell.run(&[&["run"][..], &fuel, &work].concat());
    let sh = shell.run(&[&["sh"][..], &fuel, &["-c", &work.join(" ")]].concat());
    assert_eq!((run.status, sh.status), (125, 125), "{} {}", run.stderr, sh.stderr);
    for said in [run, sh] {
        assert!(
            said.stderr.contains("out_of_fuel: 50000 instructions are used up; --fuel allows more"),
            "{}",
            said.stderr
        );
    }
    // What starts others has the status of what it started; xargs has GNU's own for an end from outside.
    for line in ["env seq 1 9000000", "timeout 60 seq 1 9000000", "echo 9000000 | xargs seq 1"] {
        let said = shell.run(&["sh", "--fuel", "100000000", "-c", line]);
        assert_eq!(said.status, 125, "{line}: {}", said.stderr);
        assert!(said.stderr.contains("stopped: out_of_fuel"), "{line}: {}", said.stderr);
    }
    let traps = [
        ("zero", "(drop (i32.div_s (i32.const 1) (i32.const 0)))", 136),
        ("beyond", "(drop (i32.load (i32.const -1)))", 139),
        ("never", "unreachable", 125),
    ];
    // In a home of their own: others list what is registered.
    let own = Shell::new();
    for (name, body, status) in traps {
        let wat = format!("(module (memory (export \"memory\") 1) (func (export \"_start\") {body}))");
        let file = own.file(&format!("{name}.wasm"), wat::parse_str(wat).unwrap());
        let added = own.run(&["commands", "add", name, &file]);
        assert_eq!(added.status, 0, "{}", added.stderr);
        for line in [name.to_owned(), format!("env {name}"), format!("timeout 60 {name}")] {
            let said = own.run(&["sh", "-c", &line]);
            assert_eq!(said.status, status, "{line}: {}", said.stderr);
        }
        assert_eq!(
            own.run(&["sh", "-c", &format!("echo x | xargs {name}")]).status,
            125,
            "as GNU's for signals"
        );
    }
    for (line, status) in [("env nosuch", 127), ("timeout 9 nosuch", 127), ("timeout 0.2 sleep 9", 124)] {
        assert_eq!(shell.run(&["sh", "-c", line]).status, status, "{line}");
    }
    assert_eq!(shell.run(&["run", "nosuch"]).status, 127);
    assert_eq!(shell.run(&["sh", "-c", "nosuch"]).status, 127);
    let js = shell.run(&["js", "--timeout", "200ms", "-e", "for (;;) {}"]);
    assert_eq!(js.status, 124);
    assert!(js.stderr.contains("0.2 s have passed; --timeout allows more"), "{}", js.stderr);
    let js = shell.run(&["js", "-e", "const all = []; for (;;) all.push('x'.repeat(1e6))"]);
    assert_eq!(js.status, 125);
    assert!(js.stderr.contains("the limit is 64.0 MiB; --memory allows more"), "{}", js.stderr);
}

#[test]
fn scripts_of_a_directory_run_and_those_of_the_line_do_not() {
    let shell = Shell::sharing();
    std::fs::create_dir(shell.path("project")).unwrap();
    shell.file("project/build.sh", "echo building $1\n");
    let dir = shell.path("project");
    let dir = dir.to_str().unwrap();
    let rows = [
        ("bash build.sh x", 0, "building x\n"),
        ("chmod +x build.sh; ./build.sh y", 0, "building y\n"),
        ("./build.sh", 126, ""),
        ("timeout 9 sh build.sh z", 0, "building z\n"),
        ("find . -name build.sh -exec bash {} f ';'", 0, "building f\n"),
        ("cp build.sh new.sh; bash new.sh", 126, ""),
        ("sed -i s/building/evil/ build.sh; bash build.sh", 126, ""),
        ("mv build.sh b; mv b build.sh; bash build.sh", 126, ""),
        ("bash -c 'echo evil'", 126, ""),
    ];
    for mode in ["", ":rw"] {
        for (line, status, want) in rows {
            // A mode that an earlier line set on the real file goes with it.
            let _ = std::fs::remove_file(shell.path("project/build.sh"));
            shell.file("project/build.sh", "echo building $1\n");
            let said =
                shell.run(&["sh", "--posix-unknown", "--dir", &format!("{dir}:/project{mode}"), "-c", line]);
            assert_eq!((said.status, said.stdout.as_str()), (status, want), "{mode} {line}: {}", said.stderr);
        }
    }
    let said = shell.run(&["sh", "-c", "echo a | xargs sh -c 'echo evil'"]);
    assert!(said.stdout.is_empty() && said.stderr.contains("--eval"), "{}", said.all());
    // Two names for one directory that can be written: nobody could tell.
    shell.file("project/build.sh", "echo building\n");
    let (one, two) = (format!("{dir}:/a:rw"), format!("{dir}:/b:rw"));
    let said = shell.run(&[
        "sh",
        "--dir",
        &one,
        "--dir",
        &two,
        "-c",
        "echo 'echo evil' > /a/build.sh; bash /b/build.sh",
    ]);
    assert_eq!((said.status, said.stdout.as_str()), (126, ""), "{}", said.stderr);
}

#[test]
fn explain_and_the_run_agree() {
    let shell = Shell::sharing();
    let told = |line: &str| -> serde_json::Value {
        serde_json::from_str(&shell.run(&["explain", "--json", line]).stdout).unwrap()
    };
    let kinds = |told: &serde_json::Value| -> Vec<String> {
        let stages = told["stages"].as_array().unwrap().iter();
        stages
            .map(|it| format!("{} {}", it["name"].as_str().unwrap(), it["kind"].as_str().unwrap()))
            .collect()
    };
    let rows = [
        ("which ls", vec!["which shell"], "[]"),
        ("/bin/ls", vec!["ls built-in"], "[]"),
        ("command -v python3", vec!["command shell"], "[]"),
        ("command ls", vec!["command shell", "ls built-in"], "[]"),
        (
            "shopt -s expand_aliases; alias ll='ls -l'\nll",
            vec!["shopt shell", "alias shell", "ll alias"],
            "[]",
        ),
        ("bash -c 'ls | nosuch'", vec!["bash shell", "ls built-in", "nosuch unknown"], "[\"nosuch\"]"),
        ("pip list; apt-get install jq", vec!["pip stand-in", "apt-get stand-in"], "[]"),
        ("sudo rm x", vec!["sudo unknown", "rm built-in"], "[\"sudo\"]"),
        ("bash s.sh", vec!["bash shell"], "[]"),
        ("./s.sh", vec!["./s.sh shell"], "[]"),
        (
            "echo a | xargs sh -c 'cat x'",
            vec!["echo shell", "xargs built-in", "sh shell", "cat built-in"],
            "[]",
        ),
        ("awk 'BEGIN { system(\"cat x\") }'", vec!["awk built-in", "sh shell", "cat built-in"], "[]"),
    ];
    for (line, want, unknown) in rows {
        let told = told(line);
        assert_eq!(kinds(&told), want, "{line}");
        assert_eq!(told["unknown"].to_string(), unknown, "{line}");
        // What it calls unknown is 127, and what it says is refused is 126.
        let Said { status, stderr, .. } = shell.run(&["sh", "-c", line]);
        if told["evaluates"] == true {
            assert!(stderr.contains("--eval"), "{line}: {stderr}");
            // xargs has a status of its own for what it starts, and awk hands it to its program.
            assert!(status == 126 || line.contains("xargs") || line.contains("awk"), "{line}: {status}");
        } else if unknown != "[]" {
            assert_eq!(status, 127, "{line}");
        }
    }
    let net = told("cat < /dev/tcp/example.com/80");
    assert_eq!(net["network"], serde_json::json!(["/dev/tcp/example.com/80"]));
    let said = shell.run(&["sh", "-c", "cat < /dev/tcp/example.com/80"]);
    assert!(
        said.status == 1 && said.stderr.contains("refused: a shell here has no network"),
        "{}",
        said.stderr
    );
    let said = shell.run(&["explain", "docker ps | sorrt; bash -c 'ls'; bash s.sh; cat > /dev/tcp/h/1"]);
    insta::assert_snapshot!("explain_says_what_would_help", without_hashes(&said.all()));
}

#[test]
fn a_name_that_is_no_command_has_a_remedy() {
    let shell = Shell::sharing();
    let said = shell.run(&["run", "gerp", "x"]);
    assert!(said.status == 127 && said.stderr.contains("did you mean `grep`?"), "{}", said.stderr);
    let said = shell.run(&["run", "psql", "x"]);
    assert!(said.stderr.contains("`psql` is in no catalog yet"), "{}", said.stderr);
    let said = shell.run(&["sh", "-c", "mysql db"]);
    assert_eq!(said.stderr.lines().count(), 1);
    assert!(said.status == 127 && said.stderr.contains("in no catalog yet"), "{}", said.stderr);
}
