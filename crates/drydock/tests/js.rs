//! `drydock js` with the real binary: programs, the runner, and the suite on every set-up.
#![allow(clippy::unwrap_used)]

mod common;

use std::{
    io::{BufRead as _, BufReader, Write as _},
    sync::Arc,
    time::{Duration, Instant},
};

use common::Shell;
use drydock_codemode::{
    executor::{ExecuteRequest, Executor, Pool, PoolSettings, Remote},
    suite,
};
use drydock_embed::{ChildRunner, TokioTime};

/// Nothing here takes a minute unless it hangs.
const HANG: Duration = Duration::from_secs(60);

fn js(code: &str) -> common::Said {
    Shell::sharing().run(&["js", "-e", code])
}

#[test]
fn a_program_prints_its_value_as_json() {
    for (code, want) in [
        ("1 + 1", "2\n"),
        ("1+1;", "2\n"),
        ("({a: [1, 'x', null]})", "{\"a\":[1,\"x\",null]}\n"),
        ("undefined", ""),
        ("async () => { return 'arrow' }", "\"arrow\"\n"),
        ("```js\nconst x = 3; x * 2\n```", "6\n"),
    ] {
        let said = js(code);
        assert_eq!((said.status, said.stdout.as_str()), (0, want), "{code}: {}", said.stderr);
    }
}

#[test]
fn files_stdin_and_args_are_programs_inputs() {
    let shell = Shell::sharing();
    let file = shell.file("p.js", "args.n * 2");
    assert_eq!(shell.run(&["js", "--args", r#"{"n": 21}"#, &file]).stdout, "42\n");
    assert_eq!(shell.pipe(&["js", "-"], b"'from stdin'").stdout, "\"from stdin\"\n");
    assert_eq!(shell.run(&["js"]).status, 125);
    assert_ne!(shell.run(&["js", "--args", "{", "-e", "1"]).status, 0);
}

#[test]
fn commands_are_tools_and_no_string_reaches_a_shell() {
    let code = r#"
        const found = await commands.jq({args: ["-r", ".[]"], stdin: JSON.stringify(["b; rm -rf /", "a"])});
        const sorted = await commands.sort({stdin: found.stdout});
        const line = await commands.sh({line: "echo one two | tr a-z A-Z > f; cat f"});
        await files.write({path: "g", content: "x"});
        const names = (await files.list({})).map(it => it.name + ":" + it.size);
        [sorted, line.stdout, names, await files.read({path: "g"}), (await commands.false_()).status]
    "#;
    let said = js(code);
    assert_eq!(
        (said.status, said.stdout.as_str()),
        (
            0,
            "[{\"status\":0,\"stderr\":\"\",\"stdout\":\"a\\nb; rm -rf /\\n\"},\"ONE TWO\\n\",[\"f:8\",\"g:1\"],\"x\",1]\n"
        ),
        "{}",
        said.stderr
    );
}

#[test]
fn tools_that_are_not_allowed_are_refused_and_recorded() {
    let shell = Shell::new();
    let said = shell.run(&["js", "--allow-tool", "files.*", "-e", "await commands.jq({})"]);
    assert_eq!(said.status, 1);
    assert!(said.stderr.contains("tool_error") && said.stderr.contains("commands.jq"), "{}", said.stderr);
    let caught = shell.run(&[
        "js",
        "--allow-tool",
        "files.*",
        "-e",
        "let r; try { await commands.jq({}) } catch (e) { r = e.code } r",
    ]);
    assert_eq!(caught.stdout, "\"tool_error\"\n");
    let audit = shell.run(&["audit", "--denied", "--json"]);
    assert!(audit.stdout.contains("commands.jq"), "{}", audit.stdout);
    let wrong = shell.run(&["js", "-e", "await commands.jq({args: 'x'})"]);
    assert!(wrong.stderr.contains("validation_error"), "{}", wrong.stderr);
}

#[test]
fn a_failure_shows_message_line_and_column() {
    let shell = Shell::sharing();
    let file = shell.file("bad.js", "const a = 1;\nfunction f() {\n  throw new Error('no luck');\n}\nf();\n");
    let said = shell.run(&["js", &file]);
    assert_eq!(said.status, 1);
    assert!(said.stderr.contains("runtime_error: no luck"), "{}", said.stderr);
    assert!(
        said.stderr.contains("bad.js:3:") && said.stderr.contains("throw new Error('no luck');"),
        "{}",
        said.stderr
    );
    let syntax = shell.run(&["js", "-e", "let x = ;"]);
    assert!(syntax.status == 1 && syntax.stderr.contains("-e:1:"), "{}", syntax.stderr);
}

#[test]
fn limits_end_a_program_by_name() {
    let shell = Shell::sharing();
    let started = Instant::now();
    let late = shell.run(&["js", "--timeout", "300ms", "-e", "console.log('seen'); while (true) {}"]);
    assert_eq!(late.status, 124);
    assert!(late.stderr.starts_with("seen\n") && late.stderr.contains("timeout"), "{}", late.stderr);
    let stuck = shell.run(&["js", "-e", "await new Promise(() => {})"]);
    let words =
        "drydock: timeout: Execution timed out; the program waits for a promise that nothing can settle\n";
    assert_eq!((stuck.status, stuck.stderr.as_str()), (124, words));
    let regex = shell.run(&["js", "--timeout", "300ms", "-e", "/(a+)+b/.test('a'.repeat(40))"]);
    assert_eq!(regex.status, 124, "{}", regex.stderr);
    let memory = shell.run(&[
        "js",
        "-e",
        "const a = []; try { while (true) a.push('x'.repeat(1e6)) } catch {} ; 'caught'",
    ]);
    assert_eq!(memory.status, 125, "{} {}", memory.stdout, memory.stderr);
    assert!(memory.stderr.contains("memory_limit"), "{}", memory.stderr);
    let deep = shell.run(&["js", "-e", "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; a"]);
    assert!(deep.stderr.contains("serialization_error"), "{}", deep.stderr);
    assert!(started.elapsed() < HANG);
}

#[test]
fn limits_are_named_with_the_flag_that_raises_them() {
    let shell = Shell::sharing();
    let late = shell.run(&["js", "--timeout", "200ms", "-e", "for (;;);"]);
    assert!(
        late.stderr.contains("timeout: Execution timed out; 0.2 s have passed; --timeout allows more"),
        "{}",
        late.stderr
    );
    let memory = shell.run(&["js", "-e", "const a = []; for (;;) a.push('x'.repeat(1e6))"]);
    assert!(memory.stderr.contains("the limit is 64.0 MiB; --memory allows more"), "{}", memory.stderr);
    let help = shell.run(&["js", "--help"]).stdout;
    assert!(help.contains("program 5s"), "{help}");
}

#[test]
fn a_console_that_is_cut_says_so_and_output_max_raises_it() {
    let shell = Shell::sharing();
    let cut = "drydock: output_limit: the console was cut off after 100 lines or 64000 characters; \
               --output-max allows more\n";
    let lines = "for (let i = 0; i < 300; i++) console.log(i); 'end'";
    let said = shell.run(&["js", "-e", lines]);
    assert_eq!((said.stdout.as_str(), said.status), ("\"end\"\n", 0));
    assert!(said.stderr.ends_with(&format!("98\n99\n{cut}")), "{}", said.stderr);
    let said = shell.run(&["js", "-e", "console.log('x'.repeat(100000))"]);
    assert_eq!(said.stderr, format!("{}\n{cut}", "x".repeat(64_000)));
    let said = shell.run(&["js", "--json", "-e", lines]);
    let record: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((&record["logsCut"], record["logs"].as_array().unwrap().len()), (&true.into(), 100));
    assert_eq!(said.stderr, cut);
    // A child is the protocol's runner, and its log was cut at the other end.
    let said = shell.run(&["js", "--runner", "child", "-e", lines]);
    assert!(said.stderr.starts_with("0\n1\n") && said.stderr.ends_with(cut), "{}", said.stderr);
    let long = "for (let i = 0; i < 3000; i++) console.log('x'.repeat(999)); 'end'";
    let said = shell.run(&["js", "--output-max", "8MiB", "-e", long]);
    assert_eq!((said.stderr.len(), said.stdout.as_str()), (3_000_000, "\"end\"\n"));
    let said = shell.run(&["js", "-e", "console.log('short')"]);
    assert_eq!(said.stderr, "short\n");
}

#[test]
fn console_lines_appear_as_they_are_written() {
    let shell = Shell::sharing();
    let mut command = shell.command(&[
        "js",
        "--timeout",
        "50s",
        "-e",
        "console.log('one'); console.error('two'); for (;;);",
    ]);
    let mut child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    // The program never ends by itself, so what can be read was shown while it ran.
    for want in ["one\n", "two\n"] {
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        assert_eq!(line, want);
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn the_result_as_json_and_the_types() {
    let shell = Shell::sharing();
    let said = shell.run(&["js", "--json", "-e", "console.log('x'); ({a: 1})"]);
    let result: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(
        (&result["ok"], &result["result"]["a"], &result["logs"][0]),
        (&true.into(), &1.into(), &"x".into())
    );
    let failed = shell.run(&["js", "--json", "-e", "throw 1"]);
    let result: serde_json::Value = serde_json::from_str(&failed.stdout).unwrap();
    assert_eq!(
        (&result["error"]["code"], &result["error"]["message"]),
        (&"runtime_error".into(), &"1".into())
    );
    let types = shell.run(&["js", "--types"]);
    for line in [
        "declare namespace commands {",
        "declare namespace files {",
        "function jq(",
        "function sh(",
        "setTimeout",
    ] {
        assert!(types.stdout.contains(line), "{line}");
    }
}

#[test]
fn the_runner_speaks_the_protocol_in_lines() {
    let shell = Shell::sharing();
    let mut child = shell.command(&["js", "runner"]).spawn().unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let options =
        r#""options":{"timeoutMs":5000,"memoryLimitBytes":67108864,"maxLogLines":100,"maxLogChars":64000}"#;
    let mut next = || {
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        serde_json::from_str::<serde_json::Value>(&line).unwrap()
    };
    writeln!(input, "junk\n{{\"type\":\"nonsense\"}}\n{{\"type\":\"cancel\",\"id\":\"early\"}}").unwrap();
    for round in 0..3 {
        let tools =
            r#"[{"name":"t","types":"","tools":{"twice":{"safeName":"twice","originalName":"twice"}}}]"#;
        let code = "await t.twice(21)";
        writeln!(
            input,
            r#"{{"type":"execute","id":"e{round}","code":"{code}",{options},"providers":{tools}}}"#
        )
        .unwrap();
        assert_eq!(next()["type"], "started");
        let call = next();
        assert_eq!(
            (&call["type"], &call["providerName"], &call["input"]),
            (&"tool_call".into(), &"t".into(), &21.into())
        );
        writeln!(input, r#"{{"type":"tool_result","callId":{},"ok":true,"result":42}}"#, call["callId"])
            .unwrap();
        let done = next();
        assert_eq!((&done["type"], &done["ok"], &done["result"]), (&"done".into(), &true.into(), &42.into()));
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_session_keeps_globals_and_nothing_else_does() {
    let shell = Shell::new();
    let run = |args: &[&str]| shell.run(&[&["js"], args].concat());
    assert_eq!(run(&["--session", "s", "-e", "globalThis.n = 41; var kept = [1]; n"]).stdout, "41\n");
    assert_eq!(run(&["--session", "s", "-e", "n += 1; n"]).stdout, "42\n");
    assert_eq!(
        run(&["--session", "s", "-e", "(await commands.echo({args: [String(n)]})).stdout"]).stdout,
        "\"42\\n\"\n"
    );
    // A program that fails still leaves what it did; one that is ended does not.
    assert_eq!(run(&["--session", "s", "-e", "n = 50; throw 1"]).status, 1);
    assert_eq!(run(&["--session", "s", "--timeout", "200ms", "-e", "n = 60; while (true) {}"]).status, 124);
    assert_eq!(run(&["--session", "s", "-e", "n"]).stdout, "50\n");
    assert_eq!(run(&["--session", "other", "-e", "typeof n"]).stdout, "\"undefined\"\n");
    assert_eq!(run(&["-e", "typeof n"]).stdout, "\"undefined\"\n");
    assert_eq!(run(&["--session", "s", "--forget", "-e", "typeof n"]).stdout, "\"undefined\"\n");
    assert_eq!(run(&["--session", "s", "--forget"]).stdout, "forgot `s`\n");
    assert_eq!(run(&["--session", "s", "--forget"]).stdout, "there was no session `s`\n");
    assert_ne!(run(&["--forget", "-e", "1"]).status, 0);
    let bad = run(&["--session", "../x", "-e", "1"]);
    assert_ne!(bad.status, 0);
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

fn ours(shell: &Shell) -> Arc<ChildRunner> {
    Arc::new(
        ChildRunner::new(env!("CARGO_BIN_EXE_drydock"), ["js", "runner"]).env("DRYDOCK_HOME", shell.home()),
    )
}

#[test]
fn the_suite_holds_for_a_child_process() {
    let shell = Shell::sharing();
    // Compiled once beforehand: a child used once has the execution's time for its start as well.
    assert_eq!(shell.run(&["js", "-e", "1"]).status, 0);
    let time = Arc::new(TokioTime::default());
    let executor = Remote::new(ours(&shell), Arc::clone(&time) as _);
    runtime().block_on(async {
        for (title, case) in suite::CASES {
            println!("{title}");
            case(&suite::Setup { executor: &executor, time: &*time }).await;
        }
    });
}

#[test]
fn the_suite_holds_for_a_long_lived_child_and_a_thousand_executions() {
    let shell = Shell::sharing();
    assert_eq!(shell.run(&["js", "-e", "1"]).status, 0);
    let time = Arc::new(TokioTime::default());
    let settings = PoolSettings { runners_max: 1, ..PoolSettings::default() };
    let executor = Pool::new(ours(&shell), Arc::clone(&time) as _, settings);
    runtime().block_on(async {
        for (title, case) in suite::CASES {
            println!("{title}");
            case(&suite::Setup { executor: &executor, time: &*time }).await;
        }
        for round in 0..1_000 {
            let result = executor.execute(ExecuteRequest::new(format!("{round} + 1"))).await;
            assert_eq!(result.outcome.unwrap().unwrap().as_str(), (round + 1).to_string());
        }
    });
}

#[test]
fn a_tools_output_that_was_cut_off_says_so() {
    let code = r#"
        const line = await commands.sh({line: "echo begun >&2; yes"});
        const short = await commands.sh({line: "echo x"});
        [line.status, line.stdout.length, line.stderr, short.stderr]
    "#;
    let said = js(code);
    let cut = "drydock: output_limit: cut off after 4194304 bytes; write to a file, or less at a time";
    assert_eq!(said.stdout, format!("[125,4194304,\"begun\\n{cut}\\n\",\"\"]\n"), "{}", said.stderr);
    let code = "const out = await commands.yes({}); [out.status, out.stdout.length, out.stderr]";
    let said = Shell::sharing().run(&["js", "--output-max", "1MiB", "-e", code]);
    let cut = "drydock: yes: output_limit: cut off after 1048576 bytes; write to a file, or less at a time";
    assert_eq!(said.stdout, format!("[125,1048576,\"{cut}\\n\"]\n"), "{}", said.stderr);
}

/// A runner that says nothing and starts two that would outlive it; where it writes their numbers.
fn silent_runner(shell: &Shell) -> (String, std::path::PathBuf) {
    let pids = shell.path("pids");
    let script = format!("sleep 1000 & echo $! > {0}\nsleep 1000 & echo $! >> {0}\nwait\n", pids.display());
    (format!("sh {}", shell.file("runner.sh", script)), pids)
}

fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let until = Instant::now() + HANG;
    while !holds() {
        assert!(Instant::now() < until, "{what}");
        std::thread::yield_now();
    }
}

fn is_asleep(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.contains("(sleep)") && !stat.contains(") Z ")
}

#[test]
fn a_runner_ends_with_all_that_it_started() {
    let shell = Shell::sharing();
    let (runner, pids) = silent_runner(&shell);
    let started = || std::fs::read_to_string(&pids).unwrap_or_default();
    for interrupts in [0, 1, 2] {
        let _ = std::fs::remove_file(&pids);
        let timeout = if interrupts == 0 { "1" } else { "50" };
        let mut child =
            shell.command(&["js", "--timeout", timeout, "--runner", &runner, "-e", "1"]).spawn().unwrap();
        wait_until("it starts two", || started().lines().count() == 2);
        for _ in 0..interrupts {
            let pid = rustix::process::Pid::from_child(&child);
            // It may have ended after the first.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::INT);
        }
        let status = child.wait().unwrap().code();
        assert_eq!(status, Some(if interrupts == 0 { 124 } else { 130 }), "{interrupts} interrupts");
        wait_until("they outlive the runner", || !started().lines().any(is_asleep));
    }
}

#[test]
fn ctrl_c_ends_a_program_and_says_so() {
    let shell = Shell::sharing();
    let folder = shell.path("told");
    std::fs::create_dir(&folder).unwrap();
    let mount = format!("{}:/w:rw", folder.display());
    let program = "await files.write({path: '/w/ready', content: ''}); for (;;);";
    let mut command = shell.command(&["js", "--timeout", "50s", "--dir", &mount, "-e", program]);
    let child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
    wait_until("it is ready", || folder.join("ready").exists());
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT)
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(stderr.ends_with("drydock: interrupted\n"), "{stderr}");
}
