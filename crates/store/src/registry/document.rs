//! `registry.json`: names, hashes, argument modes and how to start them; no path of the host.
//!
//! A file that is not whole is refused whole: guessing would lose names in silence. Single
//! entries that cannot be used are skipped with a warning, so that one bad row costs one name.

use std::{collections::BTreeMap, io, path::Path, sync::Arc};

use drydock_contract::{ArgMode, CommandName, Digest, port::EntryOptions};
use serde_json::Value;

use super::{COMMANDS_MAX, options, view::Stamp};
use crate::home::{open_regular, read_capped};

/// The largest file that is read. A full registry has under one, and some more with options.
const FILE_BYTES_MAX: u64 = 32 << 20;
/// What is written. The first one knew no options, and whoever knows only that one must not run such an entry
/// without them.
const VERSION: u64 = 2;
const VERSION_WITHOUT_OPTIONS: u64 = 1;
/// What a row may say.
const FIELDS: [&str; 3] = ["sha256", "mode", "options"];

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Document {
    pub(super) commands: BTreeMap<CommandName, Binding>,
}

#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub(super) struct Binding {
    pub(super) sha256: Digest,
    pub(super) mode: ArgMode,
    #[serde(serialize_with = "plain", skip_serializing_if = "is_plain")]
    pub(super) options: Arc<EntryOptions>,
}

fn plain<S: serde::Serializer>(options: &Arc<EntryOptions>, to: S) -> Result<S::Ok, S::Error> {
    serde::Serialize::serialize(&**options, to)
}

fn is_plain(options: &Arc<EntryOptions>) -> bool {
    **options == EntryOptions::default()
}

/// Reads the file; no file is no names. The stamp is of the very file that was read.
pub(super) fn read(
    path: &Path,
    reserved: impl Fn(&str) -> bool,
) -> (Option<Stamp>, Result<Document, String>) {
    let (file, len) = match open_regular(path, FILE_BYTES_MAX) {
        Ok(open) => open,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return (None, Ok(Document::default())),
        Err(error) => return (Stamp::of(path), Err(format!("it cannot be opened ({error})"))),
    };
    let stamp = file.metadata().ok().map(|facts| Stamp::from(&facts));
    let document = read_capped(&file, len, FILE_BYTES_MAX)
        .map_err(|error| format!("it cannot be read ({error})"))
        .and_then(|bytes| parse(&bytes, reserved));
    (stamp, document)
}

/// Parses the bytes of a file, which anyone may have written.
pub(super) fn parse(bytes: &[u8], reserved: impl Fn(&str) -> bool) -> Result<Document, String> {
    let value: Value =
        serde_json::from_slice(bytes).map_err(|error| format!("it is not whole JSON ({error})"))?;
    match value.get("version").and_then(Value::as_u64) {
        Some(VERSION | VERSION_WITHOUT_OPTIONS) => {}
        Some(other) => {
            let known = format!("{VERSION_WITHOUT_OPTIONS} and {VERSION}");
            return Err(format!("its layout is version {other}, and only {known} are known here"));
        }
        None => return Err("it has no version".into()),
    }
    let rows = value.get("commands").and_then(Value::as_object).ok_or("it has no commands")?;
    let mut document = Document::default();
    for (name, row) in rows {
        let shown = name.chars().take(80).collect::<String>();
        match parse_row(name, row, &reserved) {
            Ok(_) if document.commands.len() == COMMANDS_MAX => {
                tracing::warn!(name = shown, "skipped a registered name: there are too many");
            }
            Ok((name, bound)) => drop(document.commands.insert(name, bound)),
            Err(reason) => tracing::warn!(name = shown, reason, "skipped a registered name"),
        }
    }
    Ok(document)
}

fn parse_row(
    name: &str,
    row: &Value,
    reserved: impl Fn(&str) -> bool,
) -> Result<(CommandName, Binding), String> {
    if reserved(name) {
        return Err("it is the name of a built-in".into());
    }
    let name = CommandName::registrable(name).map_err(|error| error.to_string())?;
    let sha256 = row.get("sha256").and_then(Value::as_str).ok_or("it has no sha256")?;
    let sha256 = sha256.parse().map_err(|error: drydock_contract::NotADigest| error.to_string())?;
    let mode = match row.get("mode") {
        None => ArgMode::default(),
        Some(mode) => match mode.as_str().map(str::parse) {
            Some(Ok(mode)) => mode,
            _ => return Err("its mode is not known".into()),
        },
    };
    // Whoever wrote more than is known here meant something by it.
    let known = |field: &String| FIELDS.contains(&field.as_str());
    if let Some(field) = row.as_object().and_then(|it| it.keys().find(|field| !known(field))) {
        return Err(format!(
            "it has a field `{:.40}` that is not known here",
            field.escape_default().to_string()
        ));
    }
    let options = match row.get("options") {
        None => EntryOptions::default(),
        Some(value) => {
            serde::Deserialize::deserialize(value).map_err(|error: serde_json::Error| error.to_string())?
        }
    };
    options::check(&options).map_err(|bad| bad.to_string())?;
    Ok((name, Binding { sha256, mode, options: Arc::new(options) }))
}

/// The whole file.
pub(super) fn print(document: &Document) -> io::Result<Vec<u8>> {
    #[derive(serde::Serialize)]
    struct Form<'a> {
        version: u64,
        commands: &'a BTreeMap<CommandName, Binding>,
    }
    let form = Form { version: VERSION, commands: &document.commands };
    let mut bytes = serde_json::to_vec_pretty(&form)?;
    bytes.push(b'\n');
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use drydock_contract::port::EntryDir;
    use proptest::prelude::*;

    use super::*;

    fn sha() -> String {
        Digest::of(b"x").to_string()
    }

    #[test]
    fn bad_rows_cost_one_name_and_bad_files_are_refused() {
        let sha = sha();
        let file = |rows: &str| format!(r#"{{"version":1,"commands":{{{rows}}}}}"#);
        let good = format!(r#""lua":{{"sha256":"{sha}","mode":"argv"}}"#);
        let cases = [
            // text                                                                 names, or refused
            (file(&good), Some(1)),
            (file(""), Some(0)),
            (file(&format!(r#""lua":{{"sha256":"{sha}"}}"#)), Some(1)),
            (file(&format!(r#"{good},"jq":{{"sha256":"{sha}","mode":"argv"}}"#)), Some(1)),
            (file(&format!(r#"{good},"../x":{{"sha256":"{sha}","mode":"argv"}}"#)), Some(1)),
            (file(&format!(r#"{good},"w":{{"sha256":"{sha}","mode":"root"}}"#)), Some(1)),
            (file(&format!(r#"{good},"w":{{"sha256":"{sha}","mode":7}}"#)), Some(1)),
            (file(&format!(r#"{good},"w":{{"sha256":"../../etc","mode":"argv"}}"#)), Some(1)),
            (file(&format!(r#"{good},"w":[]"#)), Some(1)),
            (file(&good)[..file(&good).len() / 2].to_owned(), None),
            (String::new(), None),
            ("[]".into(), None),
            (r#"{"commands":{}}"#.into(), None),
            (r#"{"version":2,"commands":{}}"#.into(), Some(0)),
            (r#"{"version":3,"commands":{}}"#.into(), None),
            (file(&format!(r#"{good},"w":{{"sha256":"{sha}","color":1}}"#)), Some(1)),
            (file(&format!(r#"{good},"w":{{"sha256":"{sha}","options":{{"lane":"tick"}}}}"#)), Some(2)),
            (file(&format!(r#"{good},"w":{{"sha256":"{sha}","options":{{"lane":"fast"}}}}"#)), Some(1)),
            (file(&format!(r#"{good},"w":{{"sha256":"{sha}","options":{{"root":true}}}}"#)), Some(1)),
            (file(&format!(r#"{good},"w":{{"sha256":"{sha}","options":{{"features":["gc"]}}}}"#)), Some(1)),
            (file(&format!(r#"{good},"w":{{"sha256":"{sha}","options":{{"argv":["a\u0000"]}}}}"#)), Some(1)),
            (file(&format!(r#"{good},"w":{{"sha256":"{sha}","options":7}}"#)), Some(1)),
            (r#"{"version":1,"commands":[]}"#.into(), None),
            ("[".repeat(100_000), None),
        ];
        for (text, want) in cases {
            let got = parse(text.as_bytes(), |name| name == "jq").ok().map(|it| it.commands.len());
            assert_eq!(got, want, "{text:.200}");
        }
    }

    #[test]
    fn the_file_is_plain_to_read() {
        let plain = Binding { sha256: Digest::of(b"x"), mode: ArgMode::Stdin1, options: Arc::default() };
        let dirs = vec![EntryDir { tree: Digest::of(b"tree"), path: "/usr".into() }];
        let options = EntryOptions { argv0: Some("clang".into()), dirs, ..EntryOptions::default() };
        let more = Binding { mode: ArgMode::Argv, options: Arc::new(options), ..plain.clone() };
        let commands = [("lua".parse().unwrap(), plain), ("clang".parse().unwrap(), more)].into();
        let document = Document { commands };
        insta::assert_snapshot!(String::from_utf8(print(&document).unwrap()).unwrap(), @r#"
        {
          "version": 2,
          "commands": {
            "clang": {
              "sha256": "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881",
              "mode": "argv",
              "options": {
                "argv0": "clang",
                "dirs": [
                  {
                    "tree": "dc9c5edb8b2d479e697b4b0b8ab874f32b325138598ce9e7b759eb8292110622",
                    "path": "/usr"
                  }
                ]
              }
            },
            "lua": {
              "sha256": "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881",
              "mode": "stdin1"
            }
          }
        }
        "#);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..512)) {
            let _ = parse(&bytes, |_| false);
        }

        #[test]
        fn a_damaged_file_never_panics_and_a_cut_one_is_refused(
            names in proptest::collection::btree_set("[a-z]{1,8}", 0..6),
            cut in any::<proptest::sample::Index>(),
            flip in any::<(proptest::sample::Index, u8)>(),
        ) {
            let bound = Binding { sha256: Digest::of(b"x"), mode: ArgMode::Argv, options: Arc::default() };
            let commands = names.iter().map(|it| (it.parse().unwrap(), bound.clone())).collect();
            let document = Document { commands };
            let bytes = print(&document).unwrap();
            prop_assert_eq!(parse(&bytes, |_| false), Ok(document));
            let at = cut.index(bytes.len() - 1); // the newline at the end may go
            prop_assert!(parse(&bytes[..at], |_| false).is_err());
            let mut bent = bytes.clone();
            bent[flip.0.index(bytes.len())] ^= flip.1;
            let _ = parse(&bent, |_| false);
        }
    }
}
