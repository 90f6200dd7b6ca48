//! `watch`: a command again and again. There is no screen to redraw, so every round is printed after the
//! one before it, and the rounds end by themselves after a while: nobody is there to press a key.

use child::Captured;
use options::{Item, Order};
use std::time::{Duration, Instant};

const HELP: &str = "Usage: watch [options] command
Runs a command again and again and prints each round. Rounds end by themselves after 20 seconds.

  -b, --beep             beep if command has a non-zero exit
  -d, --differences      print only rounds that differ from the one before
  -e, --errexit          exit if command has a non-zero exit
  -g, --chgexit          exit when output from command changes
  -n, --interval <secs>  seconds to wait between updates
  -q, --equexit <rounds> exit when output from command does not change for so many rounds
  -t, --no-title         turn off header
  -x, --exec             pass command to exec instead of \"sh -c\"
";
const TABLE: &[&str] = &[
    "b,beep",
    "c,color",
    "d,differences?",
    "e,errexit",
    "g,chgexit",
    "n,interval=",
    "p,precise",
    "q,equexit=",
    "r,no-rerun",
    "t,no-title",
    "w,no-wrap",
    "x,exec",
    "h,help",
    "v,version",
];
/// How long rounds go on, and the shortest time between two of them.
const WALL_MAX: Duration = Duration::from_secs(20);
const PAUSE_MIN: Duration = Duration::from_millis(100);
/// The command failed, and that was to end it.
const FAILED: i32 = 8;

/// The command may not be run, and there is none of that name.
const NOT_RUN: i32 = 126;
const NOT_FOUND: i32 = 127;

#[derive(Debug, Default, PartialEq)]
struct Settings {
    beep: bool,
    only_changes: bool,
    until_failure: bool,
    until_change: bool,
    equal_max: Option<u64>,
    pause: Duration,
    title: bool,
    direct: bool,
    command: Vec<String>,
}

/// Runs rounds; the exit status.
pub(crate) fn run(args: &[String]) -> i32 {
    let settings = match read(args) {
        Ok(Some(settings)) => settings,
        Ok(None) => return crate::print(HELP),
        Err(problem) => {
            crate::complain("watch", &problem);
            return 1;
        }
    };
    let started = Instant::now();
    let (name, words) = words(&settings);
    let mut once = || child::capture(&name, &words, &[]);
    let mut pause = || match started.elapsed() + settings.pause < WALL_MAX {
        true => {
            std::thread::sleep(settings.pause);
            true
        }
        false => false,
    };
    let mut print = |bytes: &[u8]| place::stdio::print(bytes);
    rounds(&settings, &mut once, &mut pause, &mut print)
}

/// The rounds themselves: `once` runs the command, `pause` waits and says whether there is time left.
fn rounds(
    settings: &Settings,
    once: &mut dyn FnMut() -> Captured,
    pause: &mut dyn FnMut() -> bool,
    print: &mut dyn FnMut(&[u8]) -> bool,
) -> i32 {
    let title = format!("Every {:.1}s: {}\n\n", settings.pause.as_secs_f64(), settings.command.join(" "));
    let (mut before, mut equal): (Option<Vec<u8>>, u64) = (None, 0);
    loop {
        let (output, status) = match once() {
            Captured::Output(output, status) => (output, status),
            Captured::Failed(ended) => {
                return crate::env::told(
                    "watch",
                    settings.command.first().map_or("", String::as_str),
                    &ended,
                );
            }
        };
        // Whoever was refused, or is not there, will not be there in the next round either.
        if before.is_none() && matches!(status, NOT_RUN | NOT_FOUND) {
            print(&output);
            return status;
        }
        let changed = before.as_ref().is_some_and(|it| *it != output);
        let mut round = Vec::new();
        if before.is_none() || changed || !settings.only_changes {
            if settings.title {
                round.extend_from_slice(title.as_bytes());
            }
            round.extend_from_slice(&output);
            if settings.title && !output.is_empty() {
                round.push(b'\n');
            }
        }
        if settings.beep && status != 0 {
            round.push(7);
        }
        if !print(&round) {
            return 1;
        }
        if settings.until_failure && status != 0 {
            crate::complain("watch", "command exit with a non-zero status");
            return FAILED;
        }
        if settings.until_change && changed {
            return 0;
        }
        equal = if before.is_some() && !changed { equal + 1 } else { 0 };
        if settings.equal_max.is_some_and(|max| equal >= max) || !pause() {
            return 0;
        }
        before = Some(output);
    }
}

/// What is run: the shell with the words in one line, or the words themselves.
fn words(settings: &Settings) -> (Vec<u8>, Vec<Vec<u8>>) {
    let bytes = |words: &[String]| words.iter().map(|it| it.clone().into_bytes()).collect();
    match settings.command.split_first() {
        Some((name, rest)) if settings.direct => (name.clone().into_bytes(), bytes(rest)),
        _ => (b"sh".to_vec(), bytes(&["-c".to_owned(), settings.command.join(" ")])),
    }
}

fn read(args: &[String]) -> Result<Option<Settings>, String> {
    let mut settings = Settings { title: true, pause: Duration::from_secs(2), ..Settings::default() };
    for item in options::parse(args, TABLE, Order::First)? {
        match item {
            Item::Flag("b", _) => settings.beep = true,
            Item::Flag("d", _) => settings.only_changes = true,
            Item::Flag("e", _) => settings.until_failure = true,
            Item::Flag("g", _) => settings.until_change = true,
            Item::Flag("n", Some(text)) => {
                let seconds = text.replace(',', ".").parse::<f64>().ok().filter(|it| it.is_finite());
                let seconds = seconds.ok_or_else(|| format!("failed to parse argument: '{text}'"))?;
                let pause = Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX);
                settings.pause = pause.clamp(PAUSE_MIN, Duration::from_secs(u64::from(u32::MAX)));
            }
            Item::Flag("q", Some(text)) => {
                let max = text.parse().ok().filter(|it| *it > 0);
                settings.equal_max = Some(max.ok_or_else(|| format!("failed to parse argument: '{text}'"))?);
            }
            Item::Flag("t", _) => settings.title = false,
            Item::Flag("x", _) => settings.direct = true,
            Item::Flag("h" | "v", _) => return Ok(None),
            Item::Flag(..) => {}
            Item::Operand(word) => settings.command.push(word),
        }
    }
    if settings.command.is_empty() {
        return Err(format!("no command given\n{}", HELP.trim_end()));
    }
    Ok(Some(settings))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output and the status of `watch` with commands that print these, one a round.
    fn watched(line: &str, outputs: &[(&str, i32)]) -> (String, i32) {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let Ok(Some(settings)) = read(&args) else { return (String::new(), -1) };
        let (mut printed, mut at) = (Vec::new(), 0);
        let mut next = || {
            let (text, status) = outputs[at];
            at += 1;
            Captured::Output(text.as_bytes().to_vec(), status)
        };
        let mut left = outputs.len();
        let mut pause = || {
            left -= 1;
            left > 0
        };
        let status = rounds(&settings, &mut next, &mut pause, &mut |bytes| {
            printed.extend_from_slice(bytes);
            true
        });
        (String::from_utf8_lossy(&printed).into_owned(), status)
    }

    #[test]
    fn rounds_end_as_they_were_told_to() {
        let ab = [("a\n", 0), ("a\n", 0), ("b\n", 3), ("b\n", 0)];
        let cases = [
            ("-t date", "a\na\nb\nb\n", 0),
            ("-t -g date", "a\na\nb\n", 0),
            ("-t -e date", "a\na\nb\n", 8),
            ("-t -d date", "a\nb\n", 0),
            ("-t -q 1 date", "a\na\n", 0),
            (
                "-n 0.5 -g date -u",
                "Every 0.5s: date -u\n\na\n\nEvery 0.5s: date -u\n\na\n\nEvery 0.5s: date -u\n\nb\n\n",
                0,
            ),
            ("-n x date", "", -1),
            ("-t", "", -1),
        ];
        for (line, out, status) in cases {
            assert_eq!(watched(line, &ab), (out.to_owned(), status), "{line}");
        }
    }

    #[test]
    fn the_shell_gets_one_line() {
        let command = |line: &str| {
            let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            read(&args).ok().flatten().map(|it| words(&it))
        };
        let sh = (b"sh".to_vec(), vec![b"-c".to_vec(), b"ls -l x".to_vec()]);
        assert_eq!(command("-n1 ls -l x"), Some(sh));
        assert_eq!(command("-x ls -l"), Some((b"ls".to_vec(), vec![b"-l".to_vec()])));
    }
}
