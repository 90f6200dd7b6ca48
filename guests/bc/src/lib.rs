//! bc's language: text to code ([`parser`]), and a machine that runs it ([`machine`]). [`dc`] is another
//! language over the same numbers.
//!
//! Everything is exact decimal arithmetic; nothing here touches a file.

pub mod code;
pub mod dc;
mod lexer;
pub mod machine;
mod math;
pub mod number;
pub mod parser;
pub mod text;

use code::Item;
use machine::{Ended, Machine};
use parser::Parser;

/// Runs all of `source`; `report` gets each problem and `drain` the output as it comes. Whether to go
/// on with the next source.
pub fn run(
    machine: &mut Machine,
    name: &str,
    source: &str,
    mut drain: impl FnMut(&mut Vec<u8>),
    mut report: impl FnMut(&str),
) -> Ended {
    let mut parser = Parser::new(source);
    while let Some(item) = parser.item() {
        match item {
            Item::Quit => return Ended::Halted,
            Item::Define(name, function) => machine.define(name, function),
            Item::Wrong(line, problem) => report(&format!("{name} {line}: {problem}")),
            Item::Run(code) => {
                let ended = machine.run(&code);
                drain(&mut machine.out);
                match ended {
                    Ok(Ended::Done) => {}
                    Ok(Ended::Halted) => return Ended::Halted,
                    Err((function, problem)) => {
                        report(&format!("Runtime error (func={function}, adr={}): {problem}", code.len()));
                    }
                }
            }
        }
    }
    Ended::Done
}

#[cfg(test)]
mod tests;
