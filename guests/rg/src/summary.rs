//! What `--stats` and the end of `--json` tell of the whole search.

use grep_printer::Stats;
use std::io::{self, Write};
use std::time::Duration;

pub(crate) fn text(out: &mut dyn Write, stats: &Stats, elapsed: Duration) -> io::Result<()> {
    write!(
        out,
        "\n{} matches\n{} matched lines\n{} files contained matches\n{} files searched\n{} bytes printed\n\
         {} bytes searched\n{:0.6} seconds spent searching\n{:0.6} seconds total\n",
        stats.matches(),
        stats.matched_lines(),
        stats.searches_with_match(),
        stats.searches(),
        stats.bytes_printed(),
        stats.bytes_searched(),
        stats.elapsed().as_secs_f64(),
        elapsed.as_secs_f64(),
    )
}

pub(crate) fn json(out: &mut dyn Write, stats: &Stats, elapsed: Duration) -> io::Result<()> {
    let time = |it: Duration| {
        let human = format!("{:0.6}s", it.as_secs_f64());
        format!("{{\"human\":\"{human}\",\"nanos\":{},\"secs\":{}}}", it.subsec_nanos(), it.as_secs())
    };
    writeln!(
        out,
        "{{\"data\":{{\"elapsed_total\":{},\"stats\":{{\"bytes_printed\":{},\"bytes_searched\":{},\"elapsed\":{},\
         \"matched_lines\":{},\"matches\":{},\"searches\":{},\"searches_with_match\":{}}}}},\"type\":\"summary\"}}",
        time(elapsed),
        stats.bytes_printed(),
        stats.bytes_searched(),
        time(stats.elapsed()),
        stats.matched_lines(),
        stats.matches(),
        stats.searches(),
        stats.searches_with_match(),
    )
}
