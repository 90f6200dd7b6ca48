//! `ulimit`: limits that a script sets for itself, below those that the line has anyway.
//!
//! Three of them take effect here: `-f` for files that redirections and commands write, `-n` for the numbers of descriptors, `-t` for the
//! time of each command. The others are kept and told as bash does, and nothing here would obey them.

use crate::state::{Env, Eval, Rlimit};

/// A resource: its letter, how `-a` names it, its unit, and what it begins with (nothing is no limit).
struct Resource {
    letter: char,
    name: &'static str,
    unit: &'static str,
    starts: Option<u64>,
}

macro_rules! resources {
    ($($letter:literal $name:literal $unit:literal $starts:expr;)*) => {
        &[$(Resource { letter: $letter, name: $name, unit: $unit, starts: $starts }),*]
    };
}

#[rustfmt::skip]
const RESOURCES: &[Resource] = resources! {
    'R' "real-time non-blocking time" "microseconds" None;
    'c' "core file size" "blocks" Some(0);
    'd' "data seg size" "kbytes" None;
    'e' "scheduling priority" "" Some(0);
    'f' "file size" "blocks" None;
    'i' "pending signals" "" None;
    'l' "max locked memory" "kbytes" None;
    'm' "max memory size" "kbytes" None;
    'n' "open files" "" Some(1_024);
    'p' "pipe size" "512 bytes" Some(8);
    'q' "POSIX message queues" "bytes" None;
    'r' "real-time priority" "" Some(0);
    's' "stack size" "kbytes" Some(8_192);
    't' "cpu time" "seconds" None;
    'u' "max user processes" "" None;
    'v' "virtual memory" "kbytes" None;
    'x' "file locks" "" None;
};

/// What is more than this has no number of bytes.
const VALUE_MAX: u64 = u64::MAX / 1_024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Soft,
    Hard,
    Both,
}

pub(super) async fn run(env: &mut Env, args: &[String]) -> Eval<i32> {
    let mut side = None;
    let mut asked: Vec<(&Resource, Option<String>)> = Vec::new();
    let (mut all, mut rest) = (false, args);
    while let [first, more @ ..] = rest {
        let Some(letters) = first.strip_prefix('-').filter(|it| !it.is_empty()) else { break };
        rest = more;
        if letters == "-" {
            break;
        }
        for letter in letters.chars() {
            match letter {
                'S' => side = Some(if side == Some(Side::Hard) { Side::Both } else { Side::Soft }),
                'H' => side = Some(if side == Some(Side::Soft) { Side::Both } else { Side::Hard }),
                'a' => all = true,
                other => match RESOURCES.iter().find(|it| it.letter == other) {
                    Some(resource) => asked.push((resource, None)),
                    None => {
                        env.complain(&format!("ulimit: -{other}: invalid option")).await?;
                        return Ok(2);
                    }
                },
            }
        }
        // `-n 100 -t 5`: the word after a letter that is no option is its value.
        if let (Some(value), Some(last)) = (rest.first(), asked.last_mut())
            && !value.starts_with('-')
        {
            last.1 = Some(value.clone());
            rest = &rest[1..];
        }
    }
    if all {
        let lines: String = RESOURCES.iter().map(|it| line(it, shown(env, it, side))).collect();
        env.print(&lines).await?;
        return Ok(0);
    }
    if asked.is_empty() {
        asked.extend(RESOURCES.iter().filter(|it| it.letter == 'f').map(|it| (it, None)));
    }
    if let (Some(value), Some(last)) = (rest.first(), asked.last_mut()) {
        last.1 = Some(value.clone());
    }
    let several = asked.len() > 1;
    for (resource, value) in asked {
        let done = match value {
            Some(value) => change(env, resource, &value, side.unwrap_or(Side::Both)),
            None => {
                let value = shown(env, resource, side);
                let text = if several { line(resource, value) } else { format!("{}\n", told(value)) };
                env.print(&text).await?;
                Ok(())
            }
        };
        if let Err(text) = done {
            env.complain(&format!("ulimit: {text}")).await?;
            return Ok(1);
        }
    }
    Ok(0)
}

fn now(env: &Env, resource: &Resource) -> Rlimit {
    let start = Rlimit { soft: resource.starts, hard: resource.starts.filter(|_| resource.letter != 's') };
    env.rlimits.get(resource.letter).unwrap_or(start)
}

fn shown(env: &Env, resource: &Resource, side: Option<Side>) -> Option<u64> {
    let limit = now(env, resource);
    if side == Some(Side::Hard) { limit.hard } else { limit.soft }
}

fn told(value: Option<u64>) -> String {
    value.map_or_else(|| "unlimited".to_owned(), |it| it.to_string())
}

/// As `ulimit -a` has it: the unit and the letter end in one column.
fn line(resource: &Resource, value: Option<u64>) -> String {
    let unit = match resource.unit {
        "" => format!("(-{})", resource.letter),
        unit => format!("({unit}, -{})", resource.letter),
    };
    let width = 40usize.saturating_sub(resource.name.len());
    format!("{}{unit:>width$} {}\n", resource.name, told(value))
}

fn change(env: &mut Env, resource: &Resource, text: &str, side: Side) -> Result<(), String> {
    let old = now(env, resource);
    let value = match text {
        "unlimited" => None,
        "hard" => old.hard,
        "soft" => old.soft,
        digits => {
            let value = digits.parse::<u64>().map_err(|_| format!("{digits}: invalid number"))?;
            if value > VALUE_MAX {
                return Err(format!("{digits}: limit out of range"));
            }
            Some(value)
        }
    };
    let above = |one: Option<u64>, other: Option<u64>| one.unwrap_or(u64::MAX) > other.unwrap_or(u64::MAX);
    let refused = |why: &str| Err(format!("{}: cannot modify limit: {why}", resource.name));
    if resource.letter == 'p' {
        return refused("Invalid argument");
    }
    let mut new = old;
    if side != Side::Soft {
        // Nobody here has the right to raise what was lowered.
        if above(value, old.hard) {
            return refused("Operation not permitted");
        }
        new.hard = value;
    }
    if side != Side::Hard {
        new.soft = value;
    }
    if above(new.soft, new.hard) {
        return refused("Invalid argument");
    }
    std::sync::Arc::make_mut(&mut env.rlimits).set(resource.letter, new);
    Ok(())
}
