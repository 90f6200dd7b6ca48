//! `printenv`: the values of variables.

use super::arguments;
use crate::stream::{Out, text};

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    let help = "Usage: printenv [-0] [NAME]...\nPrints the values of variables, or all of them.\n\n  -0, --null  end each with NUL\n";
    let line = match arguments::read("printenv", help, args, &["0,null"], 2) {
        Ok(line) => line,
        Err(status) => return status,
    };
    let end = if line.has("0") { 0 } else { b'\n' };
    let (mut out, mut status) = (Out::new("printenv"), 0);
    if line.operands.is_empty() {
        for (name, value) in std::env::vars_os() {
            out.put(&[name.as_encoded_bytes(), b"=", value.as_encoded_bytes(), &[end]].concat());
        }
    }
    for name in &line.operands {
        match std::env::var_os(&*text(name)).filter(|_| !name.contains(&b'=')) {
            Some(value) => {
                out.put(value.as_encoded_bytes());
                out.sign(end);
            }
            None => status = 1,
        }
    }
    out.end(status)
}
