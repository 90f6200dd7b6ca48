//! `tr`: bytes by tables.

use super::set::{Set, expand};
use crate::own::arguments::{self, refuse};
use crate::stream::{Input, Out, Piece, reason, text};

const HELP: &str = "\
Usage: tr [OPTION]... SET1 [SET2]
Replaces, deletes or squeezes bytes of standard input.

  -c, -C, --complement    all but those of SET1
  -d, --delete            delete those of SET1
  -s, --squeeze-repeats   only one of several that follow each other
  -t, --truncate-set1     only as many of SET1 as SET2 has

Sets are bytes, ranges a-z, escapes \\n \\t \\\\ \\NNN, classes [:alpha:] [:digit:] and others, [=c=], and
in SET2 [c*] or [c*N].
";

/// What becomes of each byte.
struct Plan {
    map: [u8; 256],
    deleted: [bool; 256],
    squeezed: [bool; 256],
}

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    let table = &["c,C,complement", "d,delete", "s,squeeze-repeats", "t,truncate-set1"];
    // The first operand ends the options: the second set may begin with a dash.
    let mut words = args.to_vec();
    let is_end = |arg: &&[u8]| matches!(*arg, b"-" | b"--") || !arg.starts_with(b"-");
    if let Some(first) = args.iter().position(is_end)
        && args[first] != b"--"
    {
        words.insert(first, b"--");
    }
    let line = match arguments::read("tr", HELP, &words, table, 1) {
        Ok(line) => line,
        Err(status) => return status,
    };
    match plan(&line) {
        Ok(plan) => run(&plan, line.has("d") || line.has("s")),
        Err(problem) => refuse("tr", &problem, 1),
    }
}

fn plan(line: &arguments::Arguments<'_>) -> Result<Plan, String> {
    let (complement, delete, squeeze) = (line.has("c"), line.has("d"), line.has("s"));
    let mut plan =
        Plan { map: std::array::from_fn(|it| it as u8), deleted: [false; 256], squeezed: [false; 256] };
    let (first, second) = match *line.operands.as_slice() {
        [] => return Err("missing operand".to_owned()),
        [only] if !delete && !squeeze => {
            return Err(format!(
                "missing operand after '{}'\nTwo strings must be given when translating.",
                text(only)
            ));
        }
        [only] if delete && squeeze => {
            return Err(format!(
                "missing operand after '{}'\nTwo strings must be given when both deleting and squeezing repeats.",
                text(only)
            ));
        }
        [only] => (only, None),
        [_, extra] if delete && !squeeze => {
            return Err(format!(
                "extra operand '{}'\nOnly one string may be given when deleting without squeezing repeats.",
                text(extra)
            ));
        }
        [first, second] => (first, Some(second)),
        [_, _, extra, ..] => return Err(format!("extra operand '{}'", text(extra))),
    };
    let set = Set::read(first)?;
    if set.has_fill() {
        return Err("the [c*] repeat construct may not appear in string1".to_owned());
    }
    let one = expand(&set, 0);
    let first = if complement { others(&one) } else { one };
    let translates = !delete && second.is_some();
    let second = match second {
        None => None,
        Some(second) => {
            let set = Set::read(second)?;
            if translates && !set.may_be_result() {
                return Err(
                    "when translating, the only character classes that may appear in\nstring2 are 'upper' and 'lower'".to_owned()
                );
            }
            Some(expand(&set, first.len()))
        }
    };
    match second {
        _ if delete => {
            mark(&mut plan.deleted, &first);
            mark(&mut plan.squeezed, &second.unwrap_or_default());
        }
        None => mark(&mut plan.squeezed, &first),
        Some(second) => {
            let Some(last) = second.last().copied() else {
                return Err("when not truncating set1, string2 must be non-empty".to_owned());
            };
            let count = if line.has("t") { second.len() } else { usize::MAX };
            for (at, byte) in first.iter().enumerate().take(count) {
                plan.map[usize::from(*byte)] = second.get(at).copied().unwrap_or(last);
            }
            if squeeze {
                mark(&mut plan.squeezed, &second);
            }
        }
    }
    Ok(plan)
}

/// All bytes that are not among these.
fn others(bytes: &[u8]) -> Vec<u8> {
    let mut among = [false; 256];
    mark(&mut among, bytes);
    (0..=255).filter(|byte| !among[usize::from(*byte)]).collect()
}

fn mark(table: &mut [bool; 256], bytes: &[u8]) {
    bytes.iter().for_each(|byte| table[usize::from(*byte)] = true);
}

fn run(plan: &Plan, shrinks: bool) -> i32 {
    let (mut out, mut piece, mut before) = (Out::new("tr"), Piece::default(), None);
    let Ok(mut input) = Input::open(b"-") else { return 1 };
    loop {
        match input.next(&mut piece) {
            Ok(true) => {}
            Ok(false) => return out.end(0),
            Err(error) => {
                out.complain(&format!("read error: {}", reason(&error)));
                return out.end(1);
            }
        }
        let mut kept = piece.len();
        if shrinks {
            kept = 0;
            for at in 0..piece.len() {
                let byte = usize::from(piece[at]);
                let becomes = plan.map[byte];
                let again = before == Some(becomes) && plan.squeezed[usize::from(becomes)];
                if !plan.deleted[byte] && !again {
                    before = Some(becomes);
                    piece[kept] = becomes;
                    kept += 1;
                }
            }
        } else {
            piece.iter_mut().for_each(|byte| *byte = plan.map[usize::from(*byte)]);
        }
        if !out.put(&piece[..kept]) {
            return out.end(0);
        }
    }
}
