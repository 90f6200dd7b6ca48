//! The command line of the compressors.

use crate::codec::Codec;

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
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--" => options.files.extend(args.by_ref().cloned()),
            "-" => options.files.push(arg.clone()),
            long if long.starts_with("--") => options.long(&long[2..], &mut args)?,
            short if short.starts_with('-') => {
                for (at, letter) in short.char_indices().skip(1) {
                    if matches!(letter, 'S' | 'T') {
                        let rest = &short[at + 1..];
                        let value =
                            if rest.is_empty() { args.next().cloned() } else { Some(rest.to_owned()) };
                        let value = value.ok_or_else(|| {
                            Stop::Wrong(format!("option requires an argument -- '{letter}'"))
                        })?;
                        if letter == 'S' {
                            options.suffix = value;
                        }
                        break;
                    }
                    options.letter(letter)?;
                }
            }
            file => options.files.push(file.to_owned()),
        }
    }
    Ok(options)
}

impl Options {
    fn letter(&mut self, letter: char) -> Result<(), Stop> {
        match letter {
            'c' => self.to_stdout = true,
            'd' => self.act = Act::Decompress,
            'z' => self.act = Act::Compress,
            't' => self.act = Act::Test,
            'l' => self.act = Act::List,
            'k' => self.keep = true,
            'f' => self.force = true,
            'n' => self.no_name = true,
            'N' => self.no_name = false,
            'q' => self.quiet = true,
            'v' => self.verbose = true,
            'r' => self.recursive = true,
            '0'..='9' => self.level = u32::from(letter) - u32::from('0'),
            'a' | 's' | 'e' => {}
            'h' => return Err(Stop::Help),
            'V' | 'L' => return Err(Stop::Version),
            other => return Err(Stop::Wrong(format!("invalid option -- '{other}'"))),
        }
        Ok(())
    }

    fn long(&mut self, name: &str, args: &mut std::slice::Iter<'_, String>) -> Result<(), Stop> {
        let (name, value) = name.split_once('=').map_or((name, None), |(name, value)| (name, Some(value)));
        let letter = match name {
            "stdout" | "to-stdout" => 'c',
            "decompress" | "uncompress" => 'd',
            "compress" => 'z',
            "test" => 't',
            "list" => 'l',
            "keep" => 'k',
            "force" => 'f',
            "no-name" => 'n',
            "name" => 'N',
            "quiet" | "silent" => 'q',
            "verbose" => 'v',
            "recursive" => 'r',
            "fast" => '1',
            "best" => '9',
            "help" => 'h',
            "version" | "license" => 'V',
            "extreme" | "small" | "synchronous" | "rsyncable" | "ascii" => 'a',
            "threads" | "format" | "check" => {
                if value.is_none() {
                    args.next();
                }
                'a'
            }
            "suffix" => {
                let value = value.map(str::to_owned).or_else(|| args.next().cloned());
                self.suffix =
                    value.ok_or_else(|| Stop::Wrong("option '--suffix' requires an argument".to_owned()))?;
                'a'
            }
            other => return Err(Stop::Wrong(format!("unrecognized option '--{other}'"))),
        };
        self.letter(letter)
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
