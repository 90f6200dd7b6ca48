//! GNU tar's command line: create, extract, list, append, update.

mod create;
pub(crate) mod extract;
pub mod header;
mod list;
pub mod name;
mod options;
pub mod reader;
#[cfg(test)]
mod tests;

use crate::codec::{Codec, Encoder};
use crate::report::{complain, reason};
use create::Writer;
use extract::Extractor;
use header::{BLOCK, Header, padding};
use options::{Act, Operand, Options, Stop};
use reader::{Broken, Reader};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};

const HELP: &str = "\
Usage: tar [OPTION...] [FILE]...
  -c create   -x extract   -t list   -r append   -u update
  -f FILE     the archive (- is standard input or output)
  -z -j -J    gzip, bzip2, xz; found out by itself when reading
  -v          verbose      -C DIR    change to DIR   -O  extract to standard output
  -k -m -p -h -P -T FILE -X FILE --exclude=PATTERN --strip-components=N --wildcards
";
const LEVEL: u32 = 6;

/// What ends the run at once.
enum Fatal {
    /// With GNU's words after it.
    Said(String),
    Usage(&'static str),
    Broken(Broken),
}

impl From<Broken> for Fatal {
    fn from(broken: Broken) -> Self {
        Self::Broken(broken)
    }
}

impl From<io::Error> for Fatal {
    fn from(error: io::Error) -> Self {
        Self::Broken(Broken::Read(error))
    }
}

/// Runs with the arguments after the name; the exit status.
pub fn run(args: &[String]) -> i32 {
    let options = match options::parse(args) {
        Ok(options) => options,
        Err(Stop::Help) => return say(HELP),
        Err(Stop::Version) => return say(concat!("tar (drydock) ", env!("CARGO_PKG_VERSION"), "\n")),
        Err(Stop::Wrong(problem)) => {
            complain(&format!("tar: {problem}\nTry 'tar --help' or 'tar --usage' for more information."));
            return 2;
        }
    };
    let done = match options.act {
        Act::Create => create(&options),
        Act::Append { newer } => append(&options, newer),
        Act::Extract | Act::List => read(&options),
    };
    match done {
        Ok(false) => 0,
        Ok(true) => {
            complain("tar: Exiting with failure status due to previous errors");
            2
        }
        Err(fatal) => {
            match fatal {
                Fatal::Said(text) => complain(&format!("tar: {text}")),
                Fatal::Usage(text) => {
                    complain(&format!(
                        "tar: {text}\nTry 'tar --help' or 'tar --usage' for more information."
                    ));
                    return 2;
                }
                Fatal::Broken(Broken::NotAnArchive) => {
                    complain("tar: This does not look like a tar archive");
                    complain("tar: Exiting with failure status due to previous errors");
                    return 2;
                }
                Fatal::Broken(Broken::Short) => complain("tar: Unexpected EOF in archive"),
                Fatal::Broken(Broken::TooLong) => complain("tar: a name in the archive is too long"),
                Fatal::Broken(Broken::Read(error)) => complain(&format!("tar: {}", reason(&error))),
            }
            complain("tar: Error is not recoverable: exiting now");
            2
        }
    }
}

fn say(text: &str) -> i32 {
    i32::from(io::stdout().write_all(text.as_bytes()).is_err())
}

fn to_stdout(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
}

fn create(options: &Options) -> Result<bool, Fatal> {
    if !options.operands.iter().any(|operand| !matches!(operand, Operand::Folder(_))) {
        return Err(Fatal::Usage("Cowardly refusing to create an empty archive"));
    }
    let by_name = options.archive.as_deref().filter(|_| options.auto_compress).map(Codec::of_name);
    let codec = options.codec.or(by_name).unwrap_or(Codec::Plain);
    match &options.archive {
        None => fill(options, codec, io::stdout().lock(), None, &complain),
        Some(path) => {
            let file = File::create(path)
                .map_err(|error| Fatal::Said(format!("{path}: Cannot open: {}", reason(&error))))?;
            let about = file.metadata().ok();
            fill(options, codec, BufWriter::new(file), about, &to_stdout)
        }
    }
}

fn fill(
    options: &Options,
    codec: Codec,
    sink: impl Write,
    archive: Option<fs::Metadata>,
    log: &dyn Fn(&str),
) -> Result<bool, Fatal> {
    let out = Encoder::new(codec, sink, LEVEL)?;
    let mut writer = Writer {
        out,
        options,
        written: 0,
        failed: false,
        log,
        archive,
        told_of_slash: false,
        known: Vec::new(),
        width: list::WIDTH,
    };
    each_operand(options, |base, name| writer.add(base, name))?;
    writer.finish()?;
    let failed = writer.failed;
    writer.out.finish()?.flush()?;
    Ok(failed)
}

/// Calls `each` with the folder and the name of every operand, as `-C` and `-T` say.
fn each_operand(options: &Options, mut each: impl FnMut(&Path, &str) -> io::Result<()>) -> Result<(), Fatal> {
    let mut base = PathBuf::new();
    for operand in &options.operands {
        match operand {
            Operand::Folder(folder) => {
                base.push(folder);
                if !base.is_dir() {
                    let problem = format!("{folder}: Cannot open: No such file or directory");
                    return Err(Fatal::Said(problem));
                }
            }
            Operand::Name(name) => each(&base, name)?,
            Operand::Names(file) => {
                for line in lines(file)? {
                    each(&base, &line)?;
                }
            }
        }
    }
    Ok(())
}

fn lines(file: &str) -> Result<Vec<String>, Fatal> {
    let mut text = Vec::new();
    let read = match file {
        "-" => io::stdin().lock().read_to_end(&mut text),
        _ => File::open(file).and_then(|mut file| file.read_to_end(&mut text)),
    };
    read.map_err(|error| Fatal::Said(format!("{file}: Cannot stat: {}", reason(&error))))?;
    let text = String::from_utf8_lossy(&text);
    let nul = text.contains('\0');
    let parts = text.split(if nul { '\0' } else { '\n' });
    Ok(parts.filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

/// Finds the end of the members, and goes on from there.
fn append(options: &Options, newer: bool) -> Result<bool, Fatal> {
    let Some(path) = &options.archive else {
        return Err(Fatal::Said("Options '-Aru' are incompatible with '-f -'".to_owned()));
    };
    if options.codec.is_some_and(|codec| codec != Codec::Plain) {
        return Err(Fatal::Said("Cannot update compressed archives".to_owned()));
    }
    let cannot = |error: &io::Error| Fatal::Said(format!("{path}: Cannot open: {}", reason(error)));
    let file = fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
    let mut file = file.map_err(|error| cannot(&error))?;
    let (mut end, mut known) = (0, Vec::new());
    let mut reader = Reader::new(BufReader::new(&mut file));
    while let Some(header) = reader.member()? {
        let stored = header.blocks().len() as u64 + header.size + padding(header.size) as u64;
        end += stored.next_multiple_of(BLOCK as u64);
        if newer {
            known.push((String::from_utf8_lossy(&header.name).into_owned(), header.mtime));
        }
    }
    file.seek(SeekFrom::Start(end))?;
    let archive = file.metadata().ok();
    let mut writer = Writer {
        out: BufWriter::new(&mut file),
        options,
        written: end,
        failed: false,
        log: &to_stdout,
        archive,
        told_of_slash: false,
        known,
        width: list::WIDTH,
    };
    each_operand(options, |base, name| writer.add(base, name))?;
    writer.finish()?;
    let (failed, written) = (writer.failed, writer.written);
    drop(writer);
    let whole = (written + 2 * BLOCK as u64).next_multiple_of(20 * BLOCK as u64);
    file.set_len(whole)?;
    Ok(failed)
}

fn read(options: &Options) -> Result<bool, Fatal> {
    let mut source: Box<dyn BufRead> = match &options.archive {
        None => Box::new(BufReader::new(io::stdin().lock())),
        Some(path) => {
            let file = File::open(path)
                .map_err(|error| Fatal::Said(format!("{path}: Cannot open: {}", reason(&error))))?;
            Box::new(BufReader::with_capacity(64 * 1024, file))
        }
    };
    let codec = Codec::sniff(source.fill_buf()?);
    let wrong = match (options.codec, codec) {
        (Some(Codec::Gzip), Codec::Plain) => Some("gzip: stdin: not in gzip format"),
        (Some(Codec::Bzip2), Codec::Plain) => Some("bzip2: (stdin) is not a bzip2 file."),
        (Some(Codec::Xz), Codec::Plain) => Some("xz: (stdin): File format not recognized"),
        _ => None,
    };
    if let Some(wrong) = wrong {
        complain(wrong);
        return Err(Fatal::Said("Child returned status 1".to_owned()));
    }
    let mut base = PathBuf::new();
    let mut chosen: Vec<(String, bool)> = Vec::new();
    for operand in &options.operands {
        match operand {
            Operand::Folder(folder) => base.push(folder),
            Operand::Name(name) => chosen.push((name.clone(), false)),
            Operand::Names(file) => chosen.extend(lines(file)?.into_iter().map(|name| (name, false))),
        }
    }
    if !base.as_os_str().is_empty() && !base.is_dir() {
        return Err(Fatal::Said(format!("{}: Cannot open: No such file or directory", base.display())));
    }
    if options.one_level {
        base.push(stem(options.archive.as_deref().unwrap_or("archive")));
    }
    let mut reader = Reader::new(codec.decoder(source));
    let mut extractor = Extractor::new(options, base);
    let mut width = list::WIDTH;
    while let Some(header) = reader.member()? {
        let left = String::from_utf8_lossy(&header.name).into_owned();
        // What stripping leaves nothing of is passed over without a word.
        if wanted(options, &header, &mut chosen)
            && (options.strip == 0 || name::strip(&left, options.strip).is_some())
        {
            show(options, &header, &mut width);
            if options.act == Act::Extract {
                extractor.member(&header, &mut reader)?;
            }
        }
    }
    extractor.finish();
    reader.drain();
    for (name, _) in chosen.iter().filter(|(_, found)| !found) {
        complain(&format!("tar: {name}: Not found in archive"));
        extractor.failed = true;
    }
    Ok(extractor.failed)
}

fn wanted(options: &Options, header: &Header, chosen: &mut [(String, bool)]) -> bool {
    let name = String::from_utf8_lossy(&header.name).into_owned();
    let mut fits = chosen.is_empty();
    for (choice, found) in chosen.iter_mut() {
        if name::selects(choice, &name, options.wildcards) {
            (*found, fits) = (true, true);
        }
    }
    fits && !options.exclude.iter().any(|pattern| name::excludes(pattern, &name))
}

fn show(options: &Options, header: &Header, width: &mut usize) {
    let level = options.verbose + usize::from(options.act == Act::List);
    let line = match level {
        0 => return,
        1 => list::shown(&header.name),
        _ => list::long(header, width),
    };
    if options.to_stdout { complain(&line) } else { to_stdout(&line) }
}

fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ends = [".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar"];
    ends.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
}
