//! The members of an archive, one after the other, with long names put where they belong.

use super::header::{BLOCK, Header, Kind, padding};
use std::io::{self, Read};

/// Longer names and extended fields than this are refused.
const EXTRA_BYTES_MAX: u64 = 1 << 20;

/// Why an archive cannot be read on.
#[derive(Debug)]
pub enum Broken {
    NotAnArchive,
    /// It ends inside a member.
    Short,
    TooLong,
    Read(io::Error),
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Short,
            _ => Self::Read(error),
        }
    }
}

/// Reads members; the content of one must be read or skipped before the next.
pub struct Reader<R: Read> {
    source: R,
    left: u64,
    padding: usize,
    any: bool,
}

impl<R: Read> Reader<R> {
    pub fn new(source: R) -> Self {
        Self { source, left: 0, padding: 0, any: false }
    }

    /// The next member; `None` at the end.
    pub fn member(&mut self) -> Result<Option<Header>, Broken> {
        let (mut name, mut link, mut pax) = (None, None, Vec::new());
        loop {
            self.skip()?;
            let Some(block) = self.block()? else { return Ok(None) };
            let Some(mut header) = Header::parse(&block) else { return Err(Broken::NotAnArchive) };
            self.any = true;
            (self.left, self.padding) = (header.size, padding(header.size));
            match header.kind {
                Kind::LongName => name = Some(self.text()?),
                Kind::LongLink => link = Some(self.text()?),
                Kind::Pax => pax = self.text()?,
                Kind::PaxGlobal => drop(self.text()?),
                _ => {
                    header.name = name.take().unwrap_or(header.name);
                    header.link = link.take().unwrap_or(header.link);
                    extend(&mut header, &pax);
                    if header.kind == Kind::File && header.name.ends_with(b"/") {
                        header.kind = Kind::Directory;
                    }
                    if !matches!(header.kind, Kind::File | Kind::Special(_)) {
                        header.size = 0;
                    }
                    (self.left, self.padding) = (header.size, padding(header.size));
                    return Ok(Some(header));
                }
            }
        }
    }

    /// One block, unless the archive ends here: with nothing, or with a block of zeros.
    fn block(&mut self) -> Result<Option<[u8; BLOCK]>, Broken> {
        let mut block = [0; BLOCK];
        let mut filled = 0;
        while filled < BLOCK {
            match self.source.read(&mut block[filled..]) {
                Ok(0) if filled == 0 => return Ok(None),
                Ok(0) if !self.any => return Err(Broken::NotAnArchive),
                Ok(0) => return Err(Broken::Short),
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(block.iter().any(|byte| *byte != 0).then_some(block))
    }

    fn text(&mut self) -> Result<Vec<u8>, Broken> {
        if self.left > EXTRA_BYTES_MAX {
            return Err(Broken::TooLong);
        }
        let mut text = Vec::new();
        self.read_to_end(&mut text)?;
        while text.last() == Some(&0) {
            text.pop();
        }
        Ok(text)
    }

    fn skip(&mut self) -> Result<(), Broken> {
        io::copy(self, &mut io::sink())?;
        let mut rest = [0; BLOCK];
        self.source.read_exact(&mut rest[..self.padding])?;
        self.padding = 0;
        Ok(())
    }

    /// Lets the writer of a pipe finish.
    pub fn drain(mut self) {
        let _ = io::copy(&mut self.source, &mut io::sink());
    }
}

/// The content of the current member.
impl<R: Read> Read for Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        if wanted == 0 {
            return Ok(0);
        }
        let count = self.source.read(&mut buffer[..wanted])?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left -= count as u64;
        Ok(count)
    }
}

/// Takes over the fields of a `pax` record: `LENGTH KEY=VALUE\n`, over and over.
fn extend(header: &mut Header, mut records: &[u8]) {
    while let Some(blank) = records.iter().position(|byte| *byte == b' ') {
        let length = std::str::from_utf8(&records[..blank]).ok().and_then(|it| it.parse::<usize>().ok());
        let Some(record) =
            length.filter(|length| *length > blank).and_then(|length| records.get(blank + 1..length))
        else {
            return;
        };
        let value = record.strip_suffix(b"\n").unwrap_or(record);
        if let Some(at) = value.iter().position(|byte| *byte == b'=') {
            let (key, value) = (&value[..at], &value[at + 1..]);
            let number =
                || String::from_utf8_lossy(value).split('.').next().and_then(|it| it.parse::<i64>().ok());
            match key {
                b"path" => header.name = value.to_vec(),
                b"linkpath" => header.link = value.to_vec(),
                b"size" => {
                    header.size = number().and_then(|it| u64::try_from(it).ok()).unwrap_or(header.size)
                }
                b"mtime" => header.mtime = number().unwrap_or(header.mtime),
                b"uname" => header.user = String::from_utf8_lossy(value).into_owned(),
                b"gname" => header.group = String::from_utf8_lossy(value).into_owned(),
                _ => {}
            }
        }
        records = &records[length.unwrap_or(records.len()).min(records.len())..];
    }
}
