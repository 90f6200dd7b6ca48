//! Permissions of files, as far as a shell can tell: files themselves have none here.
//!
//! What `chmod` was asked for is remembered beside the tree, by the number of the file, for as long
//! as the shell lives. `test`, `type` and `command -v` look; nothing is refused because of it.

use std::collections::HashMap;

use drydock_contract::port::{FileKind, Stat};
use parking_lot::Mutex;

/// Files whose modes are remembered.
const FILES_MAX: usize = 64 << 10;

#[derive(Default)]
pub(crate) struct Modes(Mutex<HashMap<u64, u32>>);

impl Modes {
    pub(crate) fn of(&self, stat: &Stat) -> u32 {
        let fresh = if stat.kind == FileKind::Directory { 0o755 } else { 0o644 };
        self.0.lock().get(&stat.inode).copied().unwrap_or(fresh)
    }

    /// Whether any of `bits` is there.
    pub(crate) fn may(&self, stat: &Stat, bits: u32) -> bool {
        self.of(stat) & bits != 0
    }

    /// Remembers what `chmod` asks for; what is no mode leaves all as it is.
    pub(crate) fn change(&self, stat: &Stat, mode: &str, mask: u32) {
        let Some(mode) = changed(self.of(stat), mode, mask, stat.kind == FileKind::Directory) else { return };
        let mut all = self.0.lock();
        if all.len() < FILES_MAX || all.contains_key(&stat.inode) {
            all.insert(stat.inode, mode);
        }
    }
}

/// The mode after `u+x,go=r` or `755`.
fn changed(mode: u32, text: &str, mask: u32, directory: bool) -> Option<u32> {
    if text.starts_with(|it: char| it.is_ascii_digit()) {
        return u32::from_str_radix(text, 8).ok().filter(|it| *it <= 0o7777);
    }
    let mut mode = mode;
    for clause in text.split(',') {
        let at = clause.find(['=', '+', '-'])?;
        let (who, mut rest) = clause.split_at(at);
        let mut whom = 0;
        for letter in who.chars() {
            whom |= match letter {
                'u' => 0o4700,
                'g' => 0o2070,
                'o' => 0o1007,
                'a' => 0o7777,
                _ => return None,
            };
        }
        // Without a name the mask has its say.
        let limit = if whom == 0 { !mask } else { whom };
        while let Some(sign) = rest.chars().next() {
            rest = &rest[1..];
            let end = rest.find(['=', '+', '-']).unwrap_or(rest.len());
            let mut bits = 0;
            for letter in rest[..end].chars() {
                bits |= match letter {
                    'r' => 0o444,
                    'w' => 0o222,
                    'x' => 0o111,
                    'X' if directory || mode & 0o111 != 0 => 0o111,
                    'X' => 0,
                    's' => 0o6000,
                    't' => 0o1000,
                    'u' => (mode >> 6 & 7) * 0o111,
                    'g' => (mode >> 3 & 7) * 0o111,
                    'o' => (mode & 7) * 0o111,
                    _ => return None,
                };
            }
            rest = &rest[end..];
            match sign {
                '+' => mode |= bits & limit,
                '-' => mode &= !(bits & limit),
                _ => mode = mode & !(limit & 0o777) | bits & limit,
            }
        }
    }
    Some(mode & 0o7777)
}

#[cfg(test)]
mod tests {
    use super::changed;

    #[test]
    fn modes_change_as_chmod_says() {
        let rows = [
            (0o644, "+x", 0o755),
            (0o644, "u+x", 0o744),
            (0o755, "a-x", 0o644),
            (0o644, "755", 0o755),
            (0o755, "go=", 0o700),
            (0o644, "u+rwx,g-r,o=x", 0o701),
            (0o644, "u+s", 0o4644),
            (0o600, "g=u", 0o660),
        ];
        for (before, text, after) in rows {
            assert_eq!(changed(before, text, 0o022, false), Some(after), "{text}");
        }
        assert_eq!(changed(0o644, "nonsense", 0o022, false), None);
    }
}
