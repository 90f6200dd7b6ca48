//! What one URL of a command line is asked for: method, headers, body; and its JSON for the host.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use crate::{data, failure::Failure, flags::Flags, form, url::Url};

const AGENT: &str = "curl/8.0 (drydock)";

/// One request, which redirects change.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) url: Url,
    pub(crate) method: String,
    /// Whether somebody named the method: then redirects do not change it.
    pub(crate) fixed_method: bool,
    /// Whether the body is one that is posted, whatever the method is called.
    pub(crate) posts: bool,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Option<Vec<u8>>,
    /// `user:password` for this origin.
    pub(crate) user: Option<String>,
    /// Whether no redirect has led to another origin yet: cookies that were named by words go no further.
    pub(crate) at_home: bool,
}

impl Request {
    /// What the flags say about a URL.
    pub(crate) fn of(flags: &Flags, text: &str) -> Result<Self, Failure> {
        let mut url = Url::parse(text)?;
        flags.schemes.check(&url.scheme)?;
        if !flags.path_as_is {
            url.settle();
        }
        let (mut body, mut kind) = (None, None);
        if !flags.parts.is_empty() {
            let (bytes, header) = form::gather(&flags.parts)?;
            (body, kind) = (Some(bytes), Some(header));
        } else if let Some(file) = &flags.upload {
            if url.path.ends_with('/') && file != "-" {
                url.path.push_str(file.rsplit('/').next().unwrap_or_default());
            }
            body = Some(data::read(if file == "." { "-" } else { file })?);
        } else if !flags.data.is_empty() {
            let bytes = data::gather(&flags.data, if flags.json { b"" } else { b"&" })?;
            if flags.get {
                add_query(&mut url, &bytes);
            } else {
                let usual = if flags.json { "application/json" } else { "application/x-www-form-urlencoded" };
                (body, kind) = (Some(bytes), Some(usual.to_owned()));
            }
        }
        if !flags.query.is_empty() {
            add_query(&mut url, &data::gather(&flags.query, b"&")?);
        }
        let usual = match &body {
            _ if flags.head => "HEAD",
            Some(_) if flags.upload.is_some() => "PUT",
            Some(_) => "POST",
            None => "GET",
        };
        let user = flags.user.clone().or_else(|| url.user.take());
        let posts = body.is_some() && flags.upload.is_none();
        let headers = headers(flags, kind)?;
        let method = flags.method.clone().unwrap_or_else(|| usual.to_owned());
        Ok(Self {
            url,
            method,
            fixed_method: flags.method.is_some(),
            posts,
            headers,
            body,
            user,
            at_home: true,
        })
    }

    /// As the host reads it, with what belongs to this hop.
    pub(crate) fn json(&self, flags: &Flags, cookies: Option<String>, time_left_ms: Option<u64>) -> Vec<u8> {
        let mut headers = serde_json::Map::new();
        let mut add = |name: &str, value: &str| {
            let all = headers.entry(name.to_ascii_lowercase()).or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(all) = all {
                all.push(Value::String(value.to_owned()));
            }
        };
        for (name, value) in &self.headers {
            add(name, value);
        }
        if let Some(cookies) = cookies {
            add("cookie", &cookies);
        }
        if let Some(user) = self.user.as_ref().filter(|_| !self.has("authorization")) {
            let user = if user.contains(':') { user.clone() } else { format!("{user}:") };
            add("authorization", &format!("Basic {}", STANDARD.encode(user)));
        }
        let mut request = json!({ "url": self.url.text(), "method": self.method, "headers": headers });
        if let Some(body) = &self.body {
            request["body_b64"] = Value::String(STANDARD.encode(body));
        }
        if let Some(time) = time_left_ms {
            request["timeout_ms"] = time.into();
        }
        if let Some(bytes) = flags.bytes_max {
            request["max_bytes"] = bytes.into();
        }
        if flags.compressed {
            request["decode"] = true.into();
        }
        request.to_string().into_bytes()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|it| it.0.eq_ignore_ascii_case(name))
    }

    /// The request that a redirect asks for.
    pub(crate) fn follow(&self, flags: &Flags, status: u16, location: &str) -> Result<Self, Failure> {
        let mut next = self.clone();
        next.url = self.url.join(location)?;
        flags.redirect_schemes.check(&next.url.scheme)?;
        let kept = match status {
            301 => flags.keep_post[0],
            302 => flags.keep_post[1],
            303 => flags.keep_post[2],
            _ => true,
        };
        let posted = self.posts || self.method == "POST";
        let becomes_get = !kept && (posted || status == 303 && self.method != "HEAD");
        if becomes_get {
            if !self.fixed_method {
                next.method = "GET".to_owned();
            }
            (next.body, next.posts) = (None, false);
            next.headers.retain(|it| !it.0.eq_ignore_ascii_case("content-type"));
        }
        let user = next.url.user.take();
        if !self.url.same_origin(&next.url) && !flags.trusted {
            (next.user, next.at_home) = (None, false);
            next.headers.retain(|(name, _)| {
                !["authorization", "cookie"].iter().any(|it| name.eq_ignore_ascii_case(it))
            });
        }
        next.user = user.or(next.user);
        Ok(next)
    }
}

fn add_query(url: &mut Url, bytes: &[u8]) {
    url.path.push(if url.path.contains('?') { '&' } else { '?' });
    url.path.push_str(&String::from_utf8_lossy(bytes));
}

/// Ours, unless somebody says otherwise: `Name: value`, `Name;` for an empty one, `Name:` for none.
fn headers(flags: &Flags, kind: Option<String>) -> Result<Vec<(String, String)>, Failure> {
    let mut said: Vec<(String, Option<String>)> = Vec::new();
    for header in &flags.headers {
        match header.strip_prefix('@') {
            Some(file) => {
                let text = data::read(file)?;
                said.extend(String::from_utf8_lossy(&text).lines().filter_map(header_of));
            }
            None => said.extend(header_of(header)),
        }
    }
    let mut ours = vec![
        ("User-Agent", Some(flags.agent.clone().unwrap_or_else(|| AGENT.to_owned()))),
        ("Accept", Some(if flags.json { "application/json" } else { "*/*" }.to_owned())),
        ("Content-Type", kind),
        ("Referer", flags.referer.clone().map(|it| it.trim_end_matches(";auto").to_owned())),
        ("Range", flags.range.as_ref().map(|it| format!("bytes={it}"))),
        ("Authorization", flags.bearer.as_ref().map(|it| format!("Bearer {it}"))),
    ];
    ours.retain(|(name, _)| !said.iter().any(|it| it.0.eq_ignore_ascii_case(name)));
    let ours = ours.into_iter().map(|(name, value)| (name.to_owned(), value));
    let all = ours.chain(said).filter_map(|(name, value)| Some((name, value?)));
    Ok(all.filter(|(name, value)| !(name == "User-Agent" && value.is_empty())).collect())
}

fn header_of(line: &str) -> Option<(String, Option<String>)> {
    let line = line.trim();
    if let Some((name, value)) = line.split_once(':') {
        let value = value.trim();
        return Some((name.trim().to_owned(), (!value.is_empty()).then(|| value.to_owned())));
    }
    line.strip_suffix(';').map(|name| (name.trim().to_owned(), Some(String::new())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(line: &str) -> Request {
        let args: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let flags = crate::flags::read(&args);
        let Ok(request) = flags.and_then(|it| Request::of(&it, &it.urls[0])) else { panic!("{line}") };
        request
    }

    #[test]
    fn flags_make_the_request_that_curl_makes() {
        for (line, want) in [
            ("http://a.test", "GET http://a.test/"),
            ("-I http://a.test", "HEAD http://a.test/"),
            ("-d a=1 http://a.test", "POST http://a.test/ a=1 application/x-www-form-urlencoded"),
            ("-G -d a=1 --data-urlencode b=&c http://a.test/?x", "GET http://a.test/?x&a=1&b=%26c"),
            ("--json {} http://a.test", "POST http://a.test/ {} application/json"),
            ("-X DELETE http://a.test", "DELETE http://a.test/"),
            ("-d x -H Content-Type:text/x http://a.test", "POST http://a.test/ x text/x"),
        ] {
            let it = request(line);
            let mut told = format!("{} {}", it.method, it.url.text());
            if let Some(body) = &it.body {
                let kind = it.headers.iter().find(|it| it.0 == "Content-Type").map_or("", |it| &it.1);
                told.push_str(&format!(" {} {kind}", String::from_utf8_lossy(body)));
            }
            assert_eq!(told, want, "{line}");
        }
        let json = request("-u me:pw -H User-Agent: http://a.test").json(
            &Flags::default(),
            Some("c=1".into()),
            Some(5),
        );
        assert_eq!(
            String::from_utf8_lossy(&json),
            r#"{"headers":{"accept":["*/*"],"authorization":["Basic bWU6cHc="],"cookie":["c=1"]},"method":"GET","timeout_ms":5,"url":"http://a.test/"}"#
        );
    }

    #[test]
    fn a_redirect_changes_the_method_and_drops_credentials_elsewhere() {
        let first = request("-d a=1 -u me:pw -H Authorization:x -H Cookie:y http://a.test/p");
        let Ok(next) = first.follow(&Flags::default(), 302, "http://b.test/q") else { panic!("no next") };
        assert_eq!((next.method.as_str(), next.body.as_deref(), next.user.as_deref()), ("GET", None, None));
        assert!(!next.has("authorization") && !next.has("cookie") && !next.has("content-type"));
        let Ok(same) = first.follow(&Flags::default(), 307, "/q") else { panic!("no next") };
        assert_eq!((same.method.as_str(), same.body.is_some(), same.user.is_some()), ("POST", true, true));
    }
}
