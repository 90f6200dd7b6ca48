//! The command line of `dc`: expressions and files in their order, or else standard input.

use bc::dc::{Console, Ended, Machine};
use options::{Item, Order};
use place::stdio::{self, Standard};
use std::io::Read as _;

const HELP: &str = "\
Usage: dc [OPTION] [file ...]
  -e, --expression=EXPR    evaluate expression
  -f, --file=FILE          evaluate contents of file
  -h, --help               display this help and exit
  -V, --version            output version information and exit
";
const TABLE: &[&str] = &["e,expression=", "f,file=", "h,help", "V,version"];
/// What is printed in small pieces is written in large ones.
const OUT_BYTES_MAX: usize = 32 * 1024;
/// A line that `?` reads is no longer than this.
const LINE_BYTES_MAX: usize = 1 << 20;

/// Runs with the arguments after the program's name; the exit status.
pub(crate) fn run(args: &[String]) -> i32 {
    let items = match options::parse(args, TABLE, Order::Anywhere) {
        Ok(items) => items,
        Err(problem) => {
            stdio::complain("dc", &format!("{problem}\n{}", HELP.trim_end()));
            return 1;
        }
    };
    let (mut machine, mut terminal, mut status) = (Machine::default(), Terminal::default(), 0);
    let mut any = false;
    for item in items {
        let code = match item {
            Item::Flag("h", _) => return i32::from(!stdio::print(HELP.as_bytes())),
            Item::Flag("V", _) => {
                let version = concat!("dc ", env!("CARGO_PKG_VERSION"), " (drydock)\n");
                return i32::from(!stdio::print(version.as_bytes()));
            }
            Item::Flag("e", value) => Ok(value.unwrap_or_default().into_bytes()),
            Item::Flag(_, file) => read(&file.unwrap_or_default()),
            Item::Operand(file) => read(&file),
        };
        any = true;
        match code {
            Ok(code) if machine.run(&code, &mut terminal) == Ended::Quit => return terminal.end(status),
            Ok(_) => {}
            Err(problem) => {
                terminal.complain(&problem);
                status = 1;
            }
        }
    }
    if !any {
        match read("-") {
            Ok(code) => drop(machine.run(&code, &mut terminal)),
            Err(problem) => {
                terminal.complain(&problem);
                status = 1;
            }
        }
    }
    terminal.end(status)
}

fn read(name: &str) -> Result<Vec<u8>, String> {
    stdio::read(name).map_err(|error| format!("Could not open file {name}: {}", place::reason(&error)))
}

/// Standard output through a buffer, standard error past it.
#[derive(Default)]
struct Terminal {
    held: Vec<u8>,
}

impl Terminal {
    fn flush(&mut self) {
        if !self.held.is_empty() && !stdio::print(&self.held) {
            // Nobody reads any more.
            std::process::exit(1);
        }
        self.held.clear();
    }

    fn end(mut self, status: i32) -> i32 {
        self.flush();
        status
    }
}

impl Console for Terminal {
    fn print(&mut self, bytes: &[u8]) {
        self.held.extend_from_slice(bytes);
        if self.held.len() > OUT_BYTES_MAX {
            self.flush();
        }
    }

    fn complain(&mut self, problem: &str) {
        self.flush();
        stdio::complain("dc", problem);
    }

    fn line(&mut self) -> Option<Vec<u8>> {
        self.flush();
        let (mut stdin, mut line, mut byte) = (Standard::input(), Vec::new(), [0]);
        while line.len() < LINE_BYTES_MAX && matches!(stdin.read(&mut byte), Ok(1)) {
            line.push(byte[0]);
            if byte[0] == b'\n' {
                break;
            }
        }
        (!line.is_empty()).then_some(line)
    }
}
