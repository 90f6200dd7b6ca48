//! `uname` and `arch`: what scripts ask a machine, answered without one. Nothing here tells anything
//! about the host.

use super::arguments::{self, refuse};
use crate::stream::{Out, text};

/// What a field is called on a command line, and what it says.
const FIELDS: [(&str, &str); 8] = [
    ("s", "Linux"),
    ("n", super::hostname::HOST),
    ("r", "6.1.0"),
    ("v", "#1 SMP"),
    ("m", MACHINE),
    ("p", UNKNOWN),
    ("i", UNKNOWN),
    ("o", "GNU/Linux"),
];
const MACHINE: &str = "x86_64";
const UNKNOWN: &str = "unknown";
const HELP: &str = "Usage: uname [OPTION]...\nPrints what a machine is called; without options, -s.\n\n  -a, --all  -s, --kernel-name  -n, --nodename  -r, --kernel-release  -v, --kernel-version\n  -m, --machine  -p, --processor  -i, --hardware-platform  -o, --operating-system\n";
const TABLE: &[&str] = &[
    "a,all",
    "s,kernel-name",
    "n,nodename",
    "r,kernel-release",
    "v,kernel-version",
    "m,machine",
    "p,processor",
    "i,hardware-platform",
    "o,operating-system",
];

/// The applet `uname`.
pub fn main(args: &[&[u8]]) -> i32 {
    let line = match arguments::read("uname", HELP, args, TABLE, 1) {
        Ok(line) => line,
        Err(status) => return status,
    };
    if let Some(extra) = line.operands.first() {
        return refuse("uname", &format!("extra operand '{}'", text(extra)), 1);
    }
    let mut out = Out::new("uname");
    out.put(answer(|id| line.has(id)).as_bytes());
    out.end(0)
}

fn answer(asked: impl Fn(&str) -> bool) -> String {
    let none = FIELDS.iter().all(|(id, _)| !asked(id)) && !asked("a");
    // `-a` leaves out what is unknown.
    let chosen = |id: &str, value: &str| asked(id) || (asked("a") && value != UNKNOWN) || (none && id == "s");
    let chosen = FIELDS.iter().filter(|(id, value)| chosen(id, value));
    chosen.map(|(_, value)| *value).collect::<Vec<_>>().join(" ") + "\n"
}

/// The applet `arch`.
pub mod arch {
    use super::*;

    pub fn main(args: &[&[u8]]) -> i32 {
        let help = "Usage: arch\nPrints what kind of machine this is.\n";
        if let Err(status) = arguments::read("arch", help, args, &[], 1) {
            return status;
        }
        let mut out = Out::new("arch");
        out.put(format!("{MACHINE}\n").as_bytes());
        out.end(0)
    }
}

#[test]
fn a_machine_is_described_without_one() {
    let cases = [
        ("", "Linux\n"),
        ("sm", "Linux x86_64\n"),
        ("a", "Linux drydock 6.1.0 #1 SMP x86_64 GNU/Linux\n"),
        ("p", "unknown\n"),
    ];
    for (letters, want) in cases {
        assert_eq!(answer(|id| letters.contains(id)), want, "{letters}");
    }
}
