//! The guest `bc`: files first, then standard input, as GNU's does.

use bc::machine::{Ended, Machine};
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
    let args: Vec<String> = std::env::args_os().skip(1).map(|it| it.to_string_lossy().into_owned()).collect();
    std::process::exit(match parse(&args) {
        Ok(Some(options)) => run(&options),
        Ok(None) => 0,
        Err(problem) => {
            complain(&problem);
            complain(HELP.trim_end());
            1
        }
    })
}

fn parse(args: &[String]) -> Result<Option<Options>, String> {
    let mut options = Options { library: false, expressions: Vec::new(), files: Vec::new() };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--" => options.files.extend(args.by_ref().cloned()),
            "--mathlib" => options.library = true,
            "--quiet" | "--standard" | "--warn" | "--interactive" => {}
            "--help" => return Ok(print(HELP)),
            "--version" => return Ok(print(concat!("bc ", env!("CARGO_PKG_VERSION"), " (drydock)\n"))),
            "--expression" => {
                options.expressions.push(args.next().ok_or("bc: --expression takes a value")?.clone());
            }
            "-" => options.files.push("/dev/stdin".to_owned()),
            long if long.starts_with("--expression=") => {
                options.expressions.push(long["--expression=".len()..].to_owned());
            }
            long if long.starts_with("--") => return Err(format!("bc: unrecognized option '{long}'")),
            short if short.starts_with('-') => {
                for (at, letter) in short.char_indices().skip(1) {
                    match letter {
                        'l' => options.library = true,
                        'q' | 's' | 'w' | 'i' => {}
                        'h' => return Ok(print(HELP)),
                        'v' => return Ok(print(concat!("bc ", env!("CARGO_PKG_VERSION"), " (drydock)\n"))),
                        'e' => {
                            let rest = &short[at + 1..];
                            let value =
                                if rest.is_empty() { args.next().cloned() } else { Some(rest.to_owned()) };
                            options.expressions.push(value.ok_or("bc: option requires an argument -- 'e'")?);
                            break;
                        }
                        other => return Err(format!("bc: invalid option -- '{other}'")),
                    }
                }
            }
            file => options.files.push(file.to_owned()),
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
