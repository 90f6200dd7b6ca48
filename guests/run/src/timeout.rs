//! `timeout`: a command that is ended when its time is up.

use crate::env::told;
use child::{Children, Command, Ended, Stdin};
use options::{Item, Order};

const HELP: &str = "Usage: timeout [OPTION] DURATION COMMAND [ARG]...
Start COMMAND, and kill it if still running after DURATION.

  -s, --signal=SIGNAL      accepted; a command is always ended at once
  -k, --kill-after=DUR     accepted
      --preserve-status    exit with the status a killed command has
      --foreground         accepted
  -v, --verbose            say so when a command is ended

DURATION is a number with an optional suffix: s, m, h or d. 0 means no limit.
If the command times out, and --preserve-status is not set, the status is 124.
";
const TABLE: &[&str] =
    &["s,signal=", "k,kill-after=", "preserve-status", "foreground", "v,verbose", "help", "version"];
const TROUBLE: i32 = 125;
const TIMED_OUT: i32 = 124;
const KILLED: i32 = 137;
const TERMINATED: i32 = 143;

/// Runs the command and returns the exit status.
pub(crate) fn run(args: &[String], children: &dyn Children) -> i32 {
    let items = match options::parse(args, TABLE, Order::First) {
        Ok(items) => items,
        Err(problem) => return trouble(&problem),
    };
    let (mut preserve, mut verbose, mut signal) = (false, false, String::new());
    let mut words = Vec::new();
    for item in items {
        match item {
            Item::Flag("help", _) => return crate::print(HELP),
            Item::Flag("version", _) => return crate::print("timeout (GNU coreutils) compatible, drydock\n"),
            Item::Flag("preserve-status", _) => preserve = true,
            Item::Flag("v", _) => verbose = true,
            Item::Flag("s", Some(name)) => signal = name.trim_start_matches("SIG").to_uppercase(),
            Item::Flag("k", Some(text)) if milliseconds(&text).is_none() => {
                return trouble(&format!("invalid time interval '{text}'"));
            }
            Item::Flag(..) => {}
            Item::Operand(word) => words.push(word),
        }
    }
    let [duration, name, args @ ..] = words.as_slice() else {
        return trouble("missing operand\nTry 'timeout --help' for more information.");
    };
    let Some(limit) = milliseconds(duration) else {
        return trouble(&format!("invalid time interval '{duration}'"));
    };
    let args: Vec<Vec<u8>> = args.iter().map(|it| it.clone().into_bytes()).collect();
    let env = child::environment();
    let ended = children.run(&Command {
        name: name.as_bytes(),
        args: &args,
        env: &env,
        directory: None,
        stdin: Stdin::Ours,
        wall_ms_max: Some(limit).filter(|it| *it > 0),
    });
    if ended != Ended::TimedOut {
        return told("timeout", name, &ended).min(255);
    }
    let hard = matches!(signal.as_str(), "KILL" | "9");
    if verbose {
        let shown = if signal.is_empty() { "TERM" } else { &signal };
        crate::complain("timeout", &format!("sending signal {shown} to command '{name}'"));
    }
    match (hard, preserve) {
        (true, _) => KILLED,
        (false, true) => TERMINATED,
        (false, false) => TIMED_OUT,
    }
}

fn trouble(problem: &str) -> i32 {
    crate::complain("timeout", problem);
    TROUBLE
}

/// `1.5`, `2s`, `1m`, `1h`, `1d`; at least one millisecond unless it is nothing.
fn milliseconds(text: &str) -> Option<u64> {
    let spelled = text.starts_with(|it: char| it.is_ascii_digit() || it == '.');
    let length = calendar::duration(text).filter(|_| spelled)?;
    Some(u64::try_from(length.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        let cases = [
            ("1", Some(1000)),
            ("1.5s", Some(1500)),
            ("2m", Some(120_000)),
            ("1h", Some(3_600_000)),
            ("0", Some(0)),
            ("0.0001", Some(1)),
            ("x", None),
            ("", None),
            ("-1", None),
            ("5x", None),
            ("inf", None),
        ];
        for (text, want) in cases {
            assert_eq!(milliseconds(text), want, "{text}");
        }
    }

    struct Slow;
    impl Children for Slow {
        fn run(&self, command: &Command<'_>) -> Ended {
            match command.wall_ms_max {
                Some(limit) if limit < 5000 => Ended::TimedOut,
                _ => Ended::Exited(7),
            }
        }
    }

    #[test]
    fn the_status_tells_whether_time_was_up() {
        for (line, want) in [
            ("1 sleep 9", 124),
            ("10 sleep 9", 7),
            ("0 sleep 9", 7),
            ("-s KILL 1 sleep 9", 137),
            ("--preserve-status 1 sleep 9", 143),
            ("1", 125),
            ("x sleep 9", 125),
            ("-k 1 2 sleep 9", 124),
        ] {
            let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            assert_eq!(run(&args, &Slow), want, "{line}");
        }
    }
}
