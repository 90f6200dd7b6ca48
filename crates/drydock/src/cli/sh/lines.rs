//! A text of several lines in one editor: what is not finished goes on after a `> `, and every line of it can be
//! reached and changed until the whole is run.
//!
//! The editor knows no prompt but the first, and counts the columns of what it holds. So the `> ` is a character of
//! the text that is two columns wide, drawn as `> ` and taken out before anybody else sees the text. That is so
//! behind a newline only. Wherever else it stands (typed, pasted, from the history, or left over when two lines
//! were joined) it is two spaces, drawn as such and run as such: what is shown is what runs.

use std::sync::Arc;

use rustyline::{
    CharSearch, Cmd, ConditionalEventHandler, Editor, Event, EventContext, EventHandler, Helper, KeyCode,
    KeyEvent, Modifiers, Movement, RepeatCount, history::History,
};

/// The beginning of a further line. No assigned character, and two columns wide as all of its plane are.
pub(super) const MARK: char = '\u{3fffd}';

const BREAK: &str = "\n\u{3fffd}";

/// What the mark is where it begins no line: as wide, and the same to the shell as to the eye.
const STRAY: &str = "  ";

/// What was typed, without what only the editor needs.
pub(super) fn plain(edited: &str) -> String {
    edited.replace(BREAK, "\n").replace(MARK, STRAY)
}

/// The same text as it is drawn, with what is to stand before which byte of the plain text, in that order.
pub(super) fn drawn(edited: &str, marks: &[(usize, &str)]) -> String {
    let (mut out, mut rest, mut at) = (String::new(), edited, 0);
    let mut marks = marks.iter().peekable();
    loop {
        while let Some((_, mark)) = marks.next_if(|it| it.0 <= at) {
            out.push_str(mark);
        }
        let Some(next) = rest.chars().next() else { return out };
        let (shown, bytes) = match next {
            '\n' if rest.starts_with(BREAK) => ("\n> ", BREAK.len()),
            MARK => (STRAY, MARK.len_utf8()),
            other => (&rest[..other.len_utf8()], other.len_utf8()),
        };
        at += match shown {
            "\n> " => 1,
            shown => shown.len(),
        };
        out.push_str(shown);
        rest = &rest[bytes..];
    }
}

/// Says whether a text goes on: the shell's guest reads it.
pub(super) type IsIncomplete = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// Gives the editor the keys that know of further lines.
pub(super) fn bind<H: Helper, I: History>(editor: &mut Editor<H, I>, is_incomplete: &IsIncomplete) {
    let enter = KeyEvent(KeyCode::Enter, Modifiers::NONE);
    for (event, key) in [
        (enter, Key::Enter),
        (KeyEvent::ctrl('J'), Key::Enter),
        (KeyEvent(KeyCode::Enter, Modifiers::ALT), Key::Break),
        (KeyEvent::ctrl('D'), Key::End),
        (KeyEvent(KeyCode::Home, Modifiers::NONE), Key::Home),
        (KeyEvent::ctrl('A'), Key::Home),
        (KeyEvent(KeyCode::Backspace, Modifiers::NONE), Key::Backspace),
        (KeyEvent::ctrl('H'), Key::Backspace),
        (KeyEvent(KeyCode::Left, Modifiers::NONE), Key::Left),
        (KeyEvent::ctrl('B'), Key::Left),
    ] {
        let bound = Bound { key, is_incomplete: Arc::clone(is_incomplete) };
        editor.bind_sequence(event, EventHandler::Conditional(Box::new(bound)));
    }
}

/// The keys whose meaning depends on the line.
#[derive(Clone, Copy, Debug)]
enum Key {
    /// Runs the text, or goes on with it.
    Enter,
    /// A new line within the text, whatever is in it.
    Break,
    /// There is no more of it.
    End,
    Home,
    Backspace,
    Left,
}

impl Key {
    /// What it does in this text at this place; nothing if it does what it always does.
    fn does(self, text: &str, at: usize, is_incomplete: &dyn Fn(&str) -> bool) -> Option<Cmd> {
        let (before, after) = text.split_at_checked(at)?;
        let at_start = before.ends_with(BREAK);
        match self {
            Self::Enter if !is_incomplete(&plain(text)) => None,
            Self::Enter | Self::Break => Some(Cmd::Insert(1, BREAK.to_owned())),
            // The shell says what is missing.
            Self::End if at_start && after.is_empty() => Some(Cmd::AcceptLine),
            Self::Home if at_start => Some(Cmd::Noop),
            Self::Home if before.rsplit_once('\n').is_some_and(|it| it.1.starts_with(MARK)) => {
                Some(Cmd::Move(back_to(CharSearch::BackwardAfter(MARK))))
            }
            Self::Backspace if at_start => Some(Cmd::Kill(back_to(CharSearch::Backward('\n')))),
            Self::Left if at_start => Some(Cmd::Move(back_to(CharSearch::Backward('\n')))),
            _ => None,
        }
    }
}

/// By what is searched for and not by a count: the editor replaces counts by how often a key was asked for.
fn back_to(what: CharSearch) -> Movement {
    Movement::ViCharSearch(1, what)
}

/// A key, and who reads texts.
struct Bound {
    key: Key,
    is_incomplete: IsIncomplete,
}

impl ConditionalEventHandler for Bound {
    fn handle(
        &self,
        _: &Event,
        count: RepeatCount,
        forward: bool,
        context: &EventContext<'_>,
    ) -> Option<Cmd> {
        (count <= 1 && forward).then(|| self.key.does(context.line(), context.pos(), &*self.is_incomplete))?
    }
}

#[test]
fn keys_mind_the_beginning_of_a_further_line() {
    // The shell's guest says so; here it is enough to know a loop.
    let goes_on = |text: &str| text.starts_with("for") && !text.contains("done");
    let loop_begun = format!("for i in 1; do{BREAK}");
    let end = loop_begun.len();
    let inserts = Some(Cmd::Insert(1, BREAK.to_owned()));
    assert_eq!(Key::Enter.does("for i in 1; do", 14, &goes_on), inserts);
    assert_eq!(
        Key::Enter.does("echo done", 4, &goes_on),
        None,
        "what is whole is run, wherever the cursor is"
    );
    assert_eq!(Key::Enter.does("fi )", 4, &goes_on), None, "what can never be whole too");
    assert_eq!(Key::Break.does("echo up", 7, &goes_on), inserts);
    assert_eq!(Key::End.does(&loop_begun, end, &goes_on), Some(Cmd::AcceptLine));
    assert_eq!(Key::End.does(&loop_begun, 3, &goes_on), None);
    assert_eq!(Key::End.does("", 0, &goes_on), None, "nothing typed: the end of the shell");
    assert_eq!(Key::Home.does(&loop_begun, end, &goes_on), Some(Cmd::Noop));
    assert_eq!(Key::Home.does(&loop_begun, 3, &goes_on), None);
    let (start, line_end) = (CharSearch::BackwardAfter(MARK), CharSearch::Backward('\n'));
    assert_eq!(
        Key::Home.does(&format!("{loop_begun}echo"), end + 2, &goes_on),
        Some(Cmd::Move(back_to(start)))
    );
    assert_eq!(Key::Backspace.does(&loop_begun, end, &goes_on), Some(Cmd::Kill(back_to(line_end))));
    assert_eq!(Key::Left.does(&loop_begun, end, &goes_on), Some(Cmd::Move(back_to(line_end))));
    assert_eq!(Key::Left.does(&loop_begun, 14, &goes_on), None);
    assert_eq!(
        (plain(&loop_begun), drawn(&loop_begun, &[])),
        ("for i in 1; do\n".into(), "for i in 1; do\n> ".into())
    );
}

#[test]
fn a_mark_that_begins_no_line_is_shown_as_what_runs() {
    let stray = ["echo secret \u{3fffd}/dev/null", "\u{3fffd}f", "echo a\u{3fffd}b", "\u{3fffd}\u{3fffd}"];
    for text in stray {
        assert_eq!(drawn(text, &[]), plain(text), "{text}");
        assert!(!plain(text).contains([MARK, '>']), "{text}");
    }
    assert_eq!(plain("echo secret \u{3fffd}/dev/null"), "echo secret   /dev/null");
    // Behind one that begins a line too.
    let twice = format!("echo 'a{BREAK}\u{3fffd}/dev/null");
    assert_eq!(
        (plain(&twice).as_str(), drawn(&twice, &[]).as_str()),
        ("echo 'a\n  /dev/null", "echo 'a\n>   /dev/null")
    );
    assert_eq!(Key::Home.does("echo \u{3fffd}f", 9, &|_| false), None);
}
