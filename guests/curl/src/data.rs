//! `-d` and its kin: what is sent as a body, or behind a question mark.

use crate::{
    failure::{Failure, READ_ERROR},
    url::encoded,
};

/// How a word of the command line becomes bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `-d`: `@file` is read, without its line ends.
    Plain,
    /// `--data-raw`: as it is.
    Raw,
    /// `--data-binary` and `--json`: `@file` is read as it is.
    Binary,
    /// `--data-urlencode`.
    Encoded,
}

/// What all of them come to.
pub(crate) fn gather(pieces: &[(Kind, String)], joint: &[u8]) -> Result<Vec<u8>, Failure> {
    let mut all = Vec::new();
    for (at, (kind, word)) in pieces.iter().enumerate() {
        if at > 0 {
            all.extend_from_slice(joint);
        }
        all.extend(bytes_of(*kind, word)?);
    }
    Ok(all)
}

fn bytes_of(kind: Kind, word: &str) -> Result<Vec<u8>, Failure> {
    match (kind, word.strip_prefix('@')) {
        (Kind::Plain, Some(file)) => {
            let mut bytes = read(file)?;
            bytes.retain(|byte| !matches!(byte, b'\r' | b'\n' | 0));
            Ok(bytes)
        }
        (Kind::Binary, Some(file)) => read(file),
        (Kind::Encoded, _) => urlencoded(word),
        (Kind::Plain | Kind::Binary | Kind::Raw, _) => Ok(word.as_bytes().to_vec()),
    }
}

/// `content`, `=content`, `name=content`, `@file`, `name@file`: the content is encoded, the name is not.
fn urlencoded(word: &str) -> Result<Vec<u8>, Failure> {
    let (name, content) = match word.find(['=', '@']) {
        None => ("", word.as_bytes().to_vec()),
        Some(at) if word[at..].starts_with('=') => (&word[..at], word.as_bytes()[at + 1..].to_vec()),
        Some(at) => (&word[..at], read(&word[at + 1..])?),
    };
    let joint = if name.is_empty() { "" } else { "=" };
    // Blanks as forms write them.
    Ok(format!("{name}{joint}{}", encoded(&content).replace("%20", "+")).into_bytes())
}

/// A file, or standard input.
pub(crate) fn read(file: &str) -> Result<Vec<u8>, Failure> {
    place::stdio::read(file).map_err(|error| {
        Failure::new(READ_ERROR, format!("Failed to open {file}: {}", place::reason(&error)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_bytes_as_curl_makes_them() {
        let folder = std::env::temp_dir().join(format!("curl-data-{}", std::process::id()));
        let _ = std::fs::create_dir_all(&folder);
        let file = folder.join("lines");
        let _ = std::fs::write(&file, "a b\r\nc\n");
        let at = format!("@{}", file.display());
        for (kind, word, want) in [
            (Kind::Plain, "a=1", "a=1"),
            (Kind::Plain, at.as_str(), "a bc"),
            (Kind::Raw, "@x", "@x"),
            (Kind::Binary, at.as_str(), "a b\r\nc\n"),
            (Kind::Encoded, "a&b", "a%26b"),
            (Kind::Encoded, "=a b", "a+b"),
            (Kind::Encoded, "n=a b", "n=a+b"),
            (Kind::Encoded, &format!("n{at}"), "n=a+b%0D%0Ac%0A"),
        ] {
            let got = gather(&[(kind, word.to_owned())], b"&").unwrap_or_default();
            assert_eq!(String::from_utf8_lossy(&got), want, "{word}");
        }
        let two = gather(&[(Kind::Plain, "a=1".into()), (Kind::Plain, "b=2".into())], b"&");
        assert_eq!(two, Ok(b"a=1&b=2".to_vec()));
        assert_eq!(
            gather(&[(Kind::Plain, "@/no/such".into())], b"&").map_err(|it| it.status),
            Err(READ_ERROR)
        );
    }
}
