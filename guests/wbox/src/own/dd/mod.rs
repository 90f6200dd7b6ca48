//! `dd`: copies blocks. coreutils' own does not run on WASI.
//!
//! Known are `if of bs ibs obs count skip seek status` and `conv=` with
//! `lcase ucase swab sync notrunc`. Input is read block by block, so memory stays small.

pub mod operands;

use operands::{Case, Operands, Report};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek as _, SeekFrom, Write};

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    let args: Vec<String> = args.iter().map(|it| String::from_utf8_lossy(it).into_owned()).collect();
    let done = Operands::parse(&args).and_then(|operands| {
        let copied = copy(&operands)?;
        report(&operands, &copied);
        Ok(())
    });
    match done {
        Ok(()) => 0,
        Err(problem) => {
            let _ = writeln!(io::stderr(), "dd: {problem}");
            1
        }
    }
}

/// Whole and partial blocks, in and out.
#[derive(Default)]
struct Copied {
    read: (u64, u64),
    written: (u64, u64),
    bytes: u64,
}

fn copy(operands: &Operands) -> Result<Copied, String> {
    let mut input = open_input(operands)?;
    let mut output = open_output(operands)?;
    let mut copied = Copied::default();
    let mut block = vec![0; operands.ibs];
    let mut waiting: Vec<u8> = Vec::new();
    while operands.count.is_none_or(|count| copied.read.0 + copied.read.1 < count) {
        let len = fill(&mut *input, &mut block).map_err(|error| words(&operands.input, &error))?;
        match len {
            0 => break,
            _ if len == operands.ibs => copied.read.0 += 1,
            _ => copied.read.1 += 1,
        }
        waiting.extend(convert(&mut block, len, operands));
        let whole = waiting.len() / operands.obs * operands.obs;
        output.write_all(&waiting[..whole]).map_err(|error| words(&operands.output, &error))?;
        waiting.drain(..whole);
        copied.written.0 += (whole / operands.obs) as u64;
        copied.bytes += whole as u64;
    }
    if !waiting.is_empty() {
        output.write_all(&waiting).map_err(|error| words(&operands.output, &error))?;
        copied.written.1 += 1;
        copied.bytes += waiting.len() as u64;
    }
    output.flush().map_err(|error| words(&operands.output, &error))?;
    Ok(copied)
}

fn convert<'a>(block: &'a mut [u8], len: usize, operands: &Operands) -> &'a [u8] {
    match operands.case {
        Case::Kept => {}
        Case::Lower => block[..len].make_ascii_lowercase(),
        Case::Upper => block[..len].make_ascii_uppercase(),
    }
    if operands.swab {
        block[..len].chunks_exact_mut(2).for_each(|pair| pair.swap(0, 1));
    }
    if !operands.sync {
        return &block[..len];
    }
    block[len..].fill(0);
    block
}

/// Reads until the block is full or the input ends.
fn fill(input: &mut dyn Read, block: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < block.len() {
        match input.read(&mut block[filled..])? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}

fn open_input(operands: &Operands) -> Result<Box<dyn Read>, String> {
    let skipped = operands.skip * operands.ibs as u64;
    let Some(path) = &operands.input else {
        let mut stdin = io::stdin();
        io::copy(&mut stdin.by_ref().take(skipped), &mut io::sink()).map_err(|error| words(&None, &error))?;
        return Ok(Box::new(stdin));
    };
    let open = File::open(path).and_then(|mut file| {
        file.seek(SeekFrom::Start(skipped))?;
        Ok(file)
    });
    let file = open.map_err(|error| format!("failed to open '{path}': {}", crate::stream::reason(&error)))?;
    Ok(Box::new(file))
}

fn open_output(operands: &Operands) -> Result<Box<dyn Write>, String> {
    let Some(path) = &operands.output else { return Ok(Box::new(io::stdout())) };
    let sought = operands.seek * operands.obs as u64;
    let open = OpenOptions::new().write(true).create(true).truncate(false).open(path).and_then(|mut file| {
        // A device has no length, and no place to go to.
        if file.metadata()?.is_file() {
            if !operands.notrunc {
                file.set_len(sought)?;
            }
            file.seek(SeekFrom::Start(sought))?;
        }
        Ok(file)
    });
    let file = open.map_err(|error| format!("failed to open '{path}': {}", crate::stream::reason(&error)))?;
    Ok(Box::new(file))
}

fn report(operands: &Operands, copied: &Copied) {
    let (read, written) = (copied.read, copied.written);
    let mut text = String::new();
    if operands.report != Report::Nothing {
        text = format!("{}+{} records in\n{}+{} records out\n", read.0, read.1, written.0, written.1);
    }
    if operands.report == Report::All {
        text += &format!("{} bytes copied\n", copied.bytes);
    }
    let _ = io::stderr().write_all(text.as_bytes());
}

fn words(path: &Option<String>, error: &io::Error) -> String {
    let name = path.as_deref().unwrap_or("standard stream");
    format!("error on '{name}': {}", crate::stream::reason(error))
}
