//! Operands that are files: what they become, and what is said about it.

use super::options::{Act, Options};
use super::{compress, decompress, outcome};
use crate::codec::Codec;
use crate::report::{complain, reason};
use std::fs::{self, File};
use std::io::{self, BufReader, Read as _, Write as _};
use std::path::Path;
use std::time::UNIX_EPOCH;

/// Does what the options say to one operand; the exit status.
pub(super) fn operand(options: &Options, name: &str) -> i32 {
    let tool = options.tool.name();
    let mut name = name.to_owned();
    // `gunzip x` finds `x.gz`.
    if options.act != Act::Compress && !Path::new(&name).exists() {
        name = format!("{name}{}", options.suffix);
    }
    let about = match fs::metadata(&name) {
        Ok(about) => about,
        Err(error) => {
            complain(&format!("{tool}: {name}: {}", reason(&error)));
            return 1;
        }
    };
    if about.is_dir() {
        if options.recursive {
            return folder(options, &name);
        }
        return warn(options, &format!("{name} is a directory -- ignored"));
    }
    match options.act {
        Act::Compress => compress_file(options, &name, &about),
        Act::Decompress => decompress_file(options, &name, &about),
        Act::Test => test(options, &name),
        Act::List => list(options, &name),
    }
}

fn folder(options: &Options, name: &str) -> i32 {
    let Ok(entries) = fs::read_dir(name) else {
        complain(&format!("{}: {name}: cannot open directory", options.tool.name()));
        return 1;
    };
    let mut names: Vec<String> =
        entries.flatten().map(|it| it.path().to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    names
        .iter()
        .map(|name| operand(options, name))
        .fold(0, |worst, status| if worst == 1 { 1 } else { worst.max(status) })
}

fn warn(options: &Options, text: &str) -> i32 {
    if !options.quiet {
        complain(&format!("{}: {text}", options.tool.name()));
    }
    2
}

fn compress_file(options: &Options, name: &str, about: &fs::Metadata) -> i32 {
    if name.ends_with(&options.suffix) && !options.to_stdout {
        // Nothing is wrong with that: gzip calls it a success.
        warn(options, &format!("{name} already has {} suffix -- unchanged", options.suffix));
        return 0;
    }
    let seconds = about.modified().ok().and_then(|it| it.duration_since(UNIX_EPOCH).ok());
    let base = name.rsplit('/').next().unwrap_or(name);
    let mtime = seconds.and_then(|it| u32::try_from(it.as_secs()).ok()).unwrap_or(0);
    let stored = (!options.no_name).then_some((base, mtime));
    let source = match File::open(name) {
        Ok(file) => BufReader::with_capacity(64 * 1024, file),
        Err(error) => return outcome(options, name, Err(error)),
    };
    if options.to_stdout {
        return outcome(options, name, compress(options, source, io::stdout().lock(), stored));
    }
    let target = format!("{name}{}", options.suffix);
    replace(options, name, &target, about, |sink| compress(options, source, sink, stored))
}

fn decompress_file(options: &Options, name: &str, about: &fs::Metadata) -> i32 {
    let source = match File::open(name) {
        Ok(file) => BufReader::with_capacity(64 * 1024, file),
        Err(error) => return outcome(options, name, Err(error)),
    };
    if options.to_stdout {
        return outcome(options, name, decompress(options, source, io::stdout().lock()));
    }
    let Some(target) = uncompressed_name(options, name) else {
        return warn(options, &format!("{name}: unknown suffix -- ignored"));
    };
    replace(options, name, &target, about, |sink| decompress(options, source, sink))
}

fn uncompressed_name(options: &Options, name: &str) -> Option<String> {
    let turned = [(".tgz", ".tar"), (".taz", ".tar"), (".tbz2", ".tar"), (".tbz", ".tar"), (".txz", ".tar")];
    let plain = name.strip_suffix(&options.suffix).filter(|it| !it.is_empty() && !it.ends_with('/'));
    plain.map(str::to_owned).or_else(|| {
        turned.iter().find_map(|(from, to)| name.strip_suffix(from).map(|stem| format!("{stem}{to}")))
    })
}

/// Writes `target`, and removes `name` when that has worked.
fn replace(
    options: &Options,
    name: &str,
    target: &str,
    about: &fs::Metadata,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> i32 {
    if Path::new(target).exists() && !options.force {
        return warn(options, &format!("{target} already exists;\tnot overwritten"));
    }
    let mut file = match File::create(target) {
        Ok(file) => file,
        Err(error) => return outcome(options, target, Err(error)),
    };
    let status = outcome(options, name, fill(&mut file));
    if status != 0 {
        drop(file);
        let _ = fs::remove_file(target);
        return status;
    }
    if let Ok(time) = about.modified() {
        let _ = file.set_modified(time);
    }
    // As gzip does: what is made of a file may do what the file may.
    if let Err(error) =
        modes::get(Path::new(name), true).and_then(|it| modes::set(Path::new(target), true, it & 0o777))
    {
        complain(&format!("{}: {target}: {}", options.tool.name(), reason(&error)));
    }
    let sizes = (about.len(), file.metadata().map_or(0, |it| it.len()));
    if options.verbose {
        let (large, small) = if options.act == Act::Compress { sizes } else { (sizes.1, sizes.0) };
        let done = if options.keep { "created" } else { "replaced with" };
        complain(&format!("{name}:\t{} -- {done} {target}", ratio(large, small)));
    }
    if !options.keep
        && let Err(error) = fs::remove_file(name)
    {
        return outcome(options, name, Err(error));
    }
    0
}

fn test(options: &Options, name: &str) -> i32 {
    let tested = File::open(name).and_then(|file| decompress(options, BufReader::new(file), io::sink()));
    let status = outcome(options, name, tested);
    if status == 0 && options.verbose {
        complain(&format!("{name}:\t OK"));
    }
    status
}

pub(super) fn list_heading(options: &Options) {
    if options.codec == Codec::Gzip {
        let _ = writeln!(io::stdout(), "         compressed        uncompressed  ratio uncompressed_name");
    }
}

pub(super) fn list_stdin(options: &Options) -> i32 {
    let mut bytes = Vec::new();
    let read = io::stdin().lock().read_to_end(&mut bytes);
    let listed =
        read.and_then(|_| measure(options, &bytes[..]).map(|size| line(bytes.len() as u64, size, "stdout")));
    outcome(options, "stdin", listed)
}

fn list(options: &Options, name: &str) -> i32 {
    let listed = File::open(name).and_then(|file| {
        let packed = file.metadata()?.len();
        let size = measure(options, BufReader::new(file))?;
        line(packed, size, &uncompressed_name(options, name).unwrap_or_else(|| name.to_owned()));
        Ok(())
    });
    outcome(options, name, listed)
}

/// The size of the content, found by reading it: what a stream claims about itself may be wrong.
fn measure(options: &Options, source: impl io::BufRead) -> io::Result<u64> {
    struct Count(u64);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len() as u64;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    decompress(options, source, &mut count)?;
    Ok(count.0)
}

fn line(packed: u64, size: u64, name: &str) {
    let _ = writeln!(io::stdout(), "{packed:19} {size:19} {} {name}", ratio(size, packed.saturating_sub(18)));
}

fn ratio(large: u64, small: u64) -> String {
    let saved = if large == 0 { 0.0 } else { 100.0 * (large as f64 - small as f64) / large as f64 };
    format!("{saved:5.1}%")
}
