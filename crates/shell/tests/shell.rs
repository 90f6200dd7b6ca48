//! What the shell promises beyond bash: limits, refusals, confinement, records.

mod shell_room;

use drydock_abi::shell::Switches;
use drydock_shell::{Mode, ShellLimits, Touch, explain};
use proptest::prelude::*;
use shell_room::{room, room_until, room_with};

fn strict() -> shell_room::Room {
    room_with(Mode::default(), ShellLimits::default())
}

#[test]
fn what_expansion_gives_is_never_parsed_again() {
    let mut room = room();
    let ran = room.run("X='a; args pwned | cat > f'; args $X; Y='$(args no)`args no`'; echo \"$Y\" $Y");
    assert_eq!(ran.stdout, "a;\nargs\npwned\n|\ncat\n>\nf\n$(args no)`args no` $(args no)`args no`\n");
    assert_eq!(room.door.calls().len(), 1);
}

#[test]
fn eval_and_source_are_refused_unless_asked_for() {
    let mut room = strict();
    room.run("echo 'echo sourced' > s");
    for text in ["eval echo x", "source ./s", ". ./s"] {
        let ran = room.run(text);
        assert_eq!((ran.status, ran.stdout.as_str()), (126, ""), "{text}");
        assert!(ran.stderr.contains("--eval"), "{}", ran.stderr);
    }
}

#[test]
fn a_trap_takes_no_code_from_an_expansion() {
    let mut room = strict();
    let ran = room.run("t='x; args pwned'; trap \"echo $t\" EXIT; echo $?");
    assert_eq!(ran.stdout, "126\n");
    let ran = room.run("t=/tmp/file.1; trap \"echo gone $t\" EXIT; echo body");
    assert_eq!(ran.stdout, "body\ngone /tmp/file.1\n");
}

#[test]
fn unknown_names_stay_as_typed_where_that_was_asked_for() {
    let mode = Mode { literal_unknown: true, ..Mode::default() };
    let mut room = room_with(mode, ShellLimits::default());
    let ran = room.run("v=1; args $name \"$name . ${other}\" '$q' $v; [ -z \"$name\" ] && echo empty; x=$name; echo \"[$x]\"");
    assert_eq!(ran.stdout, "$name\n$name . \n$q\n1\nempty\n[]\n");
}

#[test]
fn who_writes_more_than_a_file_may_have_is_told_and_ends_with_153() {
    let cases = [
        ("ulimit -f 1; seq 2000 > big; echo $?", "153\n", "drydock: line 1: seq: File size limit exceeded\n"),
        (
            "ulimit -f 1; (printf '%02000d' 1 > big); echo $?",
            "153\n",
            "drydock: line 1: File size limit exceeded\n",
        ),
        (
            "ulimit -f 1; trap 'echo trapped' XFSZ; printf '%02000d' 1 > big; echo $?",
            "trapped\n1\n",
            "drydock: line 1: write error: file too large\n",
        ),
        ("ulimit -f 1; seq 100 > small; echo $?", "0\n", ""),
    ];
    for (text, stdout, stderr) in cases {
        let ran = room().run(text);
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), (stdout, stderr), "{text}");
    }
    let ended = room().run("ulimit -f 1; printf '%02000d' 1 > big; echo never");
    assert_eq!((ended.status, ended.stdout.as_str()), (153, ""));
}

#[test]
fn a_shell_has_so_many_descriptors_and_says_when_they_are_gone() {
    let words = "<(:) ".repeat(1_100);
    let ran = room().run(&format!("args {words}; echo never"));
    assert_eq!(ran.status, 1);
    assert_eq!(
        ran.stderr,
        "drydock: line 1: cannot make pipe for process substitution: Too many open files\n"
    );
}

#[test]
fn jobs_tells_of_no_process_substitution_and_wait_waits_for_the_last() {
    // A line ends when all of it has: whoever starts what never ends must end it.
    let line = "exec 3< <(sleep forever); p=$!; jobs; jobs -p; sleep 1 & wait; echo waited; kill $p";
    let ran = room().run(line);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, "waited\n"), "{}", ran.stderr);
    let ran = room().run("exec 3< <(echo x; exit 4); p=$!; kill -0 $p && echo there; wait; wait $p; echo $?");
    assert_eq!(ran.stdout, "there\n4\n", "{}", ran.stderr);
    let ran = room().run("exec 3< <(sleep forever); p=$!; kill $p; wait $p; echo $?");
    assert_eq!(ran.stdout, "143\n", "{}", ran.stderr);
}

#[test]
fn a_shell_begins_with_the_options_that_it_was_given() {
    let switches =
        Switches { errexit: true, nounset: true, noglob: true, pipefail: true, ..Switches::default() };
    let mut room = room_with(Mode { switches, ..Mode::default() }, ShellLimits::default());
    let ran = room.run("echo $- *; set -o | grep pipefail; false | true; echo never");
    assert_eq!((ran.status, ran.stdout.as_str()), (1, "efhuBc *\npipefail       \ton\n"), "{}", ran.stderr);
}

#[test]
fn names_of_the_text_are_never_kept_as_typed() {
    let mode = Mode { literal_unknown: true, eval_allowed: true, ..Mode::default() };
    let cases = [
        ("if false; then x=1; fi; echo \"[$x]\"", "[]\n"),
        ("unset x; echo \"[$x]\"", "[]\n"),
        ("f() { local x; echo \"[$x]\"; }; f", "[]\n"),
        ("echo a | read x; echo \"[$x]\"", "[]\n"),
        ("for x in; do :; done; echo \"[$x]\"", "[]\n"),
        ("false && ((n++)); echo \"[$n]\"", "[]\n"),
        ("(x=1); echo \"[$x]\"", "[]\n"),
        ("echo \"[$1] [$*] [${x}] [${x:-d}]\"", "[] [] [] [d]\n"),
        ("eval 'false && y=1'; echo \"[$y]\"", "[]\n"),
        ("echo \"[$OPTARG] [$FUNCNAME] [$REPLY]\"", "[] [] []\n"),
        ("args \".[] | select(.a == $x)\" $y", ".[] | select(.a == $x)\n$y\n"),
    ];
    for (text, want) in cases {
        let ran = room_with(mode, ShellLimits::default()).run(text);
        assert_eq!(ran.stdout, want, "{text}");
    }
    let ran = room_with(mode, ShellLimits::default()).run("set -u; echo $nope; echo after");
    assert_eq!((ran.status, ran.stdout.as_str()), (127, ""));
}

#[test]
fn loops_and_growing_values_are_not_quadratic() {
    let started = std::time::Instant::now();
    let ran = room()
        .run("s=; n=0; for i in $(seq 1 20000); do s+=x; n=$((n+i)); a+=($i); done; echo ${#s} $n ${#a[@]}");
    assert_eq!(ran.stdout, "20000 200010000 20000\n");
    // A copy of all variables for each command would take minutes.
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

#[test]
fn redirections_stay_inside() {
    let mut room = strict();
    for text in
        ["echo x > /etc/passwd", "echo x > ../../x", "cat < /nowhere/y", "cat < ../home/../../etc/shadow"]
    {
        let ran = room.run(text);
        assert_eq!(ran.status, 1, "{text}");
        assert!(ran.stderr.contains("outside_sandbox"), "{text}: {}", ran.stderr);
    }
    let ran = room.run("echo x > /w; echo y > $'a\\0b'; echo z > ''");
    assert!(ran.stderr.contains("Is a directory"), "{}", ran.stderr);
    assert_eq!(ran.status, 1);
}

#[test]
fn statuses_tell_not_found_from_denied_and_from_limits() {
    let cases = [
        ("nosuch", 127, "drydock: line 1: nosuch: command not found\n"),
        ("denied", 126, "drydock: line 1: denied: command `denied` is not in the granted list\n"),
        ("limit time", 124, "drydock: line 1: limit: timed_out: 30 s have passed; --timeout allows more\n"),
        (
            "limit fuel",
            125,
            "drydock: line 1: limit: out_of_fuel: 5000000000 instructions are used up; --fuel allows more\n",
        ),
        (
            "limit memory",
            125,
            "drydock: line 1: limit: out_of_memory: the limit is 64.0 MiB, and 384.0 MiB for the whole line; --memory and --line-memory allow more\n",
        ),
        ("trap-it", 125, "drydock: line 1: trap-it: trapped: unreachable\n"),
        ("fail 7", 7, ""),
        ("nosuch || fail 3", 3, "drydock: line 1: nosuch: command not found\n"),
        ("/bin/fail 9", 9, ""),
        ("./nosuch", 127, "drydock: line 1: ./nosuch: No such file or directory\n"),
    ];
    for (text, status, stderr) in cases {
        let ran = strict().run(text);
        assert_eq!((ran.status, ran.stderr.as_str()), (status, stderr), "{text}");
    }
}

#[test]
fn errors_name_the_construct_and_the_column() {
    let cases = [
        ("echo 'a", "line 1, column 6: the single quote is never closed"),
        ("echo \"a", "line 1, column 6: the double quote is never closed"),
        ("|", "line 1, column 1: syntax error near unexpected token `|`"),
        ("echo a >", "line 1, column 9: syntax error: unexpected end, a name after `>` is missing"),
        ("coproc", "line 1, column 7: syntax error: unexpected end, a command is missing"),
        ("echo; select $x in a; do :; done", "line 1, column 14: `$x` is not a name `select` can assign to"),
        ("if true; then", "unexpected end"),
        ("echo $(echo", "line 1, column 6: `$(` is never closed"),
        ("echo ${x", "line 1, column 6: `${` is never closed"),
        ("echo )", "line 1, column 6: syntax error near unexpected token `)`"),
        ("a\nfi", "line 2, column 1: syntax error near unexpected token `fi`"),
        ("{ echo", "`{` is never closed"),
        ("for $x in a; do :; done", "line 1, column 5: `$x` is not a name"),
        ("echo `echo", "line 1, column 6: the backquote is never closed"),
    ];
    for (text, want) in cases {
        let ran = strict().run(text);
        assert_eq!(ran.status, 2, "{text}");
        assert!(ran.stderr.contains(want), "{text}: {}", ran.stderr);
    }
    let ran = strict().run("fg %1");
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("fg: no job control"), "{}", ran.stderr);
}

#[test]
fn hostile_sizes_are_clear_errors() {
    let nested = "echo ".to_owned() + &"$(".repeat(300_000);
    let parens = "(".repeat(500_000);
    let arith = "$((".repeat(300_000);
    let braces = "${x:-".repeat(200_000);
    let groups = "{ ".repeat(400_000);
    let ifs = "if ".repeat(300_000);
    let quotes = "\"$(".repeat(300_000);
    let ticks = "`".repeat(500_000);
    let conds = format!("[[ {}", "( ".repeat(400_000));
    let big = format!("echo {}", "x".repeat(10 << 20));
    let exploding = "echo {1..9}{1..9}{1..9}{1..9}{1..9}{1..9}{1..9}{1..9}";
    let stages = vec!["cat"; 10_000].join("|");
    for text in [&nested, &parens, &arith, &braces, &groups, &ifs, &quotes, &conds, &big, exploding] {
        let ran = strict().run(text);
        assert_eq!(ran.status, 2, "{}", &text[..20]);
        assert!(!ran.stderr.is_empty());
    }
    let ran = strict().run(&ticks);
    assert!(!ran.report.exited);
    let ran = strict().run(&stages);
    assert_eq!(ran.status, 125);
    assert_eq!(ran.stderr, "drydock: limit: the pipeline has 10000 stages; the limit is 1000\n");
}

#[test]
fn dense_text_is_refused_before_its_tree_is_large() {
    for dense in [
        "a|",
        "a;",
        "a&",
        "a&&",
        "$a",
        "${a}",
        "(a);",
        "{ a;};",
        "$(a)",
        "`a`",
        "<(a)",
        "((a));",
        "$((a))",
        "if a;then a;fi;",
        "a()(a);",
        "[[ a&&a ]];",
    ] {
        // Incomplete at its end, so that only a limit can speak before that.
        let text = format!("echo {} (", dense.repeat((1 << 20) / dense.len() - 4));
        let text = if dense.ends_with([';', '|', '&']) { text.replacen("echo ", "", 1) } else { text };
        let ran = strict().run(&text);
        assert_eq!(ran.status, 2, "{dense}");
        assert!(ran.stderr.contains("take more than 64 MiB; split it"), "{dense}: {}", ran.stderr);
    }
    let words = "w".repeat(9) + " ";
    let ran = strict().run(&format!("x=({}); echo ${{#x[@]}}", words.repeat(100_000)));
    assert_eq!(ran.stdout, "100000\n", "{}", ran.stderr);
}

#[test]
fn a_long_line_is_read_without_counting_its_columns_for_each_command() {
    let line = format!(": {};{}", "x".repeat(875_000), ":;".repeat(50_000));
    let started = std::time::Instant::now();
    for _ in 0..20 {
        assert!(drydock_shell::parses(&line));
    }
    // Counted anew, they took a minute; half a second is usual.
    assert!(started.elapsed() < std::time::Duration::from_secs(30), "{:?}", started.elapsed());
}

#[test]
fn printf_refuses_figures_beyond_its_limit_in_words() {
    for (line, what) in [
        ("printf %999999999d 1", "width 999999999"),
        ("printf '%*s' -99999999 x", "width 99999999"),
        ("printf %99999999999999999999s x", "width 9223372036854775807"),
        ("printf '%.99999999f' 1", "precision 99999999"),
        ("printf '%.*d' 99999999 1", "precision 99999999"),
    ] {
        let ran = strict().run(line);
        let said = format!("drydock: line 1: printf: {what} is more than the limit of 1048576\n");
        assert_eq!((ran.status, ran.stdout.as_str()), (1, ""), "{line}");
        assert!(ran.stderr.ends_with(&said[said.find("printf").unwrap()..]), "{line}: {}", ran.stderr);
    }
    let ran = strict().run("printf '[%.99999999s]' abc; printf '[%5s]' abc");
    assert_eq!((ran.status, ran.stdout.as_str()), (0, "[abc][  abc]"));
    let ran = strict().run(&format!("printf '{}'", "%1000000s".repeat(1000)));
    assert_eq!(ran.status, 125, "{}", ran.stderr);
    assert!(ran.stderr.contains("printf gave more than"), "{}", ran.stderr);
}

#[test]
fn hostile_work_ends_as_a_limit() {
    let limits = || ShellLimits {
        steps_max: 200_000,
        variable_bytes_max: 1 << 20,
        expansion_bytes_max: 1 << 20,
        ..ShellLimits::default()
    };
    let cases = [
        ("f(){ f|f& };f", ""),
        (":(){ :|:& };:", ""),
        ("f(){ f; }; f", "functions are nested deeper than 1000"),
        ("while :; do :; done", "the line took more than 200000 steps"),
        ("for ((;;)); do x=1; done", "steps"),
        ("x=a; while :; do x=$x$x; done", "bytes"),
        ("x=$(yes)", "a command substitution gave more than"),
        ("f(){ (f); }; f", "subshells are nested deeper than 64"),
        ("f(){ echo $(f); }; f", "nested deeper"),
        ("i=0; while :; do a[i++]=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done", ""),
        ("printf -v x '%999999999s' a; while :; do x+=$x; done", ""),
        ("trap 'while :; do :; done' EXIT", "steps"),
    ];
    for (text, want) in cases {
        let ran = room_with(Mode::default(), limits()).run(text);
        assert_eq!(ran.status, 125, "{text}: {}", ran.stderr);
        let limit = ran.report.limit.unwrap_or_default();
        assert!(limit.contains(want), "{text}: {limit}");
    }
}

#[test]
fn a_deadline_hook_ends_the_line() {
    let mut room = room_until(Some("the time is up"), Mode::default(), ShellLimits::default());
    let ran = room.run("while :; do :; done");
    assert_eq!(ran.report.limit.as_deref(), Some("the time is up"));
}

#[test]
fn downstream_closing_stops_upstream() {
    let ran = strict().run("yes | head -n 1; while echo y; do :; done | head -n 2; echo ${PIPESTATUS[0]}");
    assert_eq!(ran.stdout, "y\ny\ny\n141\n");
}

#[test]
fn stages_are_recorded() {
    let ran = strict().run("echo abc | tr a-z A-Z | cat; nosuch; fail 2");
    let rows: Vec<(&str, i32, &str, u64)> = ran
        .report
        .stages
        .iter()
        .map(|it| (it.command.as_str(), it.status, it.outcome.as_str(), it.stdout_bytes))
        .collect();
    assert_eq!(
        rows,
        [
            ("echo", 0, "exited", 0),
            ("tr", 0, "exited", 4),
            ("cat", 0, "exited", 4),
            ("nosuch", 127, "unknown_command", 0),
            ("fail", 2, "exited", 0)
        ]
    );
    assert_eq!(ran.report.stages_total, 5);
}

#[test]
fn prefix_assignments_and_exports_are_the_commands_environment() {
    let mut room = strict();
    let ran =
        room.run("A=1; export B=2; C=3 env; D=4 E='x y' env | grep -e '=x y'; cd /tmp; env | grep -e PWD");
    assert_eq!(ran.stdout, "B=2\nC=3\nHOME=/home\nPATH=/usr/bin:/bin\nPWD=/w\nE=x y\nOLDPWD=/w\nPWD=/tmp\n");
}

#[test]
fn variables_persist_between_lines() {
    let mut room = strict();
    room.run("x=1; f() { echo f$x; }; cd /tmp; set -u");
    let ran = room.run("f; pwd; y=$((x+1))");
    assert_eq!(ran.stdout, "f1\n/tmp\n");
    assert_eq!(room.shell.variable("y"), Some("2"));
    assert!(room.run("exit 4").report.exited);
}

#[test]
fn explain_tells_without_running() {
    let plan = explain(
        "f() { sort -u; }; jq .a < in.json | f > \"out $x\" && $tool $(curl u) 2>> log; eval x",
        &ShellLimits::default(),
    )
    .unwrap();
    let names: Vec<&str> = plan.commands.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["sort", "jq", "f", "curl", "$tool", "eval", "x"]);
    assert_eq!(
        plan.files,
        [(Touch::Reads, "in.json".into()), (Touch::Writes, "out $x".into()), (Touch::Appends, "log".into())]
    );
    assert_eq!(plan.grants.iter().map(String::as_str).collect::<Vec<_>>(), ["curl", "jq", "sort", "x"]);
    assert!(plan.open_ended && plan.evaluates);
    assert!(explain("echo 'x", &ShellLimits::default()).unwrap_err().incomplete);
}

#[test]
fn nothing_outlives_the_line() {
    let mut room = strict();
    let ran = room.run("{ read x; echo late; } < <(echo) & echo first");
    assert_eq!(ran.stdout, "first\nlate\n");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_the_parser_or_the_evaluator_panic(text in "[ -~\n\t]{0,80}") {
        let limits = ShellLimits { steps_max: 2_000, expansion_bytes_max: 1 << 16, ..ShellLimits::default() };
        room_with(Mode::default(), limits).run(&text);
    }

    #[test]
    fn no_shell_like_text_makes_them_panic(parts in prop::collection::vec(prop::sample::select(vec![
        "$x", "${x", "}", "$(", ")", "((", "))", "`", "\"", "'", ";", "&", "|", "&&", "||", "\n", " ", "if ", "then ",
        "fi ", "for ", "in ", "do ", "done ", "while ", "case ", "esac ", ";;", "x=", "a[1]=", "(", "{ ", "echo ", "cat ",
        "<<E\n", "E\n", ">", "<", ">>", "2>&1", "[[ ", "]] ", "=~ ", "*", "?", "[", "]", "~", "!", "#", "%", "/", ":-",
        "@", "$'", "\\", "declare -A m ", "local ", "read a ", "printf %d ", "é", "$((", "1", "+", "x", "f() ",
        "-1", "${a[@]", ":1:2", "^^", ",,", "break ", "return ", "exit ", "trap x EXIT", "set -e ", "wait ", "unset x ",
    ]), 0..30)) {
        let limits = ShellLimits { steps_max: 2_000, expansion_bytes_max: 1 << 16, tasks_max: 100, ..ShellLimits::default() };
        room_with(Mode::default(), limits).run(&parts.concat());
    }
}

#[test]
fn a_shell_inside_has_only_what_is_exported() {
    let mut room = room();
    let ran = room.run(
        "export seen=1; hidden=2; f() { :; }
         bash -c 'echo \"[$seen$hidden]\" $0 $1 $#; type f || echo no f; exit 4' zero one two; echo $?
         printf 'echo \"$0:$1\"; cd /; x=9\n' > s.sh; bash s.sh arg; chmod +x s.sh; ./s.sh other; echo \"[$x]\" $PWD
         echo 'echo from stdin' | sh; bash -e -c 'false; echo never'; echo $?; bash -n s.sh; bash -eu -o pipefail -c 'false | true; echo on' ; /bin/sh -c 'echo path'
         bash nosuch.sh; echo $?",
    );
    assert_eq!(
        ran.stdout, "[1] zero one 2\nno f\n4\ns.sh:arg\n./s.sh:other\n[] /w\nfrom stdin\n1\npath\n127\n",
        "{}",
        ran.stderr
    );
    let mut strict = room_with(Mode::default(), ShellLimits::default());
    let refused = strict.run("bash -c 'echo no'; echo $?; echo 'echo no' > s; ./s; echo $?");
    assert_eq!(refused.stdout, "126\n126\n");
    assert!(refused.stderr.contains("--eval"), "{}", refused.stderr);
}

#[test]
fn what_a_substitution_makes_is_bounded_before_it_is_made() {
    let limits = ShellLimits { expansion_bytes_max: 100_000, ..ShellLimits::default() };
    let long = "x=$(printf %10000s)";
    let cases = [
        "y=${x//?/$x}",
        "y=${x// /$x}",
        "p=$(printf '&%.0s' {1..1000}); y=${x/*/$p}",
        "y=${x/*/&&&&&&&&&&&&&&&&&&&&}",
        "a=(\"$x\" \"$x\"); y=\"${a[@]//?/12345678}\"",
    ];
    for text in cases {
        let mut room = room_with(Mode::default(), limits.clone());
        let ran = room.run(&format!("{long}; {text}; echo ${{#y}}"));
        assert_eq!((ran.status, ran.stdout.as_str()), (125, ""), "{text}: {}", ran.stderr);
        assert!(ran.stderr.contains("more than 100000 bytes"), "{text}: {}", ran.stderr);
    }
    let mut room = room_with(Mode::default(), limits);
    let ran = room.run(&format!("{long}; y=${{x// /12345678}}; z=${{x/ /&&}}; echo ${{#y}} ${{#z}}"));
    assert_eq!(ran.stdout, "80000 10001\n");
}

#[test]
fn a_pattern_that_takes_too_long_ends_the_line() {
    let cases = [
        "y=${x//*( )b/}",
        "y=${x%%*( )b}",
        "[[ $x == *!(*!(*z)) ]]",
        "case $x in *!(*!(*z)) ) echo hit;; *) echo miss;; esac",
    ];
    for text in cases {
        let ran = strict().run(&format!("x=$(printf %20000s); {text}; echo after"));
        assert_eq!((ran.status, ran.stdout.as_str()), (125, ""), "{text}: {}", ran.stderr);
        assert!(ran.stderr.contains("a pattern takes too long"), "{text}: {}", ran.stderr);
    }
}

#[test]
fn the_last_index_of_an_array_has_no_next_one() {
    let cases = [
        ("a[9223372036854775807]=1; a+=(2)", "bad array subscript"),
        ("a[9223372036854775806]=1; a+=(2 3)", "bad array subscript"),
        ("a=([9223372036854775807]=1 2)", "bad array subscript"),
        ("mapfile -O 9223372036854775807 a < <(echo x; echo y)", "invalid array origin"),
    ];
    for (text, want) in cases {
        let ran = room().run(text);
        assert!(ran.stderr.contains(want), "{text}: {}", ran.stderr);
    }
    let ran =
        room().run("a[9223372036854775807]=1; echo ${a[-1]} ${a[@]: -1}; a[-1]=3; unset 'a[-1]'; echo $?");
    assert_eq!(ran.stderr, "");
    assert!(ran.stdout.ends_with("0\n"), "{}", ran.stdout);
}

#[test]
fn the_words_of_a_command_are_weighed_together() {
    let limits =
        ShellLimits { variable_bytes_max: 1 << 20, expansion_bytes_max: 1 << 20, ..ShellLimits::default() };
    let words = "\"$x\" ".repeat(5);
    for text in [format!(": {words}"), format!("for i in {words}; do :; done"), format!("a=({words})")] {
        let ran = room_with(Mode::default(), limits.clone())
            .run(&format!("x=$(printf %500000s); {text}; echo after"));
        assert_eq!((ran.status, ran.stdout.as_str()), (125, ""), "{text}: {}", ran.stderr);
    }
}

#[test]
fn functions_made_by_eval_are_weighed() {
    let limits = ShellLimits { text_bytes_max: 1_000, ..ShellLimits::default() };
    let mut room = room_with(Mode { eval_allowed: true, ..Mode::default() }, limits);
    let ran = room.run("x=$(printf %500s :); for i in {1..20}; do eval \"f$i() { $x; }\"; done; echo after");
    assert_eq!((ran.status, ran.stdout.as_str()), (125, ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("the functions have more than 4000 bytes"), "{}", ran.stderr);
}

#[test]
fn long_chains_and_wide_braces_are_refused_before_they_are_built() {
    let cases = [
        (format!("echo $(({}))", vec!["1"; 200_000].join("+")), "more than 2000 operators"),
        (format!("echo {}{{1..200}}", "a".repeat(500_000)), "brace expansion makes more than"),
        (format!("echo {{{},b}}{{1..20}}", "a".repeat(500_000)), "brace expansion makes more than"),
        (format!("[[ {} ]]", vec!["1"; 100_000].join(" && ")), "in a row"),
        (format!("[[ {} ]]", vec!["1"; 100_000].join(" || ")), "in a row"),
    ];
    for (text, want) in cases {
        let ran = strict().run(&text);
        assert!(ran.stderr.contains(want), "{}: {:.200}", &text[..20], ran.stderr);
    }
    let ran = strict().run(&format!("echo $(({})) {{1..5000}} | wc -w", vec!["1"; 900].join("+")));
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
}

#[test]
fn what_names_itself_ends() {
    let lines = [
        "declare -n r='a[$r]'; a=(1); echo \"[$r]\"; declare -n s='a[s]'; echo \"[$s]\"; echo $((s))",
        "p='${p@P}'; echo \"${#p}\" >/dev/null; : \"${p@P}\"; echo done",
        "n=0; trap 'n=$((n+1)); [ $n -lt 50 ] && kill -USR1 $$' USR1; kill -USR1 $$; echo $n",
        "shopt -s expand_aliases\nalias a='a a ' b='c' c='b'\na a 2>/dev/null\nb 2>/dev/null\necho ended",
    ];
    for line in lines {
        let mut room = room();
        let ran = room.run(line);
        assert!(!ran.stdout.is_empty(), "{line}: {}", ran.stderr);
    }
}

#[test]
fn a_limit_inside_a_pipeline_is_not_lost() {
    let mut room = strict();
    let ran = room.run("limit memory | cat; echo $?");
    assert_eq!(ran.stdout, "125\n");
    let said = "limit: out_of_memory: the limit is 64.0 MiB, and 384.0 MiB for the whole line; \
                --memory and --line-memory allow more";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    let rows = [
        // What nobody looked at counts, however deep it was and whatever came after it.
        ("limit time | cat", 124),
        ("limit fuel | cat | cat", 125),
        ("trap-it | cat", 125),
        ("{ limit memory; echo x; } | cat > /dev/null", 125),
        ("(limit memory | cat) | cat", 125),
        ("shopt -s lastpipe; limit memory | cat", 125),
        ("x=$(limit memory | cat)", 125),
        ("if limit memory | cat; then exit 3; fi; exit 4", 4),
        ("set -o pipefail; limit memory | cat", 125),
        // What the script looks at is its own affair.
        ("{ limit memory || echo caught; } | cat > /dev/null", 0),
        ("limit memory | cat || true", 0),
        ("yes | head -n 1 > /dev/null", 0),
    ];
    for (text, status) in rows {
        assert_eq!(strict().run(text).status, status, "{text}");
    }
    assert!(room.run("limit fuel | cat").stderr.contains("--fuel allows more"));
    assert!(room.run("limit time | cat").stderr.contains("--timeout allows more"));
}

#[test]
fn messages_begin_with_the_script_and_its_line_and_never_with_bash() {
    let mut room = room();
    room.run("printf 'echo one\\n\\nnosuch\\n' > s.sh; printf 'x\\nnosuch\\n' > lib.sh");
    let rows = [
        ("bash s.sh", "s.sh: line 3: nosuch: "),
        ("echo; nosuch", "drydock: line 1: nosuch: "),
        ("bash -c nosuch", "drydock: line 1: nosuch: "),
        ("bash -c nosuch me", "me: line 1: nosuch: "),
        ("source ./lib.sh", "./lib.sh: line 2: nosuch: "),
    ];
    for (text, start) in rows {
        let said = room.run(text).stderr;
        assert!(said.lines().any(|it| it.starts_with(start)), "{text}: {said}");
        assert!(!said.contains("bash:"), "{text}: {said}");
    }
}

#[test]
fn a_name_that_is_none_says_what_was_perhaps_meant() {
    let mut room = strict();
    let rows = [
        ("sorrt", "sorrt: command not found; did you mean `sort`?"),
        ("frobnicate", "frobnicate: command not found\n"),
        ("perl x.pl", "perl: command not found; `perl` is in no catalog yet"),
        ("docker ps", "docker: command not found; `docker` is in no catalog yet"),
    ];
    for (text, want) in rows {
        let ran = room.run(text);
        assert_eq!(ran.status, 127, "{text}");
        assert!(ran.stderr.contains(want) && ran.stderr.lines().count() == 1, "{text}: {}", ran.stderr);
    }
}

#[test]
fn builtins_are_stages_too() {
    let report =
        strict().run("echo a | cat; local_fails=1; cd /nosuch; f() { local x=1; }; f; exit 3").report;
    let stages: Vec<_> =
        report.stages.iter().map(|it| (it.command.as_str(), it.builtin, it.status)).collect();
    assert_eq!(
        stages,
        [("echo", true, 0), ("cat", false, 0), ("cd", true, 1), ("local", true, 0), ("exit", true, 3)]
    );
}

#[test]
fn a_file_without_the_bit_is_no_program() {
    let mut room = strict();
    room.run("echo 'echo ran' > s.sh");
    let ran = room.run("./s.sh");
    assert_eq!((ran.status, ran.stdout.as_str()), (126, ""));
    assert!(ran.stderr.contains("Permission denied"), "{}", ran.stderr);
    let ran = room.run("[ -x s.sh ] || echo not yet; chmod +x s.sh; [ -x s.sh ] && ./s.sh");
    assert_eq!((ran.status, ran.stdout.as_str()), (0, "not yet\nran\n"), "{}", ran.stderr);
    let ran = room.run("umask 077; echo x > private; umask");
    assert_eq!(ran.stdout, "0077\n");
    let private = drydock_contract::port::TreePath::new("w/private").unwrap();
    let follow = drydock_contract::port::Follow::Yes;
    let stat = drydock_contract::port::Files::stat(&*room.files, &private, follow).unwrap();
    assert_eq!(stat.mode.bits(), 0o600);
}
