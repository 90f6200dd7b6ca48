//! Commands that run another one and add next to nothing: `nice`, `nohup`, `setsid`, `stdbuf`, `time`.
//!
//! There are no priorities, no hang-ups, no sessions and no buffers of others here, so what they do
//! elsewhere has no effect; what scripts rely on, that the command runs, stays true.

use crate::env::told;
use child::{Children, Command, Stdin};
use options::{Item, Order};
use std::io::Write as _;
use std::time::Instant;

pub(crate) fn nice(args: &[String], children: &dyn Children) -> i32 {
    // `-10` is an old way to say `-n 10`.
    let old = |it: &String| it.strip_prefix('-').is_some_and(|it| it.parse::<i32>().is_ok());
    let args = if args.first().is_some_and(old) { &args[1..] } else { args };
    let words = match operands(args, &["n,adjustment=", "help", "version"]) {
        Ok(words) => words,
        Err(problem) => return trouble("nice", &problem),
    };
    match words.is_empty() {
        true => crate::print("0\n"),
        false => run("nice", &words, children),
    }
}

pub(crate) fn nohup(args: &[String], children: &dyn Children) -> i32 {
    wrapped("nohup", args, &["help", "version"], children)
}

pub(crate) fn setsid(args: &[String], children: &dyn Children) -> i32 {
    wrapped("setsid", args, &["c,ctty", "f,fork", "w,wait", "help", "version"], children)
}

pub(crate) fn stdbuf(args: &[String], children: &dyn Children) -> i32 {
    wrapped("stdbuf", args, &["i,input=", "o,output=", "e,error=", "help", "version"], children)
}

/// What it took, on stderr, in the words of POSIX.
pub(crate) fn time(args: &[String], children: &dyn Children) -> i32 {
    let started = Instant::now();
    let words =
        match operands(args, &["p,portability", "v,verbose", "q,quiet", "f,format=", "help", "version"]) {
            Ok(words) => words,
            Err(problem) => return trouble("time", &problem),
        };
    let status = match words.is_empty() {
        true => 0,
        false => run("time", &words, children),
    };
    let seconds = started.elapsed().as_secs_f64();
    let _ = write!(std::io::stderr(), "real {seconds:.2}\nuser {seconds:.2}\nsys 0.00\n");
    status
}

fn wrapped(program: &str, args: &[String], table: &[&'static str], children: &dyn Children) -> i32 {
    match operands(args, table) {
        Ok(words) if words.is_empty() => trouble(program, "missing operand"),
        Ok(words) => run(program, &words, children),
        Err(problem) => trouble(program, &problem),
    }
}

fn operands(args: &[String], table: &[&'static str]) -> Result<Vec<String>, String> {
    let items = options::parse(args, table, Order::First)?;
    let words = items.into_iter().filter_map(|item| match item {
        Item::Operand(word) => Some(word),
        Item::Flag(..) => None,
    });
    Ok(words.collect())
}

fn run(program: &str, words: &[String], children: &dyn Children) -> i32 {
    let Some((name, args)) = words.split_first() else { return 0 };
    let args: Vec<Vec<u8>> = args.iter().map(|it| it.clone().into_bytes()).collect();
    let env = child::environment();
    let command = Command {
        name: name.as_bytes(),
        args: &args,
        env: &env,
        directory: None,
        stdin: Stdin::Ours,
        wall_ms_max: None,
    };
    told(program, name, &children.run(&command))
}

fn trouble(program: &str, problem: &str) -> i32 {
    crate::complain(program, problem);
    125
}
