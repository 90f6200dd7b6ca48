//! The applets that coreutils lacks, that only make sense differently in a sandbox, or that cost a small
//! part of theirs.

pub mod arguments;
pub mod copy;
pub mod create;
pub mod dd;
pub mod env;
pub mod expr;
pub mod install;
pub mod lines;
pub mod ls;
pub mod machine;
pub mod mode;
pub mod owner;
pub mod rev;
pub mod say;
pub mod seq;
pub mod session;
pub mod shasum;
pub mod sort;
pub mod tac;
pub mod test;
pub mod touch;
pub mod who;

/// A size with a letter, as `-h` has it: rounded up, one digit after the point below ten.
pub fn human(bytes: u64, base: u64) -> String {
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
