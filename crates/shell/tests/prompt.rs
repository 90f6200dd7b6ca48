//! `PROMPT_COMMAND`: what it says runs before a prompt, and leaves `$?` to the next line.

mod shell_room;

use std::sync::Arc;

use drydock_contract::{SharedSink, SharedSource, Sink, Source};
use drydock_shell::{AtEnd, Mode, ShellLimits, door::LineEnds};
use drydock_testkit::block_on;
use shell_room::{Room, room, room_with};

/// A line as somebody types it, and what is shown before the next prompt; whether that ended the shell.
fn typed(room: &mut Room, text: &str) -> (String, bool) {
    let (stdin, out) = (SharedSource::new(Source::Empty), SharedSink::new(Sink::capture()));
    let ends =
        LineEnds { stdin: Arc::new(stdin), stdout: Arc::new(out.clone()), stderr: Arc::new(out.clone()) };
    let has_ended = block_on(async {
        room.shell.run_between(text, ends.clone(), AtEnd::KeepExitTrap).await;
        room.shell.run_prompt_command(ends).await
    });
    (String::from_utf8_lossy(&out.take().into_captured()).into_owned(), has_ended)
}

#[test]
fn it_runs_after_each_line_and_leaves_the_status_as_it_was() {
    let mut room = room();
    assert_eq!(typed(&mut room, "PROMPT_COMMAND='echo saw $?; false'"), ("saw 0\n".into(), false));
    assert_eq!(typed(&mut room, "sh -c 'exit 7'"), ("saw 7\n".into(), false));
    assert_eq!(typed(&mut room, "echo $?"), ("7\nsaw 0\n".into(), false));
    assert_eq!(typed(&mut room, "unset PROMPT_COMMAND"), (String::new(), false));
}

#[test]
fn each_element_of_an_array_runs_and_sees_the_same_status() {
    let mut room = room();
    let set = "PROMPT_COMMAND=('echo one $?; false' 'echo two $?' '' 'x=kept'); (exit 3)";
    assert_eq!(typed(&mut room, set).0, "one 3\ntwo 3\n");
    assert_eq!(typed(&mut room, "echo $? $x").0, "3 kept\none 0\ntwo 0\n");
}

#[test]
fn nothing_of_it_runs_where_eval_is_refused() {
    let mut room = room_with(Mode::default(), ShellLimits::default());
    assert_eq!(typed(&mut room, "PROMPT_COMMAND='args pwned'; false"), (String::new(), false));
    assert_eq!(typed(&mut room, "echo $?"), ("1\n".into(), false));
    assert!(room.door.calls().is_empty());
}

#[test]
fn an_exit_in_it_ends_the_shell() {
    let mut room = room();
    let set = "trap 'echo bye' EXIT; PROMPT_COMMAND=('exit 4' 'echo never')";
    assert_eq!(typed(&mut room, set), ("bye\n".into(), true));
}

#[test]
fn a_text_that_is_none_is_complained_about_and_the_next_one_runs() {
    let mut room = room();
    let (said, has_ended) = typed(&mut room, "PROMPT_COMMAND=('if' ')' 'echo next $?')");
    assert!(said.ends_with("next 0\n") && said.lines().count() >= 3, "{said}");
    assert!(!has_ended);
}
