//! `tr [-cds] SET1 [SET2]` by tables.

use super::options::Options;
use super::set::{bytes, is_result};
use super::stream::{Input, Out, Piece, reason};

/// What becomes of each byte.
struct Plan {
    map: [u8; 256],
    deleted: [bool; 256],
    squeezed: [bool; 256],
}

pub fn tr(args: &[&[u8]]) -> Option<i32> {
    let mut options = Options::new(args);
    let (mut complement, mut delete, mut squeeze) = (false, false, false);
    while let Some(letter) = options.next()? {
        match letter {
            b'c' | b'C' => complement = true,
            b'd' => delete = true,
            b's' => squeeze = true,
            _ => return None,
        }
    }
    let mut plan =
        Plan { map: std::array::from_fn(|it| it as u8), deleted: [false; 256], squeezed: [false; 256] };
    let (first, second) = match *options.operands.as_slice() {
        [first] if delete != squeeze => (bytes(first)?, None),
        [first, second] if !delete || squeeze => {
            if !delete && (!is_result(second) || second.is_empty()) {
                return None;
            }
            // Cases of letters pair up as wholes; a class beside one is another matter.
            if !delete && second.contains(&b':') && second.len() != 9 {
                return None;
            }
            (bytes(first)?, Some(bytes(second)?))
        }
        _ => return None,
    };
    let first = if complement { others(&first) } else { first };
    match second {
        _ if delete => {
            mark(&mut plan.deleted, &first);
            mark(&mut plan.squeezed, &second.unwrap_or_default());
        }
        None => mark(&mut plan.squeezed, &first),
        Some(second) => {
            let last = *second.last()?;
            for (at, byte) in first.iter().enumerate() {
                plan.map[usize::from(*byte)] = second.get(at).copied().unwrap_or(last);
            }
            if squeeze {
                mark(&mut plan.squeezed, &second);
            }
        }
    }
    Some(run(&plan, delete || squeeze))
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
