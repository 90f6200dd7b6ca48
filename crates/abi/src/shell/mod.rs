//! The dialect of the shell's guest: what it is called with and answers, and what it asks of its host while a line runs.
//!
//! The guest exports `call(len)`. It takes the `len` bytes of the [`Request`] with `shell.take(at, len)`, and leaves its
//! [`Answer`], and behind it what the shell keeps, with `shell.answer(at, len)`. While a line runs, it may
//!
//! | import of `shell` | what |
//! |---|---|
//! | `start(at, len) -> call` | starts a command: a [`Start`] and, behind it, the request of `exec.command` |
//! | `timer(millis) -> call` | something that ends, as a command does, when so much time has passed |
//! | `end(call)` | ends a command that was started, or a timer |
//! | `pipe() -> handle` | makes a pipe; the guest has both ends |
//! | `named(descriptor) -> handle` | a handle for a named pipe that the guest opened by WASI, with the same ends |
//! | `read(handle, at, len) -> n` | reads; 0 is the end |
//! | `unread(handle, at, len) -> n` | gives back what was read last |
//! | `write(handle, at, len) -> n` | writes some |
//! | `wanted(handle) -> n` | bytes that somebody waits for at the other end |
//! | `flush(handle) -> n` | whether what was written has arrived |
//! | `close(handle, end)` | lets an end go: [`READS`], [`WRITES`] |
//! | `wait(how, at, len) -> n` | [`Event`]s: [`BLOCK`] not before there is one, [`POLL`] whatever there is by now, [`SLICE`] the same after a slice of the shell's own work |
//! | `ask(what, at, len, out, cap) -> n` | a question about a name or a file: [`HAS_COMMAND`] and the like |
//! | `left(level) -> ms` | what is left of the time of a shell inside the line |
//! | `is_over() -> 0 or 1` | whether the line must end |
//! | `ended(id, kind, status)` | a shell inside the line has ended |
//!
//! A number below zero says why not: [`AGAIN`] (an event will tell), [`BROKEN`], [`BAD`], [`FAILED`]. The line's own
//! streams are the handles 0, 1 and 2. A file that the guest opened by WASI is named to `start` by [`file`].

mod answer;
mod event;
mod line;
mod names;
mod plan;
mod typed;
mod whole;

use serde::{Serialize, de::DeserializeOwned};

pub use answer::{
    ANSWER_BYTES_MAX, ANSWER_LOST_MAX, ANSWER_NAMES_MAX, ANSWER_RECORDS_MAX, Answer, LineAnswer,
};
pub use event::{
    Answered, Ended, Event, InsideEnd, InsideStart, NUMBERED_MAX, NumberedStream, Refusal, RefusalKind, Start,
};
pub use line::{
    LineReport, LineRequest, Mode, Opening, Request, SavedWhen, ShellLimits, StageRecord, Switches,
    SyntaxError, TextFrom,
};
pub use names::OWN_NAMES;
pub use plan::{Plan, PlannedCommand, Touch};
pub use typed::{TYPED_WORDS_MAX, TypedWord, TypedWords, WordRole};

/// The space of the imports.
pub const SPACE: &str = "shell";

/// Not now: an event will tell when it is worth asking again.
pub const AGAIN: i32 = -1;
/// Nobody reads there any more.
pub const BROKEN: i32 = -2;
/// No such handle, memory or call.
pub const BAD: i32 = -3;
/// The stream failed.
pub const FAILED: i32 = -4;
/// There are too many.
pub const TOO_MANY: i32 = -5;

/// The end that is read from.
pub const READS: u32 = 0;
/// The end that is written to.
pub const WRITES: u32 = 1;

/// How `wait` waits: not at all.
pub const POLL: u32 = 0;
/// How `wait` waits: until there is an event.
pub const BLOCK: u32 = 1;
/// How `wait` waits: not at all, and the shell has done a slice of its work: by a clock that is not the real one, time
/// passes for who sleeps.
pub const SLICE: u32 = 2;

/// In the number that `start` answers: the command has ended already, and `wait` will say how.
pub const ENDED: u32 = 1 << 30;

/// No stream.
pub const NONE: u32 = u32::MAX;

const FILE: u32 = 1 << 31;

/// How `start` is told of a file of the guest's, by its descriptor.
pub const fn file(descriptor: u32) -> u32 {
    FILE | descriptor
}

/// The descriptor, if the number stands for a file.
pub const fn descriptor(handle: u32) -> Option<u32> {
    match handle & FILE != 0 && handle != NONE {
        true => Some(handle & !FILE),
        false => None,
    }
}

/// Whether a name is a command that may be run: 1 or 0.
pub const HAS_COMMAND: u32 = 0;
/// What to say of a name that is no command.
pub const NOT_FOUND: u32 = 1;
/// Whether the line changed a file, by the path before a NUL and a descriptor in decimal digits behind it: 1 or 0.
pub const WAS_CHANGED: u32 = 2;

/// The number of the limit of files that was met last, among all there are.
pub const LAST_LIMIT: u32 = 3;

/// The names of all commands that may be run, each behind a newline; as many as fit.
pub const COMMAND_NAMES: u32 = 4;

/// Says whether the shell has a trap for Ctrl-C, one byte that is 1 or 0: then that is told to it ([`Event::Interrupted`]) and
/// does not end the line.
pub const CATCHES_INTERRUPT: u32 = 5;

/// Longest request and answer, events included.
pub const MESSAGE_BYTES_MAX: usize = 64 << 20;

/// The bytes are no such message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("malformed message of a shell: {0}")]
pub struct BadMessage(String);

/// Writes a message.
pub fn encode(message: &impl Serialize) -> Vec<u8> {
    // Only a type that refuses to be written fails, and none of these does.
    postcard::to_allocvec(message).unwrap_or_default()
}

/// Reads a message, all of the bytes.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, BadMessage> {
    match postcard::take_from_bytes(bytes) {
        Ok((message, [])) => Ok(message),
        Ok((_, rest)) => Err(BadMessage(format!("{} bytes follow it", rest.len()))),
        Err(error) => Err(BadMessage(error.to_string())),
    }
}

/// Reads a message at the front; what follows it comes back.
pub fn decode_front<T: DeserializeOwned>(bytes: &[u8]) -> Result<(T, &[u8]), BadMessage> {
    postcard::take_from_bytes(bytes).map_err(|error| BadMessage(error.to_string()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_file_is_no_handle_and_nothing_is_neither() {
        assert_eq!(descriptor(file(7)), Some(7));
        assert_eq!(descriptor(7), None);
        assert_eq!(descriptor(NONE), None);
    }

    #[test]
    fn messages_round_trip_and_bytes_behind_them_are_refused() {
        let asked = Request::Explain { text: "a | b".into(), limits: ShellLimits::default() };
        let mut bytes = encode(&asked);
        assert_eq!(decode::<Request>(&bytes), Ok(asked));
        bytes.push(0);
        assert!(decode::<Request>(&bytes).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_make_a_decoder_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = decode::<Request>(&bytes);
            let _ = Answer::decode(&bytes);
            let _ = decode_front::<Start>(&bytes);
            let _ = decode::<Vec<Event>>(&bytes);
        }
    }
}
