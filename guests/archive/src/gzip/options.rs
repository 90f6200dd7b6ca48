//! The command line of the compressors.

use crate::codec::Codec;
use options::{Item, Order};

/// The name it was called by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tool {
    name: &'static str,
    pub codec: Codec,
    decompress: bool,
    to_stdout: bool,
}

const TOOLS: [Tool; 9] = [
    Tool { name: "gzip", codec: Codec::Gzip, decompress: false, to_stdout: false },
    Tool { name: "gunzip", codec: Codec::Gzip, decompress: true, to_stdout: false },
    Tool { name: "zcat", codec: Codec::Gzip, decompress: true, to_stdout: true },
    Tool { name: "bzip2", codec: Codec::Bzip2, decompress: false, to_stdout: false },
    Tool { name: "bunzip2", codec: Codec::Bzip2, decompress: true, to_stdout: false },
    Tool { name: "bzcat", codec: Codec::Bzip2, decompress: true, to_stdout: true },
    Tool { name: "xz", codec: Codec::Xz, decompress: false, to_stdout: false },
    Tool { name: "unxz", codec: Codec::Xz, decompress: true, to_stdout: false },
    Tool { name: "xzcat", codec: Codec::Xz, decompress: true, to_stdout: true },
];

impl Tool {
    /// The tool of that name.
    pub fn named(name: &str) -> Option<Self> {
        TOOLS.into_iter().find(|tool| tool.name == name)
    }

    /// What it calls itself in messages: all of a kind are one program.
    pub fn name(self) -> &'static str {
        match self.codec {
            Codec::Gzip | Codec::Plain => "gzip",
            Codec::Bzip2 => "bzip2",
            Codec::Xz => "xz",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Compress,
    Decompress,
    Test,
    List,
}

#[derive(Clone, Debug)]
pub(super) struct Options {
    pub tool: Tool,
    pub codec: Codec,
    pub act: Act,
    pub to_stdout: bool,
    pub keep: bool,
    pub force: bool,
    pub level: u32,
    pub no_name: bool,
    pub quiet: bool,
    pub verbose: bool,
    pub recursive: bool,
    pub suffix: String,
    pub files: Vec<String>,
}

#[derive(Debug)]
pub(super) enum Stop {
    Help,
    Version,
    Wrong(String),
}

pub(super) fn parse(tool: Tool, args: &[String]) -> Result<Options, Stop> {
    let suffix = match tool.codec {
        Codec::Gzip | Codec::Plain => ".gz",
        Codec::Bzip2 => ".bz2",
        Codec::Xz => ".xz",
    };
    let mut options = Options {
        tool,
        codec: tool.codec,
        act: if tool.decompress { Act::Decompress } else { Act::Compress },
        to_stdout: tool.to_stdout,
        keep: false,
        force: false,
        level: if tool.codec == Codec::Bzip2 { 9 } else { 6 },
        no_name: false,
        quiet: false,
        verbose: false,
        recursive: false,
        suffix: suffix.to_owned(),
        files: Vec::new(),
    };
    for item in options::parse(args, TABLE, Order::Anywhere).map_err(Stop::Wrong)? {
        match item {
            Item::Flag(id, value) => options.apply(id, value)?,
            Item::Operand(file) => options.files.push(file),
        }
    }
    Ok(options)
}

const TABLE: &[&str] = &[
    "c,stdout,to-stdout",
    "d,decompress,uncompress",
    "z,compress",
    "t,test",
    "l,list",
    "k,keep",
    "f,force",
    "n,no-name",
    "N,name",
    "q,quiet,silent",
    "v,verbose",
    "r,recursive",
    "S,suffix=",
    "h,help",
    "V,L,version,license",
    "fast",
    "best",
    // What is about speed, memory and terminals changes nothing here.
    "T,threads=",
    "format=",
    "check=",
    "a,ascii",
    "s,small",
    "e,extreme",
    "synchronous",
    "rsyncable",
    "#",
];

impl Options {
    fn apply(&mut self, id: &str, value: Option<String>) -> Result<(), Stop> {
        match id {
            "c" => self.to_stdout = true,
            "d" => self.act = Act::Decompress,
            "z" => self.act = Act::Compress,
            "t" => self.act = Act::Test,
            "l" => self.act = Act::List,
            "k" => self.keep = true,
            "f" => self.force = true,
            "n" => self.no_name = true,
            "N" => self.no_name = false,
            "q" => self.quiet = true,
            "v" => self.verbose = true,
            "r" => self.recursive = true,
            "S" => self.suffix = value.unwrap_or_default(),
            "fast" => self.level = 1,
            "best" => self.level = 9,
            // Every digit is a level, and the last one counts.
            "#" => {
                self.level = value.and_then(|it| it.chars().next_back()?.to_digit(10)).unwrap_or(self.level);
            }
            "h" => return Err(Stop::Help),
            "V" => return Err(Stop::Version),
            _ => {}
        }
        Ok(())
    }
}

pub(super) fn help(tool: Tool) -> String {
    format!(
        "Usage: {} [OPTION]... [FILE]...\nCompress or uncompress FILEs (by default, compress FILES in-place).\n\n\
         \x20 -c  write on standard output     -d  decompress      -t  test integrity\n\
         \x20 -k  keep input files             -f  force           -l  list\n\
         \x20 -n  no name and time             -r  recurse         -S SUFFIX\n\
         \x20 -q  suppress warnings            -v  verbose         -1 … -9\n",
        tool.name()
    )
}
