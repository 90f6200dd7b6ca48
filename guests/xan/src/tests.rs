//! Command lines over small tables, and the promise that no bytes make any command panic.

use crate::{Base, commands::COMMANDS, run};
use proptest::prelude::*;
use std::{cell::RefCell, io::Cursor, rc::Rc};

#[derive(Clone, Default)]
struct Shared(Rc<RefCell<Vec<u8>>>);

impl std::io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn call(args: &[&str], base: Base, stdin: &[u8]) -> (i32, String, String) {
    let args: Vec<String> = args.iter().map(|it| (*it).to_owned()).collect();
    let out = Shared::default();
    let (status, said) = run(&args, base, Box::new(Cursor::new(stdin.to_vec())), Box::new(out.clone()));
    let text = String::from_utf8_lossy(&out.0.borrow()).into_owned();
    (status, text, said)
}

const TABLE: &str = "id,name,n\n1,ann,10\n2,bob,9\n3,ann,\n";

#[test]
fn selections_name_columns() {
    let cases = [
        // selection   base        the names that remain
        ("name", Base::Zero, "name"),
        ("0,2", Base::Zero, "id,n"),
        ("1", Base::One, "id"),
        ("2-3", Base::One, "name,n"),
        ("id:name", Base::Zero, "id,name"),
        ("n:id", Base::Zero, "n,name,id"),
        (":1", Base::Zero, "id,name"),
        ("1:", Base::Zero, "name,n"),
        ("!name", Base::Zero, "id,n"),
        ("n*", Base::Zero, "name,n"),
        ("*,id", Base::Zero, "id,name,n,id"),
        ("\"n\"", Base::Zero, "n"),
    ];
    for (selection, base, want) in cases {
        let (status, out, said) = call(&["select", selection], base, TABLE.as_bytes());
        assert_eq!((status, out.lines().next().unwrap()), (0, want), "{selection}: {said}");
    }
    for wrong in ["3", "x", "name[1]", "", "a\"b", "\"a", "z*", "99999999999999999999"] {
        assert_eq!(call(&["select", wrong], Base::Zero, TABLE.as_bytes()).0, 1, "{wrong}");
    }
}

#[test]
fn a_ragged_row_is_an_error_that_names_its_line() {
    let cases = [
        ("a,b\n1,2\n3\n", "line 3 has 1 cells"),
        ("a,b\r\n1,2\r\n3\r\n", "line 3 has 1 cells"),
        ("a,b\n\"x\ny\",2\n3,4,5", "line 4 has 3 cells"),
        ("a,b\n\n\n3,4,5", "line 4 has 3 cells"),
    ];
    for (text, want) in cases {
        let (status, _, said) = call(&["count"], Base::Zero, text.as_bytes());
        assert!(status == 1 && said.contains(want), "{text:?}: {said}");
    }
}

#[test]
fn a_condition_is_understood_or_refused() {
    let cases = [
        ("n >= 10", "1"),
        ("name eq ann", "1 3"),
        ("name == \"ann\" and n > 3", "1"),
        ("name eq 'bob' || n==10", "1 2"),
        ("not (name eq ann) or id == 3", "2 3"),
        ("!(id < 2) && n != 9", "3"),
        ("id < n", "1 2"),
        ("col(\"id\") < col(n)", "1 2"),
        ("(((id==1)))", "1"),
        ("0 >= 2", "2 3"),
    ];
    for (condition, want) in cases {
        let (status, out, said) = call(&["filter", condition], Base::Zero, TABLE.as_bytes());
        let ids: Vec<&str> = out.lines().skip(1).filter_map(|it| it.split(',').next()).collect();
        assert_eq!((status, ids.join(" ").as_str()), (0, want), "{condition}: {said}");
    }
    let deep = format!("{}id == 1{}", "(".repeat(500), ")".repeat(500));
    let refused = [
        ("n > 5 5", "'5'"),
        ("name eq New York", "'York'"),
        ("n + 1 > 5", "'+ 1 > 5'"),
        ("n > 5 + 1", "'+ 1'"),
        ("n > 5 and", "'and'"),
        ("n >", "its end"),
        ("n = 5", "'= 5'"),
        ("contains(name, \"a\")", "contains"),
        ("name =~ /a/", "'=~ /a/'"),
        ("(n > 5", "its end"),
        ("n > 5)", "')'"),
        ("name eq 'a", "''a'"),
        ("nothing > 5", "nothing"),
        (deep.as_str(), "too deeply"),
        ("", "its end"),
    ];
    for (condition, why) in refused {
        let (status, out, said) = call(&["filter", condition], Base::Zero, TABLE.as_bytes());
        assert!(status != 0 && out.is_empty() && said.contains(why), "{condition}: {status} {out} {said}");
    }
}

#[test]
fn statuses_tell_mistakes_from_failures() {
    let cases: &[(&[&str], i32, &str)] = &[
        (&[], 2, "xan: no command"),
        (&["nonsense"], 2, "xan: there is no command 'nonsense'"),
        (&["select"], 2, "xan: select: an operand is missing"),
        (&["count", "a", "b"], 2, "extra operand 'b'"),
        (&["count", "-d", "ab"], 2, "not one character"),
        (&["count", "/no/such/file"], 1, "xan count: /no/such/file: No such file or directory"),
        (&["agg", "sum(name)"], 1, "'ann' is no number"),
        (&["agg", "total(n)"], 2, "no function 'total'"),
        (&["--help"], 0, ""),
        (&["groupby", "--help"], 0, ""),
    ];
    for (args, status, want) in cases {
        let (got, _, said) = call(args, Base::Zero, TABLE.as_bytes());
        assert!(got == *status && said.contains(want), "{args:?}: {got} {said}");
    }
}

#[test]
fn help_is_there_for_every_command() {
    for command in COMMANDS {
        let (status, out, _) = call(&[command.name, "--help"], Base::Zero, b"");
        assert!(status == 0 && out.starts_with(&format!("Usage: xan {}", command.name)), "{}", command.name);
        assert!(command.help.lines().nth(1).is_some_and(|it| !it.is_empty()), "{}", command.name);
    }
}

/// Every command, with operands that make it work.
const LINES: &[&[&str]] = &[
    &["headers"],
    &["count"],
    &["select", "0"],
    &["select", "!-1"],
    &["drop", "0"],
    &["rename", "x", "-s", "0"],
    &["rename", "-p", "x"],
    &["enum"],
    &["behead"],
    &["slice", "-s", "1", "-l", "2"],
    &["head", "-l", "2"],
    &["tail", "-l", "2"],
    &["reverse", "-n"],
    &["search", "[a-c]+", "-i"],
    &["search", "-e", "a"],
    &["filter", "0 >= 1"],
    &["filter", "0 eq a"],
    &["sort", "-N", "-R", "-u"],
    &["dedup", "-s", "0"],
    &["frequency", "-l", "1"],
    &["stats"],
    &["agg", "count(), first(0), last(0), cardinality(0)"],
    &["agg", "sum(0), mean(0), median(0), stddev(0), min(0), max(0)"],
    &["groupby", "0", "count(0) as n"],
    &["cat", "rows"],
    &["cat", "columns", "-p"],
    &["transpose"],
    &["explode", "0,-1", "--sep", ","],
    &["implode", "0"],
    &["fill"],
    &["fixlengths"],
    &["fixlengths", "-l", "3"],
    &["fmt", "-t", ";", "--escape", "\\"],
    &["view"],
    &["flatten"],
    &["to", "json"],
    &["to", "ndjson", "--omit"],
    &["from", "json"],
    &["from", "ndjson"],
];

proptest! {
    #[test]
    fn no_bytes_make_a_command_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        for line in LINES {
            call(line, Base::Zero, &bytes);
        }
    }

    #[test]
    fn no_table_makes_a_command_panic(text in "([a-c01.\"|\\-e]{0,4}[,\n\r]){0,30}") {
        for line in LINES {
            call(line, Base::One, text.as_bytes());
        }
    }

    #[test]
    fn no_json_makes_from_panic(text in "[\\[\\]{},:\"\\\\ua0-9dn. é-]{0,60}") {
        call(&["from", "json"], Base::Zero, text.as_bytes());
        call(&["from", "ndjson"], Base::Zero, text.as_bytes());
    }

    #[test]
    fn no_selection_or_expression_panics(text in "[a-n0-9\\[\\]()*!:,\"é =<-]{0,20}") {
        for command in ["select", "agg", "filter", "search", "explode", "implode", "drop", "rename"] {
            call(&[command, "--", &text], Base::One, TABLE.as_bytes());
        }
    }

    #[test]
    fn a_table_survives_json(cells in proptest::collection::vec("[a-z\", \n\\\\é]{1,6}", 1..6)) {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(["a", "b"]).unwrap();
        for cell in &cells {
            writer.write_record([cell, "1.50"]).unwrap();
        }
        let table = String::from_utf8(writer.into_inner().unwrap()).unwrap();
        let (_, json, _) = call(&["to", "json"], Base::Zero, table.as_bytes());
        let (status, back, said) = call(&["from", "json"], Base::Zero, json.as_bytes());
        prop_assert_eq!((status, back), (0, table), "{}", said);
    }
}
