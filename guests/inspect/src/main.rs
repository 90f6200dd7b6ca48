//! The guest `stat`, and by its other names `column`, `du`, `file`, `hd`, `hexdump`, `strings`,
//! `tree` and `xxd`: looking at files, and at bytes as text.

mod column;
mod du;
mod file;
mod hexdump;
mod stat;
mod strings;
mod tree;
mod xxd;

use std::io::{Read as _, Write as _};

#[cfg(target_family = "wasm")]
#[global_allocator]
static HEAP: heap::SmallBlocks = heap::SmallBlocks::new();

fn main() {
    place::enter();
    let args = options::arguments();
    let called = options::called();
    let status = match called.as_str() {
        "column" => column::run(&args),
        "du" => du::run(&args),
        "file" => file::run(&args),
        "hd" => hexdump::run(&args, hexdump::Style::Canonical),
        "hexdump" => hexdump::run(&args, hexdump::Style::Words),
        "strings" => strings::run(&args),
        "tree" => tree::run(&args),
        "xxd" => xxd::run(&args),
        _ => stat::run(&args),
    };
    std::process::exit(status)
}

/// Writes to stdout; the status says whether anybody read it.
fn print(bytes: &[u8]) -> i32 {
    let mut stdout = std::io::stdout().lock();
    i32::from(stdout.write_all(bytes).and_then(|()| stdout.flush()).is_err())
}

fn complain(program: &str, problem: &str) -> i32 {
    let _ = writeln!(std::io::stderr(), "{program}: {problem}");
    1
}

/// The whole of a file, or of stdin where the name is `-`.
fn read(name: &str) -> std::io::Result<Vec<u8>> {
    if name != "-" {
        return std::fs::read(name);
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What an error is called in C.
fn words(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

/// A size with a letter, as `-h` has it: rounded up, one digit after the point below ten.
fn human(bytes: u64, base: u64) -> String {
    const LETTERS: [&str; 7] = ["", "K", "M", "G", "T", "P", "E"];
    if bytes < base {
        return bytes.to_string();
    }
    let (mut unit, mut step) = (base, 1);
    while step < 6 && bytes / unit >= base {
        unit *= base;
        step += 1;
    }
    let letter = if base == 1000 && step == 1 { "k" } else { LETTERS[step] };
    let tenths = (u128::from(bytes) * 10).div_ceil(u128::from(unit));
    if tenths < 100 {
        return format!("{}.{}{letter}", tenths / 10, tenths % 10);
    }
    let whole = bytes.div_ceil(unit);
    match whole == base && step < 6 {
        true => format!("1.0{}", LETTERS[step + 1]),
        false => format!("{whole}{letter}"),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn sizes_are_rounded_up() {
        let cases = [
            (0, "0"),
            (1023, "1023"),
            (1024, "1.0K"),
            (1025, "1.1K"),
            (10_240, "10K"),
            (10_241, "11K"),
            (1_048_575, "1.0M"),
            (4096, "4.0K"),
            (1_500_000_000, "1.4G"),
        ];
        for (bytes, want) in cases {
            assert_eq!(super::human(bytes, 1024), want, "{bytes}");
        }
    }
}
