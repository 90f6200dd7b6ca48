//! `Content-Encoding`, undone piece by piece and counted: a small body that unfolds into a large one ends by name.
//!
//! One encoding, gzip or deflate. Several on top of one another are how bombs are built, and nobody needs them.

use std::io::{self, Write};

use bytes::Bytes;
use flate2::{Decompress, FlushDecompress, Status, write::MultiGzDecoder};
use hyper::{HeaderMap, header};

use crate::error::FetchError;

/// How much is decoded at a time: a thousandfold of it is the most that can come out before it is counted.
const PIECE_BYTES: usize = 1 << 10;

/// What stands between the body and its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    None,
    Gzip,
    Deflate,
    Unknown,
}

impl Encoding {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let mut values = headers.get_all(header::CONTENT_ENCODING).iter();
        let (Some(value), None) = (values.next(), values.next()) else {
            return if headers.contains_key(header::CONTENT_ENCODING) { Self::Unknown } else { Self::None };
        };
        match value.to_str().unwrap_or_default().trim().to_ascii_lowercase().as_str() {
            "" | "identity" => Self::None,
            "gzip" | "x-gzip" => Self::Gzip,
            "deflate" => Self::Deflate,
            _ => Self::Unknown,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::None | Self::Unknown => "readable",
        }
    }
}

/// Decodes a body as it comes.
pub(crate) struct Decoder {
    encoding: Encoding,
    bytes_max: u64,
    state: State,
}

enum State {
    /// Nothing came yet; an empty body is no broken one.
    Fresh,
    Gzip(MultiGzDecoder<Counted>),
    Deflate(Inflate),
}

/// Deflate that knows whether it came to its end; the decoder that flate2 offers for writing does not say.
struct Inflate {
    machine: Decompress,
    ended: bool,
    sink: Counted,
}

impl Inflate {
    fn new(first: u8, sink: Counted) -> Self {
        // Zlib by the standard, and bare deflate by some servers: the first byte tells.
        Self { machine: Decompress::new(first & 0x0f == 8), ended: false, sink }
    }

    fn write_all(&mut self, mut piece: &[u8]) -> io::Result<()> {
        let mut out = [0; 8 << 10];
        while !self.ended {
            let (read, written) = (self.machine.total_in(), self.machine.total_out());
            let status = self.machine.decompress(piece, &mut out, FlushDecompress::None)?;
            let counts = (self.machine.total_in() - read, self.machine.total_out() - written);
            let (read, written) = (counts.0.min(piece.len() as u64), counts.1.min(out.len() as u64));
            piece = &piece[usize::try_from(read).unwrap_or(piece.len())..];
            self.sink.write_all(&out[..usize::try_from(written).unwrap_or(out.len())])?;
            self.ended = status == Status::StreamEnd;
            // All was read, and what it gave fitted: the next piece may go on.
            if piece.is_empty() && written < out.len() as u64 {
                break;
            }
            if (read, written) == (0, 0) {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
        Ok(())
    }

    fn finish(&self) -> io::Result<()> {
        if self.ended { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

/// What came out and was not taken yet, and how much may still.
struct Counted {
    bytes: Vec<u8>,
    left: u64,
    exceeded: bool,
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() as u64 > self.left {
            self.exceeded = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.left -= bytes.len() as u64;
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Decoder {
    pub(crate) fn new(encoding: Encoding, bytes_max: u64) -> Self {
        Self { encoding, bytes_max, state: State::Fresh }
    }

    pub(crate) fn push(&mut self, chunk: &[u8]) -> Result<Bytes, FetchError> {
        for piece in chunk.chunks(PIECE_BYTES) {
            self.start(piece);
            let written = self.write(piece);
            self.judge(written)?;
        }
        Ok(self.take())
    }

    pub(crate) fn finish(&mut self) -> Result<Bytes, FetchError> {
        let finished = match &mut self.state {
            State::Fresh => Ok(()),
            State::Gzip(decoder) => decoder.try_finish(),
            State::Deflate(decoder) => decoder.finish(),
        };
        self.judge(finished)?;
        Ok(self.take())
    }

    /// Begins with the first byte that comes.
    fn start(&mut self, piece: &[u8]) {
        let (State::Fresh, Some(first)) = (&self.state, piece.first()) else { return };
        let sink = Counted { bytes: Vec::new(), left: self.bytes_max, exceeded: false };
        self.state = match self.encoding {
            Encoding::Deflate => State::Deflate(Inflate::new(*first, sink)),
            _ => State::Gzip(MultiGzDecoder::new(sink)),
        };
    }

    fn write(&mut self, piece: &[u8]) -> io::Result<()> {
        match &mut self.state {
            State::Fresh => Ok(()),
            State::Gzip(decoder) => decoder.write_all(piece),
            State::Deflate(decoder) => decoder.write_all(piece),
        }
    }

    fn sink(&mut self) -> Option<&mut Counted> {
        match &mut self.state {
            State::Fresh => None,
            State::Gzip(decoder) => Some(decoder.get_mut()),
            State::Deflate(decoder) => Some(&mut decoder.sink),
        }
    }

    fn judge(&mut self, result: io::Result<()>) -> Result<(), FetchError> {
        if self.sink().is_some_and(|sink| sink.exceeded) {
            return Err(FetchError::DecodedTooLarge { bytes_max: self.bytes_max });
        }
        result.map_err(|_| FetchError::BadEncoding { encoding: self.encoding.name() })
    }

    fn take(&mut self) -> Bytes {
        self.sink().map(|sink| std::mem::take(&mut sink.bytes)).unwrap_or_default().into()
    }
}

#[cfg(test)]
mod tests {
    use flate2::{Compression, read};

    use super::*;

    fn decode(encoding: Encoding, bytes: &[u8], bytes_max: u64) -> Result<Vec<u8>, &'static str> {
        let mut decoder = Decoder::new(encoding, bytes_max);
        let mut out = Vec::new();
        for chunk in bytes.chunks(7) {
            out.extend_from_slice(&decoder.push(chunk).map_err(|error| error.code())?);
        }
        out.extend_from_slice(&decoder.finish().map_err(|error| error.code())?);
        Ok(out)
    }

    fn all(mut reader: impl io::Read) -> Vec<u8> {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn encodings_are_undone_and_counted_to_the_byte() {
        let text = vec![b'a'; 1000];
        let level = Compression::default();
        let packed = [
            (Encoding::Gzip, all(read::GzEncoder::new(text.as_slice(), level))),
            (Encoding::Deflate, all(read::ZlibEncoder::new(text.as_slice(), level))),
            (Encoding::Deflate, all(read::DeflateEncoder::new(text.as_slice(), level))),
        ];
        for (encoding, bytes) in packed {
            assert_eq!(decode(encoding, &bytes, 1000).unwrap(), text, "{encoding:?}");
            assert_eq!(decode(encoding, &bytes, 999), Err("decoded_too_large"), "{encoding:?}");
            assert_eq!(
                decode(encoding, &bytes[..bytes.len() - 1], 1000),
                Err("bad_encoding"),
                "{encoding:?}"
            );
            assert_eq!(decode(encoding, b"", 1000).unwrap(), b"");
        }
        assert_eq!(decode(Encoding::Gzip, b"plain text", 1000), Err("bad_encoding"));
    }

    #[test]
    fn several_encodings_are_not_read() {
        for (values, want) in [
            (&[][..], Encoding::None),
            (&["GZIP"], Encoding::Gzip),
            (&["gzip, gzip"], Encoding::Unknown),
            (&["gzip", "gzip"], Encoding::Unknown),
            (&["br"], Encoding::Unknown),
            (&["identity"], Encoding::None),
        ] {
            let headers: HeaderMap =
                values.iter().map(|value| (header::CONTENT_ENCODING, value.parse().unwrap())).collect();
            assert_eq!(Encoding::of(&headers), want, "{values:?}");
        }
    }
}
