//! Goes through the files and says of each what the options ask for.

mod blocks;
mod scan;

use crate::cli::{Directories, Options, Report};
use crate::matching::Matcher;
use crate::output::{Printer, complain};
use crate::walk::{Names, files_below};
use crate::{FOUND, NOT_FOUND, TROUBLE};
use facts::output::Output;
use place::reason;
use place::stdio::Standard;
use scan::Scan;
use std::fs::File;
use std::io;

/// Searches everything and returns the exit status.
pub(crate) fn run(options: &Options, matcher: &Matcher<'_>) -> i32 {
    let names = match Names::new(options) {
        Ok(names) => names,
        Err(problem) => {
            complain(&problem);
            return TROUBLE;
        }
    };
    let mut search = Search {
        options,
        matcher,
        names,
        printer: Printer::new(options, matcher),
        output: Output::file(),
        found: false,
        trouble: false,
    };
    search.operands();
    search.printer.flush();
    match (search.found, search.trouble) {
        (true, _) if options.quiet => FOUND,
        (_, true) => TROUBLE,
        (true, false) => FOUND,
        (false, false) => NOT_FOUND,
    }
}

struct Search<'a> {
    options: &'a Options,
    matcher: &'a Matcher<'a>,
    names: Names,
    printer: Printer<'a>,
    output: Option<Output>,
    found: bool,
    trouble: bool,
}

impl Search<'_> {
    fn operands(&mut self) {
        let options = self.options;
        let recurse = options.directories == Directories::Recurse;
        match options.files.as_slice() {
            [] if recurse => self.folder(".", "", true),
            [] => self.stdin(false),
            files => {
                let several = files.len() > 1;
                for file in files {
                    if self.done() {
                        return;
                    }
                    match file.as_str() {
                        "-" => self.stdin(several),
                        _ => self.operand(file, several),
                    }
                }
            }
        }
    }

    fn done(&self) -> bool {
        self.options.quiet && self.found
    }

    fn operand(&mut self, path: &str, several: bool) {
        let is_folder = std::fs::metadata(path).is_ok_and(|it| it.is_dir());
        match self.options.directories {
            _ if !is_folder => {
                if self.names.wants_file(path) {
                    self.file(path, path, several);
                }
            }
            Directories::Recurse if self.names.wants_folder(path) => self.folder(path, path, true),
            Directories::Read => self.problem(path, "Is a directory"),
            Directories::Recurse | Directories::Skip => {}
        }
    }

    /// `shown` is how names below the folder begin: not at all when no folder was named.
    fn folder(&mut self, path: &str, shown: &str, several: bool) {
        let (files, problems) = files_below(path, shown, &self.names, self.options.dereference);
        for (path, problem) in problems {
            self.problem(&path, &problem);
        }
        for (path, shown) in files {
            if self.done() {
                return;
            }
            self.file(&path, &shown, several);
        }
    }

    fn stdin(&mut self, several: bool) {
        let name = self.options.label.clone().unwrap_or_else(|| "(standard input)".to_owned());
        self.stream(&Standard::input(), &name, several);
    }

    fn file(&mut self, path: &str, shown: &str, several: bool) {
        match File::open(path) {
            Ok(file) => self.stream(&file, shown, several),
            Err(error) => self.problem(shown, &reason(&error)),
        }
    }

    fn problem(&mut self, name: &str, problem: &str) {
        self.trouble = true;
        if !self.options.silent {
            self.printer.flush();
            complain(&format!("{name}: {problem}"));
        }
    }

    /// Whether lines go to the file that they come from, and so could be found again for ever.
    fn is_output(&self, input: &File) -> bool {
        let options = self.options;
        let one = options.count_max.is_some_and(|it| it <= 1);
        !options.quiet
            && options.report == Report::Lines
            && !one
            && self.output.is_some_and(|it| it.left_in(input).is_some())
    }

    fn stream(&mut self, mut source: &File, name: &str, several: bool) {
        if self.is_output(source) {
            return self.problem(name, "input file is also the output");
        }
        let named = self.options.file_name.unwrap_or(several);
        let shown = named.then_some(name);
        let mut scan = Scan::new(self.options, self.matcher, &mut self.printer, shown);
        let read: io::Result<()> =
            blocks::for_each(&mut source, self.options.null_data, |block| scan.block(block));
        let (selected, binary) = (scan.selected(), scan.is_binary_match());
        if let Err(error) = read {
            self.problem(name, &reason(&error));
        }
        let listed = match self.options.report {
            Report::FilesWith => selected > 0,
            Report::FilesWithout => selected == 0,
            Report::Lines | Report::Count => false,
        };
        self.found |= selected > 0;
        if self.options.quiet {
            return;
        }
        match self.options.report {
            Report::Count => self.printer.count(shown, selected),
            _ if listed => self.printer.file(name),
            _ if binary => self.printer.binary(name),
            _ => {}
        }
    }
}
