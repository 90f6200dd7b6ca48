//! Kinds that are not text.

use super::Verdict;
use facts::Time;

/// What starts with these bytes is that.
const PREFIXES: &[(&[u8], &str, &str)] = &[
    (b"\xfd7zXZ\0", "XZ compressed data, checksum CRC64", "application/x-xz"),
    (b"7z\xbc\xaf\x27\x1c", "7-zip archive data", "application/x-7z-compressed"),
    (b"\x28\xb5\x2f\xfd", "Zstandard compressed data (v0.8+)", "application/zstd"),
    (b"\xff\xd8\xff", "JPEG image data", "image/jpeg"),
    (b"SQLite format 3\0", "SQLite 3.x database", "application/vnd.sqlite3"),
    (b"RIFF", "RIFF (little-endian) data", "application/octet-stream"),
    (b"OggS", "Ogg data", "application/ogg"),
    (b"ID3", "Audio file with ID3 version 2", "audio/mpeg"),
    (b"fLaC", "FLAC audio bitstream data", "audio/flac"),
    (b"\0asm\x01\0\0\0", "WebAssembly (wasm) binary module version 0x1 (MVP)", "application/wasm"),
    (b"\xca\xfe\xba\xbe", "compiled Java class data", "application/x-java-applet"),
    (b"!<arch>\n", "current ar archive", "application/x-archive"),
    (b"BM", "PC bitmap", "image/bmp"),
];

/// The kind, if it is known.
pub(super) fn of(bytes: &[u8]) -> Option<Verdict> {
    let at = |place: usize, what: &[u8]| bytes.get(place..).is_some_and(|it| it.starts_with(what));
    if at(0, b"\x89PNG\r\n\x1a\n") {
        return Some(Verdict::new(png(bytes), "image/png"));
    }
    if at(0, b"GIF87a") || at(0, b"GIF89a") {
        let version = String::from_utf8_lossy(&bytes[3..6]).into_owned();
        let size = match bytes.get(6..10) {
            Some(it) => {
                format!(", {} x {}", u16::from_le_bytes([it[0], it[1]]), u16::from_le_bytes([it[2], it[3]]))
            }
            None => String::new(),
        };
        return Some(Verdict::new(format!("GIF image data, version {version}{size}"), "image/gif"));
    }
    if at(0, b"\x7fELF") {
        return Some(elf(bytes));
    }
    if at(0, b"\x1f\x8b") {
        return Some(Verdict::new(gzip(bytes), "application/gzip"));
    }
    if at(0, b"BZh") {
        let level = bytes.get(3).copied().unwrap_or(b'9');
        return Some(Verdict::new(
            format!("bzip2 compressed data, block size = {}00k", char::from(level)),
            "application/x-bzip2",
        ));
    }
    if at(0, b"%PDF-") {
        let version: String = bytes[5..]
            .iter()
            .take_while(|it| it.is_ascii_digit() || **it == b'.')
            .map(|it| char::from(*it))
            .collect();
        return Some(Verdict::new(format!("PDF document, version {version}"), "application/pdf"));
    }
    if at(0, b"PK\x03\x04") && bytes.len() >= 30 {
        return Some(zip(bytes));
    }
    if at(0, b"PK\x05\x06") {
        return Some(Verdict::new("Zip archive data (empty)", "application/zip"));
    }
    if at(257, b"ustar  \0") {
        return Some(Verdict::new("POSIX tar archive (GNU)", "application/x-tar"));
    }
    if at(257, b"ustar") {
        return Some(Verdict::new("POSIX tar archive", "application/x-tar"));
    }
    if at(0, b"RIFF") && at(8, b"WEBP") {
        return Some(Verdict::new("RIFF (little-endian) data, Web/P image", "image/webp"));
    }
    if at(0, b"RIFF") && at(8, b"WAVE") {
        return Some(Verdict::new("RIFF (little-endian) data, WAVE audio", "audio/x-wav"));
    }
    let binary = bytes.contains(&0);
    let found =
        PREFIXES.iter().find(|(prefix, ..)| bytes.starts_with(prefix) && (binary || prefix.len() > 3));
    found.map(|(_, words, mime)| Verdict::new(*words, mime))
}

fn png(bytes: &[u8]) -> String {
    let number = |at: usize| bytes.get(at..at + 4).map(|it| u32::from_be_bytes([it[0], it[1], it[2], it[3]]));
    let (Some(width), Some(height), Some(&[depth, color])) =
        (number(16), number(20), bytes.get(24..26).and_then(|it| it.first_chunk::<2>()))
    else {
        return "PNG image data".to_owned();
    };
    let color = match color {
        0 => " grayscale",
        2 => "/color RGB",
        3 => " colormap",
        4 => " gray+alpha",
        6 => "/color RGBA",
        _ => "",
    };
    let laced = if bytes.get(28) == Some(&1) { "interlaced" } else { "non-interlaced" };
    format!("PNG image data, {width} x {height}, {depth}-bit{color}, {laced}")
}

fn gzip(bytes: &[u8]) -> String {
    let mut text = "gzip compressed data".to_owned();
    let flags = bytes.get(3).copied().unwrap_or(0);
    if flags & 8 != 0 && flags & 4 == 0 {
        let name: Vec<u8> = bytes.iter().skip(10).copied().take_while(|it| *it != 0).collect();
        text.push_str(&format!(", was \"{}\"", String::from_utf8_lossy(&name)));
    }
    let seconds = bytes.get(4..8).map_or(0, |it| u32::from_le_bytes([it[0], it[1], it[2], it[3]]));
    if seconds != 0 {
        let time = Time { seconds: i64::from(seconds), nanos: 0 };
        text.push_str(&format!(", last modified: {}", time.piece('c').unwrap_or_default()));
    }
    match bytes.get(8) {
        Some(2) => text.push_str(", max compression"),
        Some(4) => text.push_str(", max speed"),
        _ => {}
    }
    if bytes.get(9) == Some(&3) {
        text.push_str(", from Unix");
    }
    if let Some(it) = bytes.last_chunk::<4>().filter(|_| bytes.len() >= 18) {
        text.push_str(&format!(", original size modulo 2^32 {}", u32::from_le_bytes(*it)));
    }
    text
}

fn zip(bytes: &[u8]) -> Verdict {
    let version = bytes[4];
    let method = match bytes[8] {
        0 => "store",
        8 => "deflate",
        _ => "other",
    };
    let text = format!(
        "Zip archive data, at least v{}.{} to extract, compression method={method}",
        version / 10,
        version % 10
    );
    Verdict::new(text, "application/zip")
}

fn elf(bytes: &[u8]) -> Verdict {
    let bits = if bytes.get(4) == Some(&2) { "64-bit" } else { "32-bit" };
    let order = if bytes.get(5) == Some(&2) { "MSB" } else { "LSB" };
    let number = |at: usize| bytes.get(at..at + 2).map_or(0, |it| u16::from_le_bytes([it[0], it[1]]));
    let (kind, mime) = match number(16) {
        1 => ("relocatable", "application/x-object"),
        2 => ("executable", "application/x-executable"),
        3 => ("shared object", "application/x-sharedlib"),
        4 => ("core file", "application/x-coredump"),
        _ => ("unknown type", "application/octet-stream"),
    };
    let machine = match number(18) {
        0x03 => "Intel 80386",
        0x28 => "ARM, EABI5",
        0x3e => "x86-64",
        0xb7 => "ARM aarch64",
        0xf3 => "UCB RISC-V",
        _ => "unknown arch",
    };
    Verdict::new(format!("ELF {bits} {order} {kind}, {machine}, version 1 (SYSV)"), mime)
}
