//! Documents the guest yq is given: any text is read or refused, and a document of YAML that is written
//! as YAML is read again as the same one.
#![no_main]

use guest_yq::format::{Format, Layout};

libfuzzer_sys::fuzz_target!(|text: &str| {
    for format in [Format::Toml, Format::Xml, Format::Csv, Format::Props] {
        let _ = format.read(text);
    }
    let Ok(documents) = Format::Yaml.read(text) else { return };
    // Text on its own is written as text, and not as YAML, unless one asks for YAML.
    let layout = Layout { indent: 2, sort_keys: false, raw: Some(false) };
    for document in documents {
        let (mut yaml, mut json) = (Vec::new(), Vec::new());
        if Format::Yaml.write(&mut yaml, &document, &layout).is_err() {
            continue;
        }
        // Whoever prints a document ends its last line.
        yaml.push(b'\n');
        let again = Format::Yaml.read(&String::from_utf8_lossy(&yaml));
        let Ok([again]) = again.as_deref() else { panic!("{text:?} became {yaml:?}") };
        let mut json_again = Vec::new();
        let same = Format::Json.write(&mut json, &document, &layout).is_ok()
            == Format::Json.write(&mut json_again, again, &layout).is_ok();
        assert!(same && json == json_again, "{text:?} became {:?}", String::from_utf8_lossy(&yaml));
    }
});
