//! Documents the guest yq is given: any text is read or refused, and a document of YAML that is written
//! as YAML is read again, and then written the same.
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
        let (mut yaml, mut yaml_again) = (Vec::new(), Vec::new());
        if Format::Yaml.write(&mut yaml, &document, &layout).is_err() {
            continue;
        }
        // Whoever prints a document ends its last line.
        yaml.push(b'\n');
        let again = Format::Yaml.read(&String::from_utf8_lossy(&yaml));
        let Ok([again]) = again.as_deref() else { panic!("{text:?} became {yaml:?}") };
        let _ = Format::Yaml.write(&mut yaml_again, again, &layout);
        yaml_again.push(b'\n');
        let shown = (String::from_utf8_lossy(&yaml), String::from_utf8_lossy(&yaml_again));
        assert_eq!(shown.0, shown.1, "{text:?}");
    }
});
