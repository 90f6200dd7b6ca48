//! What dc reads from its program: numbers, texts, and what it skips.

use super::{Machine, Step, Value};
use crate::text;

impl Machine {
    /// The next byte of the program that runs.
    pub(super) fn take(&mut self) -> Option<u8> {
        let frame = self.frames.last_mut()?;
        let byte = frame.code.get(frame.at).copied()?;
        frame.at += 1;
        Some(byte)
    }

    pub(super) fn skip_line(&mut self) {
        while self.take().is_some_and(|byte| byte != b'\n') {}
    }

    /// A number, whose first sign was taken already. `_` makes it negative.
    pub(super) fn number(&mut self) -> Step {
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        let rest = &frame.code[frame.at - 1..];
        let negative = rest.first() == Some(&b'_');
        let digits = &rest[usize::from(negative)..];
        let mut points = 0;
        let length = digits.iter().take_while(|byte| match byte {
            b'.' => {
                points += 1;
                points == 1
            }
            other => matches!(other, b'0'..=b'9' | b'A'..=b'F'),
        });
        let length = length.count();
        let spelled = String::from_utf8_lossy(&digits[..length]);
        let number = text::parse(&spelled, self.input_base, text::Digits::Any);
        frame.at += length + usize::from(negative) - 1;
        self.push_number(if negative { number.neg() } else { number })
    }

    /// What stands between brackets, with those inside it.
    pub(super) fn text(&mut self) -> Step {
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        let rest = &frame.code[frame.at..];
        let mut depth = 1_usize;
        let end = rest.iter().position(|byte| {
            match byte {
                b'[' => depth += 1,
                b']' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let text = rest[..end.unwrap_or(rest.len())].into();
        frame.at += end.map_or(rest.len(), |end| end + 1);
        self.push(Value::Text(text))
    }
}
