//! `gzip` and its kin: one command line for three compressions and nine names.
//!
//! A file is replaced by its compressed form only when that is complete. Exit status 1 is an error,
//! 2 a warning, as gzip has it.

mod file;
mod options;
#[cfg(test)]
mod tests;

pub use options::Tool;

use crate::codec::{Codec, Encoder};
use crate::report::{complain, reason};
use options::{Act, Options, Stop};
use std::io::{self, BufRead, BufReader, Write};

/// Runs with the arguments after the name; the exit status.
pub fn run(tool: Tool, args: &[String]) -> i32 {
    let options = match options::parse(tool, args) {
        Ok(options) => options,
        Err(Stop::Help) => return say(&options::help(tool)),
        Err(Stop::Version) => {
            return say(&format!("{} (drydock) {}\n", tool.name(), env!("CARGO_PKG_VERSION")));
        }
        Err(Stop::Wrong(problem)) => {
            complain(&format!("{0}: {problem}\nTry `{0} --help' for more information.", tool.name()));
            return 1;
        }
    };
    let mut status = Status(0);
    if options.act == Act::List && !options.quiet {
        file::list_heading(&options);
    }
    if options.files.is_empty() {
        status.note(stdin(&options));
    }
    for name in &options.files {
        status.note(if name == "-" { stdin(&options) } else { file::operand(&options, name) });
    }
    status.0
}

/// The worst so far: an error outweighs a warning.
struct Status(i32);

impl Status {
    fn note(&mut self, new: i32) {
        self.0 = match (self.0, new) {
            (1, _) | (_, 1) => 1,
            (old, new) => old.max(new),
        };
    }
}

fn say(text: &str) -> i32 {
    i32::from(io::stdout().write_all(text.as_bytes()).is_err())
}

fn stdin(options: &Options) -> i32 {
    let source = BufReader::with_capacity(64 * 1024, io::stdin().lock());
    let done = match options.act {
        Act::Compress => compress(options, source, io::stdout().lock(), None),
        Act::Decompress => decompress(options, source, io::stdout().lock()),
        Act::Test => decompress(options, source, io::sink()),
        Act::List => return file::list_stdin(options),
    };
    outcome(options, "stdin", done)
}

/// Tells why it failed; the exit status.
fn outcome(options: &Options, name: &str, done: io::Result<()>) -> i32 {
    let Err(error) = done else { return 0 };
    if error.kind() == io::ErrorKind::BrokenPipe {
        return 1;
    }
    let tool = options.tool.name();
    let text = match error.kind() {
        io::ErrorKind::UnexpectedEof => "unexpected end of file".to_owned(),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => error.to_string(),
        _ => reason(&error),
    };
    // gzip starts these on a line of their own.
    let apart = options.codec == Codec::Gzip
        && (text.starts_with("not in") || text.starts_with("unexpected") || text.starts_with("invalid"));
    complain(&format!("{}{tool}: {name}: {text}", if apart { "\n" } else { "" }));
    1
}

fn compress(
    options: &Options,
    mut source: impl BufRead,
    sink: impl Write,
    named: Option<(&str, u32)>,
) -> io::Result<()> {
    let mut encoder = match (options.codec, named) {
        (Codec::Gzip, Some((name, mtime))) => Encoder::named_gzip(sink, options.level, name, mtime),
        (codec, _) => Encoder::new(codec, sink, options.level)?,
    };
    io::copy(&mut source, &mut encoder)?;
    encoder.finish()?.flush()
}

fn decompress(options: &Options, mut source: impl BufRead, mut sink: impl Write) -> io::Result<()> {
    let found = Codec::sniff(source.fill_buf()?);
    if source.fill_buf()?.is_empty() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    if found != options.codec {
        // `zcat -f` and `gzip -cdf` let through what is not compressed.
        if options.force && options.to_stdout {
            io::copy(&mut source, &mut sink)?;
            return sink.flush();
        }
        let text = match options.codec {
            Codec::Gzip | Codec::Plain => "not in gzip format",
            Codec::Bzip2 => "not a bzip2 file.",
            Codec::Xz => "File format not recognized",
        };
        return Err(io::Error::new(io::ErrorKind::InvalidData, text));
    }
    let mut decoder = found.decoder(source);
    let mut buffer = vec![0; 64 * 1024];
    let mut wrote = false;
    loop {
        match decoder.read(&mut buffer) {
            Ok(0) => return sink.flush(),
            Ok(count) => {
                wrote = true;
                sink.write_all(&buffer[..count])?;
            }
            // Bytes after the last stream are not an error of it.
            Err(error) if wrote && error.to_string().contains("invalid gzip header") => {
                sink.flush()?;
                complain(&format!("\n{}: decompression OK, trailing garbage ignored", options.tool.name()));
                return Ok(());
            }
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(error),
            Err(error) => {
                let text = if error.to_string().contains("corrupt") {
                    "invalid compressed data--format violated".to_owned()
                } else {
                    error.to_string()
                };
                return Err(io::Error::new(io::ErrorKind::InvalidData, text));
            }
        }
    }
}
