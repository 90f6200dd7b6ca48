//! Files as resources: `drydock:///src/a.txt` is the file `/src/a.txt` of the sandbox, and no file of the host.

use serde_json::Value;

const SCHEME: &str = "drydock://";

/// The template of all of them.
pub(crate) const TEMPLATE: &str = "drydock:///{+path}";

/// The URI of an absolute path.
pub(crate) fn uri(path: &str) -> String {
    let mut uri = SCHEME.to_owned();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                uri.push(byte.into())
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}

/// The absolute path that a URI names, if it is one of ours.
pub(crate) fn path(uri: &str) -> Option<String> {
    let coded = uri.strip_prefix(SCHEME).filter(|it| it.starts_with('/'))?.as_bytes();
    let mut bytes = Vec::with_capacity(coded.len());
    let mut rest = coded;
    while let [first, tail @ ..] = rest {
        let (byte, tail) = match (first, tail) {
            (b'%', [high, low, tail @ ..]) => {
                let digit = |it: u8| char::from(it).to_digit(16).and_then(|it| u8::try_from(it).ok());
                (digit(*high)? << 4 | digit(*low)?, tail)
            }
            (b'%', _) => return None,
            (plain, tail) => (*plain, tail),
        };
        bytes.push(byte);
        rest = tail;
    }
    String::from_utf8(bytes).ok()
}

/// Path and size of each file of a list, as `list_files` of `/` answers it.
pub(crate) fn files(list: &Value) -> impl Iterator<Item = (String, u64)> {
    let entries = list["entries"].as_array().into_iter().flatten();
    let files = entries.filter(|it| it["kind"] == "file");
    files.filter_map(|it| Some((format!("/{}", it["path"].as_str()?), it["size"].as_u64()?)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_our_own_uris_are_paths() {
        assert_eq!(path("drydock:///a%20b/%C3%A9").as_deref(), Some("/a b/é"));
        for bad in
            ["file:///etc/passwd", "drydock://host/x", "drydock:///%", "drydock:///%zz", "drydock:///%ff", ""]
        {
            assert_eq!(path(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn a_path_survives_its_uri(text in "/\\PC{0,40}") {
            prop_assert_eq!(path(&uri(&text)), Some(text));
        }

        #[test]
        fn any_text_is_survived(text in ".*") {
            let _ = path(&text);
        }
    }
}
