//! A URL as far as a client has to take it apart: the host judges it. What users put before a host becomes a header.

use crate::failure::{Failure, MALFORMED_URL, UNSUPPORTED};

/// A URL in its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Url {
    pub(crate) scheme: String,
    /// `user:password`, decoded.
    pub(crate) user: Option<String>,
    /// Host and port, as they were written.
    pub(crate) authority: String,
    /// With the query, always with a slash in front.
    pub(crate) path: String,
}

impl Url {
    /// Reads what somebody typed: without a scheme it is http.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        let malformed = |why: &str| Failure::new(MALFORMED_URL, format!("URL rejected: {why}"));
        let text = text.trim().split('#').next().unwrap_or_default();
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) => (scheme.to_ascii_lowercase(), rest),
            None => ("http".to_owned(), text),
        };
        if !matches!(scheme.as_str(), "http" | "https") {
            return Err(Failure::new(UNSUPPORTED, format!("Protocol \"{scheme}\" not supported")));
        }
        if text.chars().any(|c| c.is_control() || c == ' ') {
            return Err(malformed("Malformed input to a URL function"));
        }
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let (user, authority) = match authority.rsplit_once('@') {
            Some((user, authority)) => (Some(decoded(user)), authority),
            None => (None, authority),
        };
        if authority.is_empty() || authority.starts_with(':') {
            return Err(malformed("No host part in the URL"));
        }
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Ok(Self { scheme, user, authority: authority.to_owned(), path })
    }

    /// Takes the steps up in the path, as every client does before it asks.
    pub(crate) fn settle(&mut self) {
        self.path = without_dots(&self.path);
    }

    /// The whole, without what was put before the host.
    pub(crate) fn text(&self) -> String {
        format!("{}://{}{}", self.scheme, self.authority, self.path)
    }

    /// The host without its port, in small letters.
    pub(crate) fn host(&self) -> String {
        let host = match self.authority.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => host,
            _ => &self.authority,
        };
        host.to_ascii_lowercase()
    }

    /// The port, written or not.
    pub(crate) fn port(&self) -> &str {
        let written = self.authority.rsplit_once(':').filter(|(_, port)| !port.contains(']'));
        written.map_or(if self.scheme == "https" { "443" } else { "80" }, |it| it.1)
    }

    /// The path without the query.
    pub(crate) fn plain_path(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }

    /// Whether credentials for one may go to the other.
    pub(crate) fn same_origin(&self, other: &Self) -> bool {
        (&self.scheme, self.host(), self.port()) == (&other.scheme, other.host(), other.port())
    }

    /// What a reference in an answer means here.
    pub(crate) fn join(&self, reference: &str) -> Result<Self, Failure> {
        let reference = reference.trim();
        if reference.contains("://") && !reference.starts_with(['/', '?']) {
            return Self::parse(reference);
        }
        if let Some(rest) = reference.strip_prefix("//") {
            return Self::parse(&format!("{}://{rest}", self.scheme));
        }
        let own = self.plain_path();
        let path = match reference.chars().next() {
            None => self.path.clone(),
            Some('/') => reference.to_owned(),
            Some('?') => format!("{own}{reference}"),
            Some(_) => format!("{}/{reference}", own.rsplit_once('/').map_or("", |it| it.0)),
        };
        let joined = format!("{}://{}{}", self.scheme, self.authority, without_dots(&path));
        Self::parse(&joined)
    }

    /// The last part of the path: what a file is called that is made of it.
    pub(crate) fn file_name(&self) -> Option<String> {
        let name = self.plain_path().rsplit('/').next().unwrap_or_default();
        (!name.is_empty()).then(|| name.to_owned())
    }
}

/// Steps up in a reference are taken here; the query is left alone.
fn without_dots(path: &str) -> String {
    let (path, query) = path.split_at(path.find('?').unwrap_or(path.len()));
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').skip(1) {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let folder = if path.ends_with("/.") || path.ends_with("/..") { "/" } else { "" };
    format!("/{}{folder}{query}", parts.join("/"))
}

/// Percent signs undone.
pub(crate) fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let pair = bytes.get(at + 1..at + 3).and_then(|it| std::str::from_utf8(it).ok());
        match pair.and_then(|it| u8::from_str_radix(it, 16).ok()).filter(|_| bytes[at] == b'%') {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// As curl encodes values: everything but letters, digits and `-._~`.
pub(crate) fn encoded(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(*byte))
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_taken_apart() {
        for (text, want, user) in [
            ("example.com", "http://example.com/", None),
            ("HTTPS://a.test:8443/x?y#z", "https://a.test:8443/x?y", None),
            ("http://a.test?q=1", "http://a.test/?q=1", None),
            ("http://u:p%40@a.test/", "http://a.test/", Some("u:p@")),
        ] {
            let url = Url::parse(text).map(|it| (it.text(), it.user));
            assert_eq!(url, Ok((want.to_owned(), user.map(str::to_owned))), "{text}");
        }
        for (text, status) in
            [("ftp://a.test/", 1), ("http://", 3), ("http:///x", 3), ("http://a b/", 3), ("", 3)]
        {
            assert_eq!(Url::parse(text).map_err(|it| it.status), Err(status), "{text}");
        }
    }

    #[test]
    fn references_are_read_where_they_were_found() {
        let Ok(base) = Url::parse("http://a.test/x/y?q") else { panic!("no url") };
        for (reference, want, same) in [
            ("z", "http://a.test/x/z", true),
            ("../z?p", "http://a.test/z?p", true),
            ("/z", "http://a.test/z", true),
            ("?p", "http://a.test/x/y?p", true),
            ("//b.test/z", "http://b.test/z", false),
            ("http://a.test:80/z", "http://a.test:80/z", true),
            ("https://a.test/z", "https://a.test/z", false),
        ] {
            let Ok(next) = base.join(reference) else { panic!("{reference}") };
            assert_eq!((next.text().as_str(), next.same_origin(&base)), (want, same), "{reference}");
        }
    }
}
