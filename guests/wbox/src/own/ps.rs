//! `ps`. A command sees no process but itself.

use crate::stream::Out;
use facts::owner;

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    // Everything that chooses processes chooses the same one.
    let full = args.iter().any(|it| {
        matches!(it, [b'-', letters @ ..] if letters.contains(&b'f'))
            || (!it.starts_with(b"-") && it.contains(&b'u'))
    });
    if args.contains(&&b"--help"[..]) {
        let mut out = Out::new("ps");
        out.put(
            b"Usage: ps [OPTION]...\nShows the processes of this session that a command can see: itself.\n",
        );
        return out.end(0);
    }
    let user = owner::user(owner::OWN).unwrap_or_else(|| owner::OWN.to_string());
    let mut out = Out::new("ps");
    let rows = match full {
        true => format!(
            "{:<8} {:>5} {:>5} TTY          TIME CMD\n{user:<8} {:>5} {:>5} ?        00:00:00 ps\n",
            "UID", "PID", "PPID", 1, 0
        ),
        false => format!("{:>5} TTY          TIME CMD\n{:>5} ?        00:00:00 ps\n", "PID", 1),
    };
    out.put(rows.as_bytes());
    out.end(0)
}
