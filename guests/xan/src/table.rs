//! Rows in and rows out: every row of a table has as many cells as the first.

use crate::call::{Call, Done, Failure, failed};
use crate::lines::{self, Piece, Remembering};
use crate::select;
use csv::{ByteRecord, Reader, ReaderBuilder, Writer};
use std::cell::RefCell;
use std::io::Write;
use std::rc::Rc;

/// Whether rows of other lengths are let through.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ragged {
    Refused,
    Allowed,
}

/// A table being read.
pub(crate) struct Table {
    file: String,
    reader: Reader<Remembering>,
    piece: Rc<RefCell<Piece>>,
    /// The names of the columns; empty texts where the first row is data.
    pub names: ByteRecord,
    /// Whether the first row holds names.
    pub named: bool,
    first: Option<ByteRecord>,
    ragged: Ragged,
    base: select::Base,
}

impl Table {
    /// Opens the file at a place among the operands.
    pub(crate) fn operand(call: &mut Call, at: usize) -> Result<Self, Failure> {
        let name = call.operand(at).to_owned();
        Self::open(call, &name, Ragged::Refused)
    }

    pub(crate) fn open(call: &mut Call, name: &str, ragged: Ragged) -> Result<Self, Failure> {
        let delimiter = match call.value("d") {
            Some(text) => one_byte(text)?,
            None => by_ending(name),
        };
        let (source, piece) = Remembering::new(call.source(name)?);
        let reader =
            ReaderBuilder::new().delimiter(delimiter).has_headers(false).flexible(true).from_reader(source);
        let mut table = Self {
            file: if name == "-" { "standard input" } else { name }.to_owned(),
            reader,
            piece,
            names: ByteRecord::new(),
            named: !call.has("n"),
            first: None,
            ragged,
            base: call.base,
        };
        let mut first = ByteRecord::new();
        if table.read(&mut first)? {
            if table.named {
                table.names = first;
            } else {
                table.names = first.iter().map(|_| b"").collect();
                table.first = Some(first);
            }
        }
        Ok(table)
    }

    fn read(&mut self, row: &mut ByteRecord) -> Result<bool, Failure> {
        self.reader.read_byte_record(row).map_err(|error| match error.into_kind() {
            csv::ErrorKind::Io(error) => Failure::Failed(format!("{}: {}", self.file, place::reason(&error))),
            other => Failure::Failed(format!("{}: {other:?}", self.file)),
        })
    }

    /// The next row; false after the last.
    pub(crate) fn next(&mut self, row: &mut ByteRecord) -> Result<bool, Failure> {
        if let Some(first) = self.first.take() {
            *row = first;
            return Ok(true);
        }
        if !self.read(row)? {
            return Ok(false);
        }
        if row.len() != self.names.len() && self.ragged == Ragged::Refused {
            let line = lines::of(row, &self.reader, &self.piece);
            let (has, wants) = (row.len(), self.names.len());
            return failed(format!("{}: line {line} has {has} cells, and the first row {wants}", self.file));
        }
        Ok(true)
    }

    /// All rows that are left.
    pub(crate) fn rest(&mut self) -> Result<Vec<ByteRecord>, Failure> {
        let (mut rows, mut row) = (Vec::new(), ByteRecord::new());
        while self.next(&mut row)? {
            rows.push(std::mem::take(&mut row));
        }
        Ok(rows)
    }

    /// The places of the columns that a selection names.
    pub(crate) fn select(&self, text: &str) -> Result<Vec<usize>, Failure> {
        select::columns(text, &self.names, self.base).map_err(Failure::Failed)
    }

    /// The columns the option `-s` names, or all.
    pub(crate) fn selected(&self, call: &Call) -> Result<Vec<usize>, Failure> {
        match call.value("s") {
            Some(text) => self.select(text),
            None => Ok((0..self.names.len()).collect()),
        }
    }

    /// What to call a column: its name, or its number where there are no names.
    pub(crate) fn label(&self, column: usize) -> Vec<u8> {
        match self.named {
            true => self.names.get(column).unwrap_or_default().to_vec(),
            false => (column + self.base.first()).to_string().into_bytes(),
        }
    }
}

/// Rows being written.
pub(crate) struct Output(Writer<Box<dyn Write>>);

impl Output {
    pub(crate) fn new(writer: Writer<Box<dyn Write>>) -> Self {
        Self(writer)
    }

    /// Writes a row; a row without cells is no row.
    pub(crate) fn row<T: AsRef<[u8]>>(&mut self, cells: impl IntoIterator<Item = T>) -> Done {
        let mut cells = cells.into_iter().peekable();
        if cells.peek().is_none() {
            return Ok(());
        }
        Ok(self.0.write_record(cells)?)
    }

    /// Writes the names of a table, if it has any.
    pub(crate) fn names(&mut self, table: &Table) -> Done {
        if table.named { self.row(&table.names) } else { Ok(()) }
    }

    pub(crate) fn finish(mut self) -> Done {
        Ok(self.0.flush()?)
    }
}

/// Chosen cells of a row.
pub(crate) fn pick<'a>(row: &'a ByteRecord, columns: &'a [usize]) -> impl Iterator<Item = &'a [u8]> {
    columns.iter().map(|it| row.get(*it).unwrap_or_default())
}

/// Chosen cells as one key: equal only if every cell is.
pub(crate) fn key(row: &ByteRecord, columns: &[usize]) -> Vec<u8> {
    let mut key = Vec::new();
    for cell in pick(row, columns) {
        key.extend_from_slice(&(cell.len() as u64).to_le_bytes());
        key.extend_from_slice(cell);
    }
    key
}

/// A delimiter, as options spell it.
pub(crate) fn one_byte(text: &str) -> Result<u8, Failure> {
    match text.as_bytes() {
        b"\\t" | b"tab" => Ok(b'\t'),
        [b'\n' | b'\r' | b'"'] | [] => Err(Failure::Usage("that cannot separate cells".to_owned())),
        [one] => Ok(*one),
        _ => Err(Failure::Usage(format!("'{text}' is not one character of ASCII"))),
    }
}

fn by_ending(name: &str) -> u8 {
    match name.rsplit_once('.') {
        Some((_, "tsv" | "tab")) => b'\t',
        Some((_, "ssv" | "scsv")) => b';',
        _ => b',',
    }
}
