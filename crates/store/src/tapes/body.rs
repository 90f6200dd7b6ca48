//! The frames of a tape as they are compressed, in the order in which the world was asked.

use std::io::{Cursor, Read as _, Write as _};

use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};

use super::{BadFrame, Frame};

/// Frames that are being written. Bounded: past the bound nothing more is kept, and there will be no tape.
pub struct TapeWriter {
    encoder: ZlibEncoder<Vec<u8>>,
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
        let encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        Self { encoder, scratch: Vec::new(), frames: 0, raw_bytes: 0, bytes_max, is_full: false }
    }

    /// One more frame. False once there is no room.
    pub fn put(&mut self, frame: &Frame) -> bool {
        if self.is_full {
            return false;
        }
        self.scratch.clear();
        let written =
            frame.encode(&mut self.scratch).is_ok() && self.encoder.write_all(&self.scratch).is_ok();
        self.scratch.shrink_to(1 << 20);
        self.frames += 1;
        self.raw_bytes = self.raw_bytes.saturating_add(self.scratch.len() as u64);
        if !written || self.encoder.get_ref().len() as u64 > self.bytes_max {
            self.is_full = true;
            // What was kept of it is nobody's.
            self.encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        }
        !self.is_full
    }

    /// How many frames there are.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// All of it; none where it was longer than it may be.
    pub fn finish(self) -> Option<TapeBody> {
        let (frames, raw_bytes) = (self.frames, self.raw_bytes);
        let bytes =
            self.encoder.finish().ok().filter(|it| !self.is_full && it.len() as u64 <= self.bytes_max)?;
        Some(TapeBody { bytes, frames, raw_bytes })
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
