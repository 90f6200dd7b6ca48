//! The everyday vocabulary with the real binary: many files, large ones, modes, and other mounts.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use common::{Said, Shell};

fn sh(line: &str) -> Said {
    Shell::sharing().run(&["sh", "-c", line])
}

#[test]
fn files_are_closed_as_they_are_done() {
    let shell = Shell::sharing();
    let folder = shell.path("many");
    fs::create_dir(&folder).unwrap();
    for at in 0..3000 {
        fs::write(folder.join(format!("f{at:04}")), format!("{at} b\n")).unwrap();
    }
    let line = "cat * | wc -l; cat -n * | wc -l; sort * | wc -l; sort -m * | wc -l; cut -d' ' -f2 * | uniq -c; paste -s * | wc -l
        head -qn1 * | wc -l; tail -qn1 * | wc -l; wc -l * | tail -n1; tac * | wc -l; rev * | wc -l; nl * | wc -l; md5sum * | wc -l; od -An -c * | wc -w
        less * | wc -l; fold * | wc -l; cksum * | wc -l";
    let dir = format!("{}:/many:ro", folder.display());
    let said = shell.run(&["sh", "--dir", &dir, "-c", &format!("cd /many; {line}")]);
    let want = "3000\n3000\n3000\n3000\n   3000 b\n3000\n3000\n3000\n 3000 total\n3000\n3000\n3000\n3000\n16890\n12000\n3000\n3000\n";
    assert_eq!((said.stdout.as_str(), said.stderr.as_str()), (want, ""));
}

#[test]
fn nothing_that_sort_is_asked_for_makes_it_panic() {
    let line = "printf '1\\n3\\n' > a; printf '2\\n4\\n' > b; sort -m a b | tr '\\n' ' '; sort -c -R a; echo $?; sort -mu a a | wc -l
        sort -C -k1n b; echo $?; sort -R a | wc -l; sort --parallel=4 -S 1% a | wc -l; sort -k 0 a 2>&1; echo $?; sort /nope 2>&1; echo $?";
    let said = sh(line);
    let lines: Vec<&str> = said.stdout.lines().collect();
    assert!(matches!(lines[0], "1 2 3 4 0" | "1 2 3 4 1"), "{}", said.stdout);
    assert_eq!(lines[1..5], ["2", "0", "2", "2"], "{}", said.stdout);
    assert!(
        said.stdout.contains("field number is zero") && said.stdout.contains("cannot read: /nope"),
        "{}",
        said.stdout
    );
    assert!(!said.stderr.contains("panick") && !said.stdout.contains("panick"), "{}", said.stderr);
}

#[test]
fn whoever_stops_reading_help_hears_nothing_of_it() {
    let line = "for it in sort ls cp nl od wc head tail date sha256sum base64 fold ptx ln rm printf numfmt; do wbox $it --help | head -n1 > /dev/null; done";
    let said = sh(line);
    assert_eq!((said.stdout.as_str(), said.stderr.as_str()), ("", ""));
}

#[test]
fn a_move_to_another_mount_copies_and_removes() {
    let shell = Shell::sharing();
    let folder = shell.path("data");
    fs::create_dir(&folder).unwrap();
    let line =
        "mkdir -p t/u; echo one > t/f; echo two > t/u/g; chmod 751 t/f; touch -d @86400 t/u/g; ln -s f t/l
        mv t /data/t && test ! -e t && stat -c '%a %Y' /data/t/u/g && cat /data/t/l
        mv /data/t/f . && cat f && stat -c %a f && mv f /data/t/u/g && cat /data/t/u/g
        mv /data /elsewhere; echo $?";
    let said = shell.run(&[
        "sh",
        "--dir",
        &format!("{}:/data:rw", folder.display()),
        "-c",
        &format!("cd /workspace; {line}"),
    ]);
    assert_eq!(said.stdout, "644 86400\none\none\n751\none\n1\n", "{}", said.stderr);
    assert!(said.stderr.contains("mv: cannot move '/data'"), "{}", said.stderr);
    assert_eq!(fs::read(folder.join("t/u/g")).unwrap(), b"one\n");
    assert_eq!(fs::metadata(folder.join("t/u/g")).unwrap().permissions().mode() & 0o777, 0o751);
}

#[test]
fn copies_keep_what_they_are_asked_to_keep() {
    let line = "echo x > a; chmod 640 a; touch -d '2020-02-03 04:05:06' a; cp -p a b; echo $?; cp -a a c; echo $?; cp a d
        stat -c '%a %y' b c; stat -c %a d; mkdir t; cp a t/; cp -a t u; echo $?; ls -l --time-style=long-iso u | tail -n1";
    let said = sh(line);
    let want =
        "0\n0\n640 2020-02-03 04:05:06.000000000 +0000\n640 2020-02-03 04:05:06.000000000 +0000\n640\n0\n";
    assert!(said.stdout.starts_with(want), "{} {}", said.stdout, said.stderr);
    assert!(
        said.stdout.lines().last().is_some_and(|it| it.starts_with("-rw-r----- 1 agent agent 2 ")),
        "{}",
        said.stdout
    );
}

#[test]
fn modes_and_owners_are_the_same_whoever_is_asked() {
    let line = "umask 022; touch f; mkdir -m 700 d; mkdir e; install -m 640 f g; T=$(mktemp); D=$(mktemp -d); chmod u+x,go-r f
        stat -c '%A %a %U %G' f d e g $T $D; ls -ld --time-style=+T f d | cut -d' ' -f1,3,4; find f -perm 700 -printf '%m %u\\n'
        test -x f && echo runs; [ -x g ] || echo not; wbox test -w g && echo writes; id -un; id -gn; whoami; groups
        chmod a-w g; wbox test -w g || echo no; chown agent:agent f; echo $?; chgrp 1000 f; echo $?; chown root f; echo $?; chown nobody-here f; echo $?
        chmod -v 600 f; chmod -c 600 f; chmod --reference=d g; stat -c %a g; chmod -R g=u d; stat -c %a d; chmod 999 f; echo $?";
    let said = sh(line);
    let want = "-rwx------ 700 agent agent\ndrwx------ 700 agent agent\ndrwxr-xr-x 755 agent agent\n-rw-r----- 640 agent agent\n-rw------- 600 agent agent\ndrwx------ 700 agent agent\n";
    assert!(said.stdout.starts_with(want), "{} {}", said.stdout, said.stderr);
    let rest = said.stdout.strip_prefix(want).unwrap();
    assert_eq!(
        rest,
        "drwx------ agent agent\n-rwx------ agent agent\n700 agent\nruns\nnot\nwrites\nagent\nagent\nagent\nagent\nno\n0\n0\n1\n1\n\
         mode of 'f' changed from 0700 (rwx------) to 0600 (rw-------)\n700\n770\n1\n",
        "{}",
        said.stderr
    );
    assert!(
        said.stderr.contains("chown: changing ownership of 'f': Operation not permitted"),
        "{}",
        said.stderr
    );
}

#[test]
fn what_a_session_is_asked_about_itself_is_answered() {
    let said = sh(
        "echo text > f; df -h / | head -n1; df / | tail -n1 | tr -s ' ' | cut -d' ' -f1,6; ps; more f; echo more | less",
    );
    let want = "Filesystem Size      Used Avail Use%  Mounted on\ndrydock /\n  PID TTY          TIME CMD\n    1 ?        00:00:00 ps\ntext\nmore\n";
    assert_eq!(said.stdout, want, "{}", said.stderr);
}

#[test]
fn names_come_in_columns_as_wide_as_they_may() {
    let line = "touch a bb ccc dddd 'e f'; COLUMNS=12 wbox ls -C; ls -w 40 -C; ls -m; ls -Q a; ls -x -w 11; ls --color=always -d .";
    let said = sh(line);
    let want = "a    dddd\nbb   e f\nccc\na  bb  ccc  dddd  e f\na, bb, ccc, dddd, e f\n\"a\"\na    bb\nccc  dddd\ne f\n\u{1b}[0m\u{1b}[01;34m.\u{1b}[0m\n";
    assert_eq!(said.stdout, want, "{}", said.stderr);
}

#[test]
fn a_sort_that_does_not_fit_into_memory_uses_the_scratch() {
    let shell = Shell::sharing();
    // 58 MB in a line's 64 MiB: not without runs in /tmp.
    let mut state = 7u64;
    let mut text = String::new();
    for _ in 0..2_000_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.push_str(&format!("{:016x} {:<10}\n", state, state >> 44));
    }
    shell.file("big", text);
    let dir = format!("{}:/in:ro", shell.path("").display());
    let line = "cd /workspace; sort -k2n /in/big > out; sort -c -k2n out; echo $?; wc -l < out; ls -A /tmp | wc -l; tac out | head -n1 > last; tail -n1 out | cmp - last; echo $?";
    let said = shell.run(&[
        "sh",
        "--workspace",
        "sort-scratch",
        "--memory",
        "64MiB",
        "--fuel",
        "900000000000",
        "--timeout",
        "300s",
        "--dir",
        &dir,
        "-c",
        line,
    ]);
    assert_eq!(said.stdout, "0\n2000000\n0\n0\n", "{}", said.stderr);
}

#[test]
fn cut_and_tac_work_through_a_large_file_in_little_memory() {
    let shell = Shell::sharing();
    // 48 MB, which is three times what they have.
    let text: String =
        (0..2_000_000).map(|number| format!("{number:07} field-two {:04}\n", number % 9973)).collect();
    shell.file("big", text);
    let dir = format!("{}:/in:ro", shell.path("").display());
    for (line, want) in [
        ("cut -d' ' -f1 /in/big | tail -n 1", "1999999\n"),
        ("cut -c 1-7 < /in/big | wc -l", "2000000\n"),
        ("tac /in/big | head -n 1", "1999999 field-two 5399\n"),
        ("tac /in/big | tail -n 1", "0000000 field-two 0000\n"),
    ] {
        let said = shell.run(&["sh", "--memory", "16MiB", "--timeout", "300s", "--dir", &dir, "-c", line]);
        assert_eq!((said.status, said.stdout.as_str(), said.stderr.as_str()), (0, want, ""), "{line}");
    }
}

#[test]
fn grep_writes_each_line_at_once_where_that_is_asked_for() {
    use std::io::{BufRead as _, BufReader, Write as _};
    let shell = Shell::sharing();
    for name in ["grep", "rg"] {
        let mut child = shell.command(&["run", name, "--line-buffered", "b"]).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        // The next line is only given to it when the one before came back.
        for line in ["ab\n", "bc\n"] {
            input.write_all(b"none\n").unwrap();
            input.write_all(line.as_bytes()).unwrap();
            let mut got = String::new();
            output.read_line(&mut got).unwrap();
            assert_eq!(got, line, "{name}");
        }
        drop(input);
        assert!(child.wait().unwrap().success());
    }
}
