//! What `rev` and `tac` share: where the input comes from, and where the output goes.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};

/// Gives each operand's content to `each` (standard input for `-` or for none), goes on after a
/// failure, and returns the exit status.
pub fn for_each_input(
    applet: &str,
    operands: Vec<OsString>,
    mut each: impl FnMut(Vec<u8>, &mut dyn Write) -> io::Result<()>,
) -> i32 {
    let operands = if operands.is_empty() { vec![OsString::from("-")] } else { operands };
    let mut out = io::BufWriter::with_capacity(64 * 1024, io::stdout().lock());
    let mut status = 0;
    for operand in operands {
        let content = read(&operand);
        let done = content.and_then(|content| each(content, &mut out));
        if let Err(error) = done {
            let text = uucore::error::strip_errno(&error);
            let _ = writeln!(io::stderr(), "{applet}: {}: {text}", operand.to_string_lossy());
            status = 1;
        }
    }
    if out.flush().is_err() { 1 } else { status }
}

fn read(operand: &OsString) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    if operand == "-" {
        io::stdin().lock().read_to_end(&mut content)?;
    } else {
        File::open(operand)?.read_to_end(&mut content)?;
    }
    Ok(content)
}
