//! What rows of pages look like, by GNU's own output.

use super::*;
use crate::own::arguments::Arguments;

fn printed(options: &str, texts: &[&str]) -> String {
    let words: Vec<&[u8]> = options.split(' ').filter(|it| !it.is_empty()).map(str::as_bytes).collect();
    let read = Arguments::read(&words, settings::TABLE).and_then(|line| settings::read(&line, texts.len()));
    let settings = match read {
        Ok(settings) => settings,
        Err(problem) => return problem,
    };
    let layout = match Layout::new(&settings) {
        Ok(layout) => layout,
        Err(problem) => return problem,
    };
    let file = lines(texts[0].as_bytes());
    let cells: Vec<&[u8]> = file.iter().map(|line| line.text.as_slice()).collect();
    let rows = arranged(&cells, settings.columns, settings.body_lines, settings.across);
    let rows = rows.iter().map(|row| String::from_utf8_lossy(&layout.row(&settings, row, 1)).into_owned());
    rows.collect::<Vec<_>>().join("|")
}

#[test]
fn columns_are_those_of_gnu() {
    let seven = "1\n2\n3\n4\n5\n6\n7\n";
    let cases = [
        ("-t", "a\tb\n c\n", "a\tb| c"),
        ("-3 -t", seven, "1\t\t\t4\t\t\t6|2\t\t\t5\t\t\t7|3"),
        ("-3 -a -t", seven, "1\t\t\t2\t\t\t3|4\t\t\t5\t\t\t6|7"),
        ("-3 -t -s,", seven, "1,4,6|2,5,7|3"),
        ("-2 -t -w 20", "abcdefghijklm\nx\n", "abcdefghi x"),
        ("-2 -t -S: -w 20", "abcdefghijklm\nx\n", "abcdefghi:x"),
        ("-t -n", "a\nb\n", "    1\ta|    2\tb"),
        ("-t -n:3 -o 2", "a\n", "    1:a"),
        ("-2 -t -n", "a\nb\n", "    1\ta\t\t\t    \t2   b"),
        ("-t -e4", "a\tb\n", "a   b"),
        ("-t -c", "a\x01\n", "a^A"),
        ("-t -v", "a\x01\n", "a\\001"),
        ("-80 -t", "a\n", "page width too narrow"),
        ("-0", "", "invalid number of columns: '0'"),
        ("-m -3", "", "cannot specify number of columns when printing in parallel"),
        ("--pages=3:1", "", "invalid page range '3:1'"),
        ("-l x", "", "'-l PAGE_LENGTH' invalid number: 'x'"),
    ];
    for (options, input, want) in cases {
        assert_eq!(printed(options, &[input]), want, "pr {options}");
    }
}

#[test]
fn a_form_feed_ends_a_page() {
    let got: Vec<(String, bool)> = lines(b"a\nb\x0c\nc\n\x0cd")
        .into_iter()
        .map(|line| (String::from_utf8_lossy(&line.text).into_owned(), line.ends_page))
        .collect();
    let want = [("a", false), ("b", true), ("c", true), ("d", false)];
    assert_eq!(got, want.map(|(text, ends)| (text.to_owned(), ends)));
}
