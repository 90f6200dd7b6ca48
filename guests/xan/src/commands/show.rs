//! Commands that write a table otherwise: fmt, view and flatten.

use crate::call::{Call, Done, Failure};
use crate::table::{Output, Table, one_byte, pick};
use csv::{ByteRecord, QuoteStyle, Terminator, WriterBuilder};
use std::io::{BufWriter, Write as _};

pub(super) fn fmt(call: &mut Call) -> Done {
    let mut table = Table::operand(call, 0)?;
    let mut builder = WriterBuilder::new();
    builder.flexible(true);
    if call.has("tabs") {
        builder.delimiter(b'\t');
    }
    if let Some(text) = call.value("t") {
        builder.delimiter(one_byte(text)?);
    }
    if call.has("crlf") {
        builder.terminator(Terminator::CRLF);
    }
    if call.has("quote-always") {
        builder.quote_style(QuoteStyle::Always);
    }
    if let Some(text) = call.value("quote") {
        builder.quote(mark(text)?);
    }
    if let Some(text) = call.value("escape") {
        builder.escape(mark(text)?).double_quote(false);
    }
    let mut out = Output::new(builder.from_writer(call.sink()?));
    out.names(&table)?;
    let mut row = ByteRecord::new();
    while table.next(&mut row)? {
        out.row(&row)?;
    }
    out.finish()
}

fn mark(text: &str) -> Result<u8, Failure> {
    match text.as_bytes() {
        [one] => Ok(*one),
        _ => Err(Failure::Usage(format!("'{text}' is not one character of ASCII"))),
    }
}

/// A cell on one line, without what a terminal would obey.
fn shown(cell: &[u8]) -> String {
    let text = String::from_utf8_lossy(cell);
    text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect()
}

/// How many columns of a screen a text takes.
fn width(text: &str) -> usize {
    let wide = |it: char| match u32::from(it) {
        0x300..=0x36f | 0x200b..=0x200f => 0,
        0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff => 2,
        0xfe30..=0xfe6f | 0xff00..=0xff60 | 0x1f300..=0x1faff | 0x20000..=0x3fffd => 2,
        _ => 1,
    };
    text.chars().map(wide).sum()
}

pub(super) fn view(call: &mut Call) -> Done {
    let mut table = Table::operand(call, 0)?;
    let columns = table.selected(call)?;
    let limit = call.number("l")?.unwrap_or(usize::MAX);
    let mut lines: Vec<Vec<String>> = Vec::new();
    if table.named {
        lines.push(pick(&table.names, &columns).map(shown).collect());
    }
    let (mut row, mut rows) = (ByteRecord::new(), 0);
    while rows < limit && table.next(&mut row)? {
        lines.push(pick(&row, &columns).map(shown).collect());
        rows += 1;
    }
    let mut widths = vec![0; columns.len()];
    for line in &lines {
        for (most, cell) in widths.iter_mut().zip(line) {
            *most = width(cell).max(*most);
        }
    }
    let mut out = BufWriter::new(call.sink()?);
    for line in &lines {
        let mut text = String::new();
        for (cell, most) in line.iter().zip(&widths) {
            text.push_str(cell);
            text.extend(std::iter::repeat_n(' ', most - width(cell) + 2));
        }
        writeln!(out, "{}", text.trim_end())?;
    }
    Ok(out.flush()?)
}

pub(super) fn flatten(call: &mut Call) -> Done {
    let mut table = Table::operand(call, 0)?;
    let columns = table.selected(call)?;
    let limit = call.number("l")?.unwrap_or(usize::MAX);
    let labels: Vec<String> = columns.iter().map(|it| shown(&table.label(*it))).collect();
    let most = labels.iter().map(|it| width(it)).max().unwrap_or(0);
    let mut out = BufWriter::new(call.sink()?);
    let (mut row, mut rows) = (ByteRecord::new(), 0);
    while rows < limit && table.next(&mut row)? {
        if rows > 0 {
            writeln!(out, "#")?;
        }
        for (label, cell) in labels.iter().zip(pick(&row, &columns)) {
            let blanks = " ".repeat(most - width(label) + 2);
            writeln!(out, "{}", format!("{label}{blanks}{}", shown(cell)).trim_end())?;
        }
        rows += 1;
    }
    Ok(out.flush()?)
}
