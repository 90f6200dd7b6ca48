//! The compressions, as readers and writers over any stream.

use std::io::{self, BufRead, Read, Write};

/// How a stream is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    Plain,
    Gzip,
    Bzip2,
    Xz,
}

/// Where gzip says it ran.
const UNIX: u8 = 3;
/// More memory than this is not given to a stream that asks for it.
const XZ_MEMORY_KIB_MAX: u32 = 256 * 1024;

impl Codec {
    /// What the first bytes of a stream say.
    pub fn sniff(start: &[u8]) -> Self {
        match start {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [b'B', b'Z', b'h', ..] => Self::Bzip2,
            [0xfd, b'7', b'z', b'X', b'Z', ..] => Self::Xz,
            _ => Self::Plain,
        }
    }

    /// What the name of a file says.
    pub fn of_name(name: &str) -> Self {
        let ends = |all: &[&str]| all.iter().any(|end| name.ends_with(end));
        match name {
            _ if ends(&[".gz", ".tgz", ".taz"]) => Self::Gzip,
            _ if ends(&[".bz2", ".tbz", ".tbz2", ".tz2"]) => Self::Bzip2,
            _ if ends(&[".xz", ".txz"]) => Self::Xz,
            _ => Self::Plain,
        }
    }

    /// Reads the stream's content, also if it is several streams after each other.
    pub fn decoder<'a>(self, source: impl BufRead + 'a) -> Box<dyn Read + 'a> {
        match self {
            Self::Plain => Box::new(source),
            Self::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(source)),
            Self::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(source)),
            Self::Xz => Box::new(lzma_rust2::XzReader::new_mem_limit(source, true, XZ_MEMORY_KIB_MAX)),
        }
    }
}

/// A writer that compresses, and has to be finished.
pub enum Encoder<W: Write> {
    Plain(W),
    Gzip(flate2::write::GzEncoder<W>),
    Bzip2(bzip2::write::BzEncoder<W>),
    Xz(Box<lzma_rust2::XzWriter<W>>),
}

impl<W: Write> Encoder<W> {
    /// Compresses with `level`, one to nine.
    pub fn new(codec: Codec, sink: W, level: u32) -> io::Result<Self> {
        Ok(match codec {
            Codec::Plain => Self::Plain(sink),
            Codec::Gzip => Self::Gzip(
                flate2::GzBuilder::new().operating_system(UNIX).write(sink, flate2::Compression::new(level)),
            ),
            Codec::Bzip2 => Self::Bzip2(bzip2::write::BzEncoder::new(sink, bzip2::Compression::new(level))),
            // Higher levels want hundreds of megabytes for little.
            Codec::Xz => {
                let options = lzma_rust2::XzOptions::with_preset(level.min(4));
                Self::Xz(Box::new(lzma_rust2::XzWriter::new(sink, options)?))
            }
        })
    }

    /// Gzip with a name and a time in its header.
    pub fn named_gzip(sink: W, level: u32, name: &str, mtime: u32) -> Self {
        let header =
            flate2::GzBuilder::new().operating_system(UNIX).filename(name.replace('\0', "")).mtime(mtime);
        Self::Gzip(header.write(sink, flate2::Compression::new(level)))
    }

    /// Writes what is held back, and the end of the stream.
    pub fn finish(self) -> io::Result<W> {
        match self {
            Self::Plain(mut sink) => sink.flush().map(|()| sink),
            Self::Gzip(encoder) => encoder.finish(),
            Self::Bzip2(encoder) => encoder.finish(),
            Self::Xz(encoder) => encoder.finish(),
        }
    }
}

impl<W: Write> Write for Encoder<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(sink) => sink.write(bytes),
            Self::Gzip(encoder) => encoder.write(bytes),
            Self::Bzip2(encoder) => encoder.write(bytes),
            Self::Xz(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(sink) => sink.flush(),
            Self::Gzip(encoder) => encoder.flush(),
            Self::Bzip2(encoder) => encoder.flush(),
            Self::Xz(encoder) => encoder.flush(),
        }
    }
}
