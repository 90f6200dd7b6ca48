//! Which scripts a line may run: those that were there before it, and that nothing in it wrote.

mod shell_room;

use drydock_shell::{Mode, ShellLimits};
use shell_room::{Room, room_with};

/// A shell without `--eval`, and a script of the line before.
fn with_script() -> Room {
    let mut room = room_with(Mode::default(), ShellLimits::default());
    room.run("echo 'echo ran \"$0\" \"$@\"' > s.sh; chmod +x s.sh; mkdir d; echo 'echo deep' > d/s.sh");
    room.run("echo 'echo evil' > data; ln -s s.sh link; ln -s data datalink");
    room
}

#[test]
fn a_script_that_was_there_before_the_line_runs() {
    let rows = [
        ("bash s.sh a 'b c'", "ran s.sh a b c\n"),
        ("sh ./s.sh", "ran ./s.sh\n"),
        ("./s.sh x", "ran ./s.sh x\n"),
        ("bash -eu s.sh", "ran s.sh\n"),
        ("cd d; bash s.sh", "deep\n"),
        ("bash link", "ran link\n"),
        ("bash d/../s.sh", "ran d/../s.sh\n"),
        ("bash /w/s.sh", "ran /w/s.sh\n"),
        ("cat s.sh > /dev/null; bash s.sh", "ran s.sh\n"),
        ("chmod +x d/s.sh; d/s.sh", "deep\n"),
        ("echo x > other; bash s.sh", "ran s.sh\n"),
        ("bash --version > /dev/null; echo $?", "0\n"),
        ("for i in 1 2; do bash s.sh $i; done", "ran s.sh 1\nran s.sh 2\n"),
    ];
    for (text, want) in rows {
        let ran = with_script().run(text);
        assert_eq!((ran.status, ran.stdout.as_str()), (0, want), "{text}: {}", ran.stderr);
    }
}

#[test]
fn a_script_that_the_line_wrote_or_put_there_is_refused() {
    let rows = [
        // New, changed, emptied, appended to, by the shell and by a command.
        "echo 'echo evil' > new.sh; bash new.sh",
        "echo 'echo evil' >> s.sh; bash s.sh",
        "echo 'echo evil' > s.sh; ./s.sh",
        "echo 'echo evil' | tee s.sh > /dev/null; bash s.sh",
        "touch s.sh; bash s.sh",
        "exec 5<> s.sh; echo 'echo evil' >&5; bash s.sh",
        "rm s.sh; echo 'echo evil' > s.sh; bash s.sh",
        // Written under another name.
        "echo 'echo evil' > link; bash s.sh",
        "ln s.sh hard; echo 'echo evil' > hard; bash s.sh",
        // Moved or linked there.
        "mv data s.sh; bash s.sh",
        "mv data x.sh; bash x.sh",
        "echo 'echo evil' > w; mv w s.sh; bash s.sh",
        "ln data x.sh; bash x.sh",
        "ln -s data x.sh; bash x.sh",
        "rm link; ln -s data link; bash link",
        // A directory on the way.
        "mkdir e; echo 'echo evil' > e/s.sh; mv d old; mv e d; bash d/s.sh",
        "mv d e; bash e/s.sh",
        "ln -s d e; bash e/s.sh",
        "mv d e; cd e; bash s.sh",
        // While it is being read, or long before.
        "(sleep 0; echo 'echo evil' > s.sh) & wait; bash s.sh",
        // Text that is no file.
        "bash -c 'echo evil'",
        "echo 'echo evil' | bash",
        "bash -s < s.sh",
        "bash < s.sh",
        "bash /dev/stdin <<< 'echo evil'",
        "bash <(echo 'echo evil')",
        "exec 3< data; bash /dev/fd/3",
        "f=$(cat data); sh -c \"$f\"",
        "bash -i --rcfile new.sh -c true",
    ];
    for text in rows {
        let mut room = with_script();
        let ran = room.run(&format!("{text}\necho status $?"));
        assert_eq!(ran.stdout, "status 126\n", "{text}: {}", ran.stderr);
        assert!(ran.stderr.contains("pass --eval to allow it"), "{text}: {}", ran.stderr);
    }
}

#[test]
fn a_descriptor_of_an_earlier_line_counts_for_the_line_that_writes_it() {
    let mut room = with_script();
    room.run("exec 3>> s.sh");
    assert_eq!(room.run("bash s.sh").stdout, "ran s.sh\n");
    assert_eq!(room.run("echo 'echo evil' >&3; bash s.sh").status, 126);
    // In the line after that it was there before.
    assert_eq!(room.run("bash s.sh").stdout, "ran s.sh\nevil\n");
}

#[test]
fn with_eval_every_text_runs_and_without_scripts_none() {
    let mut open = room_with(Mode { eval_allowed: true, ..Mode::default() }, ShellLimits::default());
    assert_eq!(open.run("echo 'echo new' > n.sh; bash n.sh; bash -c 'echo text'").stdout, "new\ntext\n");
    let mut shut = room_with(Mode { scripts_allowed: false, ..Mode::default() }, ShellLimits::default());
    shut.run("echo 'echo ran' > s.sh");
    assert_eq!(shut.run("bash s.sh").status, 126);
}

#[test]
fn a_script_inside_a_script_follows_the_same_rule() {
    let mut room = with_script();
    room.run("echo 'bash s.sh inner; echo \"echo evil\" > made.sh; bash made.sh; eval echo evil' > outer.sh");
    let ran = room.run("bash outer.sh");
    assert_eq!((ran.status, ran.stdout.as_str()), (126, "ran s.sh inner\n"), "{}", ran.stderr);
}
