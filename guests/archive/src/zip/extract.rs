//! `unzip`: lists, tests and unpacks.

use super::record::{self, DEFLATED, Member, STORED};
use super::say;
use crate::report::{complain, reason};
use crate::tar::extract::symlink;
use crate::tar::name;
use flate2::{Crc, read::DeflateDecoder};
use options::{Item, Order};
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

const HELP: &str = "Usage: unzip [-lptqonjC] ARCHIVE [MEMBER...] [-x MEMBER...] [-d FOLDER]

  -l  list   -t  test   -p  to standard output   -Z1  names only
  -o  overwrite without asking   -n  never overwrite   -q  quiet
  -j  without folders   -C  names whatever their case   -d  into FOLDER
";
/// Statuses as Info-ZIP has them.
const DAMAGED: i32 = 2;
const NO_ARCHIVE: i32 = 9;
const WRONG_OPTION: i32 = 10;
const NOT_FOUND: i32 = 11;
const LOCKED: i32 = 81;
/// No link leads further than this.
const LINK_BYTES_MAX: u64 = 4_096;

#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Act {
    #[default]
    Extract,
    List,
    Names,
    Test,
    Print,
}

#[derive(Default)]
struct Options {
    act: Act,
    archive: String,
    members: Vec<String>,
    exclude: Vec<String>,
    folder: String,
    quiet: u32,
    overwrite: bool,
    never: bool,
    junk: bool,
    any_case: bool,
}

pub(super) fn run(args: &[String]) -> i32 {
    let options = match parse(args) {
        Ok(Some(options)) => options,
        Ok(None) => {
            say(HELP);
            return 0;
        }
        Err(problem) => {
            complain(&format!("unzip: {problem}"));
            return WRONG_OPTION;
        }
    };
    let named = [options.archive.clone(), format!("{}.zip", options.archive)];
    let Some((name, file)) = named.iter().find_map(|it| Some((it, File::open(it).ok()?))) else {
        complain(&format!("unzip:  cannot find or open {0}, {0}.zip or {0}.ZIP.", options.archive));
        return NO_ARCHIVE;
    };
    let mut archive = BufReader::new(file);
    let members = match record::members(&mut archive) {
        Ok(members) => members,
        Err(error) => {
            complain(&format!("unzip:  cannot read {name}: {}", reason(&error)));
            return NO_ARCHIVE;
        }
    };
    let mut job = Job { options: &options, archive, status: 0, links: Vec::new(), folders: Vec::new() };
    job.all(name, &members);
    job.status
}

/// Text is not converted, and there are neither owners nor volumes: the last ones change nothing.
const TABLE: &[&str] = &[
    "l,v", "t", "p,c", "Z", "1", "q", "o", "n", "j", "C", "x", "d=", "h,help", "a", "b", "u", "f", "X", "K",
    "L", "U", "V", "D",
];

fn parse(args: &[String]) -> Result<Option<Options>, String> {
    let mut options = Options::default();
    let mut excluding = false;
    let no_folder = |problem: String| match problem.ends_with("-- 'd'") && problem.contains("requires") {
        true => "error:  must specify directory to which to extract with -d option".to_owned(),
        false => problem,
    };
    for item in options::parse(args, TABLE, Order::Anywhere).map_err(no_folder)? {
        match item {
            Item::Flag("l", _) => options.act = Act::List,
            Item::Flag("t", _) => options.act = Act::Test,
            Item::Flag("p", _) => options.act = Act::Print,
            Item::Flag("Z", _) => options.act = Act::Names,
            Item::Flag("1", _) if options.act != Act::Names => return Err("invalid option -- '1'".to_owned()),
            Item::Flag("q", _) => options.quiet += 1,
            Item::Flag("o", _) => options.overwrite = true,
            Item::Flag("n", _) => options.never = true,
            Item::Flag("j", _) => options.junk = true,
            Item::Flag("C", _) => options.any_case = true,
            Item::Flag("x", _) => excluding = true,
            Item::Flag("d", folder) => (options.folder, excluding) = (folder.unwrap_or_default(), false),
            Item::Flag("h", _) => return Ok(None),
            Item::Flag(..) => {}
            Item::Operand(name) if excluding => options.exclude.push(name),
            Item::Operand(name) if options.archive.is_empty() => options.archive = name,
            Item::Operand(name) => options.members.push(name),
        }
    }
    Ok((!options.archive.is_empty()).then_some(options))
}

struct Job<'a> {
    options: &'a Options,
    archive: BufReader<File>,
    status: i32,
    /// Made last, so that nothing is written through them.
    links: Vec<(PathBuf, String)>,
    folders: Vec<(PathBuf, u32)>,
}

impl Job<'_> {
    fn all(&mut self, name: &str, members: &[Member]) {
        let options = self.options;
        let quiet = options.quiet > 0 || matches!(options.act, Act::Print | Act::Names);
        let fits = |pattern: &String, name: &str| match options.any_case {
            true => name::matches(&pattern.to_lowercase(), &name.to_lowercase()),
            false => name::matches(pattern, name),
        };
        for pattern in
            options.members.iter().filter(|it| !members.iter().any(|member| fits(it, &member.name)))
        {
            complain(&format!("caution: filename not matched:  {pattern}"));
            self.status = NOT_FOUND;
        }
        let chosen: Vec<&Member> = members
            .iter()
            .filter(|it| {
                options.members.is_empty() || options.members.iter().any(|pattern| fits(pattern, &it.name))
            })
            .filter(|it| !options.exclude.iter().any(|pattern| fits(pattern, &it.name)))
            .collect();
        if !quiet || options.act == Act::List {
            say(&format!("Archive:  {name}\n"));
        }
        match options.act {
            Act::List => return list(&chosen),
            Act::Names => return chosen.iter().for_each(|it| say(&format!("{}\n", it.name))),
            _ => {}
        }
        for member in chosen {
            if let Err(error) = self.member(member, quiet) {
                if error.kind() == io::ErrorKind::BrokenPipe {
                    // Nobody reads any more.
                    self.status = 1;
                    return;
                }
                complain(&format!("unzip:  {}: {}", member.name, reason(&error)));
                self.status = self.status.max(if member.is_locked() { LOCKED } else { DAMAGED });
            }
        }
        self.finish();
        if options.act == Act::Test && !quiet {
            match self.status {
                0 => say(&format!("No errors detected in compressed data of {name}.\n")),
                _ => say(&format!("At least one error was detected in {name}.\n")),
            }
        }
    }

    fn member(&mut self, member: &Member, quiet: bool) -> io::Result<()> {
        if member.is_locked() {
            return Err(io::Error::other("is encrypted, which is not supported"));
        }
        match self.options.act {
            Act::Test => {
                self.content(member, &mut io::sink())?;
                if !quiet {
                    say(&format!("    testing: {:<22}   OK\n", member.name));
                }
                Ok(())
            }
            Act::Print if member.is_folder() => Ok(()),
            Act::Print => self.content(member, &mut io::stdout().lock()),
            _ => self.extract(member, quiet),
        }
    }

    fn extract(&mut self, member: &Member, quiet: bool) -> io::Result<()> {
        let safe = name::harmless(&member.name)
            .ok_or_else(|| io::Error::other("leads out of the folder, and is not extracted"))?;
        let safe = match self.options.junk {
            true if member.is_folder() => return Ok(()),
            true => safe.rsplit('/').next().unwrap_or_default().to_owned(),
            false => safe,
        };
        if safe.is_empty() {
            return Ok(());
        }
        let path = Path::new(&self.options.folder).join(&safe);
        let shown = path.display().to_string();
        let tell = |word: &str| {
            if !quiet {
                say(&format!("{word:>11}: {shown}\n"));
            }
        };
        if member.is_folder() {
            if !path.is_dir() {
                tell("creating");
                fs::create_dir_all(&path)?;
            }
            self.folders.push((path, member.mode.unwrap_or(0o755)));
            return Ok(());
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        if fs::symlink_metadata(&path).is_ok() {
            if self.options.never {
                return Ok(());
            }
            if !self.options.overwrite {
                return Err(io::Error::other("exists already; -o overwrites, -n leaves it"));
            }
            // Not through a link that is there, but in its place.
            fs::remove_file(&path)?;
        }
        if member.is_link() {
            if member.size > LINK_BYTES_MAX {
                return Err(io::Error::other("a link is too long"));
            }
            let mut target = Vec::new();
            self.content(member, &mut target)?;
            tell("linking");
            self.links.push((path, String::from_utf8_lossy(&target).into_owned()));
            return Ok(());
        }
        tell(if member.method == STORED { "extracting" } else { "inflating" });
        let mut file = File::create(&path)?;
        if let Err(error) = self.content(member, &mut file) {
            // Half a file, or too much of one, is none.
            drop(file);
            let _ = fs::remove_file(&path);
            return Err(error);
        }
        let seconds = u64::try_from(record::seconds(member.time)).unwrap_or(0);
        let _ = file.set_modified(UNIX_EPOCH + Duration::from_secs(seconds));
        drop(file);
        match member.mode {
            Some(mode) => modes::set(&path, true, mode & 0o777 & !modes::umask()),
            None => Ok(()),
        }
    }

    /// Writes the content of a member: as long as it says, and with its sum, or it is damaged.
    fn content(&mut self, member: &Member, out: &mut dyn Write) -> io::Result<()> {
        let damaged = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
        let start = record::content_start(&mut self.archive, member)?;
        self.archive.seek(SeekFrom::Start(start))?;
        let packed = (&mut self.archive).take(member.packed);
        let mut source: Box<dyn Read + '_> = match member.method {
            STORED => Box::new(packed),
            DEFLATED => Box::new(DeflateDecoder::new(packed)),
            other => return Err(damaged(&format!("compression method {other} is not supported"))),
        };
        let (mut sum, mut left, mut buffer) = (Crc::new(), member.size, vec![0; 64 * 1024]);
        loop {
            let count = source.read(&mut buffer)?;
            let bytes = buffer.get(..count).unwrap_or_default();
            left = left
                .checked_sub(count as u64)
                .ok_or_else(|| damaged("is larger than it says (possible zip bomb)"))?;
            if count == 0 {
                break;
            }
            sum.update(bytes);
            out.write_all(bytes)?;
        }
        match left == 0 && sum.sum() == member.sum {
            true => out.flush(),
            false => Err(damaged("bad CRC")),
        }
    }

    fn finish(&mut self) {
        for (path, target) in std::mem::take(&mut self.links) {
            if let Err(error) = symlink(&target, &path) {
                complain(&format!("unzip:  {}: {}", path.display(), reason(&error)));
                self.status = self.status.max(DAMAGED);
            }
        }
        // Last: a folder that may not be written to has members, too.
        for (path, mode) in std::mem::take(&mut self.folders).into_iter().rev() {
            let _ = modes::set(&path, true, mode & 0o777 & !modes::umask());
        }
    }
}

fn list(members: &[&Member]) {
    say("  Length      Date    Time    Name\n---------  ---------- -----   ----\n");
    for member in members {
        let [year, month, day, hour, minute, _] = record::parts(member.time);
        say(&format!(
            "{:9}  {year:04}-{month:02}-{day:02} {hour:02}:{minute:02}   {}\n",
            member.size, member.name
        ));
    }
    let (total, count) = (members.iter().map(|it| it.size).sum::<u64>(), members.len());
    let files = if count == 1 { "file" } else { "files" };
    say(&format!("---------                     -------\n{total:9}                     {count} {files}\n"));
}
