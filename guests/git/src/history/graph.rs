//! `--graph`: the lines of development beside the commits.
//!
//! One column for each line that is still to be continued; a commit stands in its own, its further parents
//! open columns to the right, and columns that wait for the same commit run together, one place a row.

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
    /// Before its next lines, each once; those that are left have lines of their own.
    pub once: Vec<String>,
    /// Before all further lines.
    pub rest: String,
}

impl Graph {
    /// What stands on the empty line between two commits.
    pub fn padding(&self) -> String {
        "| ".repeat(self.columns.len())
    }

    /// The next commit.
    pub fn next(&mut self, id: Oid, parents: &[Oid]) -> Rows {
        let at = match self.columns.iter().position(|it| *it == id) {
            Some(at) => at,
            None => {
                self.columns.push(id);
                self.columns.len() - 1
            }
        };
        let before = self.columns.len();
        let mut first: Vec<u8> = "| ".repeat(before).into_bytes();
        first[at * 2] = b'*';
        self.columns.splice(at..=at, parents.iter().copied());
        let mut once = Vec::new();
        if parents.len() > 1 {
            let mut row = "| ".repeat(at) + "|\\";
            (at + 1..before).for_each(|_| row.push_str(" \\"));
            once.push(row);
        }
        self.collapse(&mut once);
        if parents.is_empty() && at + 1 < before {
            once.push("| ".repeat(at) + &" /".repeat(before - at - 1));
        }
        let width = 2 * before.max(self.columns.len()).max(at + parents.len());
        let padded = |row: String| format!("{row:width$}");
        Rows {
            first: padded(String::from_utf8_lossy(&first).into_owned()),
            once: once.into_iter().map(padded).collect(),
            rest: padded(self.padding()),
        }
    }

    /// Lets columns that wait for the same commit run together.
    fn collapse(&mut self, rows: &mut Vec<String>) {
        while let Some((left, right)) = self.twins() {
            let mut place = right;
            while place > left {
                let mut row: Vec<u8> = "| ".repeat(self.columns.len() - 1).into_bytes();
                row[place * 2 - 1] = b'/';
                rows.push(String::from_utf8_lossy(&row).trim_end().to_owned());
                place -= 1;
            }
            self.columns.remove(right);
        }
    }

    fn twins(&self) -> Option<(usize, usize)> {
        let twin = |at: usize| self.columns[..at].iter().position(|it| *it == self.columns[at]);
        (1..self.columns.len()).find_map(|at| twin(at).map(|left| (left, at)))
    }
}
