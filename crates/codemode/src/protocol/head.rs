//! What the beginning of a message tells: enough to answer one that is too long to be read.

/// The members of a message that come before its payload, as far as they are plain strings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Head {
    /// `type`.
    pub kind: Option<String>,
    /// `id`.
    pub id: Option<String>,
    /// `callId`.
    pub call_id: Option<String>,
}

/// No further than this is looked.
const BYTES_MAX: usize = 4096;

impl Head {
    /// Reads the beginning of a message.
    pub fn of(line: &[u8]) -> Self {
        let mut head = Self::default();
        let mut rest = &line[..line.len().min(BYTES_MAX)];
        let _ = head.read(&mut rest);
        head
    }

    /// Member by member, until one is not a short scalar or the text ends.
    fn read(&mut self, rest: &mut &[u8]) -> Option<()> {
        take(rest, b'{')?;
        loop {
            let name = string(rest)?;
            take(rest, b':')?;
            if skip_blank(rest).first() == Some(&b'"') {
                let value = string(rest)?;
                match name.as_str() {
                    "type" => self.kind = Some(value),
                    "id" => self.id = Some(value),
                    "callId" => self.call_id = Some(value),
                    _ => {}
                }
            } else {
                let end = rest.iter().position(|byte| matches!(byte, b',' | b'[' | b'{' | b'}'))?;
                *rest = &rest[end..];
            }
            take(rest, b',')?;
        }
    }
}

fn skip_blank<'a>(rest: &mut &'a [u8]) -> &'a [u8] {
    *rest = rest.trim_ascii_start();
    rest
}

fn take(rest: &mut &[u8], wanted: u8) -> Option<()> {
    let (first, tail) = skip_blank(rest).split_first()?;
    *rest = tail;
    (*first == wanted).then_some(())
}

/// A string that ends within the text.
fn string(rest: &mut &[u8]) -> Option<String> {
    if skip_blank(rest).first() != Some(&b'"') {
        return None;
    }
    let mut at = 1;
    loop {
        match rest.get(at)? {
            b'"' => break,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    let text = serde_json::from_slice(rest.get(..=at)?).ok()?;
    *rest = &rest[at + 1..];
    Some(text)
}
