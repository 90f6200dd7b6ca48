//! curl's own work: each URL of the command line, with its redirects and retries.

use std::time::{Duration, Instant};

use crate::{
    cookie::Jar,
    data,
    failure::{Failure, HTTP_ERROR, NO_CONNECTION, PARTIAL, TIMED_OUT, TOO_MANY_REDIRECTS, WRITE_ERROR},
    flags::{self, Fail, Flags},
    output::{Output, head_text},
    request::Request,
    wire::{Event, Host, Reader, Wire},
    write_out::{self, Facts},
};

/// Redirects that are followed where nobody says how many.
const REDIRECTS_MAX: u32 = 50;
/// The longest wait before another try.
const WAIT_SECONDS_MAX: u64 = 600;

/// Runs the command line, and answers its exit status.
pub(crate) fn run(args: &[String]) -> i32 {
    let flags = match flags::read(args) {
        Ok(flags) => flags,
        Err(failure) => {
            place::stdio::complain("curl", &failure.message);
            place::stdio::complain("curl", "try 'curl --help' or 'curl --manual' for more information");
            return failure.status;
        }
    };
    if let Some(text) = flags.told {
        return if place::stdio::print(text.as_bytes()) { 0 } else { WRITE_ERROR };
    }
    let mut client = Client { flags: &flags, jar: Jar::default(), dumped: false, wire: &Host };
    client.load_cookies();
    let mut status = 0;
    for (index, url) in flags.urls.iter().enumerate() {
        status = client.transfer(index, url);
        if status != 0 && flags.fail_early {
            break;
        }
    }
    match client.keep_cookies() {
        Some(failed) if status == 0 => failed,
        _ => status,
    }
}

struct Client<'a> {
    flags: &'a Flags,
    jar: Jar,
    /// Whether the file of `-D` has a head already.
    dumped: bool,
    wire: &'a dyn Wire,
}

/// How one try ended.
struct Ended {
    failure: Option<Failure>,
    retry_after: Option<u64>,
    /// Whether the answer asks for another try.
    transient: bool,
}

impl Client<'_> {
    /// One URL, as often as it takes. The exit status.
    fn transfer(&mut self, index: usize, url: &str) -> i32 {
        let began = Instant::now();
        let mut facts = Facts { url: url.to_owned(), ..Facts::default() };
        let mut tries_left = self.flags.retries;
        let mut wait = 1;
        let failure = loop {
            let ended = self.attempt(index, url, began, &mut facts);
            let again = ended.transient || ended.failure.as_ref().is_some_and(|it| self.is_transient(it));
            if !again || tries_left == 0 {
                break ended.failure;
            }
            let seconds = self.flags.retry_delay.or(ended.retry_after).unwrap_or(wait).min(WAIT_SECONDS_MAX);
            let what = if ended.failure.is_some() { "connection" } else { "HTTP error" };
            self.warn(&format!(
                "Problem: {what}. Will retry in {seconds} second(s). {tries_left} retries left."
            ));
            std::thread::sleep(Duration::from_secs(seconds));
            (tries_left, wait) = (tries_left - 1, wait * 2);
        };
        let status = failure.as_ref().map_or(0, |it| it.status);
        if let Some(failure) = &failure
            && (!self.flags.silent || self.flags.show_error)
        {
            place::stdio::complain("curl", &format!("({status}) {}", failure.message));
        }
        (facts.time, facts.exit) = (began.elapsed(), status);
        facts.error = failure.map(|it| it.message).unwrap_or_default();
        self.say(&facts).unwrap_or(status)
    }

    /// What `-w` asks for; a status where that fails.
    fn say(&self, facts: &Facts) -> Option<i32> {
        let format = self.flags.write_out.as_ref()?;
        let read = match format.strip_prefix('@') {
            Some(file) => data::read(file).map(|it| String::from_utf8_lossy(&it).into_owned()),
            None => Ok(format.clone()),
        };
        let format = match read {
            Ok(format) => format,
            Err(failure) => return Some(failure.status),
        };
        let (out, err) = write_out::rendered(&format, facts);
        eprint(&err);
        (!place::stdio::print(out.as_bytes())).then_some(WRITE_ERROR)
    }

    fn is_transient(&self, failure: &Failure) -> bool {
        failure.transient
            || self.flags.retry_all
            || (self.flags.retry_refused && failure.status == NO_CONNECTION)
    }

    /// One try, with its redirects.
    fn attempt(&mut self, index: usize, url: &str, began: Instant, facts: &mut Facts) -> Ended {
        let failed = |failure| Ended { failure: Some(failure), retry_after: None, transient: false };
        let made = Request::of(self.flags, url).and_then(|request| {
            let output = Output::of(self.flags, index, &request.url)?;
            Ok((request, output))
        });
        let (mut request, mut output) = match made {
            Ok(made) => made,
            Err(failure) => return failed(failure),
        };
        (facts.redirects, facts.downloaded, facts.header_bytes, facts.number) = (0, 0, 0, index);
        loop {
            facts.url = request.url.text();
            facts.method.clone_from(&request.method);
            facts.uploaded = request.body.as_ref().map_or(0, |it| it.len() as u64);
            facts.answered = false;
            let next = match self.hop(&request, &mut output, began, facts) {
                Ok(next) => next,
                Err(failure) => return failed(in_curls_words(failure, &request, facts, began.elapsed())),
            };
            let Some(location) = next else { break };
            facts.redirects += 1;
            let most = self.flags.redirects_max.unwrap_or(REDIRECTS_MAX);
            if facts.redirects > most {
                return failed(Failure::new(
                    TOO_MANY_REDIRECTS,
                    format!("Maximum ({most}) redirects followed"),
                ));
            }
            request = match request.follow(self.flags, facts.head.status, &location) {
                Ok(next) => next,
                Err(failure) => return failed(failure),
            };
        }
        facts.file = output.name().to_owned();
        let status = facts.head.status;
        let transient = matches!(status, 408 | 429 | 500 | 502 | 503 | 504);
        let retry_after = facts.head.get("retry-after").and_then(|it| it.parse().ok());
        let failure = (self.flags.fail != Fail::No && status >= 400)
            .then(|| Failure::new(HTTP_ERROR, format!("The requested URL returned error: {status}")));
        Ended { failure, retry_after, transient }
    }

    /// One request. Where its answer points, if that is to be followed.
    fn hop(
        &mut self,
        request: &Request,
        output: &mut Output,
        began: Instant,
        facts: &mut Facts,
    ) -> Result<Option<String>, Failure> {
        let now = calendar::now();
        let jar = self.jar.header_for(&request.url, now).filter(|_| !request.has("cookie"));
        let words = if request.at_home { self.words() } else { Vec::new() };
        let cookies = jar.into_iter().chain((!words.is_empty()).then(|| words.join(";"))).collect::<Vec<_>>();
        let cookies = (!cookies.is_empty()).then(|| cookies.join("; "));
        let json = request.json(self.flags, cookies, self.time_left(began)?);
        self.tell_request(request);
        let mut reader = Reader::new(self.wire.start(&json)?);
        let head = match reader.next()? {
            Event::Head(head) => head,
            _ => return Err(Failure::broken()),
        };
        facts.head_time = began.elapsed();
        let (set, keeps) = (head.headers.iter(), self.keeps_cookies());
        let set = set.filter(|it| keeps && it.0.eq_ignore_ascii_case("set-cookie"));
        for (_, value) in set {
            self.jar.store(&request.url, value, now);
        }
        let text = head_text(&head);
        facts.header_bytes += text.len() as u64;
        self.tell_head(&text)?;
        let location = head.get("location").filter(|_| matches!(head.status, 301 | 302 | 303 | 307 | 308));
        let location = location.map(str::to_owned);
        facts.redirect_url = match &location {
            Some(it) if !self.flags.location => request.url.join(it).map(|it| it.text()).unwrap_or_default(),
            _ => String::new(),
        };
        if self.flags.include || self.flags.head {
            output.write(text.as_bytes())?;
        }
        (facts.head, facts.answered) = (head, true);
        if self.flags.location && location.is_some() {
            return Ok(location);
        }
        self.pass_on(&mut reader, output, facts).map(|()| None)
    }

    /// Passes the body on as it comes.
    fn pass_on(&self, reader: &mut Reader, output: &mut Output, facts: &mut Facts) -> Result<(), Failure> {
        let quiet = self.flags.fail == Fail::Quietly && facts.head.status >= 400;
        if self.flags.header_name {
            output.rename(&facts.head);
        }
        loop {
            match reader.next()? {
                Event::Body(piece) => {
                    facts.downloaded += piece.len() as u64;
                    if !quiet {
                        output.write(&piece)?;
                    }
                }
                Event::End if quiet => return Ok(()),
                Event::End => return output.finish(),
                Event::Head(_) => return Err(Failure::broken()),
            }
        }
    }

    /// Cookies that were named by words.
    fn words(&self) -> Vec<&str> {
        self.flags.cookies.iter().filter(|it| it.contains('=')).map(String::as_str).collect()
    }

    fn time_left(&self, began: Instant) -> Result<Option<u64>, Failure> {
        let Some(seconds) = self.flags.time_max.filter(|it| *it > 0.0) else { return Ok(None) };
        let whole = Duration::from_secs_f64(seconds.min(1e9));
        let left = whole.saturating_sub(began.elapsed());
        if left.is_zero() {
            let millis = whole.as_millis();
            return Err(Failure::new(TIMED_OUT, format!("Operation timed out after {millis} milliseconds")));
        }
        Ok(Some(u64::try_from(left.as_millis()).unwrap_or(u64::MAX).max(1)))
    }

    /// Cookies are kept from one answer to the next request where somebody named a file for them, be it one that is not there.
    fn keeps_cookies(&self) -> bool {
        self.flags.jar.is_some() || self.flags.cookies.iter().any(|it| !it.contains('='))
    }

    fn load_cookies(&mut self) {
        for file in self.flags.cookies.iter().filter(|it| !it.contains('=') && !it.is_empty()) {
            // One that is not there turns cookies on, and has none.
            if let Ok(bytes) = data::read(file) {
                self.jar.load(&String::from_utf8_lossy(&bytes));
            }
        }
    }

    /// A status where they cannot be kept.
    fn keep_cookies(&self) -> Option<i32> {
        let file = self.flags.jar.as_ref()?;
        let text = self.jar.save();
        let done = if file == "-" {
            place::stdio::print(text.as_bytes())
        } else {
            std::fs::write(file, text).is_ok()
        };
        if !done {
            self.warn(&format!("failed to save cookies in {file}"));
        }
        None
    }

    fn tell_request(&self, request: &Request) {
        if !self.flags.verbose {
            return;
        }
        let mut text = format!(
            "> {} {} HTTP/1.1\n> Host: {}\n",
            request.method, request.url.path, request.url.authority
        );
        for (name, value) in &request.headers {
            text.push_str(&format!("> {name}: {value}\n"));
        }
        eprint(&(text + "> \n"));
    }

    fn tell_head(&mut self, text: &str) -> Result<(), Failure> {
        if self.flags.verbose {
            eprint(&text.lines().map(|line| format!("< {}\n", line.trim_end())).collect::<String>());
        }
        let flags = self.flags;
        match flags.dump_header.as_deref() {
            None => Ok(()),
            Some("-") if place::stdio::print(text.as_bytes()) => Ok(()),
            Some(file) if self.keep_head(file, text) => Ok(()),
            Some(file) => Err(Failure::new(WRITE_ERROR, format!("Failed to open {file}"))),
        }
    }

    /// Each head behind the one before it, in a file that is made anew by the first.
    fn keep_head(&mut self, file: &str, text: &str) -> bool {
        let first = !std::mem::replace(&mut self.dumped, true);
        let mut options = std::fs::OpenOptions::new();
        let opened = options.create(true).write(true).append(!first).truncate(first).open(file);
        opened.and_then(|mut it| std::io::Write::write_all(&mut it, text.as_bytes())).is_ok()
    }

    fn warn(&self, text: &str) {
        if !self.flags.silent {
            eprint(&format!("Warning: {text}\n"));
        }
    }
}

/// What the host says of a connection, as curl says it; what it says of grants stays as it is.
fn in_curls_words(failure: Failure, request: &Request, facts: &Facts, time: Duration) -> Failure {
    let (host, port) = (request.url.host(), request.url.port());
    let (millis, bytes) = (time.as_millis(), facts.downloaded);
    let length = facts.head.get("content-length").and_then(|it| it.parse::<u64>().ok());
    let length = length.filter(|_| facts.answered);
    let (status, message) = match failure.code.as_str() {
        "connect_failed" if failure.status == NO_CONNECTION => {
            let text = "Couldn't connect to server";
            (NO_CONNECTION, format!("Failed to connect to {host} port {port} after {millis} ms: {text}"))
        }
        "name_unresolved" => (failure.status, format!("Could not resolve host: {host}")),
        "no_answer" => (failure.status, "Empty reply from server".to_owned()),
        "timeout" | "resolve_timeout" | "connect_failed" => {
            let of = length.map(|it| format!(" out of {it}")).unwrap_or_default();
            (
                TIMED_OUT,
                format!("Operation timed out after {millis} milliseconds with {bytes}{of} bytes received"),
            )
        }
        "protocol_error" if facts.answered => match length {
            Some(length) if length > bytes => {
                (PARTIAL, format!("transfer closed with {} bytes remaining to read", length - bytes))
            }
            Some(_) => return failure,
            None => (PARTIAL, "transfer closed with outstanding read data remaining".to_owned()),
        },
        "body_too_large" => (failure.status, "Maximum file size exceeded".to_owned()),
        _ => return failure,
    };
    Failure { status, message, ..failure }
}

fn eprint(text: &str) {
    use std::io::Write as _;
    // Nobody is left to be told that standard error is closed.
    let _ = place::stdio::Standard::error().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Answer;

    /// Answers by the path of the request.
    struct Script(fn(&str) -> Vec<u8>);

    struct Bytes(Vec<u8>);

    impl Answer for Bytes {
        fn read(&mut self, buffer: &mut [u8]) -> usize {
            let count = self.0.len().min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0.drain(..count);
            count
        }
    }

    impl Wire for Script {
        fn start(&self, request: &[u8]) -> Result<Box<dyn Answer>, Failure> {
            Ok(Box::new(Bytes((self.0)(&String::from_utf8_lossy(request)))))
        }
    }

    fn frames(status: u16, headers: &str, body: &str) -> Vec<u8> {
        let head = format!(r#"{{"status":{status},"headers":[{headers}]}}"#);
        let frame = |letter: u8, bytes: &str| {
            let mut frame = vec![letter];
            frame.extend(u32::try_from(bytes.len()).unwrap_or_default().to_le_bytes());
            frame.extend(bytes.bytes());
            frame
        };
        [frame(b'H', &head), frame(b'B', body), frame(b'E', "")].concat()
    }

    fn exit(line: &str, script: fn(&str) -> Vec<u8>) -> (i32, Facts) {
        let args: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let Ok(flags) = flags::read(&args) else { panic!("{line}") };
        let mut client = Client { flags: &flags, jar: Jar::default(), dumped: false, wire: &Script(script) };
        let mut facts = Facts::default();
        let ended = client.attempt(0, &flags.urls[0], Instant::now(), &mut facts);
        (ended.failure.map_or(0, |it| it.status), facts)
    }

    #[test]
    fn exit_statuses_are_curls() {
        let redirects = |_: &str| frames(302, r#"["location","/again"]"#, "");
        let missing = |_: &str| frames(404, "", "");
        assert_eq!(exit("-s -o /dev/null http://a.test", missing).0, 0);
        assert_eq!(exit("-f http://a.test", missing).0, HTTP_ERROR);
        assert_eq!(exit("--fail-with-body http://a.test", missing).0, HTTP_ERROR);
        assert_eq!(exit("-L --max-redirs 3 http://a.test", redirects).0, TOO_MANY_REDIRECTS);
        assert_eq!(exit("ftp://a.test", missing).0, 1);
        assert_eq!(exit("http://", missing).0, 3);
        assert_eq!(exit("-d @/no/such http://a.test", missing).0, 26);
        assert_eq!(exit("-o /no/such/dir/file http://a.test", |_| frames(200, "", "x")).0, WRITE_ERROR);
        assert_eq!(exit("http://a.test", |_| Vec::new()).0, 52);
    }

    #[test]
    fn redirects_are_followed_by_asking_again_and_cookies_go_along() {
        let (status, facts) = exit("-L -b given=1 -b  -o /dev/null http://a.test/start", |request| {
            match request.contains("/start") {
                true => frames(302, r#"["location","/end"],["set-cookie","c=1; Path=/"]"#, ""),
                false if request.contains(r#""cookie":["c=1; given=1"]"#) => frames(200, "", "done"),
                false => frames(500, "", ""),
            }
        });
        assert_eq!((status, facts.head.status, facts.redirects, facts.downloaded), (0, 200, 1, 4));
        assert_eq!(facts.url, "http://a.test/end");
    }
}
