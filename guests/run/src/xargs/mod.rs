//! `xargs`: command lines from input. Children run one after another, whatever `-P` asks for.

mod settings;
mod split;

use child::{Children, Command, Ended, Stdin};
use settings::Settings;
use split::Item;
use std::io::{Read as _, Write as _};

/// A child failed.
const CHILD_FAILED: i32 = 123;
/// A child said 255, which ends everything.
const CHILD_GAVE_UP: i32 = 124;
const STOPPED: i32 = 125;

/// Runs the commands and returns the exit status.
pub(crate) fn run(args: &[String], children: &dyn Children) -> i32 {
    let settings = match settings::parse(args) {
        Ok(settings) => settings,
        Err(settings::Refused::Help) => return crate::print(settings::HELP),
        Err(settings::Refused::Version) => {
            return crate::print("xargs (GNU findutils) 4.9.0 compatible, drydock\n");
        }
        Err(settings::Refused::Problem(problem)) => {
            crate::complain("xargs", &problem);
            return 1;
        }
    };
    match input(&settings).and_then(|bytes| split::split(&bytes, settings.cut(), settings.end.as_deref())) {
        Ok(items) => Job { settings: &settings, children, env: child::environment(), status: 0, started: 0 }
            .all(&items),
        Err(problem) => {
            crate::complain("xargs", &problem);
            1
        }
    }
}

fn input(settings: &Settings) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    match &settings.file {
        Some(name) => {
            let mut file = std::fs::File::open(name)
                .map_err(|error| format!("Cannot open input file '{name}': {}", place::reason(&error)))?;
            // A directory can be opened, and has nothing to read.
            let _ = file.read_to_end(&mut bytes);
        }
        None => {
            let _ = std::io::stdin().lock().read_to_end(&mut bytes);
        }
    }
    Ok(bytes)
}

struct Job<'a> {
    settings: &'a Settings,
    children: &'a dyn Children,
    env: Vec<Vec<u8>>,
    status: i32,
    started: usize,
}

impl Job<'_> {
    fn all(mut self, items: &[Item]) -> i32 {
        let settings = self.settings;
        if let Some(mark) = &settings.replace {
            for item in items {
                let words: Vec<Vec<u8>> =
                    settings.command.iter().map(|word| replaced(word, mark, &item.bytes)).collect();
                if words.iter().map(|it| it.len() + 1).sum::<usize>() > settings.bytes_max {
                    crate::complain("xargs", "argument line too long");
                    return 1;
                }
                if !self.one(words) {
                    break;
                }
            }
            return self.status;
        }
        if items.is_empty() {
            if !settings.unless_empty {
                self.one(settings.command.clone());
            }
            return self.status;
        }
        let fixed: usize = settings.command.iter().map(|it| it.len() + 1).sum();
        let mut rest = items;
        while !rest.is_empty() {
            let count = match self.batch(rest, fixed) {
                Some(count) => count,
                None => {
                    crate::complain("xargs", "argument line too long");
                    return 1;
                }
            };
            let (now, later) = rest.split_at(count);
            rest = later;
            let mut words = settings.command.clone();
            words.extend(now.iter().map(|it| it.bytes.clone()));
            if !self.one(words) {
                break;
            }
        }
        self.status
    }

    /// How many of the items the next command line takes; `None` if not even one fits.
    fn batch(&self, items: &[Item], fixed: usize) -> Option<usize> {
        let settings = self.settings;
        let (mut bytes, mut lines) = (fixed, 0);
        for (count, item) in items.iter().enumerate() {
            bytes += item.bytes.len() + 1;
            if bytes > settings.bytes_max {
                return (count > 0).then_some(count);
            }
            lines += usize::from(item.ends_line);
            if settings.items_max == Some(count + 1) || settings.lines_max == Some(lines) {
                return Some(count + 1);
            }
        }
        Some(items.len())
    }

    /// Runs one command line; false if no other may follow.
    fn one(&mut self, words: Vec<Vec<u8>>) -> bool {
        let Some((name, args)) = words.split_first() else { return false };
        if self.settings.trace {
            let shown: Vec<String> = words.iter().map(|it| shown(&String::from_utf8_lossy(it))).collect();
            let _ = writeln!(std::io::stderr(), "{}", shown.join(" "));
        }
        if let Some(variable) = &self.settings.slot_name {
            let prefix = format!("{variable}=");
            self.env.retain(|entry| !entry.starts_with(prefix.as_bytes()));
            self.env.push(format!("{prefix}{}", self.started % self.settings.slots).into_bytes());
        }
        self.started += 1;
        let stdin = if self.settings.file.is_some() { Stdin::Ours } else { Stdin::Empty };
        let command = Command { name, args, env: &self.env, directory: None, stdin, wall_ms_max: None };
        let name = String::from_utf8_lossy(name);
        match self.children.run(&command) {
            Ended::Exited(0) => return true,
            Ended::Exited(255) => {
                crate::complain("xargs", &format!("{name}: exited with status 255; aborting"));
                self.status = CHILD_GAVE_UP;
            }
            Ended::Exited(_) => {
                self.status = CHILD_FAILED;
                return true;
            }
            Ended::NotFound => {
                crate::complain("xargs", &format!("{name}: No such file or directory"));
                self.status = 127;
            }
            Ended::Refused(why, _) => {
                crate::complain("xargs", &format!("{name}: may not run: {why}"));
                self.status = 126;
            }
            Ended::Stopped(why, _) => {
                crate::complain("xargs", &format!("{name}: stopped: {why}"));
                self.status = STOPPED;
            }
            Ended::TimedOut => {
                crate::complain("xargs", &format!("{name}: took too long"));
                self.status = STOPPED;
            }
        }
        false
    }
}

fn replaced(word: &[u8], mark: &[u8], item: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = word;
    while let Some(at) = rest.windows(mark.len().max(1)).position(|it| it == mark) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(item);
        rest = &rest[at + mark.len()..];
    }
    out.extend_from_slice(rest);
    out
}

/// A word as `-t` shows it: quoted where a shell would need it.
fn shown(word: &str) -> String {
    let plain = |it: char| it.is_alphanumeric() || "_-./=:,+@%^".contains(it);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    let word = word.replace('\'', "'\\''").replace('\t', "'$'\\t''").replace('\n', "'$'\\n''");
    format!("'{word}'")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[derive(Default)]
    struct Record(RefCell<Vec<String>>);

    impl Children for Record {
        fn run(&self, command: &Command<'_>) -> Ended {
            let words = [command.name].into_iter().chain(command.args.iter().map(Vec::as_slice));
            let line: Vec<String> = words.map(|it| String::from_utf8_lossy(it).into_owned()).collect();
            self.0.borrow_mut().push(line.join("|"));
            match command.name {
                b"missing" => Ended::NotFound,
                b"fails" => Ended::Exited(1),
                b"gives-up" => Ended::Exited(255),
                _ => Ended::Exited(0),
            }
        }
    }

    fn job(line: &str, input: &str) -> (i32, Vec<String>) {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let Ok(settings) = settings::parse(&args) else { return (1, Vec::new()) };
        let record = Record::default();
        let items =
            split::split(input.as_bytes(), settings.cut(), settings.end.as_deref()).unwrap_or_default();
        let status = Job { settings: &settings, children: &record, env: Vec::new(), status: 0, started: 0 }
            .all(&items);
        (status, record.0.into_inner())
    }

    #[test]
    fn items_become_command_lines() {
        let cases = [
            ("", "a b", 0, vec!["echo|a|b"]),
            ("-n2 x", "a b c", 0, vec!["x|a|b", "x|c"]),
            ("-I{} x {}! {}", "a b\nc\n", 0, vec!["x|a b!|a b", "x|c!|c"]),
            ("-L1 x", "a b\nc\n", 0, vec!["x|a|b", "x|c"]),
            ("-L1 x", "a b \nc\nd\n", 0, vec!["x|a|b|c", "x|d"]),
            ("x", "", 0, vec!["x"]),
            ("-r x", "", 0, vec![]),
            ("-I% x %", "", 0, vec![]),
            ("-0 x", "a b\0c", 0, vec!["x|a b|c"]),
            ("-n1 fails", "a b", 123, vec!["fails|a", "fails|b"]),
            ("-n1 gives-up", "a b", 124, vec!["gives-up|a"]),
            ("-n1 missing", "a b", 127, vec!["missing|a"]),
            ("-d, -n1 x", "a,b", 0, vec!["x|a", "x|b"]),
            ("-s 8 x", "aa bb cc", 0, vec!["x|aa|bb", "x|cc"]),
        ];
        for (line, input, status, want) in cases {
            let want: Vec<String> = want.iter().map(|it| (*it).to_owned()).collect();
            assert_eq!(job(line, input), (status, want), "{line} {input:?}");
        }
    }
}
