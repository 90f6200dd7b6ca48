//! `xxd`: bytes as hexadecimal digits, and back.

use crate::{complain, print};

const HELP: &str = "Usage:\n       xxd [options] [infile [outfile]]\n    or\n       xxd -r [-s [-]offset] [-c cols] [-ps] [infile [outfile]]
Options:
    -b          binary digit dump          -c cols     format <cols> octets per line
    -g bytes    octets per group           -i          output in C include file style
    -l len      stop after <len> octets    -n name     set the variable name used in C include output
    -o off      add <off> to the position  -ps         output in postscript plain hexdump style
    -r          reverse operation          -s seek     start at <seek> bytes
    -u          use upper case hex letters -e          little-endian dump
";

#[derive(Default, PartialEq, Eq, Clone, Copy)]
enum Style {
    #[default]
    Normal,
    Plain,
    Bits,
    Little,
    Include,
}

#[derive(Default)]
struct Settings {
    style: Style,
    reverse: bool,
    upper: bool,
    decimal: bool,
    columns: Option<usize>,
    group: Option<usize>,
    length: Option<usize>,
    seek: i64,
    shift: usize,
    name: Option<String>,
    files: Vec<String>,
}

/// Converts and returns the exit status.
pub(crate) fn run(args: &[String]) -> i32 {
    let settings = match parse(args) {
        Ok(Some(settings)) => settings,
        Ok(None) => return print(HELP.as_bytes()),
        Err(problem) => return complain("xxd", &problem),
    };
    let input = settings.files.first().map_or("-", String::as_str);
    let bytes = match place::stdio::read(input) {
        Ok(bytes) => bytes,
        Err(error) => {
            complain("xxd", &format!("{input}: {}", place::reason(&error)));
            return 2;
        }
    };
    let out = match settings.reverse {
        true => reversed(&settings, &bytes),
        false => dumped(&settings, &bytes).into_bytes(),
    };
    match settings.files.get(1).filter(|it| *it != "-") {
        None => print(&out),
        Some(file) => match std::fs::write(file, out) {
            Ok(()) => 0,
            Err(error) => complain("xxd", &format!("{file}: {}", place::reason(&error))),
        },
    }
}

fn parse(args: &[String]) -> Result<Option<Settings>, String> {
    let mut settings = Settings::default();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let Some(flag) = arg.strip_prefix('-').filter(|it| !it.is_empty()) else {
            settings.files.push(arg.clone());
            continue;
        };
        // The rest of the word, or the next one.
        let mut value = |flag: &str, name: &str| -> Result<String, String> {
            match flag.strip_prefix(name).filter(|it| !it.is_empty()) {
                Some(attached) => Ok(attached.to_owned()),
                None => rest.next().cloned().ok_or_else(|| format!("option -{name} needs a value")),
            }
        };
        match flag.trim_start_matches('-') {
            "help" | "h" => return Ok(None),
            "p" | "ps" | "plain" | "postscript" => settings.style = Style::Plain,
            "r" | "revert" => settings.reverse = true,
            "u" | "upper" => settings.upper = true,
            "b" | "bits" => settings.style = Style::Bits,
            "e" => settings.style = Style::Little,
            "i" | "include" => settings.style = Style::Include,
            "d" | "decimal" => settings.decimal = true,
            "a" | "autoskip" | "E" | "EBCDIC" | "C" | "capitalize" => {}
            // Two flags in one word are the exception that people use.
            "rp" | "pr" => (settings.reverse, settings.style) = (true, Style::Plain),
            flag if flag.starts_with('c') => {
                settings.columns = Some(
                    number(&value(flag, if flag.starts_with("cols") { "cols" } else { "c" })?)?.unsigned_abs()
                        as usize,
                );
            }
            flag if flag.starts_with('g') => {
                settings.group = Some(number(&value(flag, "g")?)?.unsigned_abs() as usize)
            }
            flag if flag.starts_with('l') => {
                settings.length = Some(
                    number(&value(flag, if flag.starts_with("len") { "len" } else { "l" })?)?.unsigned_abs()
                        as usize,
                );
            }
            flag if flag.starts_with('s') => {
                settings.seek = number(&value(flag, if flag.starts_with("seek") { "seek" } else { "s" })?)?;
            }
            flag if flag.starts_with('o') => {
                settings.shift = number(&value(flag, "o")?)?.unsigned_abs() as usize
            }
            flag if flag.starts_with('n') => settings.name = Some(value(flag, "n")?),
            other => return Err(format!("unknown option -{other}")),
        }
    }
    Ok(Some(settings))
}

/// Decimal, `0x` hexadecimal or octal with a leading zero.
fn number(text: &str) -> Result<i64, String> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.trim_start_matches('+')),
    };
    let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None if digits.len() > 1 && digits.starts_with('0') => i64::from_str_radix(digits, 8).ok(),
        None => digits.parse().ok(),
    };
    value.map(|it| it.saturating_mul(sign)).ok_or_else(|| format!("`{text}` is not a number"))
}

fn dumped(settings: &Settings, bytes: &[u8]) -> String {
    let start = match settings.seek {
        seek if seek < 0 => bytes.len().saturating_sub(seek.unsigned_abs() as usize),
        seek => bytes.len().min(seek as usize),
    };
    let bytes = &bytes[start..];
    let bytes = &bytes[..bytes.len().min(settings.length.unwrap_or(usize::MAX))];
    let hex = |byte: u8| if settings.upper { format!("{byte:02X}") } else { format!("{byte:02x}") };
    let mut out = String::new();
    let columns = settings.columns.filter(|it| *it > 0);
    match settings.style {
        Style::Plain => {
            for line in bytes.chunks(match settings.columns {
                Some(0) => bytes.len().max(1),
                other => other.unwrap_or(30),
            }) {
                line.iter().for_each(|it| out.push_str(&hex(*it)));
                out.push('\n');
            }
        }
        Style::Include => include(settings, bytes, &mut out),
        _ => {
            let (columns, group) = match settings.style {
                Style::Bits => (columns.unwrap_or(6), settings.group.unwrap_or(1)),
                Style::Little => (columns.unwrap_or(16), settings.group.unwrap_or(4)),
                _ => (columns.unwrap_or(16), settings.group.unwrap_or(2)),
            };
            let group = if group == 0 { columns } else { group };
            let digits = if settings.style == Style::Bits { 8 } else { 2 };
            let width = columns * digits + columns.div_ceil(group);
            for (at, line) in bytes.chunks(columns).enumerate() {
                let place = start + at * columns + settings.shift;
                let mut text = String::new();
                for part in line.chunks(group) {
                    let one = |byte: &u8| if digits == 8 { format!("{byte:08b}") } else { hex(*byte) };
                    match settings.style {
                        Style::Little => {
                            text.push_str(&"  ".repeat(group - part.len()));
                            text.extend(part.iter().rev().map(one));
                        }
                        _ => text.extend(part.iter().map(one)),
                    }
                    text.push(' ');
                }
                let shown: String = line
                    .iter()
                    .map(|it| if (32..127).contains(it) { char::from(*it) } else { '.' })
                    .collect();
                let place = if settings.decimal { format!("{place:08}") } else { format!("{place:08x}") };
                out.push_str(&format!("{place}: {text:<width$} {shown}\n"));
            }
        }
    }
    out
}

fn include(settings: &Settings, bytes: &[u8], out: &mut String) {
    let file = settings.files.first().filter(|it| *it != "-");
    let name = settings.name.as_ref().or(file).map(|it| {
        let plain: String = it.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '_' }).collect();
        if plain.starts_with(|it: char| it.is_ascii_digit()) { format!("__{plain}") } else { plain }
    });
    if let Some(name) = &name {
        out.push_str(&format!("unsigned char {name}[] = {{\n"));
    }
    let lines: Vec<String> = bytes
        .chunks(settings.columns.unwrap_or(12).max(1))
        .map(|line| {
            let cells: Vec<String> = line
                .iter()
                .map(|it| if settings.upper { format!("0X{it:02X}") } else { format!("0x{it:02x}") })
                .collect();
            format!("  {}", cells.join(", "))
        })
        .collect();
    if !lines.is_empty() {
        out.push_str(&lines.join(",\n"));
        out.push('\n');
    }
    if let Some(name) = &name {
        out.push_str(&format!("}};\nunsigned int {name}_len = {};\n", bytes.len()));
    }
}

fn reversed(settings: &Settings, text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    if settings.style == Style::Plain {
        let digits: Vec<u8> =
            text.iter().filter_map(|it| char::from(*it).to_digit(16)).map(|it| it as u8).collect();
        out.extend(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]));
        return out;
    }
    let columns = settings.columns.unwrap_or(16);
    for line in text.split(|it| *it == b'\n') {
        let line = String::from_utf8_lossy(line);
        let Some((place, rest)) = line.split_once(':') else { continue };
        let Ok(place) = usize::from_str_radix(place.trim(), 16) else { continue };
        // The text beside the digits starts after two blanks.
        let rest = rest.strip_prefix(' ').unwrap_or(rest);
        let rest = rest.split("  ").next().unwrap_or(rest);
        let digits: Vec<u8> = rest.chars().filter_map(|it| it.to_digit(16)).map(|it| it as u8).collect();
        let place = place.saturating_add_signed(settings.seek as isize);
        if place > out.len() && place - out.len() < (64 << 20) {
            out.resize(place, 0);
        }
        for (at, pair) in digits.chunks_exact(2).take(columns).enumerate() {
            let byte = pair[0] << 4 | pair[1];
            match out.get_mut(place + at) {
                Some(old) => *old = byte,
                None => out.push(byte),
            }
        }
    }
    out
}
