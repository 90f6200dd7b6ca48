//! The first call at which two tapes differ.

use drydock_store::{BadFrame, Frame, Frames, Seam};

use super::Asked;

/// Where two tapes part.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Difference {
    /// Which frame, counted from nought.
    pub frame: u64,
    /// What the one has there; nothing where it is at its end.
    pub one: Option<Asked>,
    /// What the other has.
    pub other: Option<Asked>,
    /// Whether the same was asked, and answered otherwise.
    pub same_question: bool,
    /// Where the answers differ, in bytes from their beginning, and some of them from there on in hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<(usize, String, String)>,
    /// What both asked before.
    pub before: Vec<Asked>,
}

const CONTEXT: usize = 3;
const HEX_BYTES: usize = 16;

/// Compares two tapes frame by frame; nothing where they are the same.
pub fn diff(mut one: Frames, mut other: Frames) -> Result<Option<Difference>, BadFrame> {
    let mut before = Vec::new();
    for frame in 0.. {
        let (first, second) = (one.read()?, other.read()?);
        if first.is_none() && second.is_none() {
            break;
        }
        if let (Some(same), Some(other)) = (&first, &second)
            && alike(same, other)
        {
            if before.len() == CONTEXT {
                before.remove(0);
            }
            before.push(Asked::of(same));
            continue;
        }
        let question = |it: &Option<Frame>| it.as_ref().map(Asked::of);
        let (asked, other_asked) = (question(&first), question(&second));
        let same_question = match (&first, &second) {
            (Some(first), Some(second)) => same_question(first, second),
            _ => false,
        };
        let answers = match (&first, &second) {
            (Some(first), Some(second)) if same_question => Some(part(&first.answer, &second.answer)),
            _ => None,
        };
        return Ok(Some(Difference {
            frame,
            one: asked,
            other: other_asked,
            same_question,
            answers,
            before,
        }));
    }
    Ok(None)
}

/// Each recording has a seed, a start and inputs of its own, and its calls are numbered from them: that is no difference.
fn alike(one: &Frame, other: &Frame) -> bool {
    match (one.seam, other.seam) {
        (Seam::Begin, Seam::Begin) => true,
        (Seam::Net, Seam::Net) => {
            same_question(one, other) && timeless(&one.answer) == timeless(&other.answer)
        }
        _ => same_question(one, other) && one.answer == other.answer,
    }
}

fn same_question(one: &Frame, other: &Frame) -> bool {
    (one.seam, &one.name, one.asked) == (other.seam, &other.name, other.asked)
}

/// An answer of the network without when it came; what cannot be read is compared as it is.
fn timeless(answer: &[u8]) -> (Option<serde_json::Value>, &[u8]) {
    let read = || {
        let (length, rest) = answer.split_first_chunk::<4>()?;
        let (head, body) = rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
        let mut head: serde_json::Value = serde_json::from_slice(head).ok()?;
        head.as_object_mut()?.remove("late");
        Some((Some(head), body))
    };
    read().unwrap_or((None, answer))
}

fn part(one: &[u8], other: &[u8]) -> (usize, String, String) {
    let at = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    let hex = |bytes: &[u8]| bytes[at..].iter().take(HEX_BYTES).map(|it| format!("{it:02x}")).collect();
    (at, hex(one), hex(other))
}
