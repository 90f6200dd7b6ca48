//! `pip-run PKG [-c CODE]`: fetches one pure wheel and runs the session's Python with it. The package itself runs as any code
//! of the session does: in the sandbox, under its grants.

use child::{Children as _, Command, Ended, Stdin, System};
use options::{Item, Order};

use crate::{Failure, end, hash::Hash, is_plain, pip, unpack::write};

const HELP: &str = "Usage: pip-run [OPTION]... PKG[==VERSION] [-c CODE | ARGUMENT...]
Fetch one pure Python wheel, and run Python with it: CODE, or the package itself as a module.

  -c CODE                a program
      --index-url=URL    or the variable PIP_INDEX_URL
      --sha256=HEX       it must be these bytes
      --help

Exit status: that of Python; 1 where the package cannot be had; 2 for wrong usage.
";

/// Where packages are kept for the next run of the session.
const FOLDER: &str = "/tmp/.pip-run";

/// Runs a command line, and answers its exit status.
pub fn run(args: &[String]) -> i32 {
    let (line, env) = match prepared(args) {
        Ok(Some(ready)) => ready,
        Ok(None) => return i32::from(!place::stdio::print(HELP.as_bytes())),
        Err(failure) => return end("pip-run", Err(failure)),
    };
    let name = b"python3";
    let command =
        Command { name, args: &line, env: &env, directory: None, stdin: Stdin::Ours, wall_ms_max: None };
    let ended = System.run(&command);
    match &ended {
        Ended::Exited(_) => {}
        Ended::NotFound => {
            place::stdio::complain("pip-run", "there is no python3 here; 'drydock catalog' has one")
        }
        Ended::Refused(why, _) | Ended::Stopped(why, _) => {
            place::stdio::complain("pip-run", &format!("python3: {why}"))
        }
        Ended::TimedOut => place::stdio::complain("pip-run", "python3: its time was up"),
    }
    ended.status()
}

type Ready = (Vec<Vec<u8>>, Vec<Vec<u8>>);

/// The arguments of Python and its environment; nothing where only help is wanted.
fn prepared(args: &[String]) -> Result<Option<Ready>, Failure> {
    let Some(Wanted { package, code, index, sha256, rest }) = read(args)? else { return Ok(None) };
    let want = match &sha256 {
        Some(text) => {
            Some(Hash::parse(text).ok_or_else(|| Failure::Usage(format!("'{text}' is no sha256")))?)
        }
        None => None,
    };
    let fetched = pip::wheel(&package, index, want, &curl::fetch::get)?;
    let folder = format!("{FOLDER}/{}-{}", fetched.name, fetched.version);
    write(&folder, &fetched.files, true)?;
    let line = match code {
        Some(code) => ["-c".to_owned(), code].into_iter().chain(rest).collect(),
        None => ["-m".to_owned(), module(&fetched.name)].into_iter().chain(rest).collect::<Vec<_>>(),
    };
    let path = std::env::var("PYTHONPATH").map_or_else(|_| folder.clone(), |it| format!("{folder}:{it}"));
    let env = child::environment().into_iter().filter(|it| !it.starts_with(b"PYTHONPATH="));
    let env = env.chain([format!("PYTHONPATH={path}").into_bytes()]).collect();
    Ok(Some((line.into_iter().map(String::into_bytes).collect(), env)))
}

/// What a package's own module is most often called.
fn module(name: &str) -> String {
    name.replace('-', "_")
}

#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    package: String,
    code: Option<String>,
    index: Option<String>,
    sha256: Option<String>,
    rest: Vec<String>,
}

/// Options before the package are ours; `-c` may follow it, and everything else behind it is the program's.
fn read(args: &[String]) -> Result<Option<Wanted>, Failure> {
    let (mut index, mut sha256, mut code, mut words) = (None, None, None, Vec::new());
    let table = ["c=", "index-url=", "sha256=", "help"];
    for item in options::parse(args, &table, Order::First).map_err(Failure::Usage)? {
        match item {
            Item::Operand(word) => words.push(word),
            Item::Flag("c", value) => code = value,
            Item::Flag("index-url", value) => index = value,
            Item::Flag("sha256", value) => sha256 = value,
            Item::Flag(..) => return Ok(None),
        }
    }
    if words.is_empty() {
        return Err(Failure::Usage("one package is wanted".into()));
    }
    let package = words.remove(0);
    if code.is_none() && words.first().is_some_and(|it| it == "-c") {
        if words.len() < 2 {
            return Err(Failure::Usage("option requires an argument -- 'c'".into()));
        }
        code = Some(words.remove(1));
        words.remove(0);
    }
    if !is_plain(package.split("==").next().unwrap_or_default()) {
        return Err(Failure::Usage(format!("'{package}' is no package: write NAME or NAME==VERSION")));
    }
    Ok(Some(Wanted { package, code, index, sha256, rest: words }))
}

#[test]
fn a_program_may_stand_before_the_package_or_behind_it() {
    let wanted = |line: &[&str]| read(&line.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>());
    for (line, package, code, rest) in [
        (&["six", "-c", "print(1)", "a"][..], "six", Some("print(1)"), &["a"][..]),
        (&["-c", "print(1)", "six==1.0"], "six==1.0", Some("print(1)"), &[]),
        (&["six", "--help", "-x"], "six", None, &["--help", "-x"]),
    ] {
        let Ok(Some(told)) = wanted(line) else { panic!("{line:?}") };
        let rest: Vec<String> = rest.iter().map(|it| (*it).to_owned()).collect();
        assert_eq!(
            (told.package.as_str(), told.code.as_deref(), told.rest),
            (package, code, rest),
            "{line:?}"
        );
    }
    assert!(wanted(&["six", "-c"]).is_err() && wanted(&[]).is_err() && wanted(&["../six"]).is_err());
    assert_eq!(wanted(&["--help"]), Ok(None));
    assert_eq!(module("a-b"), "a_b");
}
