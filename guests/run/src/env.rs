//! `env`: a command in an environment of its own, or the environment printed.

use child::{Children, Command, Ended, Stdin};
use options::{Item, Order};
use std::io::Write as _;

const HELP: &str = "Usage: env [OPTION]... [-] [NAME=VALUE]... [COMMAND [ARG]...]
Set each NAME to VALUE in the environment and run COMMAND.

  -i, --ignore-environment  start with an empty environment
  -0, --null                end each output line with NUL, not newline
  -u, --unset=NAME          remove variable from the environment
  -C, --chdir=DIR           change working directory to DIR
  -S, --split-string=S      process and split S into separate arguments

If no COMMAND, print the resulting environment.
";
const TABLE: &[&str] = &[
    "i,ignore-environment",
    "0,null",
    "u,unset=",
    "C,chdir=",
    "S,split-string=",
    "v,debug",
    "help",
    "version",
    "block-signal?",
    "default-signal?",
    "ignore-signal?",
];
/// The program itself is misused.
const TROUBLE: i32 = 125;

/// Runs the command, or prints; returns the exit status.
pub(crate) fn run(args: &[String], env: Vec<Vec<u8>>, children: &dyn Children) -> i32 {
    match read(args, env) {
        Ok(plan) => start(plan, children),
        Err(problem) => {
            if problem == HELP {
                return crate::print(HELP);
            }
            crate::complain("env", &problem);
            TROUBLE
        }
    }
}

struct Plan {
    env: Vec<Vec<u8>>,
    directory: Option<String>,
    end: u8,
    command: Vec<String>,
}

fn read(args: &[String], mut env: Vec<Vec<u8>>) -> Result<Plan, String> {
    let (mut end, mut directory) = (b'\n', None);
    let mut words: Vec<String> = Vec::new();
    for item in options::parse(args, TABLE, Order::First)? {
        match item {
            Item::Flag("i", _) => env.clear(),
            Item::Flag("0", _) => end = 0,
            Item::Flag("u", Some(name)) => unset(&mut env, name.as_bytes()),
            Item::Flag("C", value) => directory = value.map(|it| absolute(&it)),
            Item::Flag("S", Some(text)) => words.extend(text.split_whitespace().map(str::to_owned)),
            Item::Flag("help", _) => return Err(HELP.to_owned()),
            Item::Flag(..) => {}
            Item::Operand(word) => words.push(word),
        }
    }
    let mut words = words.into_iter().peekable();
    if words.next_if(|it| it == "-").is_some() {
        env.clear();
    }
    while let Some(entry) = words.next_if(|it| it.contains('=') && !it.starts_with('=')) {
        unset(&mut env, entry.split('=').next().unwrap_or_default().as_bytes());
        env.push(entry.into_bytes());
    }
    let command: Vec<String> = words.collect();
    if end == 0 && !command.is_empty() {
        return Err("cannot specify --null (-0) with command".to_owned());
    }
    Ok(Plan { env, directory, end, command })
}

fn start(plan: Plan, children: &dyn Children) -> i32 {
    let Plan { env, directory, end, command } = plan;
    let Some((name, args)) = command.split_first() else {
        let mut text = Vec::new();
        for entry in env {
            text.extend(entry);
            text.push(end);
        }
        return i32::from(std::io::stdout().write_all(&text).is_err());
    };
    // `env` inside `env` needs no run of its own, and sees exactly what it was given.
    if name == "env" && directory.is_none() {
        return run(args, env, children);
    }
    let args: Vec<Vec<u8>> = args.iter().map(|it| it.clone().into_bytes()).collect();
    let directory = directory.as_deref();
    if let Some(directory) = directory
        && !std::path::Path::new(directory).is_dir()
    {
        crate::complain(
            "env",
            &format!("cannot change directory to '{directory}': No such file or directory"),
        );
        return TROUBLE;
    }
    let command = Command {
        name: name.as_bytes(),
        args: &args,
        env: &env,
        directory,
        stdin: Stdin::Ours,
        wall_ms_max: None,
    };
    let ended = children.run(&command);
    told("env", name, &ended)
}

/// Says what went wrong, and which status a shell would show.
pub(crate) fn told(program: &str, name: &str, ended: &Ended) -> i32 {
    match ended {
        Ended::Exited(_) | Ended::TimedOut => {}
        Ended::NotFound => crate::complain(program, &format!("'{name}': No such file or directory")),
        Ended::Refused(why, _) => crate::complain(program, &format!("'{name}': may not run: {why}")),
        Ended::Stopped(why, _) => crate::complain(program, &format!("'{name}': stopped: {why}")),
    }
    ended.status()
}

fn unset(env: &mut Vec<Vec<u8>>, name: &[u8]) {
    env.retain(|entry| !(entry.starts_with(name) && entry.get(name.len()) == Some(&b'=')));
}

fn absolute(path: &str) -> String {
    if path.starts_with('/') {
        return path.to_owned();
    }
    let own = std::env::current_dir().unwrap_or_default();
    format!("{}/{path}", own.to_string_lossy().trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_come_before_the_command() {
        let env = || vec![b"A=1".to_vec(), b"B=2".to_vec()];
        let cases = [
            ("C=3 ls -l", "A=1 B=2 C=3", "ls -l"),
            ("-i X=y prog A=b", "X=y", "prog A=b"),
            ("-u A A2=x", "B=2 A2=x", ""),
            ("- Z=1", "Z=1", ""),
            ("A=9", "B=2 A=9", ""),
            ("-S", "", ""),
        ];
        for (line, want, command) in cases {
            let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            let Ok(plan) = read(&args, env()) else {
                assert_eq!(want, "", "{line}");
                continue;
            };
            let got: Vec<String> =
                plan.env.iter().map(|it| String::from_utf8_lossy(it).into_owned()).collect();
            assert_eq!((got.join(" ").as_str(), plan.command.join(" ").as_str()), (want, command), "{line}");
        }
    }
}
