//! Providers that search the web: how each is asked, and what is kept of what it answers. Three formats, each with a base URL
//! of the operator's choosing, so that a proxy or a server of one's own speaks any of them.
//!
//! An answer is foreign JSON. Of it a bounded number of bounded texts is kept, and addresses only if they are `http` or
//! `https`; everything else is left alone.

use std::{
    fmt,
    fmt::Write as _,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use drydock_abi::broker::{Answer, Failure};
use drydock_contract::{CallError, Fault};
use drydock_egress::{
    Caller, Decoding, Egress, FailureKind, FetchError, HeaderMap, HeaderName, HeaderValue, Limits, Method,
    Redirects, Request, Target,
};
use drydock_gate::{Capability, Permit};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    completion::only,
    fetch::{Told, held},
    models::KeySource,
    search::{Found, Hit, Query, RESULTS_MAX},
};

/// What a provider may send.
const RECEIVED_BYTES_MAX: u64 = 4 << 20;
/// Texts of one result, cut to these.
const TITLE_BYTES_MAX: usize = 512;
const URL_BYTES_MAX: usize = 2048;
const SNIPPET_BYTES_MAX: usize = 2048;
/// The longest answer: every text as JSON may escape it, and what stands around them.
pub(crate) const ANSWER_BYTES_MAX: u64 =
    RESULTS_MAX as u64 * 6 * (TITLE_BYTES_MAX + URL_BYTES_MAX + SNIPPET_BYTES_MAX + 64) as u64;

/// Finds the provider: none where nobody configured one, and why not where it cannot be used.
pub type SearchSource = dyn Fn() -> Result<Option<Arc<Provider>>, String> + Send + Sync;

/// What a provider speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProviderKind {
    /// `GET /web/search?q=`, with the key in a header of its own.
    Brave,
    /// `GET /search?q=&format=json`, which a server of one's own speaks, mostly without a key.
    Searxng,
    /// `POST /search` with a JSON body, and the key as a bearer's.
    Tavily,
}

impl ProviderKind {
    /// Every kind.
    pub const ALL: &'static [Self] = &[Self::Brave, Self::Searxng, Self::Tavily];

    /// The word in configuration and answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Brave => "brave",
            Self::Searxng => "searxng",
            Self::Tavily => "tavily",
        }
    }

    /// Where the key goes, and what stands before it.
    const fn key_header(self) -> (&'static str, &'static str) {
        match self {
            Self::Brave => ("x-subscription-token", ""),
            Self::Searxng | Self::Tavily => ("authorization", "Bearer "),
        }
    }

    /// What is asked for, and with what in its body.
    fn request(self, query: &Query) -> (Method, String, Option<Value>) {
        let (words, count) = (escaped(&query.query), query.results_max());
        match self {
            Self::Brave => (Method::GET, format!("/web/search?q={words}&count={count}"), None),
            Self::Searxng => (Method::GET, format!("/search?q={words}&format=json"), None),
            Self::Tavily => {
                let body = json!({ "query": query.query, "max_results": count });
                (Method::POST, "/search".to_owned(), Some(body))
            }
        }
    }

    /// Where the results stand in an answer, and what the members of one are called.
    const fn shape(self) -> (&'static str, &'static str) {
        match self {
            Self::Brave => ("/web/results", "description"),
            Self::Searxng | Self::Tavily => ("/results", "content"),
        }
    }
}

/// Who searches.
#[derive(Clone)]
pub struct Provider {
    /// What it speaks.
    pub kind: ProviderKind,
    /// Where it is, without what the format adds: `https://search.example.com/v1`.
    pub base_url: String,
    /// Its key, if it wants one.
    pub key: Option<Arc<KeySource>>,
    /// How long it is waited for.
    pub total_max: Duration,
}

/// Without the key, and without what a URL may have in it.
impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Provider({})", self.kind.as_str())
    }
}

/// Asks once. Who wants to try again does.
pub(crate) async fn ask<C: Capability>(
    egress: &Egress,
    provider: &Provider,
    permit: &Permit<'_, C>,
    query: &Query,
) -> Result<Answer<Found>, CallError> {
    let session = permit.session();
    let (method, path, body) = provider.kind.request(query);
    let url = format!("{}{path}", provider.base_url.trim_end_matches('/'));
    let target: Target = match url.parse() {
        Ok(target) => target,
        Err(error) => {
            return Ok(Err(Failure::new("search_config", format!("the provider's `base-url`: {error}"))));
        }
    };
    let key = provider.key.as_ref().map(|it| (&**it, provider.kind.key_header()));
    let policy = match only(&target, key) {
        Ok(policy) => policy,
        Err(why) => {
            let message = format!("the key of the search provider is not to be had: {why}");
            return Ok(Err(Failure::new("search_key", message)));
        }
    };
    let left = session.deadline().map(|it| it.at().saturating_duration_since(Instant::now()));
    let caller = Caller {
        tenant: session.spec().tenant.clone(),
        principal: session.spec().principal.clone(),
        observer: Arc::new(Told(permit.attempts())),
    };
    let request = Request {
        method,
        target,
        headers: headers(),
        body: body.map_or_else(Bytes::new, |it| it.to_string().into()),
        redirects: Redirects::Return,
        decoding: Decoding::Decode,
        limits: Limits {
            response_bytes_max: RECEIVED_BYTES_MAX,
            total_max: left.map_or(provider.total_max, |it| it.min(provider.total_max)),
            ..Limits::default()
        },
    };
    let response = match held(egress.fetch(&caller, &policy, request)).await {
        Ok(response) => response,
        Err(error) => return failed(&error).map(Err),
    };
    let status = response.status.as_u16();
    if let Some(code) = refusal(status) {
        let message = format!("the search provider answered {status}");
        return Ok(Err(Failure::new(code, message)));
    }
    let body = match held(response.body.read_all()).await {
        Ok(body) => body,
        Err(error) => return failed(&error).map(Err),
    };
    Ok(found(provider.kind, &body, query))
}

/// What a status says that is none of success. Where it leads instead is not followed: the key is for one server.
const fn refusal(status: u16) -> Option<&'static str> {
    match status {
        200..=299 => None,
        401 | 403 => Some("search_unauthorized"),
        429 => Some("search_rate_limited"),
        400..=499 => Some("search_bad_request"),
        _ => Some("search_failed"),
    }
}

fn headers() -> HeaderMap {
    let all =
        [("accept", "application/json"), ("content-type", "application/json"), ("user-agent", "drydock")];
    all.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
}

/// Why nothing came.
fn failed(error: &FetchError) -> Result<Failure, CallError> {
    if let FetchError::NotRecorded(error) = error {
        return Err(Fault::Unrecorded(error.to_string()).into());
    }
    let code = match error.kind() {
        FailureKind::Timeout => "timed_out",
        FailureKind::TooLarge => "answer_too_large",
        _ => error.code(),
    };
    let cause = std::error::Error::source(error).map(|it| format!(": {it}")).unwrap_or_default();
    Ok(Failure::new(code, format!("the search provider: {error}{cause}")))
}

/// What of an answer is kept.
fn found(kind: ProviderKind, body: &[u8], query: &Query) -> Answer<Found> {
    let bad = |why: String| {
        Failure::new(
            "bad_answer",
            format!("the search provider answered no results of {}: {why}", kind.as_str()),
        )
    };
    let answer: Value = serde_json::from_slice(body).map_err(|error| bad(error.to_string()))?;
    let (place, snippet) = kind.shape();
    let all = match answer.pointer(place) {
        Some(Value::Array(all)) => all.as_slice(),
        // Nothing was found: there is an answer, and no list in it.
        None if answer.is_object() && answer.get("error").is_none() => &[],
        _ => return Err(bad(format!("there is no list at `{place}`"))),
    };
    let mut hits = all.iter().filter_map(|it| hit(it, snippet)).peekable();
    let most = usize::try_from(query.results_max()).unwrap_or(usize::MAX);
    let results: Vec<Hit> = hits.by_ref().take(most).collect();
    Ok(Found { provider: kind.as_str().to_owned(), results, is_cut: hits.peek().is_some() })
}

/// One result; nothing where it leads nowhere.
fn hit(value: &Value, snippet: &str) -> Option<Hit> {
    let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
    let url = text("url").trim();
    let leads = ["http://", "https://"].iter().any(|it| url.starts_with(it));
    let plain = |it: char| !it.is_control() && !it.is_whitespace();
    if !leads || url.len() > URL_BYTES_MAX || !url.chars().all(plain) {
        return None;
    }
    Some(Hit {
        title: line(text("title"), TITLE_BYTES_MAX),
        url: url.to_owned(),
        snippet: line(text(snippet), SNIPPET_BYTES_MAX),
    })
}

/// A text on one line, without control characters and the tags that providers mark words with, and no longer than that.
fn line(text: &str, bytes_max: usize) -> String {
    // What would be cut away anyway is not looked at.
    let mut text = text.get(..text.floor_char_boundary(4 * bytes_max)).unwrap_or_default().to_owned();
    for tag in ["strong", "b", "em"] {
        text = text.replace(&format!("<{tag}>"), "").replace(&format!("</{tag}>"), "");
    }
    let blank = |it: char| if it.is_control() { ' ' } else { it };
    let spaced: String = text.chars().map(blank).collect();
    let joined = spaced.split_whitespace().collect::<Vec<_>>().join(" ");
    joined.get(..joined.floor_char_boundary(bytes_max)).unwrap_or_default().to_owned()
}

/// Words as they stand in a URL's query.
fn escaped(words: &str) -> String {
    let mut text = String::with_capacity(words.len());
    for byte in words.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                text.push(char::from(byte))
            }
            _ => {
                // Writing to a text cannot fail.
                let _ = write!(text, "%{byte:02X}");
            }
        }
    }
    text
}

/// Reads bytes as every provider's answer, for the fuzzers and nobody else; the most results of any.
#[doc(hidden)]
pub fn foreign_answer(bytes: &[u8]) -> usize {
    let query = Query { query: "x".into(), count: None };
    let read = ProviderKind::ALL.iter().filter_map(|kind| found(*kind, bytes, &query).ok());
    read.map(|it| it.results.len()).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(query: &str, count: Option<u32>) -> Query {
        Query { query: query.into(), count }
    }

    #[test]
    fn each_provider_is_asked_in_its_own_words() {
        let asked: Vec<String> = ProviderKind::ALL
            .iter()
            .map(|kind| {
                let (method, path, body) = kind.request(&words("a b&c=ü", Some(3)));
                format!("{method} {path} {} {:?}", body.unwrap_or_default(), kind.key_header())
            })
            .collect();
        let want = [
            r#"GET /web/search?q=a%20b%26c%3D%C3%BC&count=3 null ("x-subscription-token", "")"#,
            r#"GET /search?q=a%20b%26c%3D%C3%BC&format=json null ("authorization", "Bearer ")"#,
            r#"POST /search {"max_results":3,"query":"a b&c=ü"} ("authorization", "Bearer ")"#,
        ];
        assert_eq!(asked, want);
    }

    #[test]
    fn results_are_bounded_and_lead_to_the_web_or_are_none() {
        let hit = |url: &str| json!({ "title": " <strong>T</strong>\n\u{1b}[2J", "url": url, "content": "x".repeat(9000) });
        let all = json!({ "results": [
            hit("javascript:alert(1)"), hit("https://a.test/ b"), hit("https://a.test/1"), { "url": 7 }, "text",
            hit(&format!("https://a.test/{}", "x".repeat(9000))), hit("http://a.test/2"), hit("https://a.test/3"),
        ] });
        let found = found(ProviderKind::Searxng, all.to_string().as_bytes(), &words("x", Some(2))).unwrap();
        let urls: Vec<&str> = found.results.iter().map(|it| it.url.as_str()).collect();
        assert_eq!((urls, found.is_cut), (vec!["https://a.test/1", "http://a.test/2"], true));
        assert_eq!(
            (found.results[0].title.as_str(), found.results[0].snippet.len()),
            ("T [2J", SNIPPET_BYTES_MAX)
        );
    }

    #[test]
    fn nothing_found_is_an_answer_and_what_is_none_is_named() {
        let read = |kind, text: &str| found(kind, text.as_bytes(), &words("x", None));
        for kind in ProviderKind::ALL {
            assert_eq!(read(*kind, "{}").unwrap().results, [], "{kind:?}");
            for text in ["", "[]", "<html>", r#"{"results":1,"web":{"results":{}}}"#, r#"{"error":"no"}"#] {
                assert_eq!(read(*kind, text).unwrap_err().code, "bad_answer", "{kind:?} {text}");
            }
        }
    }

    proptest! {
        #[test]
        fn no_answer_breaks_the_reader_and_what_it_keeps_is_bounded(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            title in "\\PC{0,40}",
            urls in prop::collection::vec("(https?://|)[a-z ./\\x01]{0,20}", 0..40),
            count in 1_u32..=RESULTS_MAX,
        ) {
            foreign_answer(&bytes);
            let results: Vec<Value> =
                urls.iter().map(|url| json!({ "title": title, "url": url, "content": title, "description": title })).collect();
            let answer = json!({ "results": results, "web": { "results": results } }).to_string();
            for kind in ProviderKind::ALL {
                let kept = found(*kind, answer.as_bytes(), &words("x", Some(count))).unwrap();
                prop_assert!(kept.results.len() <= count as usize);
                prop_assert!(serde_json::to_vec(&kept).unwrap().len() as u64 <= ANSWER_BYTES_MAX);
                for Hit { title, url, .. } in &kept.results {
                    prop_assert!(url.starts_with("http") && !url.contains(char::is_whitespace), "{url:?}");
                    prop_assert!(!title.chars().any(char::is_control));
                }
            }
            let target: Result<Target, _> = format!("http://a.test/search?q={}", escaped(&title)).parse();
            prop_assert!(target.is_ok());
        }
    }
}
