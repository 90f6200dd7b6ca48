//! `hostname`: the same name for everybody, and true of no machine.

use super::arguments;
use crate::stream::Out;

/// What the machine is called that there is none of.
pub const HOST: &str = "drydock";
const HELP: &str = "Usage: hostname [-s | -f | -d | -i | -I]\nPrints what the machine is called.\n";
const TABLE: &[&str] = &["s,short", "f,fqdn,long", "d,domain", "i,ip-address", "I,all-ip-addresses"];

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    let line = match arguments::read("hostname", HELP, args, TABLE, 1) {
        Ok(line) => line,
        Err(status) => return status,
    };
    let mut out = Out::new("hostname");
    if !line.operands.is_empty() {
        out.complain("you must be root to change the host name");
        return 1;
    }
    let text = match line.flags.last() {
        Some(("i" | "I", _)) => "127.0.0.1",
        Some(("d", _)) => "",
        _ => HOST,
    };
    out.put(format!("{text}\n").as_bytes());
    out.end(0)
}
