//! A shell that was saved and restored goes on as if nothing had happened, and bytes that are no checkpoint are no shell.

#![allow(clippy::disallowed_types, clippy::disallowed_methods, clippy::unwrap_used)]

mod shell_room;

use std::fs;

use drydock_abi::shell::MESSAGE_BYTES_MAX;
use drydock_contract::{
    Sink, Source, Streams,
    port::{Files as _, TreePath},
};
use drydock_shell::{BadCheckpoint, CHECKPOINT_VERSION, Mode, SaveError, Shell, ShellLimits};
use proptest::prelude::*;
use shell_room::{Room, room, room_with, spec};

/// Runs `first`, saves and restores, and runs `then`: what that prints, and what it prints in one shell.
fn both(first: &str, then: &str) -> (String, String) {
    let (mut one, mut two) = (room(), room());
    one.run(first);
    two.run(first);
    let want = one.run(then);
    let got = two.restored().0.run(then);
    let text = |ran: shell_room::Ran| format!("{}\n{}{}", ran.status, ran.stdout, ran.stderr);
    (text(got), text(want))
}

#[test]
fn what_a_line_left_the_next_line_finds_in_another_shell() {
    let rows = [
        // Variables and their attributes.
        ("a=1; export b='x y'; readonly c=3; declare -i d=4", "declare -p a b c d; d=1+1; echo $d; c=9"),
        ("declare -l low=ABC; declare -u up=def", "declare -p low up; low=XYZ; up=xyz; echo $low $up"),
        ("declare -n ref=target; target=here", "declare -p ref; echo $ref; ref=there; echo $target"),
        (
            "a=(1 2 3); a[10]=x; unset 'a[1]'; declare -a bare",
            "declare -p a bare; echo ${!a[@]}; a+=(y); echo ${!a[@]}",
        ),
        (
            "declare -A m; for i in {1..60}; do m[k$i]=$i; done; unset 'm[k7]'; m[k7]=again",
            "declare -p m; echo ${!m[@]}",
        ),
        ("declare -A c=([e]=1 [z]=2); declare -A d", "declare -p c d; c[n]=3; echo ${!c[@]} ${c[@]}"),
        ("declare unset_one; export also_unset", "declare -p unset_one also_unset; echo ${unset_one-none}"),
        (
            "b=$'\\xff\\x80 \\xc3'; private=$'\\U10ff80'",
            "printf '%q ' \"$b\" \"$private\"; echo ${#b}; declare -p b",
        ),
        ("HOME=/tmp; PATH=/x; unset HOSTNAME", "echo ~ $PATH ${HOSTNAME-none}"),
        // What the last command left.
        ("false", "echo $?"),
        ("true | false | (exit 3)", "echo ${PIPESTATUS[@]}"),
        ("true a b last", "echo $_"),
        ("set -- a 'b c' ''", "echo $# \"$2\" \"$@\"; shift; echo $1"),
        ("BASH_ARGV0=other", "echo $0"),
        ("true &\nwait $!; sh -c 'exit 7' & wait $!", "echo $!; wait $!; echo $?"),
        // Functions.
        ("f() { echo f \"$1\"; }; function g { f x; }; k() ( exit 4 )", "f 1; g; k; echo $?; declare -f"),
        ("f() { echo one; }; export -f f", "declare -fx; bash -c f"),
        ("f() { cat <<E; }\nbody $1\nE", "f arg; declare -f f"),
        ("f() { cat <<A <<-'B'; echo after; } 2>/dev/null\na $1\nA\n\tb $1\nB\n:", "f x; declare -f f"),
        ("\n\nf() {\n  echo $LINENO\n  nosuch\n}", "f"),
        ("f() { echo a\\\nb; x=\"c\\\nd\"\necho $x $LINENO; }; g() { echo $LINENO; }", "f; g; declare -f"),
        ("trap 'echo $BASH_COMMAND' DEBUG; f() { echo in; }", "f"),
        ("echo 'h() { echo ${BASH_SOURCE[0]}; }' > s; source ./s", "h; caller"),
        ("shopt -s expand_aliases\nalias e='echo aliased'\nf() { e x; }", "f; declare -f f; alias; e y"),
        ("f() { g() { echo inner; }; }; f", "g; declare -f"),
        (
            "f() { for ((i=0;i<2;i++)); do case $i in 0) echo z;;& *) echo s;; esac; done; [[ a == a ]] && echo y; }",
            "f; declare -f f",
        ),
        // Names.
        ("alias ll='ls -l' x=\"it's\"", "alias"),
        ("hash -p /bin/thing thing", "hash"),
        ("complete -W 'a b' cmd; complete -F f other", "complete -p"),
        // Options.
        (
            "set -o pipefail -u; set -f; shopt -s nullglob globstar; shopt -u sourcepath",
            "set -o; shopt; echo $-",
        ),
        ("set -e", "false; echo not reached"),
        ("set -a; v=1", "declare -p v; w=2; declare -p w"),
        ("set -C; echo x > there", "echo y > there; echo $?"),
        // Where it is.
        ("mkdir -p d/e; cd d/e; cd ..", "pwd; echo $PWD $OLDPWD; cd -; dirs"),
        ("mkdir d e; pushd d; pushd ../e", "dirs -v; popd; popd; pwd"),
        ("umask 027", "umask; echo > made; umask -S"),
        // Traps.
        (
            "trap 'echo usr' USR1; trap '' INT; trap 'echo err' ERR",
            "trap; kill -USR1 $$; kill -INT $$; false; echo alive",
        ),
        (
            "trap 'echo \"bye $x\"' TERM; x=1; trap 'unfinished (' HUP",
            "trap -p; kill -TERM $$; kill -HUP $$; echo on",
        ),
        // What numbers are made from.
        ("RANDOM=7; x=$RANDOM", "echo $RANDOM $RANDOM $SRANDOM"),
        (":", "echo $RANDOM $SRANDOM; (echo $RANDOM $BASHPID); echo $BASHPID $$"),
        ("(:); (:); x=$(echo $BASHPID)", "(echo $BASHPID); echo $x"),
        ("SECONDS=100", "echo $SECONDS"),
        (
            "set -- -ab -c; getopts abc o; echo $o",
            "getopts abc o; echo $o $OPTIND; getopts abc o; echo $o $OPTIND",
        ),
        // Descriptors.
        (
            "printf 'a\\nb\\nc\\n' > f; exec 3< f; read x <&3",
            "read x <&3; echo $x; read -u 3 x; echo $x; read x <&3; echo $?",
        ),
        ("exec 4> out; echo one >&4", "echo two >&4; exec 4>&-; cat out; echo x >&4"),
        ("echo old > log; exec 5>> log; echo a >&5", "echo b >&5; cat log"),
        ("exec 6<> rw; echo abc >&6", "echo def >&6; cat rw"),
        (
            "exec 3<<< 'one\ntwo'; exec 4<<E\nh1\nh2\nE\nread x <&3; read y <&4",
            "read x <&3; read y <&4; echo $x $y",
        ),
        ("printf 'a\\nb\\nc\\n' > f; exec 3< f; exec 7<&3; read x <&3", "read x <&7; read y <&3; echo $x $y"),
        (
            "exec {fd}> named; echo $fd; exec 8> /dev/null",
            "echo via >&$fd; exec {fd}>&-; cat named; echo none >&8; echo $?",
        ),
        ("mkdir d; cd d; exec 3> rel; cd ..", "echo x >&3; cat d/rel"),
    ];
    for (first, then) in rows {
        let (got, want) = both(first, then);
        assert_eq!(got, want, "{first}\n--\n{then}");
    }
}

/// Everything about a shell that it can print.
const SHOW: &str = "echo $? ${PIPESTATUS[@]} $_; declare -p; declare -f; set -o; shopt; alias; trap; pwd; umask; \
                    dirs; hash; complete -p; echo $# \"$@\" $0 $- $! $RANDOM $SECONDS $LINENO; declare -Fx";

#[test]
fn after_every_script_of_the_corpus_a_restored_shell_shows_the_same_state() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/differential");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        for block in text.split("=== ").skip(1) {
            let (name, script) = block.split_once('\n').unwrap();
            // This room's commands read all there is before they answer.
            if script.contains("(yes") || script.contains("yes |") {
                continue;
            }
            let mut room = room();
            room.run(script);
            let saved = room.shell.save().unwrap();
            let (mut other, _) = room.restored_from(&saved.to_vec()).unwrap();
            let again = other.shell.save().unwrap();
            // What is lost is lost once.
            if !has_descriptors(&mut room) {
                assert_eq!(again.to_vec(), saved.to_vec(), "{name}: {script}");
            }
            let (want, got) = (room.run(SHOW), other.run(SHOW));
            assert_eq!((got.stdout, got.stderr), (want.stdout, want.stderr), "{name}: {script}");
            count += 1;
        }
    }
    assert!(count >= 900, "only {count} scripts");
}

fn has_descriptors(room: &mut Room) -> bool {
    let pieces: Vec<usize> = room.shell.save().unwrap().pieces().map(<[u8]>::len).collect();
    // Header, then the parts; the last but one is the descriptors', with four bytes of length and one row of none.
    pieces[pieces.len() - 2] > 5
}

#[test]
fn what_belongs_to_a_process_is_lost_and_named() {
    let mut room = room();
    room.run(
        "exec 3> gone; rm gone; exec 4> moved; mv moved other; echo > x; exec 5< x; exec 6>&1; exec 7<&0",
    );
    // A pipe ends with its line, and is nothing that a checkpoint could lose.
    room.run("exec 8> kept; exec 9< <(echo hi)");
    let bytes = room.shell.save().unwrap().to_vec();
    room.run("rm x");
    let (mut restored, lost) = room.restored_from(&bytes).unwrap();
    assert_eq!(
        lost.0,
        [
            "descriptor 3 is closed: its file was deleted",
            "descriptor 4 is closed: its file was deleted",
            "descriptor 5 is closed: `/w/x`: no such file or directory",
            "descriptor 6 is closed: it was a pipe, or a stream of a line",
            "descriptor 7 is closed: it was a pipe, or a stream of a line",
        ]
    );
    let ran = restored.run("echo y >&8; cat kept; echo z >&3");
    assert!(ran.stdout == "y\n" && ran.stderr.contains("3: Bad file descriptor"), "{}", ran.stderr);
    room.run("mkdir dir; cd dir");
    let bytes = room.shell.save().unwrap().to_vec();
    room.files.remove_dir(&TreePath::new("w/dir").unwrap(), Default::default()).unwrap();
    let (restored, lost) = room.restored_from(&bytes).unwrap();
    assert_eq!(lost.0.last().unwrap(), "the working directory `/w/dir` is not there any more");
    assert_eq!(restored.shell.cwd(), "/w/dir");
}

#[test]
fn a_file_outside_the_roots_is_not_opened_whatever_a_checkpoint_says() {
    let mut room = room();
    room.run("exec 3> xhomex");
    let mut bytes = room.shell.save().unwrap().to_vec();
    let at = bytes.windows(8).rposition(|it| it == b"w/xhomex").unwrap();
    bytes[at..at + 8].copy_from_slice(b"secret42");
    room.files_write("secret42", b"secret");
    let (mut restored, lost) = room.restored_from(&bytes).unwrap();
    assert_eq!(lost.0, ["descriptor 3 is closed: `/secret42`: outside_sandbox"]);
    assert_eq!(restored.run("echo x >&3").status, 1);
}

#[test]
fn what_did_not_change_is_not_written_again() {
    let mut room = room();
    room.run("x=1; f() { :; }");
    let first = room.shell.save().unwrap();
    assert!(room.shell.save().unwrap().is_same(&first));
    let changed = |room: &mut Room, text: &str| {
        let before = room.shell.save().unwrap();
        room.run(text);
        let after = room.shell.save().unwrap();
        let parts: Vec<bool> =
            before.pieces().zip(after.pieces()).map(|it| it.0.as_ptr() != it.1.as_ptr()).collect();
        let names = [
            "header",
            "variables",
            "functions",
            "names",
            "place",
            "options",
            "traps",
            "ended",
            "fds",
            "moment",
        ];
        names.into_iter().zip(parts).filter(|it| it.1).map(|it| it.0).collect::<Vec<_>>().join(" ")
    };
    let rows = [
        ("echo hello > /dev/null", "moment"),
        ("false", "moment"),
        ("(x=5; f() { :; }; cd /; set -e)", "moment"),
        ("x=2", "variables moment"),
        ("f 1 2", "moment"),
        ("seq 1 2", "names moment"),
        ("seq 1 2", "moment"),
        ("echo a | seq 1 2", "moment"),
        ("f() { echo; }", "functions moment"),
        ("alias a=b", "names moment"),
        ("set -u", "options moment"),
        ("trap : USR1", "traps moment"),
        ("set -- a", "place moment"),
        ("cd /tmp", "variables place moment"),
        ("exec 3> /dev/null", "fds moment"),
        ("true & wait $!", "ended moment"),
        ("unset x", "variables moment"),
    ];
    for (text, want) in rows {
        let got = changed(&mut room, text);
        assert!(
            got == want || got == want.trim_end_matches(" moment") || format!("{got} moment") == want,
            "{text}: {got}"
        );
    }
    assert!(!room.shell.save().unwrap().is_same(&first));
}

#[test]
fn a_line_that_was_dropped_halfway_leaves_nothing_to_save() {
    let mut room = room();
    room.run("x=1");
    let before = room.shell.save().unwrap().to_vec();
    let streams = Streams {
        stdin: Source::Empty,
        stdout: Sink::capture(),
        stderr: Sink::capture(),
        ..Streams::default()
    };
    {
        let mut line = std::pin::pin!(room.shell.run("x=2; sleep forever", streams));
        let waker = std::task::Waker::noop();
        assert!(line.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_pending());
    }
    assert_eq!(room.shell.save().unwrap_err(), SaveError::LineDropped);
    assert_eq!(room.restored_from(&before).unwrap().0.run("echo $x").stdout, "1\n");
}

fn sample() -> (Room, Vec<u8>) {
    let mut room = room();
    room.run(
        "a=1; b=(1 2 3); declare -A c=([k]=v); f() { echo $1 <<E; }\nx\nE\nalias q=w; trap 'echo' USR1; set -- a b; \
         exec 3> out; exec 4<<< text; pushd /tmp; complete -W x y; true | false",
    );
    let bytes = room.shell.save().unwrap().to_vec();
    (room, bytes)
}

fn error(room: &Room, bytes: &[u8]) -> String {
    room.restored_from(bytes).err().unwrap().to_string()
}

#[test]
fn bytes_that_are_no_checkpoint_of_this_version_are_an_error_that_says_so() {
    let (room, bytes) = sample();
    assert_eq!(error(&room, b"drydctx3 and more"), "these bytes are no checkpoint of a shell");
    let mut other = bytes.clone();
    other[6..8].copy_from_slice(&(CHECKPOINT_VERSION + 1).to_le_bytes());
    assert_eq!(
        error(&room, &other),
        "the checkpoint has version 2, and this shell reads version 1; start anew"
    );
    let more = [bytes.as_slice(), b"xyz"].concat();
    assert_eq!(error(&room, &more), "3 bytes follow the end of the checkpoint");
    for length in 0..bytes.len() {
        let got = room.restored_from(&bytes[..length]).err();
        assert_eq!(got, Some(BadCheckpoint::Cut { bytes: length }));
    }
}

#[test]
fn any_byte_may_be_wrong_and_nothing_breaks() {
    let (room, bytes) = sample();
    let mut refused = 0;
    for at in 0..bytes.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut wrong = bytes.clone();
            wrong[at] ^= flip;
            match room.restored_from(&wrong) {
                Ok((mut restored, _)) => {
                    restored.run(
                        "declare -p > /dev/null; declare -f > /dev/null; getopts ab x; (echo $RANDOM) >&3",
                    );
                    restored.shell.save().unwrap();
                }
                Err(_) => refused += 1,
            }
        }
    }
    assert!(refused > bytes.len(), "{refused} of {}", bytes.len());
}

#[test]
fn a_checkpoint_that_claims_much_costs_little_and_one_that_holds_much_is_refused() {
    let mut room = room();
    room.run("big=$(printf %200000s x); many=({1..2000})");
    let bytes = room.shell.save().unwrap().to_vec();
    let small = |variable_bytes_max: usize| {
        let limits = ShellLimits { variable_bytes_max, text_bytes_max: 1 << 10, ..ShellLimits::default() };
        Shell::restore(spec(&room.files, None, Mode::default(), limits).0, &bytes).map(drop)
    };
    assert!(
        matches!(small(50_000), Err(BadCheckpoint::TooLarge { .. })),
        "more bytes than a checkpoint may have"
    );
    assert!(matches!(small(150_000), Err(BadCheckpoint::TooLarge { .. })), "more than variables may hold");
    small(1 << 20).unwrap();
    // Four thousand million elements, of which none is there.
    let (room, bytes) = sample();
    let at = bytes.windows(2).position(|it| it == b"b\0").unwrap();
    let mut claims = bytes[..at + 3].to_vec();
    claims.extend_from_slice(&[0xff, 0xff, 0xff, 0xff, 0x0f]);
    claims.extend_from_slice(&bytes[at + 4..]);
    assert!(room.restored_from(&claims).is_err());
}

#[test]
fn a_shell_that_holds_more_than_a_checkpoint_says_so_when_it_is_saved() {
    let limits =
        ShellLimits { variable_bytes_max: 4 << 10, text_bytes_max: 2 << 10, ..ShellLimits::default() };
    let mut room = room_with(Mode { eval_allowed: true, ..Mode::default() }, limits);
    for round in 0..60 {
        room.run(&format!("for i in {{1..20}}; do alias a{round}_$i=x; done"));
    }
    let error = room.shell.save().unwrap_err();
    assert!(matches!(error, SaveError::TooLarge { bytes_max: 40_960 }), "{error}");
}

/// Four variables of 15 MB were more than a message takes, and the line that found out was lost with its work.
#[test]
fn a_checkpoint_takes_a_share_of_the_memory_and_fits_into_a_message() {
    let limits = ShellLimits::default();
    assert!(limits.checkpoint_bytes_max(u64::MAX) < MESSAGE_BYTES_MAX);
    assert_eq!(limits.checkpoint_bytes_max(64 << 20), 8 << 20);
    let mut room = room();
    room.run("small=1");
    let small = room.shell.save().unwrap();
    room.run("p=$(printf %500000s x); for i in {1..30}; do a+=$p; done; b=$a; c=$a; d=$a");
    for line in ["echo ${#d}", "f=1"] {
        assert_eq!(room.run(line).status, 0);
        let error = room.shell.save().unwrap_err();
        assert!(matches!(error, SaveError::TooLarge { .. }), "{error}");
    }
    // What is too large today may fit tomorrow, and nothing of it was left out.
    room.run("unset b c d");
    let saved = room.shell.save().unwrap();
    assert!(saved.bytes() > 15_000_000 && !saved.is_same_state(&small));
    let (mut other, _) = room.restored_from(&saved.to_vec()).unwrap();
    assert_eq!(other.run("echo ${#a} $f $small").stdout, "15000000 1 1\n");
}

#[test]
fn a_fork_goes_its_own_way() {
    let mut room = room();
    room.run("x=1; f() { echo f $x; }");
    let (spec, door) = spec(&room.files, None, Mode::default(), ShellLimits::default());
    let (shell, lost) = room.shell.fork(spec).unwrap();
    let mut other = Room { door, files: room.files.clone(), shell };
    assert!(lost.0.is_empty());
    other.run("x=2; f() { echo other $x; }");
    assert_eq!((room.run("f").stdout, other.run("f").stdout), ("f 1\n".into(), "other 2\n".into()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn hostile_bytes_are_an_error_or_a_shell(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let room = room();
        let _ = room.restored_from(&bytes);
        let (_, good) = sample();
        let _ = room.restored_from(&[&good[..8], &bytes].concat());
    }

    #[test]
    fn a_few_bytes_of_a_checkpoint_replaced_are_an_error_or_a_shell(
        at in any::<prop::sample::Index>(), bytes in prop::collection::vec(any::<u8>(), 1..6), cut in 0..6_usize,
    ) {
        let (room, good) = sample();
        let at = at.index(good.len() - 8);
        let wrong = [&good[..at], &bytes, &good[at + cut..]].concat();
        if let Ok((mut restored, _)) = room.restored_from(&wrong) {
            restored.run("declare -p; declare -f; f; getopts ab x; (echo $RANDOM)");
        }
    }

    #[test]
    fn every_value_comes_back(bytes in prop::collection::vec(1..=255_u8, 0..80), key in "[^\\x00]{0,20}") {
        let octal: String = bytes.iter().map(|it| format!("\\{it:03o}")).collect();
        let key: String = key.bytes().map(|it| format!("\\{it:03o}")).collect();
        let first = format!("v=$'{octal}'; declare -A m; k=$'k{key}'; m[$k]=$v; a[7]=$v");
        let (got, want) = both(&first, "declare -p v m k a");
        prop_assert_eq!(got, want);
    }
}

#[test]
fn a_line_that_changes_nothing_is_known_to_without_saving() {
    let mut room = room();
    room.run("x=1; f() { echo hi; }");
    let before = room.shell.save().unwrap();
    let rows = [
        ("echo $x | cat; false", true),
        ("x=1", false),
        ("x=2", false),
        ("g() { :; }", false),
        ("mkdir d; cd d", false),
        ("set -u", false),
        ("exec 3> file", false),
        ("exec 3>&-", false),
        ("trap : USR1", false),
        ("( x=9; cd /; set -e )", true),
    ];
    let mut last = before;
    for (line, want) in rows {
        room.run(line);
        assert_eq!(room.shell.is_as_saved(&last), want, "{line}");
        let now = room.shell.save().unwrap();
        // It may say no of what is the same, and never yes of what is not.
        assert!(!want || now.is_same_state(&last), "{line}");
        last = now;
    }
}
