//! One block of 512 bytes that describes a member.
//!
//! Read: ustar, GNU and the old form, numbers in octal or as GNU's large ones. Written: GNU's form.
//! A block whose sum is wrong is no header.

pub const BLOCK: usize = 512;

/// What a member is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    File,
    Hard,
    Symbolic,
    Directory,
    /// Devices and pipes; listed, never made.
    Special(u8),
    /// The next member's name, or its link's.
    LongName,
    LongLink,
    /// Fields for the next member, or for all that follow.
    Pax,
    PaxGlobal,
}

/// A member, as far as its header tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    pub name: Vec<u8>,
    pub link: Vec<u8>,
    pub kind: Kind,
    pub mode: u32,
    pub size: u64,
    pub mtime: i64,
    pub user: String,
    pub group: String,
}

impl Header {
    /// `None` if the block is not a header.
    pub fn parse(block: &[u8; BLOCK]) -> Option<Self> {
        let sum = number(&block[148..156])?;
        if sum != checksum(block) {
            return None;
        }
        let ustar = block[257..263] == *b"ustar\0";
        let mut name = text(&block[..100]).to_vec();
        let prefix = text(&block[345..500]);
        if ustar && !prefix.is_empty() {
            name = [prefix, b"/", &name].concat();
        }
        let kind = match block[156] {
            // A directory too, if its whole name ends so: the reader knows that.
            0 | b'0' | b'7' => Kind::File,
            b'1' => Kind::Hard,
            b'2' => Kind::Symbolic,
            b'5' => Kind::Directory,
            b'L' => Kind::LongName,
            b'K' => Kind::LongLink,
            b'x' => Kind::Pax,
            b'g' => Kind::PaxGlobal,
            other => Kind::Special(other),
        };
        let owner = |from: usize| String::from_utf8_lossy(text(&block[from..from + 32])).into_owned();
        let id = |from: usize| number(&block[from..from + 8]).unwrap_or(0).to_string();
        let named = |name: String, id: String| if name.is_empty() { id } else { name };
        Some(Self {
            name,
            link: text(&block[157..257]).to_vec(),
            kind,
            mode: number(&block[100..108]).unwrap_or(0o644) as u32 & 0o7777,
            size: number(&block[124..136])?,
            mtime: i64::try_from(number(&block[136..148])?).unwrap_or(i64::MAX),
            user: named(owner(265), id(108)),
            group: named(owner(297), id(116)),
        })
    }

    /// The blocks before the content: this header, and before it one for each name that is too long.
    pub fn blocks(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for (text, kind) in [(&self.link, b'K'), (&self.name, b'L')] {
            if text.len() > 100 {
                let long = Self { name: b"././@LongLink".to_vec(), link: Vec::new(), ..self.clone() };
                out.extend_from_slice(
                    &Self { size: text.len() as u64 + 1, mode: 0, mtime: 0, ..long }.block(kind),
                );
                out.extend_from_slice(text);
                out.push(0);
                out.resize(out.len().next_multiple_of(BLOCK), 0);
            }
        }
        let kind = match self.kind {
            Kind::File => b'0',
            Kind::Hard => b'1',
            Kind::Symbolic => b'2',
            Kind::Directory => b'5',
            Kind::Special(letter) => letter,
            Kind::LongName => b'L',
            Kind::LongLink => b'K',
            Kind::Pax => b'x',
            Kind::PaxGlobal => b'g',
        };
        out.extend_from_slice(&self.block(kind));
        out
    }

    fn block(&self, kind: u8) -> [u8; BLOCK] {
        let mut block = [0; BLOCK];
        put(&mut block[..100], &self.name);
        octal(&mut block[100..108], u64::from(self.mode));
        octal(&mut block[108..116], 1000);
        octal(&mut block[116..124], 1000);
        octal(&mut block[124..136], self.size);
        octal(&mut block[136..148], u64::try_from(self.mtime).unwrap_or(0));
        block[148..156].fill(b' ');
        block[156] = kind;
        put(&mut block[157..257], &self.link);
        put(&mut block[257..265], b"ustar  \0");
        put(&mut block[265..296], self.user.as_bytes());
        put(&mut block[297..328], self.group.as_bytes());
        let sum = format!("{:06o}\0 ", checksum(&block));
        put(&mut block[148..156], sum.as_bytes());
        block
    }
}

/// How many bytes follow a content of `size` up to the next block.
pub fn padding(size: u64) -> usize {
    ((BLOCK as u64 - size % BLOCK as u64) % BLOCK as u64) as usize
}

fn put(field: &mut [u8], text: &[u8]) {
    let count = text.len().min(field.len());
    field[..count].copy_from_slice(&text[..count]);
}

fn octal(field: &mut [u8], value: u64) {
    let places = field.len() - 1;
    let text = format!("{value:0>places$o}");
    if text.len() > places {
        // GNU's form for what octal digits cannot hold.
        field.fill(0);
        field[0] = 0x80;
        let at = field.len() - 8;
        field[at..].copy_from_slice(&value.to_be_bytes());
    } else {
        put(field, text.as_bytes());
    }
}

fn text(field: &[u8]) -> &[u8] {
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
    &field[..end]
}

fn number(field: &[u8]) -> Option<u64> {
    if field.first().is_some_and(|first| first & 0x80 != 0) {
        let (first, rest) = field.split_first()?;
        return rest
            .iter()
            .try_fold(u64::from(first & 0x7f), |sum, byte| Some(sum.checked_mul(256)? | u64::from(*byte)));
    }
    let digits = text(field).iter().filter(|byte| **byte != b' ');
    digits.copied().try_fold(0u64, |sum, digit| match digit {
        b'0'..=b'7' => sum.checked_mul(8)?.checked_add(u64::from(digit - b'0')),
        _ => None,
    })
}

fn checksum(block: &[u8; BLOCK]) -> u64 {
    let byte = |(at, byte): (usize, &u8)| u64::from(if (148..156).contains(&at) { b' ' } else { *byte });
    block.iter().enumerate().map(byte).sum()
}
