//! `--graph`: the lines of development beside the commits.
//!
//! One column for each line that is still to be continued; a commit stands in its own, its further parents
//! open columns to the right, and a column whose commit stands elsewhere already is closed.

use crate::Oid;

/// The columns so far: which commit each waits for.
#[derive(Debug, Default)]
pub struct Graph {
    columns: Vec<Oid>,
}

/// What stands before a commit's lines.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// Before its first line.
    pub first: String,
    /// Before its other lines; the first of them are used once, the last again and again.
    pub between: Vec<String>,
    /// Lines of their own after it.
    pub after: Vec<String>,
}

impl Graph {
    /// The next commit.
    pub fn next(&mut self, id: Oid, parents: &[Oid]) -> Rows {
        let at = match self.columns.iter().position(|it| *it == id) {
            Some(at) => at,
            None => {
                self.columns.push(id);
                self.columns.len() - 1
            }
        };
        let width = self.columns.len();
        let mark = |sign: &str| {
            let cells = (0..width).map(|column| if column == at { sign } else { "|" });
            cells.collect::<Vec<_>>().join(" ")
        };
        let mut rows = Rows { first: mark("*") + " ", ..Rows::default() };
        self.columns.remove(at);
        let mut place = at;
        let mut closed = None;
        for parent in parents {
            match self.columns.iter().position(|it| it == parent) {
                Some(other) if parents.len() == 1 => closed = Some(other),
                Some(_) => {}
                None => {
                    self.columns.insert(place, *parent);
                    place += 1;
                }
            }
        }
        let bars = |count: usize| vec!["|"; count].join(" ");
        if parents.len() > 1 {
            let (left, right) = (bars(at), width - at - 1);
            let lead = if at > 0 { left + " " } else { String::new() };
            let tail = " \\".repeat(right);
            rows.between.push(format!("{lead}|\\{tail} ").replace("  ", " ").trim_end().to_owned() + "  ");
        }
        rows.between.push(if self.columns.is_empty() { "  ".to_owned() } else { bars(self.columns.len()) + " " });
        if parents.is_empty() {
            rows.between = vec![if width == 1 { "  ".to_owned() } else { mark(" ") + " " }];
        }
        if closed.is_some_and(|it| it < at) || (parents.is_empty() && at + 1 < width) {
            let lead = if at > 1 { bars(at - 1) + " " } else { String::new() };
            rows.after.push(format!("{lead}|/{}", " /".repeat(width - at - 1)));
        }
        rows
    }
}
