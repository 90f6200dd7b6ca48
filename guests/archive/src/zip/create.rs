//! `zip`: makes an archive, or adds to and replaces in one that is there.

use super::record::{self, DEFLATED, Member, STORED};
use super::say;
use crate::report::{complain, reason};
use crate::tar::name;
use flate2::{Compression, CrcWriter, write::DeflateEncoder};
use options::{Item, Order};
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::UNIX_EPOCH;

const HELP: &str = "Usage: zip [OPTION...] ARCHIVE [FILE...]
Add FILEs to ARCHIVE, or replace them in it; `-' is standard output or input.

  -r  with all that is in folders    -j  without the names of folders
  -0 to -9  store, or compress better  -q  quiet
  -y  links as links                 -D  no entries for folders
  -x, -i PATTERN...  leave out, or take only, what matches (a list ends with @)
  -@  names from standard input      -d  delete members instead
  -u  replace only what is older     -m  remove the files afterwards
";
/// Statuses as Info-ZIP has them.
const NOTHING_TO_DO: i32 = 12;
const WRONG_OPTION: i32 = 16;
const NO_READ: i32 = 18;
const NO_WRITE: i32 = 14;

#[derive(Default)]
struct Options {
    archive: String,
    files: Vec<String>,
    exclude: Vec<String>,
    include: Vec<String>,
    level: Option<u32>,
    recurse: bool,
    junk: bool,
    quiet: bool,
    links: bool,
    no_folders: bool,
    delete: bool,
    update: bool,
    remove: bool,
    names_from_stdin: bool,
}

pub(super) fn run(args: &[String]) -> i32 {
    let options = match parse(args) {
        Ok(Some(options)) => options,
        Ok(None) => {
            say(HELP);
            return 0;
        }
        Err(problem) => {
            complain(&format!("zip error: Invalid command arguments ({problem})"));
            return WRONG_OPTION;
        }
    };
    match work(options) {
        Ok(status) => status,
        Err(error) => {
            if error.kind() != io::ErrorKind::BrokenPipe {
                complain(&format!("zip error: {}", reason(&error)));
            }
            NO_WRITE
        }
    }
}

/// `None` where help is asked for.
fn parse(args: &[String]) -> Result<Option<Options>, String> {
    let mut options = Options::default();
    let mut operands = Vec::new();
    // The list that operands go to until it ends: with the next option, or with `@`.
    let mut list: Option<&str> = None;
    for item in options::parse(args, TABLE, Order::Anywhere).map_err(unsupported)? {
        if matches!(item, Item::Flag(..)) {
            list = None;
        }
        match item {
            Item::Flag("#", value) => {
                options.level = value.and_then(|it| it.chars().next_back()?.to_digit(10));
            }
            Item::Flag("r", _) => options.recurse = true,
            Item::Flag("j", _) => options.junk = true,
            Item::Flag("q", _) => options.quiet = true,
            Item::Flag("y", _) => options.links = true,
            Item::Flag("D", _) => options.no_folders = true,
            Item::Flag("d", _) => options.delete = true,
            Item::Flag("u", _) => options.update = true,
            Item::Flag("m", _) => options.remove = true,
            Item::Flag("@", _) => options.names_from_stdin = true,
            Item::Flag(id @ ("x" | "i"), _) => list = Some(id),
            Item::Flag("h", _) => return Ok(None),
            Item::Flag(..) => {}
            Item::Operand(end) if list.is_some() && end == "@" => list = None,
            Item::Operand(pattern) if list == Some("x") => options.exclude.push(pattern),
            Item::Operand(pattern) if list == Some("i") => options.include.push(pattern),
            Item::Operand(operand) => operands.push(operand),
        }
    }
    if options.names_from_stdin {
        let mut names = String::new();
        io::stdin().lock().read_to_string(&mut names).map_err(|error| reason(&error))?;
        operands.extend(names.lines().map(str::to_owned));
    }
    let mut operands = operands.into_iter();
    let Some(archive) = operands.next() else { return Ok(None) };
    let named = archive == "-" || archive.rsplit('/').next().is_some_and(|it| it.contains('.'));
    options.archive = if named { archive } else { format!("{archive}.zip") };
    options.files = operands.collect();
    Ok(Some(options))
}

/// Talk, extra fields, tests and locks change nothing here.
const TABLE: &[&str] = &[
    "r,recurse-paths",
    "j,junk-paths",
    "q,quiet",
    "y,symlinks",
    "D",
    "d,delete",
    "u,f,update",
    "m,move",
    "@",
    "x,exclude",
    "i,include",
    "h,help",
    "v",
    "X,no-extra",
    "T",
    "o",
    "k",
    "l",
    "g",
    "#",
];

/// What is wrong with an option, in Info-ZIP's words.
fn unsupported(problem: String) -> String {
    let quoted = problem.split('\'').nth(1).unwrap_or_default();
    match quoted.strip_prefix("--") {
        Some(long) => format!("long option '{long}' not supported"),
        None => format!("short option '{quoted}' not supported"),
    }
}

fn work(options: Options) -> io::Result<i32> {
    let known = match File::open(&options.archive) {
        Ok(file) if options.archive != "-" => {
            let mut file = BufReader::new(file);
            let members = record::members(&mut file)?;
            Some((file, members))
        }
        _ => None,
    };
    let mut found = Vec::new();
    let mut missed = false;
    for file in options.files.iter().filter(|_| !options.delete) {
        missed |= !collect(&options, file, &mut found);
    }
    let old = known.as_ref().map_or(&[][..], |it| &it.1);
    if options.update {
        found.retain(|it| old.iter().find(|old| old.name == it.name).is_none_or(|old| old.time < it.time));
    }
    let named = |old: &Member| options.files.iter().any(|it| name::matches(it, &old.name));
    let nothing = if options.delete { !old.iter().any(named) } else { found.is_empty() };
    if nothing {
        complain(&format!("\nzip error: Nothing to do! ({})", options.archive));
        return Ok(NOTHING_TO_DO);
    }
    let status = if options.archive == "-" {
        let mut out = Counted { out: BufWriter::new(io::stdout()), at: 0 };
        write_all(&options, known, &found, &mut out)?
    } else {
        // The old archive is as it was until the new one is whole.
        let beside = format!("{}.new", options.archive);
        let mut out = Counted { out: BufWriter::new(File::create(&beside)?), at: 0 };
        let written = write_all(&options, known, &found, &mut out);
        drop(out);
        let done = written.and_then(|status| fs::rename(&beside, &options.archive).map(|()| status));
        done.inspect_err(|_| drop(fs::remove_file(&beside)))?
    };
    if options.remove && status == 0 {
        for it in found.iter().rev() {
            let _ = if it.name.ends_with('/') { fs::remove_dir(&it.path) } else { fs::remove_file(&it.path) };
        }
    }
    Ok(if status == 0 && missed { NO_READ } else { status })
}

struct Found {
    path: String,
    name: String,
    time: u32,
    is_link: bool,
}

/// Adds a file, and with `-r` what is in it; whether it is there.
fn collect(options: &Options, file: &str, found: &mut Vec<Found>) -> bool {
    if file == "-" {
        found.push(Found {
            path: file.to_owned(),
            name: file.to_owned(),
            time: record::dos_time(0),
            is_link: false,
        });
        return true;
    }
    let asked = if options.links { fs::symlink_metadata(file) } else { fs::metadata(file) };
    let Ok(about) = asked else {
        complain(&format!("\tzip warning: name not matched: {file}"));
        return false;
    };
    let seconds = about.modified().ok().and_then(|it| it.duration_since(UNIX_EPOCH).ok());
    let time = record::dos_time(seconds.map_or(0, |it| it.as_secs() as i64));
    let mut name: String = name::harmless(&file.replace("../", "")).unwrap_or_default();
    if options.junk {
        name = name.rsplit('/').next().unwrap_or_default().to_owned();
    }
    let wanted = |name: &str| {
        !options.exclude.iter().any(|it| name::matches(it, name))
            && (options.include.is_empty() || options.include.iter().any(|it| name::matches(it, name)))
    };
    let is_archive =
        fs::canonicalize(file).ok().is_some_and(|it| fs::canonicalize(&options.archive).ok() == Some(it));
    if about.is_dir() {
        let shown = format!("{name}/");
        if !name.is_empty() && !options.junk && !options.no_folders && wanted(&shown) {
            found.push(Found { path: file.to_owned(), name: shown, time, is_link: false });
        }
        let Ok(entries) = fs::read_dir(file) else { return false };
        let mut names: Vec<String> =
            entries.flatten().map(|it| it.file_name().to_string_lossy().into_owned()).collect();
        names.sort_unstable();
        // One that is missing does not keep the others out.
        let mut all = true;
        for it in names.iter().filter(|_| options.recurse) {
            all &= collect(options, &format!("{}/{it}", file.trim_end_matches('/')), found);
        }
        return all;
    }
    if wanted(&name) && !is_archive && !name.is_empty() && !found.iter().any(|it| it.name == name) {
        found.push(Found { path: file.to_owned(), name, time, is_link: about.is_symlink() });
    }
    true
}

/// Where the archive goes, and how much of it is there.
struct Counted<W: Write> {
    out: W,
    at: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.at += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn write_all<W: Write>(
    options: &Options,
    known: Option<(BufReader<File>, Vec<Member>)>,
    found: &[Found],
    out: &mut Counted<W>,
) -> io::Result<i32> {
    let (mut members, mut status): (Vec<Member>, i32) = (Vec::new(), 0);
    let mut replaced = Vec::new();
    if let Some((mut archive, old)) = known {
        for member in old {
            let gone = match options.delete {
                true => options.files.iter().any(|it| name::matches(it, &member.name)),
                false => found.iter().any(|it| it.name == member.name),
            };
            if gone {
                if options.delete && !options.quiet {
                    say(&format!("deleting: {}\n", member.name));
                }
                replaced.push(member.name);
                continue;
            }
            let at = out.at;
            members.push(record::copy_raw(&mut archive, &member, out, at)?);
        }
    }
    for it in found {
        let packed = match pack(options, it) {
            Ok(packed) => packed,
            Err(error) => {
                complain(&format!(
                    "\tzip warning: could not open for reading: {} ({})",
                    it.path,
                    reason(&error)
                ));
                status = NO_READ;
                continue;
            }
        };
        let (mut member, content) = packed;
        member.at = out.at;
        out.write_all(&member.local()?)?;
        out.write_all(&content)?;
        if !options.quiet && options.archive != "-" {
            let word = if replaced.contains(&it.name) { "updating" } else { "  adding" };
            let how = if member.method == STORED { "stored" } else { "deflated" };
            let saved = match member.size {
                0 => 0,
                size => 100 - (member.packed * 100 / size).min(100),
            };
            say(&format!("{word}: {} ({how} {saved}%)\n", it.name));
        }
        members.push(member);
    }
    let start = out.at;
    for member in &members {
        out.write_all(&member.central()?)?;
    }
    let bytes = out.at - start;
    out.write_all(&record::end(members.len(), start, bytes)?)?;
    out.flush()?;
    Ok(status)
}

/// A member and its content as the archive keeps it: deflated where that is shorter.
fn pack(options: &Options, it: &Found) -> io::Result<(Member, Vec<u8>)> {
    let path = Path::new(&it.path);
    let is_folder = it.name.ends_with('/');
    let mode = if it.path == "-" { 0o600 } else { modes::get(path, !it.is_link)? };
    let mut member = Member { name: it.name.clone(), time: it.time, ..Member::default() };
    member.mode = Some(Member::mode_of(is_folder, it.is_link, mode));
    if is_folder {
        return Ok((member, Vec::new()));
    }
    if it.is_link {
        let target = fs::read_link(path)?.to_string_lossy().into_owned().into_bytes();
        let mut sum = flate2::Crc::new();
        sum.update(&target);
        (member.sum, member.size, member.packed) = (sum.sum(), target.len() as u64, target.len() as u64);
        return Ok((member, target));
    }
    let level = Compression::new(options.level.unwrap_or(6));
    if it.path == "-" {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes)?;
        return deflate(member, io::Cursor::new(bytes), level);
    }
    deflate(member, File::open(path)?, level)
}

fn deflate(
    mut member: Member,
    mut source: impl Read + Seek,
    level: Compression,
) -> io::Result<(Member, Vec<u8>)> {
    let mut sink = CrcWriter::new(DeflateEncoder::new(Vec::new(), level));
    member.size = io::copy(&mut source, &mut sink)?;
    member.sum = sink.crc().sum();
    let packed = sink.into_inner().finish()?;
    if (packed.len() as u64) < member.size && level != Compression::none() {
        (member.method, member.packed) = (DEFLATED, packed.len() as u64);
        return Ok((member, packed));
    }
    let mut plain = Vec::new();
    source.seek(SeekFrom::Start(0))?;
    source.take(member.size).read_to_end(&mut plain)?;
    (member.method, member.packed) = (STORED, member.size);
    Ok((member, plain))
}
