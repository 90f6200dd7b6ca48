//! Archives and compressed streams: `tar`, `gzip`, `bzip2`, `xz` with their other names, `zip` and `unzip`.
//!
//! Everything is a stream: no file is held in memory, and what an archive claims about sizes is only
//! ever used to count down. Names from an archive never lead out of the folder it is unpacked in.

pub mod codec;
pub mod gzip;
pub mod report;
pub mod tar;
pub mod zip;
