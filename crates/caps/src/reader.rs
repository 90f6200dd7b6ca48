//! A page on its way from a server to a reader: fetched hop by hop, each judged like the first, and taken apart by a guest
//! that sees the page and nothing else.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use bytes::Bytes;
use drydock_abi::{
    broker::{Answer, Failure},
    browse::{Link, PAGE_BYTES_MAX, Page, REDIRECTS_MAX},
};
use drydock_contract::{
    CallError, CapSet, Entropy, Fault, GuestTime, Limits as RunLimits, Outcome, Principal, RunRequest, Sink,
    Source, Streams, Tenant, Timestamp, WorkingDir,
    host::PRIVATE,
    port::{Registry, Runner},
};
use drydock_egress::{
    Caller, Decoding, Egress, FailureKind, FetchError, HeaderMap, HeaderName, HeaderValue, Limits, Method,
    Policy as Reach, Redirects, Refusal, Request, Response, Rules, StatusCode, Target,
};
use drydock_gate::{Capability, Permit};
use futures_util::{future::select_all, lock};
use parking_lot::Mutex;
use serde::Deserialize;

use crate::{
    broker::Policy,
    browse::{Ready, follow},
    fetch::{Told, held},
    net::not_open,
};

/// The guest that takes a page apart.
const GUEST: &str = "html-to-json";
/// Memory of that guest: a page, its tree, and what comes of it.
const MEMORY_BYTES_MAX: u64 = 64 << 20;
/// Such guests of one principal that run at once. The other pages wait, so that a program that asks for many takes no more
/// memory than these.
pub(crate) const READERS_MAX: usize = 4;
/// Instructions of that guest.
const FUEL_MAX: u64 = 5_000_000_000;
/// What it may write: text and links as JSON.
const OUTPUT_BYTES_MAX: u64 = 8 << 20;
/// Time for a page with all its hops, where the caller has no end of its own.
const WHOLE_MAX: Duration = Duration::from_secs(30);
/// The longest text of a link, its place included.
const LINK_BYTES_MAX: usize = 4096;

/// A page as it came.
pub(crate) struct FetchedPage {
    pub(crate) target: Target,
    pub(crate) status: u16,
    /// As far as it is shown to somebody.
    pub(crate) content_type: String,
    pub(crate) kind: Option<Kind>,
    pub(crate) body: Bytes,
    pub(crate) until: Instant,
}

/// How a page is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// By its tags.
    Html,
    /// As it is.
    Text,
}

impl Kind {
    /// What a server calls a page; one that says nothing sends HTML more often than not.
    pub(crate) fn of(content_type: &str) -> Option<Self> {
        let name = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match name.as_str() {
            "" | "text/html" | "application/xhtml+xml" => Some(Self::Html),
            "application/json" | "application/xml" => Some(Self::Text),
            name if name.starts_with("text/") || name.ends_with("+json") || name.ends_with("+xml") => {
                Some(Self::Text)
            }
            _ => None,
        }
    }
}

/// Fetches a page. Redirects are followed as far as grants go.
pub(crate) async fn fetch<C: Capability>(
    egress: &Egress,
    policy: &Policy,
    permit: &Permit<'_, C>,
    ready: Ready,
) -> Result<Answer<FetchedPage>, CallError> {
    let session = permit.session();
    let Ready { mut target, mut opened, timeout_ms, .. } = ready;
    let left = session.deadline().map(|it| it.at().saturating_duration_since(Instant::now()));
    let asked = timeout_ms.map(Duration::from_millis);
    let until = Instant::now() + [left, asked].into_iter().flatten().fold(WHOLE_MAX, Duration::min);
    let caller = Caller {
        tenant: session.spec().tenant.clone(),
        principal: session.spec().principal.clone(),
        observer: Arc::new(Told(permit.attempts())),
    };
    for _ in 0..=REDIRECTS_MAX {
        let reach = Reach::new(Rules::only(&target, opened), Vec::new());
        let request = Request {
            method: Method::GET,
            target: target.clone(),
            headers: headers(),
            body: Bytes::new(),
            redirects: Redirects::Return,
            decoding: Decoding::Decode,
            limits: Limits {
                response_bytes_max: PAGE_BYTES_MAX,
                total_max: until.saturating_duration_since(Instant::now()),
                ..Limits::default()
            },
        };
        let response = match held(egress.fetch(&caller, &reach, request)).await {
            Ok(response) => response,
            Err(error) => return failed(error).map(Err),
        };
        let Some(next) = redirect(&response) else {
            return whole(response, until).await;
        };
        target = match target.join(&next) {
            Ok(target) => target,
            Err(error) => {
                let message = format!("it redirects to a place that cannot be read: {error}");
                return Ok(Err(Failure::new(error.code(), message)));
            }
        };
        opened = follow(policy, session, &target)?;
    }
    let message = format!("more than {REDIRECTS_MAX} redirects");
    Ok(Err(Failure::new("too_many_redirects", message)))
}

fn headers() -> HeaderMap {
    let all = [
        ("accept", "text/html, application/xhtml+xml, text/*;q=0.8, application/json;q=0.5, */*;q=0.1"),
        ("user-agent", "drydock"),
    ];
    all.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
}

/// Where an answer points instead.
fn redirect(response: &Response) -> Option<String> {
    let points = [
        StatusCode::MOVED_PERMANENTLY,
        StatusCode::FOUND,
        StatusCode::SEE_OTHER,
        StatusCode::TEMPORARY_REDIRECT,
        StatusCode::PERMANENT_REDIRECT,
    ];
    let location = response.headers.get("location").filter(|_| points.contains(&response.status))?;
    Some(String::from_utf8_lossy(location.as_bytes()).into_owned())
}

async fn whole(response: Response, until: Instant) -> Result<Answer<FetchedPage>, CallError> {
    let Response { status, headers, target, body, .. } = response;
    let said = headers.get("content-type").map(|it| String::from_utf8_lossy(it.as_bytes()).into_owned());
    let content_type: String = said.unwrap_or_default().chars().take(100).collect();
    let kind = Kind::of(&content_type);
    // What is no page is not read for nothing.
    let body = match kind {
        None => Bytes::new(),
        Some(_) => match held(body.read_all()).await {
            Ok(body) => body,
            Err(error) => return failed(error).map(Err),
        },
    };
    Ok(Ok(FetchedPage { target, status: status.as_u16(), content_type, kind, body, until }))
}

/// What the network did is an answer; what nobody may reach is a denial.
fn failed(error: FetchError) -> Result<Failure, CallError> {
    use drydock_contract::Cap::Browse;
    match &error {
        FetchError::Refused(Refusal::AddressForbidden { address, port, .. }) => {
            let subject = format!("{PRIVATE}{}", core::net::SocketAddr::new(*address, *port));
            return Err(not_open(Browse, &subject).into());
        }
        FetchError::NotRecorded(error) => return Err(Fault::Unrecorded(error.to_string()).into()),
        _ => {}
    }
    let code = match error.kind() {
        FailureKind::Timeout => "timed_out",
        FailureKind::TooLarge => "page_too_large",
        _ => error.code(),
    };
    let cause = std::error::Error::source(&error).map(|it| format!(": {it}")).unwrap_or_default();
    Ok(Failure::new(code, format!("{error}{cause}")))
}

/// What the guest writes. It has read a foreign page, so nothing of it is taken at its word.
#[derive(Deserialize)]
struct Reduced {
    title: String,
    description: String,
    /// What references of the page are relative to, if it says.
    base: Option<String>,
    text: String,
    is_text_cut: bool,
    links: Vec<(String, String)>,
    are_links_cut: bool,
}

/// Whoever takes pages apart.
pub(crate) struct Reader {
    registry: Arc<dyn Registry>,
    runner: Arc<dyn Runner>,
    /// Of those who have a page that is read or waits.
    turns: Mutex<HashMap<(Tenant, Principal), Weak<Turns>>>,
}

/// Readers of one principal: whoever holds a lock reads.
type Turns = [lock::Mutex<()>; READERS_MAX];

impl Reader {
    pub(crate) fn new(registry: Arc<dyn Registry>, runner: Arc<dyn Runner>) -> Self {
        Self { registry, runner, turns: Mutex::default() }
    }

    fn turns(&self, tenant: &Tenant, principal: &Principal) -> Arc<Turns> {
        let mut all = self.turns.lock();
        all.retain(|_, it| it.strong_count() > 0);
        let its = all.entry((tenant.clone(), principal.clone())).or_default();
        its.upgrade().unwrap_or_else(|| {
            let new = Arc::new(Turns::default());
            *its = Arc::downgrade(&new);
            new
        })
    }

    /// A page as a reader would have it.
    pub(crate) async fn read<C: Capability>(
        &self,
        permit: &Permit<'_, C>,
        page: FetchedPage,
        kind: Kind,
        bounds: crate::browse::Bounds,
    ) -> Result<Answer<Page>, CallError> {
        let missing = || Fault::Internal(format!("the built-in `{GUEST}` is missing"));
        let entry = self.registry.lookup(GUEST, None).filter(|it| it.builtin).ok_or_else(missing)?;
        let artifact = self.registry.to_run(&entry).map_err(Fault::from)?;
        let how = if kind == Kind::Text { "--plain" } else { "--html" };
        let argv = [
            GUEST.to_owned(),
            how.to_owned(),
            format!("--type={}", page.content_type),
            format!("--text-max={}", bounds.text_bytes_max),
            // A few more than are wanted: some lead to what is no page.
            format!("--links-max={}", bounds.links_max.saturating_mul(2)),
        ];
        let session = permit.session();
        let spec = session.spec();
        let turns = self.turns(&spec.tenant, &spec.principal);
        // The first that is free, held until the page is read. Nobody waits for long: each reader has an end of its own.
        let (_turn, ..) = select_all(turns.iter().map(lock::Mutex::lock)).await;
        let wall_max = page.until.saturating_duration_since(Instant::now());
        if wall_max.is_zero() {
            let message = "the time was over before the page could be read; other pages were being read";
            return Ok(Err(Failure::new("timed_out", message)));
        }
        let request = RunRequest {
            artifact,
            argv: argv.into_iter().map(String::into_bytes).collect(),
            env: Arc::new([]),
            streams: Streams {
                stdin: Source::Bytes(page.body.clone()),
                stdout: Sink::capture(),
                ..Streams::default()
            },
            files: None,
            trees: Vec::new(),
            working_dir: WorkingDir::Own,
            file_rules: permit.file_rules(),
            limits: RunLimits {
                memory_bytes_max: MEMORY_BYTES_MAX,
                fuel_max: FUEL_MAX,
                wall_max,
                stdin_bytes_max: PAGE_BYTES_MAX,
                stdout_bytes_max: OUTPUT_BYTES_MAX,
                ..RunLimits::default()
            },
            memory: spec.memory.clone(),
            lane: Some(entry.options.lane()),
            compile: None,
            caps: CapSet::EMPTY,
            // The same page is the same text, whenever it is read.
            time: GuestTime::Fixed(Timestamp(0)),
            clock: None,
            entropy: Entropy::Seeded(0),
            door: permit.door(),
            switches: session.switches(),
            budget: spec.budget.clone(),
            preparing: Some(Arc::clone(session.preparing())),
            depth: session.depth() + 1,
            tenant: spec.tenant.clone(),
            pays_for_code: false,
        };
        let (report, streams) = self.runner.run(request).await?;
        let failure = match report.outcome {
            Outcome::Exited(0) => None,
            Outcome::Cancelled => Some(Failure::new("cancelled", "the page was not read to its end")),
            Outcome::TimedOut => Some(Failure::new("timed_out", "the page took too long to be read")),
            outcome => Some(Failure::new("bad_page", unreadable(&outcome))),
        };
        if let Some(failure) = failure {
            return Ok(Err(failure));
        }
        let reduced: Result<Reduced, _> = serde_json::from_slice(&streams.stdout.into_captured());
        Ok(match reduced {
            Ok(reduced) => Ok(shown(page, reduced, bounds)),
            Err(_) => Err(Failure::new("bad_page", "the page cannot be read")),
        })
    }
}

/// Why a page broke its reader, for whoever asked for the page.
fn unreadable(outcome: &Outcome) -> String {
    let why = match outcome {
        Outcome::OutOfMemory => format!(
            "reading it takes more memory than there is: a page may take {} MiB, or what its line has left",
            MEMORY_BYTES_MAX >> 20
        ),
        Outcome::OutOfFuel => {
            "reading it takes more instructions than a page may take, or than are left to spend".into()
        }
        Outcome::OutputLimit => "its text and links are longer than a page may have".into(),
        _ => "it breaks its reader".into(),
    };
    format!("the page cannot be read: {why} ({})", outcome.code())
}

/// The page as it is handed over: within its bounds, whatever the guest wrote, and with places that can be asked for.
fn shown(page: FetchedPage, reduced: Reduced, bounds: crate::browse::Bounds) -> Page {
    let Reduced { title, description, base, mut text, is_text_cut, links, are_links_cut } = reduced;
    let base = base.and_then(|it| page.target.join(&it).ok()).unwrap_or_else(|| page.target.clone());
    let text_bytes_max = bounds.text_bytes_max as usize;
    let is_text_cut = is_text_cut || text.len() > text_bytes_max;
    text.truncate(text.floor_char_boundary(text_bytes_max));
    let mut seen = std::collections::BTreeSet::new();
    let mut shown: Vec<Link> = Vec::new();
    let mut more = are_links_cut;
    for (words, reference) in links {
        // Scripts, addresses of mail and places within the page lead nowhere that could be asked for.
        let Ok(target) = base.join(&reference) else { continue };
        let url = target.href().split('#').next().unwrap_or_default().to_owned();
        if words.len() + url.len() > LINK_BYTES_MAX || reference.starts_with('#') || !seen.insert(url.clone())
        {
            continue;
        }
        if shown.len() >= bounds.links_max as usize {
            more = true;
            break;
        }
        shown.push(Link { text: words, url });
    }
    let short = |it: String| it.chars().take(1000).collect();
    let url = page.target.href().to_owned();
    let (title, description) = (short(title), short(description));
    Page {
        url,
        status: page.status,
        title,
        description,
        text,
        links: shown,
        is_text_cut,
        are_links_cut: more,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// References that lead somewhere, nowhere, and to where nobody asks.
    fn reference() -> impl Strategy<Value = String> {
        let known = [
            "/a",
            "b?c#d",
            "//c.test/",
            "https://d.test:8/",
            "javascript:x",
            "#e",
            "http://u@f.test/",
            "\\\\g",
        ];
        prop_oneof![proptest::sample::select(known.to_vec()).prop_map(str::to_owned), any::<String>()]
    }

    proptest! {
        #[test]
        fn any_json_of_the_guest_is_a_page_within_its_bounds_or_none(
            (title, base, text) in (any::<String>(), proptest::option::of(reference()), any::<String>()),
            links in proptest::collection::vec((any::<String>(), reference()), 0..20),
            (text_bytes_max, links_max) in (0_u32..64, 0_u32..8),
            noise in any::<Vec<u8>>(),
        ) {
            let _ = serde_json::from_slice::<Reduced>(&noise);
            let bounds = crate::browse::Bounds { text_bytes_max, links_max };
            let reduced = serde_json::json!({
                "title": title, "description": title, "base": base, "text": text, "is_text_cut": false,
                "links": links, "are_links_cut": false,
            });
            let reduced: Reduced = serde_json::from_slice(reduced.to_string().as_bytes()).unwrap();
            let page = shown(page(), reduced, bounds);
            prop_assert!(page.text.len() <= text_bytes_max as usize && text.starts_with(&page.text));
            prop_assert_eq!(page.is_text_cut, page.text != text);
            prop_assert!(page.links.len() <= links_max as usize);
            for link in &page.links {
                let target: Result<Target, _> = link.url.parse();
                prop_assert_eq!(target.map(|it| it.href().to_owned()).ok(), Some(link.url.clone()));
                prop_assert!(link.text.len() + link.url.len() <= LINK_BYTES_MAX && !link.url.contains('#'));
            }
        }
    }

    fn page() -> FetchedPage {
        FetchedPage {
            target: "https://a.test/x/y?q".parse().unwrap(),
            status: 200,
            content_type: String::new(),
            kind: Some(Kind::Html),
            body: Bytes::new(),
            until: Instant::now(),
        }
    }

    #[test]
    fn what_a_server_calls_a_page_decides_how_it_is_read() {
        for (name, want) in [
            ("", Some(Kind::Html)),
            ("text/html; charset=utf-8", Some(Kind::Html)),
            ("Application/XHTML+XML", Some(Kind::Html)),
            ("text/markdown", Some(Kind::Text)),
            ("application/problem+json", Some(Kind::Text)),
            ("image/svg+xml", Some(Kind::Text)),
            ("image/png", None),
            ("application/octet-stream", None),
        ] {
            assert_eq!(Kind::of(name), want, "{name}");
        }
    }

    #[test]
    fn whatever_the_guest_wrote_a_page_is_within_its_bounds_and_its_links_can_be_asked_for() {
        let link = |it: &str| ("t".to_owned(), it.to_owned());
        let reduced = Reduced {
            title: "t".repeat(5000),
            description: String::new(),
            base: Some("/z/".into()),
            text: "\u{e9}".repeat(100),
            is_text_cut: false,
            links: [
                "b",
                "javascript:alert(1)",
                "mailto:a@b",
                "#x",
                "b#frag",
                "//c.test/",
                "http://u:p@d.test/",
                "e",
                "f",
            ]
            .map(link)
            .into(),
            are_links_cut: false,
        };
        let bounds = crate::browse::Bounds { text_bytes_max: 11, links_max: 3 };
        let page = shown(page(), reduced, bounds);
        let links: Vec<_> = page.links.iter().map(|it| it.url.as_str()).collect();
        assert_eq!(links, ["https://a.test/z/b", "https://c.test/", "https://a.test/z/e"]);
        assert_eq!(
            (page.text.len(), page.is_text_cut, page.are_links_cut, page.title.len()),
            (10, true, true, 1000)
        );
    }
}
