//! A file of grants: whatever the bytes are, they are refused or hang together, and are written as they were read.
#![no_main]

use drydock_contract::{GrantFile, GrantSpec};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(file) = GrantFile::parse(bytes) else { return };
    for (at, grant) in file.grants().iter().enumerate() {
        assert!(grant.id.is_some());
        if let Some(parent) = &grant.parent {
            assert!(file.grants()[..at].iter().any(|it| it.id.as_ref() == Some(parent)));
        }
        assert_eq!(GrantSpec::parse(grant.to_json().as_bytes()).as_ref(), Ok(grant));
    }
    let again = GrantFile::of(file.grants().to_vec(), "grant").expect("what was read hangs together");
    assert_eq!(again.grants(), file.grants());
});
