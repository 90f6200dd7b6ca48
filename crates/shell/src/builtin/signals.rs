//! Names and numbers of signals: `kill -l`, `trap -l`.

use crate::state::{Env, Eval};

/// The first 31, in order of their numbers.
pub(super) const NAMES: [&str; 31] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE",
    "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ",
    "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
];

/// The name of a number: a signal's, or the status of what a signal ended.
fn name_of(number: usize) -> Option<&'static str> {
    let number = if number > 128 { number - 128 } else { number };
    if number == 0 { Some("EXIT") } else { NAMES.get(number - 1).copied() }
}

fn number_of(name: &str) -> Option<usize> {
    let name = name.to_uppercase();
    let name = name.strip_prefix("SIG").unwrap_or(&name);
    if name == "EXIT" { Some(0) } else { NAMES.iter().position(|it| *it == name).map(|at| at + 1) }
}

/// The number of a name, with or without `SIG`, or of a number.
pub(crate) fn number(text: &str) -> Option<u8> {
    let number = match text.parse::<usize>() {
        Ok(number) => Some(number).filter(|it| *it <= 64),
        Err(_) => number_of(text),
    };
    number.and_then(|it| u8::try_from(it).ok())
}

/// The name of a signal, as traps know it.
pub(crate) fn signal_name(number: u8) -> &'static str {
    name_of(usize::from(number)).unwrap_or("RTMIN")
}

/// The table without arguments, else the other spelling of each.
pub(super) async fn list(env: &mut Env, by: &str, args: &[String]) -> Eval<i32> {
    let mut text = String::new();
    let mut status = 0;
    if args.is_empty() {
        let realtime =
            (34..=49).map(|it| if it == 34 { "RTMIN".into() } else { format!("RTMIN+{}", it - 34) });
        let above = (50..=64).map(|it| if it == 64 { "RTMAX".into() } else { format!("RTMAX-{}", 64 - it) });
        let rows = (1..=31).zip(NAMES.map(str::to_owned)).chain((34..=64).zip(realtime.chain(above)));
        for (index, (number, name)) in rows.enumerate() {
            let end = if (index + 1) % 5 == 0 { "\n" } else { "\t" };
            text.push_str(&format!("{number:2}) SIG{name}{end}"));
        }
        if !text.ends_with('\n') {
            text.push('\n');
        }
    }
    for arg in args {
        let other = match arg.parse::<usize>() {
            Ok(number) => name_of(number).map(str::to_owned),
            Err(_) => number_of(arg).map(|it| it.to_string()),
        };
        match other {
            Some(other) => text.push_str(&format!("{other}\n")),
            None => {
                env.complain(&format!("{by}: {arg}: invalid signal specification")).await?;
                status = 1;
            }
        }
    }
    env.print(&text).await?;
    Ok(status)
}
