//! Searches the files and prints what is found, with ripgrep's own printers.

use crate::files::{self, Found, Roots, complain};
use crate::settings::{Mode, Settings};
use crate::summary;
use crate::{FOUND, NOT_FOUND, TROUBLE};
use grep_printer::{
    ColorSpecs, JSON, JSONBuilder, Standard, StandardBuilder, Stats, Summary, SummaryBuilder, SummaryKind,
};
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use std::io::{self, BufWriter};
use std::path::Path;
use std::time::Instant;
use termcolor::{Ansi, NoColor, WriteColor};

/// Searches everything and returns the exit status.
pub(crate) fn run(settings: &Settings, roots: &Roots, matcher: &RegexMatcher) -> i32 {
    // Standard output by itself is written line by line.
    let out: Box<dyn io::Write> = match settings.line_buffered {
        true => Box::new(io::stdout()),
        false => Box::new(BufWriter::with_capacity(64 << 10, io::stdout())),
    };
    let out: Out = match settings.colors {
        true => Box::new(Ansi::new(out)),
        false => Box::new(NoColor::new(out)),
    };
    Job::new(settings, roots, matcher, out).all()
}

/// One type for both ways to write, so that the printers are compiled once.
type Out = Box<dyn WriteColor>;

enum Printer {
    Lines(Box<Standard<Out>>),
    Summary(Box<Summary<Out>>),
    Json(Box<JSON<Out>>),
}

struct Job<'a> {
    settings: &'a Settings,
    roots: &'a Roots,
    matcher: &'a RegexMatcher,
    searcher: Searcher,
    printer: Printer,
    stats: Stats,
    found: bool,
    failed: bool,
    started: Instant,
}

impl<'a> Job<'a> {
    fn new(settings: &'a Settings, roots: &'a Roots, matcher: &'a RegexMatcher, out: Out) -> Self {
        let names = settings.names.unwrap_or_else(|| roots.are_many());
        Self {
            settings,
            roots,
            matcher,
            searcher: searcher(settings),
            printer: printer(settings, names, out),
            stats: Stats::new(),
            found: false,
            failed: false,
            started: Instant::now(),
        }
    }

    fn all(mut self) -> i32 {
        let (settings, roots) = (self.settings, self.roots);
        let walked = files::each(settings, roots, |file| match file {
            Ok(file) => self.file(&file),
            Err(problem) => {
                self.failed = true;
                complain(settings, &problem);
                true
            }
        });
        if let Err(problem) = walked {
            return crate::trouble(&problem);
        }
        let elapsed = self.started.elapsed();
        let out = self.printer.writer();
        let told = match settings.mode {
            Mode::Json => summary::json(out, &self.stats, elapsed),
            _ if settings.stats => summary::text(out, &self.stats, elapsed),
            _ => Ok(()),
        };
        let written = told.and_then(|()| self.printer.writer().flush());
        match written {
            Err(_) => TROUBLE,
            Ok(()) if self.found && (settings.quiet || !self.failed) => FOUND,
            Ok(()) if self.failed => TROUBLE,
            Ok(()) => NOT_FOUND,
        }
    }

    /// Searches one file; false if no other is needed.
    fn file(&mut self, file: &Found) -> bool {
        let settings = self.settings;
        self.searcher.set_binary_detection(match () {
            () if settings.text || settings.null_data => BinaryDetection::none(),
            // What somebody named is searched whatever is in it.
            () if settings.binary || file.is_named() => BinaryDetection::convert(0),
            () => BinaryDetection::quit(0),
        });
        let shown = if file.is_stdin() { Path::new("<stdin>") } else { self.roots.shown(file.path()) };
        match self.search(file, shown) {
            Ok(found) => self.found |= found,
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return false,
            Err(error) => {
                self.failed = true;
                let text = error.to_string();
                complain(settings, &format!("{}: {text}", shown.display()));
            }
        }
        !(self.found && settings.quiet && !settings.stats)
    }

    fn search(&mut self, file: &Found, shown: &Path) -> io::Result<bool> {
        macro_rules! through {
            ($sink:expr) => {{
                let mut sink = $sink;
                if file.is_stdin() {
                    self.searcher.search_reader(self.matcher, io::stdin().lock(), &mut sink)?;
                } else {
                    self.searcher.search_path(self.matcher, file.path(), &mut sink)?;
                }
                sink
            }};
        }
        match &mut self.printer {
            Printer::Lines(printer) => {
                let sink = through!(printer.sink_with_path(self.matcher, shown));
                if let Some(stats) = sink.stats() {
                    self.stats += stats;
                }
                Ok(sink.has_match())
            }
            Printer::Summary(printer) => {
                let sink = through!(printer.sink_with_path(self.matcher, shown));
                if let Some(stats) = sink.stats() {
                    self.stats += stats;
                }
                Ok(sink.has_match())
            }
            Printer::Json(printer) => {
                let sink = through!(printer.sink_with_path(self.matcher, shown));
                self.stats += sink.stats();
                Ok(sink.has_match())
            }
        }
    }
}

impl Printer {
    fn writer(&mut self) -> &mut dyn io::Write {
        match self {
            Self::Lines(printer) => printer.get_mut(),
            Self::Summary(printer) => printer.get_mut(),
            Self::Json(printer) => printer.get_mut(),
        }
    }
}

fn searcher(settings: &Settings) -> Searcher {
    let numbers = settings.line_numbers.unwrap_or(settings.columns || settings.mode == Mode::Json);
    let mut builder = SearcherBuilder::new();
    builder
        .invert_match(settings.invert)
        .line_number(numbers)
        .multi_line(settings.multiline)
        .before_context(settings.before)
        .after_context(settings.after)
        .passthru(settings.passthru)
        .stop_on_nonmatch(settings.stop_on_nonmatch)
        .max_matches(settings.count_max);
    if settings.null_data {
        builder.line_terminator(grep_matcher::LineTerminator::byte(0));
    } else if settings.crlf {
        builder.line_terminator(grep_matcher::LineTerminator::crlf());
    }
    builder.build()
}

fn printer(settings: &Settings, names: bool, out: Out) -> Printer {
    let kind = match (settings.quiet, settings.mode) {
        (true, Mode::WithoutMatch) => Some(SummaryKind::QuietWithoutMatch),
        (true, mode) if mode != Mode::Json => Some(SummaryKind::QuietWithMatch),
        (_, Mode::Lines) => None,
        (_, Mode::Json) => {
            let mut builder = JSONBuilder::new();
            builder.replacement(settings.replace.clone());
            return Printer::Json(Box::new(builder.build(out)));
        }
        (_, Mode::Count) if settings.only_matching && !settings.invert => Some(SummaryKind::CountMatches),
        (_, Mode::Count) => Some(SummaryKind::Count),
        (_, Mode::CountMatches) if settings.invert => Some(SummaryKind::Count),
        (_, Mode::CountMatches) => Some(SummaryKind::CountMatches),
        (_, Mode::WithMatch) => Some(SummaryKind::PathWithMatch),
        (_, Mode::WithoutMatch) => Some(SummaryKind::PathWithoutMatch),
    };
    let terminator = settings.null.then_some(b'\0');
    let colors = ColorSpecs::default_with_color();
    if let Some(kind) = kind {
        let mut builder = SummaryBuilder::new();
        builder
            .kind(kind)
            .color_specs(colors)
            .path(names)
            .exclude_zero(!settings.include_zero)
            .separator_field(settings.field_match.clone().unwrap_or_else(|| b":".to_vec()))
            .path_terminator(terminator)
            .stats(settings.stats);
        return Printer::Summary(Box::new(builder.build(out)));
    }
    let heading = settings.heading && !settings.per_match;
    let mut builder = StandardBuilder::new();
    builder
        .color_specs(colors)
        .stats(settings.stats)
        .heading(heading)
        .path(names)
        .only_matching(settings.only_matching)
        .per_match(settings.per_match)
        .per_match_one_line(true)
        .replacement(settings.replace.clone())
        .max_columns(settings.columns_max)
        .max_columns_preview(settings.preview)
        .column(settings.columns)
        .byte_offset(settings.byte_offsets)
        .trim_ascii(settings.trim)
        .separator_search(None)
        .separator_field_match(settings.field_match.clone().unwrap_or_else(|| b":".to_vec()))
        .separator_field_context(settings.field_context.clone().unwrap_or_else(|| b"-".to_vec()))
        .path_terminator(terminator);
    let around = settings.before > 0 || settings.after > 0;
    let separator = match &settings.separator {
        Some(text) if text.is_empty() => None,
        Some(text) => Some(text.clone()),
        None => Some(b"--".to_vec()),
    };
    if heading {
        builder.separator_search(Some(Vec::new()));
    } else if around {
        builder.separator_search(separator.clone());
    }
    builder.separator_context(separator);
    Printer::Lines(Box::new(builder.build(out)))
}
