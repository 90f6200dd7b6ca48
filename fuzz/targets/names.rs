//! Names, hashes and principals: what parses prints as it was read.
#![no_main]

use drydock_contract::{Cap, CommandName, Digest, Principal, port::TreePath};

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(name) = text.parse::<CommandName>() {
        assert_eq!(name.as_str(), text);
        assert!(!text.contains(['/', ' ', '\0']) && !text.starts_with('.'));
    }
    if let Ok(principal) = text.parse::<Principal>() {
        assert_eq!(principal.as_str(), text);
    }
    if let Ok(digest) = text.parse::<Digest>() {
        assert_eq!(digest.to_string(), text.to_lowercase());
    }
    if let Ok(cap) = text.parse::<Cap>() {
        assert_eq!(cap.as_str(), text);
    }
    if let Ok(path) = TreePath::new(text) {
        assert!(path.names().all(|name| !name.is_empty() && name != "."));
    }
});
