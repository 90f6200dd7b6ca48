//! The guest `bc`: files first, then standard input, as GNU's does. By its other name it is `dc`.

mod desk;

use bc::machine::{Ended, Machine};
use options::{Item, Order};
use std::io::{Read as _, Write as _};

#[cfg(target_family = "wasm")]
#[global_allocator]
static HEAP: heap::SmallBlocks = heap::SmallBlocks::new();

const HELP: &str = "\
usage: bc [options] [file ...]
  -e  --expression=EXPR  run EXPR, and read no standard input
  -l  --mathlib          use the predefined math functions
  -q  --quiet            no banner (there is none)
  -s, -w, -i             accepted and ignored
  -h  --help             print this and exit
  -v  --version          print the version and exit
";

struct Options {
    library: bool,
    expressions: Vec<String>,
    files: Vec<String>,
}

fn main() {
    place::enter();
    if options::called() == "dc" {
        std::process::exit(desk::run(&options::arguments()));
    }
    std::process::exit(match parse(&options::arguments()) {
        Ok(Some(options)) => run(&options),
        Ok(None) => 0,
        Err(problem) => {
            complain(&problem);
            complain(HELP.trim_end());
            1
        }
    })
}

const VERSION: &str = concat!("bc ", env!("CARGO_PKG_VERSION"), " (drydock)\n");
const TABLE: &[&str] = &[
    "e,expression=",
    "l,mathlib",
    "q,quiet",
    "s,standard",
    "w,warn",
    "i,interactive",
    "h,help",
    "v,version",
];

fn parse(args: &[String]) -> Result<Option<Options>, String> {
    let mut options = Options { library: false, expressions: Vec::new(), files: Vec::new() };
    let items = options::parse(args, TABLE, Order::Anywhere);
    for item in items.map_err(|problem| format!("bc: {problem}"))? {
        match item {
            Item::Flag("l", _) => options.library = true,
            Item::Flag("h", _) => return Ok(print(HELP)),
            Item::Flag("v", _) => return Ok(print(VERSION)),
            Item::Flag("e", value) => options.expressions.extend(value),
            Item::Flag(..) => {}
            Item::Operand(file) if file == "-" => options.files.push("/dev/stdin".to_owned()),
            Item::Operand(file) => options.files.push(file),
        }
    }
    Ok(Some(options))
}

fn run(options: &Options) -> i32 {
    let mut machine = Machine::new(options.library);
    for expression in &options.expressions {
        if each(&mut machine, "(expression)", expression) == Ended::Halted {
            return 0;
        }
    }
    for file in &options.files {
        let bytes = match std::fs::read(file) {
            Ok(bytes) => bytes,
            Err(_) => {
                complain(&format!("File {file} is unavailable."));
                return 1;
            }
        };
        if each(&mut machine, file, &String::from_utf8_lossy(&bytes)) == Ended::Halted {
            return 0;
        }
    }
    if options.expressions.is_empty() {
        let mut bytes = Vec::new();
        if std::io::stdin().lock().read_to_end(&mut bytes).is_err() {
            complain("bc: cannot read standard input");
            return 1;
        }
        each(&mut machine, "(standard_in)", &String::from_utf8_lossy(&bytes));
    }
    0
}

fn each(machine: &mut Machine, name: &str, source: &str) -> Ended {
    let drain = |out: &mut Vec<u8>| {
        let written = std::io::stdout().write_all(out).and_then(|()| std::io::stdout().flush());
        if written.is_err() {
            std::process::exit(1);
        }
        out.clear();
    };
    bc::run(machine, name, source, drain, complain)
}

fn print<T>(text: &str) -> Option<T> {
    let _ = std::io::stdout().write_all(text.as_bytes());
    None
}

fn complain(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
