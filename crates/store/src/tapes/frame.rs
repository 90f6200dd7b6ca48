//! One frame of a tape: who asked for what at which seam, and what came from the world.
//!
//! A frame is its length, and then the seam, the call that asked, the name of the question, a digest of all of it, and
//! the answer. A question is never there but by its name and digest: what guests compute is no part of a tape.
//!
//! The decoder believes no length before it was compared with a bound, keeps nothing it was not given, and takes a frame
//! whole or not at all.

use std::io::{self, Read};

/// The longest name of a question; longer ones are cut, and told apart by their digests.
pub const FRAME_NAME_BYTES_MAX: usize = 512;
/// The longest frame: an answer of the network and what stands before it.
pub const FRAME_BYTES_MAX: usize = 40 << 20;

/// Seam, call, length of the name, digest.
const FRONT_BYTES: usize = 1 + 8 + 2 + 16;

macro_rules! seams {
    ($($variant:ident = $number:literal $text:literal $doc:literal,)*) => {
        /// Where something enters a session from outside (docs/specs/tape.md).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Seam { $(#[doc = $doc] $variant = $number,)* }

        impl Seam {
            /// All of them.
            pub const ALL: &'static [Seam] = &[$(Seam::$variant,)*];

            /// The stable name.
            pub const fn as_str(self) -> &'static str {
                match self { $(Seam::$variant => $text,)* }
            }

            fn of(number: u8) -> Option<Self> {
                match number { $($number => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

seams! {
    Begin = 1 "begin" "The seed, the moment it began, and the inputs.",
    Call = 2 "call" "A call was judged at the gate; the answer is the verdict.",
    Code = 3 "code" "This code is about to run.",
    Net = 4 "net" "An answer of the network, or a piece of one.",
    Tool = 5 "tool" "An answer of an embedder's tool.",
    Command = 6 "command" "What an embedder's command did.",
    File = 7 "file" "An answer of a tree that others have, too.",
    Stream = 8 "stream" "A piece of an outside stream.",
    Verdict = 9 "verdict" "Time, load or a person ended something.",
    End = 10 "end" "What came of it all, as digests.",
}

/// One question to the world, and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Where it was asked.
    pub seam: Seam,
    /// The call that asked; zero where none did.
    pub call: u64,
    /// What was asked, for a person.
    pub name: String,
    /// All of what was asked, as a digest.
    pub asked: [u8; 16],
    /// What the world answered.
    pub answer: Vec<u8>,
}

impl Frame {
    /// Bytes that the frame takes before it is compressed.
    pub fn wire_bytes(&self) -> usize {
        4 + FRONT_BYTES + self.name.len() + self.answer.len()
    }

    /// Appends the frame's bytes. A name past its bound is cut.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), BadFrame> {
        let name = &self.name[..self.name.floor_char_boundary(FRAME_NAME_BYTES_MAX)];
        let bytes = FRONT_BYTES + name.len() + self.answer.len();
        if bytes > FRAME_BYTES_MAX {
            return Err(BadFrame::TooLong { bytes: bytes as u64 });
        }
        // Both fit: they were compared with their bounds.
        out.extend_from_slice(&(bytes as u32).to_le_bytes());
        out.push(self.seam as u8);
        out.extend_from_slice(&self.call.to_le_bytes());
        out.extend_from_slice(&(name.len() as u16).to_le_bytes());
        out.extend_from_slice(&self.asked);
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(&self.answer);
        Ok(())
    }

    /// The next frame; none where the bytes end between two.
    pub fn read(from: &mut impl Read) -> Result<Option<Self>, BadFrame> {
        let mut length = [0; 4];
        match read_some(from, &mut length)? {
            0 => return Ok(None),
            4 => {}
            _ => return Err(BadFrame::Cut),
        }
        let bytes = u32::from_le_bytes(length) as usize;
        if bytes > FRAME_BYTES_MAX {
            return Err(BadFrame::TooLong { bytes: bytes as u64 });
        }
        let Some(rest) = bytes.checked_sub(FRONT_BYTES) else { return Err(BadFrame::Cut) };
        let mut front = [0; FRONT_BYTES];
        if read_some(from, &mut front)? < FRONT_BYTES {
            return Err(BadFrame::Cut);
        }
        let seam = Seam::of(front[0]).ok_or(BadFrame::Seam(front[0]))?;
        let (mut call, mut asked) = ([0; 8], [0; 16]);
        call.copy_from_slice(&front[1..9]);
        asked.copy_from_slice(&front[11..27]);
        let name_bytes = usize::from(u16::from_le_bytes([front[9], front[10]]));
        let Some(answer_bytes) = rest.checked_sub(name_bytes) else { return Err(BadFrame::Cut) };
        if name_bytes > FRAME_NAME_BYTES_MAX {
            return Err(BadFrame::Name);
        }
        let name = String::from_utf8(take(from, name_bytes)?).map_err(|_| BadFrame::Name)?;
        let answer = take(from, answer_bytes)?;
        Ok(Some(Self { seam, call: u64::from_le_bytes(call), name, asked, answer }))
    }
}

/// Exactly so many bytes. What is claimed is not made room for before it is there.
fn take(from: &mut impl Read, bytes: usize) -> Result<Vec<u8>, BadFrame> {
    let mut all = Vec::with_capacity(bytes.min(64 << 10));
    from.take(bytes as u64).read_to_end(&mut all).map_err(BadFrame::of)?;
    if all.len() < bytes { Err(BadFrame::Cut) } else { Ok(all) }
}

/// As much of the buffer as there is.
fn read_some(from: &mut impl Read, buffer: &mut [u8]) -> Result<usize, BadFrame> {
    let mut filled = 0;
    while filled < buffer.len() {
        match from.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(BadFrame::of(error)),
        }
    }
    Ok(filled)
}

/// The bytes are no frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadFrame {
    /// They end in the middle of one.
    #[error("it ends in the middle of a frame")]
    Cut,
    /// It is longer than a frame may be.
    #[error("a frame of {bytes} bytes is longer than any may be")]
    TooLong {
        /// What it claims.
        bytes: u64,
    },
    /// Nobody asks there.
    #[error("a frame is of kind {0}, which nobody writes")]
    Seam(u8),
    /// Its name is too long, or no text.
    #[error("the name of a frame is no text, or too long")]
    Name,
    /// What was compressed cannot be read.
    #[error("its bytes cannot be decompressed")]
    Compressed,
}

impl BadFrame {
    /// Reading from memory fails only where what was compressed is not whole, or nothing that was.
    fn of(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Cut,
            _ => Self::Compressed,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn frame() -> impl Strategy<Value = Frame> {
        let seam = proptest::sample::select(Seam::ALL);
        let answer = proptest::collection::vec(any::<u8>(), 0..300);
        (seam, any::<u64>(), "\\PC{0,40}", any::<[u8; 16]>(), answer)
            .prop_map(|(seam, call, name, asked, answer)| Frame { seam, call, name, asked, answer })
    }

    proptest! {
        #[test]
        fn frames_are_read_as_they_are_written_and_every_cut_is_an_error(frames in proptest::collection::vec(frame(), 1..6), at: proptest::sample::Index) {
            let mut bytes = Vec::new();
            let mut ends = vec![0];
            for frame in &frames {
                frame.encode(&mut bytes).unwrap();
                ends.push(bytes.len());
            }
            let read = |mut bytes: &[u8]| -> Result<Vec<Frame>, BadFrame> {
                let mut all = Vec::new();
                while let Some(frame) = Frame::read(&mut bytes)? {
                    all.push(frame);
                }
                Ok(all)
            };
            prop_assert_eq!(read(&bytes), Ok(frames));
            let at = at.index(bytes.len());
            prop_assert_eq!(read(&bytes[..at]).is_ok(), ends.contains(&at));
        }

        #[test]
        fn no_bytes_break_the_reader_of_frames(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut rest = &bytes[..];
            while let Ok(Some(frame)) = Frame::read(&mut rest) {
                prop_assert!(frame.name.len() <= FRAME_NAME_BYTES_MAX);
            }
        }
    }

    #[test]
    fn a_length_is_believed_only_as_far_as_there_are_bytes() {
        let mut claimed = (FRAME_BYTES_MAX as u32).to_le_bytes().to_vec();
        claimed.push(2);
        claimed.resize(40, 0);
        assert_eq!(Frame::read(&mut &claimed[..]), Err(BadFrame::Cut));
        claimed[..4].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(Frame::read(&mut &claimed[..]), Err(BadFrame::TooLong { bytes: u64::from(u32::MAX) }));
    }

    #[test]
    fn a_long_name_is_cut_at_a_character() {
        let frame =
            Frame { seam: Seam::File, call: 0, name: "ü".repeat(400), asked: [0; 16], answer: vec![] };
        let mut bytes = Vec::new();
        frame.encode(&mut bytes).unwrap();
        assert_eq!(Frame::read(&mut &bytes[..]).unwrap().unwrap().name, "ü".repeat(256));
    }
}
