//! Arithmetic as a table.

use std::collections::BTreeMap;

use super::{ArithError, Names, eval::Resolved, evaluate, parse};

#[derive(Default)]
struct Table(BTreeMap<String, String>);

impl Names for Table {
    fn get(&mut self, place: &Resolved) -> Result<Option<String>, ArithError> {
        Ok(self.0.get(&place.name).cloned())
    }

    fn set(&mut self, place: &Resolved, value: i64) -> Result<(), ArithError> {
        self.0.insert(place.name.clone(), value.to_string());
        Ok(())
    }

    fn is_map(&self, _: &str) -> bool {
        false
    }
}

fn compute(text: &str) -> Result<i64, String> {
    let mut table = Table::default();
    for (name, value) in [("x", "5"), ("y", "x+1"), ("loop", "loop"), ("bad", "1+")] {
        table.0.insert(name.into(), value.into());
    }
    let expr = parse(text)?;
    evaluate(&expr, &mut table).map_err(|error| error.0)
}

#[test]
fn expressions_have_the_values_bash_gives_them() {
    let cases = [
        ("", 0),
        ("1+2*3", 7),
        ("(1+2)*3", 9),
        ("2**3**2", 512),
        ("-2**2", 4),
        ("7/-2", -3),
        ("-7%3", -1),
        ("1<<3|1", 9),
        ("5&3", 1),
        ("5^3", 6),
        ("~0", -1),
        ("!5", 0),
        ("!0", 1),
        ("1?2:3", 2),
        ("0?2:3", 3),
        ("0?1:0?2:3", 3),
        ("1,2,3", 3),
        ("x", 5),
        ("y", 6),
        ("y*2", 12),
        ("nosuch", 0),
        ("x++ + x", 11),
        ("++x + x", 12),
        ("x-- - x", 1),
        ("z=3", 3),
        ("z=w=4, z+w", 8),
        ("x+=2", 7),
        ("x<<=1", 10),
        ("x%=3", 2),
        ("0x1F", 31),
        ("017", 15),
        ("2#101", 5),
        ("16#ff", 255),
        ("36#z", 35),
        ("64#_", 63),
        ("1&&0||1", 1),
        ("1<2 && 2<=2 && 3>2 && 3>=3 && 1==1 && 1!=2", 1),
        ("9223372036854775807+1", i64::MIN),
        ("1||nosuch[", 0),
    ];
    for (text, want) in cases {
        if text.ends_with('[') {
            assert!(compute(text).is_err(), "{text}");
            continue;
        }
        assert_eq!(compute(text), Ok(want), "{text}");
    }
}

#[test]
fn what_is_no_expression_is_an_error_and_no_panic() {
    for text in
        ["1/0", "1%0", "1+", "(1", "1)", "3=4", "08", "2#3", "99#1", "1 2", "2**-1", "loop", "bad", "$x"]
    {
        assert!(compute(text).is_err(), "{text}");
    }
    let deep = "(".repeat(100_000);
    assert!(compute(&deep).is_err());
    let minus = "-".repeat(100_000);
    assert!(compute(&minus).is_err());
}
