//! Archives the guest tar is given: never a panic, no name that leads out of the folder, and a header
//! that is written is read as it was.
#![no_main]

use guest_archive::tar::{
    header::{BLOCK, Header},
    name,
    reader::Reader,
};

/// Gives every block the sum it needs to be a header. No mutation would ever find one.
fn summed(bytes: &[u8]) -> Vec<u8> {
    let mut archive = bytes.to_vec();
    for block in archive.chunks_exact_mut(BLOCK) {
        block[148..156].fill(b' ');
        let sum: u64 = block.iter().map(|byte| u64::from(*byte)).sum();
        block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    }
    archive
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    for archive in [bytes.to_vec(), summed(bytes)] {
        let mut reader = Reader::new(&archive[..]);
        while let Ok(Some(header)) = reader.member() {
            if let Some(safe) = name::harmless(&String::from_utf8_lossy(&header.name)) {
                assert!(!safe.starts_with('/') && safe.split('/').all(|part| part != ".."), "{safe:?}");
            }
            let _ =
                name::matches(&String::from_utf8_lossy(&header.link), &String::from_utf8_lossy(&header.name));
            written(&header);
        }
    }
});

fn written(header: &Header) {
    let blocks = header.blocks();
    // Text ends at a NUL, so a name with one inside cannot come back.
    if header.name.contains(&0) || header.link.contains(&0) || blocks.len() > 1 << 16 {
        return;
    }
    let again = Reader::new(&blocks[..]).member();
    let again = again.ok().flatten().map(|it| (it.name, it.link, it.size));
    let (name, link, size) = (header.name.clone(), header.link.clone(), header.size);
    assert_eq!(again, Some((name, link, size)), "{header:?}");
}
