//! `yes`: a line again and again.

use super::arguments;
use crate::stream::Out;

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    let help = "Usage: yes [TEXT]...\nPrints a line again and again, until nobody reads it.\n";
    let line = match arguments::read("yes", help, args, &[], 1) {
        Ok(line) => line,
        Err(status) => return status,
    };
    let mut text = if line.operands.is_empty() { b"y".to_vec() } else { line.operands.join(&b' ') };
    text.push(b'\n');
    let mut out = Out::new("yes");
    while out.put(&text) {}
    out.end(0)
}
