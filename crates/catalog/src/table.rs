//! The rows that are compiled in, and those of a directory that somebody names.

use std::{fs, io::Read as _, path::Path};

use crate::{
    read::{BadRow, read},
    row::Row,
};

/// Name and text of a file that belongs to a row.
type RowFile = (&'static str, &'static str);

/// Name, TOML, and the files that belong to it, of every row in `rows/`.
const BUILT_IN: &[(&str, &str, &[RowFile])] = include!(concat!(env!("OUT_DIR"), "/rows.rs"));

/// The most rows a directory may have.
const ROWS_MAX: usize = 1024;

/// The rows there are.
#[derive(Debug, Clone, Default)]
pub struct Table {
    rows: Vec<Row>,
}

impl Table {
    /// The rows that came with the program.
    pub fn built_in() -> Result<Self, BadRow> {
        Self::of(BUILT_IN.iter().map(|(file, text, _)| (file.to_string(), text.to_string())))
    }

    /// The names of those rows, without reading them.
    pub fn built_in_names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|it| it.0)
    }

    /// These rows, each with the name of its file.
    pub fn of(rows: impl IntoIterator<Item = (String, String)>) -> Result<Self, BadRow> {
        let rows = rows.into_iter().map(|(name, text)| read(&name, &text));
        let mut rows: Vec<Row> = rows.collect::<Result<_, _>>()?;
        rows.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Self { rows })
    }

    /// The same and the rows of a directory; one of the same name replaces the built-in one.
    pub fn with_directory(mut self, directory: &Path) -> Result<Self, BadRow> {
        let shown = directory.display().to_string();
        let bad = |why: String| BadRow { row: shown.clone(), why };
        let entries = fs::read_dir(directory).map_err(|error| bad(format!("cannot be listed: {error}")))?;
        let mut files: Vec<_> = entries.flatten().map(|it| it.path()).collect();
        files.retain(|it| it.extension().is_some_and(|it| it == "toml"));
        files.sort();
        if files.len() > ROWS_MAX {
            return Err(bad(format!("it has more than {ROWS_MAX} rows")));
        }
        for file in files {
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let mut text = String::new();
            let opened = fs::File::open(&file).and_then(|it| it.take(1 << 20).read_to_string(&mut text));
            opened.map_err(|error| bad(format!("`{}` cannot be read: {error}", file.display())))?;
            let row = read(&name, &text)?;
            self.rows.retain(|it| it.name != row.name);
            self.rows.push(row);
        }
        self.rows.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(self)
    }

    /// Every row, sorted by name.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The row of that name.
    pub fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|it| it.name.as_str() == name)
    }

    /// The row that has this command.
    pub fn offering(&self, command: &str) -> Option<&Row> {
        self.row(command).or_else(|| self.rows.iter().find(|it| it.answers_to(command)))
    }
}

/// The files of `rows/NAME/`, by name.
pub fn own_files(row: &str) -> &'static [(&'static str, &'static str)] {
    BUILT_IN.iter().find(|it| it.0 == row).map_or(&[], |it| it.2)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_row_reads_and_no_two_of_them_claim_one_name() {
        let table = Table::built_in().unwrap_or_else(|error| panic!("{error}"));
        let mut names = BTreeSet::new();
        for row in table.rows() {
            for command in &row.commands {
                assert!(names.insert(command.name.clone()), "{} is in two rows", command.name);
            }
            for need in &row.needs {
                assert!(table.row(need.as_str()).is_some(), "{} needs {need}, which is no row", row.name);
            }
            let extra = row.recipe.iter().flat_map(|it| &it.extra);
            for file in extra {
                let there = own_files(row.name.as_str()).iter().any(|it| it.0 == file);
                assert!(there, "{} has no file {file}", row.name);
            }
        }
        assert!(table.rows().is_sorted_by(|a, b| a.name < b.name));
    }

    #[test]
    fn every_licence_is_an_spdx_expression_and_copyleft_is_seen_through_a_choice() {
        let table = Table::built_in().unwrap_or_else(|error| panic!("{error}"));
        for row in table.rows() {
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+' | ' ' | '(' | ')');
            assert!(row.licence.chars().all(plain), "{}: {}", row.name, row.licence);
        }
    }
}
