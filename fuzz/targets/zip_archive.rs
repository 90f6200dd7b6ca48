//! Archives the guest unzip is given: never a panic, no member that leads out of the folder or shares
//! bytes with another, and a directory that is written is read as it was.
#![no_main]

use guest_archive::tar::name;
use guest_archive::zip::record::{self, Member};
use std::io::Cursor;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(members) = record::members(&mut Cursor::new(bytes)) else { return };
    for member in &members {
        assert!(member.at + member.packed <= bytes.len() as u64, "{member:?}");
        if let Some(safe) = name::harmless(&member.name) {
            assert!(!safe.starts_with('/') && safe.split('/').all(|part| part != ".."), "{safe:?}");
        }
        let _ = record::content_start(&mut Cursor::new(bytes), member);
        let _ = record::seconds(member.time);
        written(member);
    }
});

fn written(member: &Member) {
    let alone = Member { at: 0, packed: 0, flags: 0, ..member.clone() };
    let (Ok(mut archive), Ok(entry)) = (alone.local(), alone.central()) else { return };
    let start = archive.len() as u64;
    archive.extend(&entry);
    let Ok(end) = record::end(1, start, entry.len() as u64) else { return };
    archive.extend(end);
    let again = record::members(&mut Cursor::new(archive)).unwrap_or_default();
    let again = again.first().map(|it| (it.name.clone(), it.size, it.sum));
    assert_eq!(again, Some((alone.name.clone(), alone.size, alone.sum)));
}
