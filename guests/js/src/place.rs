//! Where in the program something happened, read from QuickJS's stack text.
//!
//! Only for people: the program can write its own stack text, and nothing is decided by it.

/// The name of the program in stack texts.
pub const PROGRAM: &str = "program.js";

/// A line and a column, both from one.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub struct Place {
    pub line: u32,
    pub column: u32,
}

/// The first place within the program that a stack text names.
pub fn first(stack: &str) -> Option<Place> {
    // A module may have the same name at the end of its path.
    let starts = |at: usize| matches!(stack[..at].bytes().next_back(), None | Some(b' ' | b'('));
    stack.match_indices(PROGRAM).filter(|(at, _)| starts(*at)).find_map(|(at, name)| {
        let mut numbers =
            stack[at + name.len()..].strip_prefix(':')?.splitn(3, |sign: char| !sign.is_ascii_digit());
        Some(Place { line: numbers.next()?.parse().ok()?, column: numbers.next()?.parse().ok()? })
    })
}

/// `path:line:column` of an imported module, if that is where the stack text begins.
pub fn in_module(stack: &str) -> Option<&str> {
    let frame = stack.lines().map(str::trim).find(|it| !it.ends_with("(native)") && !it.is_empty())?;
    let place = frame.strip_suffix(')').unwrap_or(frame);
    let place = place.rsplit_once(['(', ' ']).map_or(place, |(_, it)| it);
    place.starts_with(['.', '/']).then_some(place)
}

/// QuickJS counts bytes; people and editors count characters.
pub fn in_characters(place: Place, program: &str) -> Place {
    let Some(line) = program.split('\n').nth(place.line.saturating_sub(1) as usize) else { return place };
    let before = place.column.saturating_sub(1) as usize;
    let count = line.char_indices().take_while(|(at, _)| *at < before).count();
    let beyond = before.saturating_sub(line.len());
    Place { column: u32::try_from(count + beyond + 1).unwrap_or(u32::MAX), ..place }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_place_of_the_program_is_found() {
        let cases = [
            ("    at f (program.js:3:14)\n    at <anonymous> (program.js:9:1)\n", Some((3, 14))),
            ("    at JSON.parse (native)\n    at program.js:2:5\n", Some((2, 5))),
            ("    at program.js:\n", None),
            ("    at f (./program.js:3:14)\n    at g (program.js:9:1)\n", Some((9, 1))),
            ("program.js:99999999999:1", None),
            ("", None),
        ];
        for (stack, want) in cases {
            assert_eq!(first(stack).map(|it| (it.line, it.column)), want, "{stack}");
        }
    }

    #[test]
    fn columns_count_characters() {
        let program = "let a\n'é🦀' x";
        let column = |column| in_characters(Place { line: 2, column }, program).column;
        assert_eq!((column(1), column(2), column(4), column(8), column(10)), (1, 2, 3, 4, 6));
        assert_eq!(in_characters(Place { line: 7, column: 3 }, program).column, 3);
    }

    #[test]
    fn a_place_within_a_module_is_told_by_its_path() {
        let cases = [
            ("    at f (./lib/a.js:3:14)\n    at program.js:9:1\n", Some("./lib/a.js:3:14")),
            ("    at JSON.parse (native)\n    at /w/x.ts:1:2\n", Some("/w/x.ts:1:2")),
            ("    at f (program.js:3:14)\n    at ./lib.js:1:1\n", None),
            ("", None),
        ];
        for (stack, want) in cases {
            assert_eq!(in_module(stack), want, "{stack:?}");
        }
    }
}
