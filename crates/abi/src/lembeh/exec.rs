//! Payloads of cap.exec.v1: `exec.start.v1` and `exec.status.v1`, as a host and as a guest reads them.

use super::{
    handle::dynamic,
    hopper::{Hopper, Malformed, Texts, TooLong, put_h4, put_hstr, put_length, text},
    trace::Trace,
};

/// Its kind.
pub const KIND: &str = "exec";
/// Its name.
pub const NAME: &str = "default";
/// Starts a program.
pub const START: &str = "exec.start.v1";
/// Says how it stands.
pub const STATUS: &str = "exec.status.v1";

/// The guest wants to write the program's stdin.
pub const WANT_STDIN: u32 = 1;
/// The guest wants to read the program's stdout.
pub const WANT_STDOUT: u32 = 1 << 1;
/// The guest wants to read the program's stderr.
pub const WANT_STDERR: u32 = 1 << 2;
const WANTS: u32 = WANT_STDIN | WANT_STDOUT | WANT_STDERR;

/// The program was started.
pub const STARTED: u32 = 1;
/// The program goes on without the session.
pub const DETACHED: u32 = 1 << 1;

/// How long the value of `exec.start.v1` is.
pub const START_VALUE_BYTES: u32 = 20;
/// How long the value of `exec.status.v1` is.
pub const STATUS_VALUE_BYTES: u32 = 8;

/// What is to be started. Well-formed, and not judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartParams<'a> {
    /// Which program.
    pub prog_id: &'a str,
    /// Which streams are wanted.
    pub wants: u32,
    /// The arguments, with the program's own name.
    pub args: Texts<'a>,
    /// The environment: a key and a value in turn.
    env: Texts<'a>,
}

impl<'a> StartParams<'a> {
    /// How many variables there are.
    pub const fn env_count(&self) -> u32 {
        self.env.count() / 2
    }

    /// The bytes of all keys and values.
    pub fn env_bytes(&self) -> u64 {
        self.env.total_bytes()
    }

    /// Keys and values, in the order in which they came.
    pub fn env(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        let mut each = self.env.iter();
        std::iter::from_fn(move || Some((each.next()?, each.next()?)))
    }

    /// How many handles it wants.
    pub const fn handles(&self) -> u32 {
        self.wants.count_ones()
    }
}

/// Reads the params of `exec.start.v1`: the layout to its last byte, then the flags, then the text.
pub fn decode_start(bytes: &[u8]) -> Result<StartParams<'_>, Malformed> {
    let mut hopper = Hopper::new(bytes);
    let prog_id = hopper.hbytes("program id")?;
    let wants = hopper.h4("flags")?;
    let argc = hopper.count("arguments", 4)?;
    let args = Texts::pass(&mut hopper, "an argument", argc)?;
    let envc = hopper.count("variables", 8)?;
    // No overflow: eight bytes each were found to be there.
    let env = Texts::pass(&mut hopper, "a variable", envc * 2)?;
    hopper.end()?;
    if wants & !WANTS != 0 {
        return Err(Malformed::Value { what: "flags", value: wants.into() });
    }
    let prog_id = text("program id", prog_id)?;
    args.check("an argument")?;
    env.check("a variable")?;
    Ok(StartParams { prog_id, wants, args, env })
}

/// What a future that could not read its exec params fails with.
pub const fn trace_of(why: &Malformed) -> Trace {
    match why {
        Malformed::Text(_) => Trace::ExecBadEncoding,
        _ => Trace::AsyncBadParams,
    }
}

/// Writes the params of `exec.start.v1`.
pub fn encode_start(
    prog_id: &str,
    wants: u32,
    args: &[&str],
    env: &[(&str, &str)],
) -> Result<Vec<u8>, TooLong> {
    let mut out = Vec::new();
    put_hstr(&mut out, prog_id)?;
    put_h4(&mut out, wants);
    put_length(&mut out, args.len())?;
    args.iter().try_for_each(|arg| put_hstr(&mut out, arg))?;
    put_length(&mut out, env.len())?;
    for (key, value) in env {
        put_hstr(&mut out, key)?;
        put_hstr(&mut out, value)?;
    }
    Ok(out)
}

/// What `exec.start.v1` answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Started {
    /// The process, for `exec.status.v1`.
    pub exec_id: u32,
    /// [`STARTED`], and maybe [`DETACHED`].
    pub status_flags: u32,
    /// A sink; 0 where none was granted.
    pub stdin_handle: u32,
    /// A source; 0 where none was granted.
    pub stdout_handle: u32,
    /// A source; 0 where none was granted.
    pub stderr_handle: u32,
}

impl Started {
    /// The twenty bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(START_VALUE_BYTES as usize);
        let streams = [self.stdin_handle, self.stdout_handle, self.stderr_handle];
        [self.exec_id, self.status_flags].into_iter().chain(streams).for_each(|it| put_h4(&mut out, it));
        out
    }

    /// Reads the answer to a request for `wants`: a stream that was not asked for has no handle.
    pub fn decode(bytes: &[u8], wants: u32) -> Result<Self, Malformed> {
        let mut hopper = Hopper::new(bytes);
        let (exec_id, status_flags) = (hopper.h4("exec id")?, hopper.h4("status flags")?);
        let mut handle = |what, want| match hopper.h4(what)? {
            0 => Ok(0),
            handle if wants & want != 0 => dynamic(what, handle),
            handle => Err(Malformed::Value { what, value: handle.into() }),
        };
        let stdin_handle = handle("stdin handle", WANT_STDIN)?;
        let stdout_handle = handle("stdout handle", WANT_STDOUT)?;
        let stderr_handle = handle("stderr handle", WANT_STDERR)?;
        hopper.end()?;
        if status_flags & STARTED == 0 || status_flags & !(STARTED | DETACHED) != 0 {
            return Err(Malformed::Value { what: "status flags", value: status_flags.into() });
        }
        let same = |a, b| a != 0 && a == b;
        if same(stdin_handle, stdout_handle)
            || same(stdin_handle, stderr_handle)
            || same(stdout_handle, stderr_handle)
        {
            return Err(Malformed::Spelling("handles, one of them twice,"));
        }
        Ok(Self { exec_id, status_flags, stdin_handle, stdout_handle, stderr_handle })
    }
}

/// Reads the params of `exec.status.v1`.
pub fn decode_status(bytes: &[u8]) -> Result<u32, Malformed> {
    let mut hopper = Hopper::new(bytes);
    let exec_id = hopper.h4("exec id")?;
    hopper.end()?;
    Ok(exec_id)
}

/// Writes the params of `exec.status.v1`.
pub const fn encode_status(exec_id: u32) -> [u8; 4] {
    exec_id.to_le_bytes()
}

/// How a process stands. From `Running` it goes to one of the others, and stays there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Not over.
    Running,
    /// Ended by itself, with whatever code.
    Exited,
    /// The host failed, or a limit was met.
    Failed,
    /// Its time was over.
    Timeout,
    /// Somebody ended it.
    Killed,
}

impl State {
    /// All of them, by their numbers.
    pub const ALL: [Self; 5] = [Self::Running, Self::Exited, Self::Failed, Self::Timeout, Self::Killed];

    /// Its number on the wire.
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Exited => "exited",
            Self::Failed => "failed",
            Self::Timeout => "timeout",
            Self::Killed => "killed",
        }
    }
}

/// What `exec.status.v1` answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status {
    /// How it stands.
    pub state: State,
    /// What it ended with.
    pub code: u32,
}

impl Status {
    /// The eight bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(STATUS_VALUE_BYTES as usize);
        put_h4(&mut out, self.state.number());
        put_h4(&mut out, self.code);
        out
    }

    /// Reads the answer.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut hopper = Hopper::new(bytes);
        let (number, code) = (hopper.h4("state")?, hopper.h4("code")?);
        hopper.end()?;
        let state = State::ALL.get(number as usize).copied();
        let state = state.ok_or(Malformed::Value { what: "state", value: number.into() })?;
        Ok(Self { state, code })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn layout_is_judged_before_flags_and_flags_before_text() {
        let good = encode_start("p", 2, &["\u{1}"], &[]).unwrap();
        assert_eq!(decode_start(&good), Err(Malformed::Text("an argument")));
        let flagged = encode_start("p", 8, &["\u{1}"], &[]).unwrap();
        assert_eq!(decode_start(&flagged), Err(Malformed::Value { what: "flags", value: 8 }));
        let long = [&flagged[..], b"x"].concat();
        assert_eq!(decode_start(&long), Err(Malformed::Trailing(1)));
    }

    #[test]
    fn the_documents_own_example_is_refused_for_its_wrong_length() {
        let mut bytes = encode_start("tools/echo", 6, &["echo", "hi"], &[]).unwrap();
        assert!(decode_start(&bytes).is_ok());
        bytes[0] = 9;
        assert_eq!(decode_start(&bytes).map_err(|it| trace_of(&it)), Err(Trace::AsyncBadParams));
    }

    #[test]
    fn a_guest_takes_no_handle_that_it_did_not_want() {
        let good =
            Started { exec_id: 1, status_flags: 1, stdin_handle: 3, stdout_handle: 4, stderr_handle: 0 };
        assert_eq!(Started::decode(&good.encode(), 3), Ok(good));
        assert_eq!(Started::decode(&good.encode(), 7), Ok(good));
        let bad = [
            (good, 2),
            (Started { status_flags: 0, ..good }, 7),
            (Started { status_flags: 5, ..good }, 7),
            (Started { stdin_handle: 2, ..good }, 7),
            (Started { stdin_handle: 4, ..good }, 7),
            (Started { stdin_handle: 1 << 31, ..good }, 7),
        ];
        for (value, wants) in bad {
            assert!(Started::decode(&value.encode(), wants).is_err(), "{value:?} {wants}");
        }
    }

    proptest! {
        #[test]
        fn params_round_trip_and_no_cut_of_them_reads(
            prog in "[ -~]{0,12}", wants in 0u32..8, args in prop::collection::vec("[ -~\u{e9}]{0,9}", 0..5),
            env in prop::collection::vec(("[ -~]{0,5}", "[ -~]{0,5}"), 0..4),
        ) {
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let env: Vec<(&str, &str)> = env.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
            let wire = encode_start(&prog, wants, &args, &env).unwrap();
            let params = decode_start(&wire).unwrap();
            prop_assert_eq!((params.prog_id, params.wants), (prog.as_str(), wants));
            prop_assert_eq!(params.args.iter().collect::<Vec<_>>(), args);
            prop_assert_eq!(params.env().collect::<Vec<_>>(), env);
            for cut in 0..wire.len() {
                prop_assert!(decode_start(&wire[..cut]).is_err());
            }
        }

        #[test]
        fn values_round_trip(state in 0usize..5, code in any::<u32>()) {
            let status = Status { state: State::ALL[state], code };
            prop_assert_eq!(Status::decode(&status.encode()), Ok(status));
        }

        #[test]
        fn no_bytes_make_the_decoders_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = decode_start(&bytes);
            let _ = Started::decode(&bytes, 7);
            let _ = decode_status(&bytes);
            let _ = Status::decode(&bytes);
        }
    }
}
