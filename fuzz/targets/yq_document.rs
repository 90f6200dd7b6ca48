//! Documents the guest yq is given: what YAML can be read is read again as it was written.
#![no_main]

use guest_yq::format::{Format, Layout};

libfuzzer_sys::fuzz_target!(|text: &str| {
    for format in [Format::Toml, Format::Xml, Format::Csv, Format::Props] {
        let _ = format.read(text);
    }
    let Ok(documents) = Format::Yaml.read(text) else { return };
    let layout = Layout { indent: 2, sort_keys: false, raw: None };
    for document in documents {
        let mut out = Vec::new();
        if Format::Yaml.write(&mut out, &document, &layout).is_ok() {
            let again = Format::Yaml.read(&String::from_utf8_lossy(&out));
            assert!(again.is_ok(), "{text:?} became {out:?}");
        }
    }
});
