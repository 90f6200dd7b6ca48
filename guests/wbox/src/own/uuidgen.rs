//! `uuidgen`: a name that nobody else has. By chance only; the command of that name does more.

use super::{arguments, random};
use crate::stream::{Out, reason};

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    let help = "Usage: uuidgen [-r | -t]\nPrints a random UUID.\n";
    if let Err(status) = arguments::read("uuidgen", help, args, &["r,random", "t,time"], 1) {
        return status;
    }
    let mut out = Out::new("uuidgen");
    match uuid() {
        Ok(text) => {
            out.put(text.as_bytes());
            out.end(0)
        }
        Err(error) => {
            out.complain(&reason(&error));
            1
        }
    }
}

fn uuid() -> std::io::Result<String> {
    let mut bytes = [0; 16];
    random::fill(&mut bytes)?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("{}-{}-{}-{}-{}\n", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]))
}

#[test]
fn no_two_are_alike() {
    let (one, two) = (uuid().unwrap_or_default(), uuid().unwrap_or_default());
    assert!(one.len() == 37 && &one[14..15] == "4", "{one}");
    assert_ne!(one, two);
}
