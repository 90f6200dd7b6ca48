//! The frames of a tape as they are compressed, in the order in which the world was asked.

use std::io::{Cursor, Read as _, Write as _};

use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};
use parking_lot::Mutex;

use super::{BadFrame, Frame};

type Encoder = ZlibEncoder<Vec<u8>>;

/// The last encoder that was done. One takes 300 KiB that are written before its first byte, which costs more than what a
/// short tape has to compress; it is begun anew for each tape, and nothing of the one before is in it.
static IDLE: Mutex<Option<Encoder>> = Mutex::new(None);

fn encoder() -> Encoder {
    let idle = IDLE.lock().take();
    idle.unwrap_or_else(|| ZlibEncoder::new(Vec::new(), Compression::fast()))
}

/// Frames that are not compressed before there are so many bytes of them: most tapes are short, and compressing one of
/// ten kilobytes takes a fifth of the run that it tells of.
const PLAIN_BYTES_MAX: usize = 64 << 10;

/// Frames that are being written. Bounded: past the bound nothing more is kept, and there will be no tape.
pub struct TapeWriter {
    /// None as long as the tape is short.
    encoder: Option<Encoder>,
    /// The frames of a short tape.
    plain: Vec<u8>,
    scratch: Vec<u8>,
    frames: u64,
    raw_bytes: u64,
    bytes_max: u64,
    is_full: bool,
}

/// Frames that were written.
pub struct TapeBody {
    pub(super) bytes: Vec<u8>,
    pub(super) frames: u64,
    pub(super) raw_bytes: u64,
}

/// What is compressed at most this much smaller; a tape that claims more is not believed.
const RATIO_MAX: u64 = 1100;

impl TapeWriter {
    /// A tape of at most so many bytes, compressed.
    pub fn new(bytes_max: u64) -> Self {
        // With a tight bound it is the compressed length that counts, from the first frame on.
        let encoder = (bytes_max < 2 * PLAIN_BYTES_MAX as u64).then(encoder);
        let (plain, scratch) = (Vec::new(), Vec::new());
        Self { encoder, plain, scratch, frames: 0, raw_bytes: 0, bytes_max, is_full: false }
    }

    /// One more frame. False once there is no room.
    pub fn put(&mut self, frame: &Frame) -> bool {
        if self.is_full {
            return false;
        }
        self.scratch.clear();
        let written = frame.encode(&mut self.scratch).is_ok() && self.take_scratch().is_ok();
        self.scratch.shrink_to(1 << 20);
        self.frames += 1;
        self.raw_bytes = self.raw_bytes.saturating_add(self.scratch.len() as u64);
        if !written || self.encoder.as_ref().is_some_and(|it| it.get_ref().len() as u64 > self.bytes_max) {
            self.is_full = true;
            // What was kept of it is nobody's.
            (self.encoder, self.plain) = (None, Vec::new());
        }
        !self.is_full
    }

    fn take_scratch(&mut self) -> std::io::Result<()> {
        if self.encoder.is_none() && self.plain.len() + self.scratch.len() <= PLAIN_BYTES_MAX {
            self.plain.extend_from_slice(&self.scratch);
            return Ok(());
        }
        let encoder = self.encoder.get_or_insert_with(encoder);
        encoder.write_all(&std::mem::take(&mut self.plain))?;
        encoder.write_all(&self.scratch)
    }

    /// How many frames there are.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// All of it; none where it was longer than it may be.
    pub fn finish(self) -> Option<TapeBody> {
        let Self { encoder, plain, frames, raw_bytes, bytes_max, is_full, .. } = self;
        if is_full {
            return None;
        }
        let bytes = match encoder {
            None => stored(&plain),
            Some(mut encoder) => {
                let bytes = encoder.reset(Vec::new()).ok()?;
                *IDLE.lock() = Some(encoder);
                bytes
            }
        };
        (bytes.len() as u64 <= bytes_max).then_some(TapeBody { bytes, frames, raw_bytes })
    }
}

/// As a stream of zlib whose blocks are not compressed (RFC 1950, and 1951, 3.2.4): whoever reads a tape need not know.
fn stored(bytes: &[u8]) -> Vec<u8> {
    const BLOCK_BYTES_MAX: usize = 0xffff;
    let blocks = bytes.len().div_ceil(BLOCK_BYTES_MAX).max(1);
    let mut all = Vec::with_capacity(2 + 5 * blocks + bytes.len() + 4);
    all.extend_from_slice(&[0x78, 0x01]);
    for number in 0..blocks {
        let rest = &bytes[number * BLOCK_BYTES_MAX..];
        let block = &rest[..rest.len().min(BLOCK_BYTES_MAX)];
        // A block is at most that long.
        let length = u16::try_from(block.len()).unwrap_or(u16::MAX);
        all.push(u8::from(number + 1 == blocks));
        all.extend_from_slice(&length.to_le_bytes());
        all.extend_from_slice(&(!length).to_le_bytes());
        all.extend_from_slice(block);
    }
    all.extend_from_slice(&adler32(bytes).to_be_bytes());
    all
}

/// The checksum of zlib. So many bytes are the most whose sums fit before they are divided.
fn adler32(bytes: &[u8]) -> u32 {
    const PRIME: u32 = 65_521;
    let (mut low, mut high) = (1, 0);
    for piece in bytes.chunks(5_552) {
        for byte in piece {
            low += u32::from(*byte);
            high += low;
        }
        (low, high) = (low % PRIME, high % PRIME);
    }
    high << 16 | low
}

#[test]
fn a_short_tape_is_a_stream_of_zlib_like_a_long_one() {
    let noise = |count: usize| (0..count as u32).map(|it| (it.wrapping_mul(2_654_435_761) >> 24) as u8);
    for count in [0, 1, 12_345, 65_535, 65_536, 140_000] {
        let bytes: Vec<u8> = noise(count).collect();
        let mut read = Vec::new();
        ZlibDecoder::new(Cursor::new(stored(&bytes))).read_to_end(&mut read).unwrap();
        assert!(read == bytes, "{count} bytes came back as {}", read.len());
    }
}

impl TapeBody {
    /// The compressed bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The frames, from the first.
    pub fn frames(&self) -> Frames {
        Frames::of(self.bytes.clone(), self.raw_bytes)
    }
}

/// The frames of a tape, one at a time: no more than one is in memory.
pub struct Frames {
    from: std::io::Take<ZlibDecoder<Cursor<Vec<u8>>>>,
}

impl Frames {
    /// Of compressed bytes that are so many when they are not.
    pub fn of(bytes: Vec<u8>, raw_bytes: u64) -> Self {
        let most = (bytes.len() as u64).saturating_mul(RATIO_MAX).min(raw_bytes);
        // One byte more than there may be, so that more is seen.
        Self { from: ZlibDecoder::new(Cursor::new(bytes)).take(most.saturating_add(1)) }
    }

    /// The next one; none at the end.
    pub fn read(&mut self) -> Result<Option<Frame>, BadFrame> {
        let frame = Frame::read(&mut self.from)?;
        if self.from.limit() == 0 {
            return Err(BadFrame::Compressed);
        }
        Ok(frame)
    }
}

/// Reads all frames of compressed bytes that nobody vouches for; how many there are.
pub(crate) fn count(bytes: &[u8]) -> Result<u64, BadFrame> {
    let mut frames = Frames::of(bytes.to_vec(), 64 << 20);
    let mut count = 0;
    while frames.read()?.is_some() {
        count += 1;
    }
    Ok(count)
}
