//! Proofs for secrets: where they go, and that they do not come back.

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::STANDARD, engine::general_purpose::URL_SAFE};
use proptest::prelude::*;

use super::*;
use crate::target::Target;

const CANARY: &str = "canary?>~/se cret+42";

fn secret(text: &str) -> Secret {
    Secret::new(text.as_bytes().to_vec()).unwrap()
}

fn needles(texts: &[&str]) -> Arc<Needles> {
    let secrets: Vec<Secret> = texts.iter().map(|it| secret(it)).collect();
    Arc::new(Needles::of(secrets.iter()).unwrap())
}

/// What comes out when the text arrives in pieces of this size.
fn redacted(needles: &Arc<Needles>, text: &[u8], piece: usize) -> Vec<u8> {
    let mut redactor = Redactor::new(needles);
    let mut out = Vec::new();
    for chunk in text.chunks(piece) {
        out.extend_from_slice(&redactor.push(chunk));
    }
    out.extend_from_slice(&redactor.finish());
    out
}

fn percent(text: &str, all: bool) -> String {
    let plain = |b: u8| !all && b.is_ascii_alphanumeric();
    text.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

/// Every disguise that is promised, with something before it.
fn disguised(text: &str) -> Vec<(&'static str, String)> {
    let json: String = text.bytes().map(|b| format!("\\u{b:04x}")).collect();
    let mut all = vec![
        ("plain", text.to_owned()),
        ("percent", percent(text, false)),
        ("percent all", percent(text, true)),
        ("percent small", percent(text, true).to_lowercase()),
        ("form", percent(text, false).replace("%20", "+")),
        ("json", serde_json::to_string(text).unwrap().replace('/', "\\/")),
        ("json all", json),
        ("hex", text.bytes().map(|b| format!("{b:02x}")).collect()),
        ("HEX", text.bytes().map(|b| format!("{b:02X}")).collect()),
    ];
    for (name, before) in [("base64 0", ""), ("base64 1", "x"), ("base64 2", "xy")] {
        for after in ["", "p", "pq"] {
            let whole = format!("{before}{text}{after}");
            all.push((name, STANDARD.encode(&whole)));
            all.push((name, URL_SAFE.encode(&whole)));
            all.push((name, percent(&STANDARD.encode(&whole), false)));
        }
    }
    all
}

#[test]
fn a_secret_is_found_in_every_disguise_and_however_it_is_cut() {
    let needles = needles(&[CANARY]);
    for (name, text) in disguised(CANARY) {
        let whole = format!("before {text} after");
        let once = redacted(&needles, whole.as_bytes(), whole.len());
        let shown = String::from_utf8(once.clone()).unwrap();
        assert!(shown.starts_with("before ") && shown.ends_with(" after"), "{name}: {shown}");
        assert!(shown.contains("[redacted]"), "{name}: {shown}");
        // At most a mixed character at either end, quotes and padding are left of it.
        assert!(shown.len() <= "before [redacted] after".len() + 12, "{name}: {shown}");
        for piece in 1..whole.len() {
            assert_eq!(redacted(&needles, whole.as_bytes(), piece), once, "{name} in pieces of {piece}");
        }
    }
}

#[test]
fn innocent_text_passes_unchanged_and_without_delay() {
    let needles = needles(&[CANARY, "another-secret"]);
    for text in ["", "hello", "100 % of \\u12 and %4", "canary?>~/se cre", "%63%61narx", "\\", "%"] {
        assert_eq!(redacted(&needles, text.as_bytes(), 1), text.as_bytes(), "{text}");
    }
    let mut redactor = Redactor::new(&needles);
    assert_eq!(redactor.push(b"data: 1\n\n").as_ref(), b"data: 1\n\n");
    assert_eq!(redactor.push(b"data: can").as_ref(), b"");
    assert_eq!(redactor.push(b"cel\n\n").as_ref(), b"data: cancel\n\n");
}

#[test]
fn several_secrets_that_overlap_leave_nothing() {
    let needles = needles(&["abcdefgh-1", "fgh-1234", "abcdefgh"]);
    for piece in 1..20 {
        assert_eq!(redacted(&needles, b"x abcdefgh-1234 y", piece), b"x [redacted] y", "{piece}");
        let twice = redacted(&needles, b"abcdefgh,abcdefgh", piece);
        assert_eq!(twice, b"[redacted],[redacted]", "{piece}");
    }
}

#[test]
fn an_adversary_cannot_make_it_slow() {
    // Each position begins a match that fails late: quadratic for whoever starts anew there.
    let needles = needles(&[&format!("{}b", "a".repeat(4095))]);
    let text = vec![b'a'; 1 << 20];
    assert_eq!(redacted(&needles, &text, 8192), text);
}

#[test]
fn a_header_is_injected_for_its_host_and_port_only() {
    let mut secrets = Secrets::default();
    secrets.put("KEY", secret(CANARY));
    let header = InjectedHeader::parse("api.test:8443", "X-Key: v1 {{secret:KEY}}.", &secrets).unwrap();
    for (url, want) in [
        ("https://api.test:8443/", true),
        ("https://API.test.:8443/x", true),
        ("https://api.test/", false),
        ("https://a.api.test:8443/", false),
        ("https://test:8443/", false),
    ] {
        assert_eq!(header.is_for(&url.parse::<Target>().unwrap()), want, "{url}");
    }
    let value = header.value().unwrap();
    assert_eq!(value.as_bytes(), format!("v1 {CANARY}.").as_bytes());
    let shown = format!("{value:?} {header:?}");
    assert!(!shown.contains("canary") && shown.contains("x-key"), "{shown}");
}

#[test]
fn what_cannot_be_injected_is_refused_by_name() {
    let mut secrets = Secrets::default();
    secrets.put("KEY", secret(CANARY));
    for (place, header, code) in [
        ("*.api.test", "X-Key: {{secret:KEY}}", "bad_secret_place"),
        ("https://api.test", "X-Key: {{secret:KEY}}", "bad_secret_place"),
        ("", "X-Key: {{secret:KEY}}", "bad_secret_place"),
        ("api.test", "Host: {{secret:KEY}}", "bad_secret_header"),
        ("api.test", "Connection: {{secret:KEY}}", "bad_secret_header"),
        ("api.test", "a b: {{secret:KEY}}", "bad_secret_header"),
        ("api.test", "X-Key: plain", "bad_secret_template"),
        ("api.test", "X-Key: {{secret:KEY", "bad_secret_template"),
        ("api.test", "X-Key: a\nb {{secret:KEY}}", "bad_secret_template"),
        ("api.test", "X-Key: {{secret:OTHER}}", "unknown_secret"),
    ] {
        let error = InjectedHeader::parse(place, header, &secrets).unwrap_err();
        assert_eq!(error.code(), code, "{place} {header}");
    }
}

#[test]
fn what_a_header_cannot_carry_or_is_too_short_is_no_secret() {
    for bytes in [
        &b"short"[..],
        b" leading-blank",
        b"trailing-blank ",
        b"line\nend-inside",
        b"\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8",
    ] {
        assert!(Secret::new(bytes.to_vec()).is_err(), "{bytes:?}");
    }
    assert!(Secret::new(vec![b'a'; SECRET_BYTES_MAX + 1]).is_err());
    assert_eq!(secret("from-a-file\r\n").reveal(), b"from-a-file");
}

#[test]
fn a_percent_sign_behind_a_backslash_is_no_escape_of_json() {
    let out = redacted(&needles(&[r"!\%A00A!"]), br#"{"a":"!\\%A00A!"}"#, 1);
    assert_eq!(String::from_utf8(out).unwrap(), r#"{"a":"[redacted]"}"#);
}

proptest! {
    #[test]
    fn no_secret_survives_in_any_disguise_or_cut(
        text in "[!-~]{8,40}",
        before in "[ -~]{0,20}",
        after in "[ -~]{0,20}",
        piece in 1_usize..30,
        which in 0_usize..27,
    ) {
        let needles = needles(&[&text]);
        let all = disguised(&text);
        let (name, disguise) = &all[which % all.len()];
        // Neither neighbour must make an escape of its own out of the first or last character.
        let whole = format!("{before} {disguise} {after}");
        let out = redacted(&needles, whole.as_bytes(), piece);
        let shown = String::from_utf8(out).unwrap();
        prop_assert!(shown.contains("[redacted]"), "{name} {shown}");
        prop_assert!(!shown.contains(&text), "{name} {shown}");
    }

    #[test]
    fn text_without_the_secret_is_never_changed(text in "[a-z%\\\\u0-9+/]{0,200}", piece in 1_usize..40) {
        let needles = needles(&["ZZZZ-never-there"]);
        prop_assert_eq!(redacted(&needles, text.as_bytes(), piece), text.as_bytes());
    }
}
