//! `http`, and by its other name `https`: requests as httpie writes them, `http POST example.com name=value Header:value`.
//!
//! Items become headers, a query and a body; the rest is curl's, request by request, so every hop is judged. Standard output
//! is no terminal here, so it is the body alone unless somebody asks for more.

mod args;
mod item;
mod show;

use std::io::Read as _;

use crate::{
    failure::{Failure, TIMED_OUT, TOO_MANY_REDIRECTS},
    flags::Flags,
    request::Request,
    wire::{Event, Head, Host, Reader, Wire},
};
use args::Wanted;
use show::Out;

/// What a usage that nobody understands ends with.
const USAGE: i32 = 2;
/// A server said no, or nobody could be asked.
const FAILED: i32 = 1;
/// Time was up, as httpie has it.
const TIMEOUT: i32 = 2;
/// More redirects than are followed.
const REDIRECTS: i32 = 6;

/// Runs a command line, and answers its exit status.
pub(crate) fn run(called: &str, args: &[String]) -> i32 {
    let wanted = match args::read(args, if called == "https" { "https" } else { "http" }) {
        Ok(wanted) => wanted,
        Err(why) => {
            place::stdio::complain("http", &why);
            place::stdio::complain("http", "try 'http --help' for more information");
            return USAGE;
        }
    };
    if let Some(text) = wanted.told {
        return if place::stdio::print(text.as_bytes()) { 0 } else { FAILED };
    }
    let stdin = || {
        let mut bytes = Vec::new();
        place::stdio::Standard::input()
            .read_to_end(&mut bytes)
            .map(|_| bytes)
            .map_err(|error| error.to_string())
    };
    let request = match item::request(&wanted, stdin) {
        Ok(request) => request,
        Err(why) => {
            place::stdio::complain("http", &why);
            return USAGE;
        }
    };
    match exchange(&wanted, request, &Host) {
        Ok(status) => status,
        Err(failure) => {
            place::stdio::complain("http", &format!("error: {}", failure.message));
            match failure.status {
                TIMED_OUT => TIMEOUT,
                TOO_MANY_REDIRECTS => REDIRECTS,
                _ => FAILED,
            }
        }
    }
}

/// Asks, follows where that is wanted, and shows what came.
fn exchange(wanted: &Wanted, mut request: Request, wire: &dyn Wire) -> Result<i32, Failure> {
    let flags = Flags { compressed: true, ..Flags::default() };
    let mut out = Out::of(wanted, &request.url);
    let mut redirects = 0;
    loop {
        out.request(&request)?;
        if wanted.offline {
            return Ok(0);
        }
        let mut reader = Reader::new(wire.start(&request.json(&flags, None, wanted.timeout_ms))?);
        let Event::Head(head) = reader.next()? else { return Err(Failure::broken()) };
        let location = head.get("location").filter(|_| matches!(head.status, 301 | 302 | 303 | 307 | 308));
        if let Some(location) = location.filter(|_| wanted.follow) {
            redirects += 1;
            if redirects > wanted.redirects_max {
                let text = format!("too many redirects (--max-redirects={})", wanted.redirects_max);
                return Err(Failure::new(TOO_MANY_REDIRECTS, text));
            }
            if wanted.all {
                out.head(&head)?;
                out.body(&mut reader, &head)?;
            }
            request = request.follow(&flags, head.status, location)?;
            continue;
        }
        out.head(&head)?;
        out.body(&mut reader, &head)?;
        return Ok(status_of(wanted, &head));
    }
}

/// 1 where a server says no; which kind of no where somebody asks for that.
fn status_of(wanted: &Wanted, head: &Head) -> i32 {
    match head.status {
        status @ 300..=399 if wanted.check_status && !wanted.follow => i32::from(status / 100),
        status @ 400..=599 if wanted.check_status => i32::from(status / 100),
        400.. => FAILED,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Answer;

    struct Bytes(Vec<u8>);

    impl Answer for Bytes {
        fn read(&mut self, buffer: &mut [u8]) -> usize {
            let count = self.0.len().min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0.drain(..count);
            count
        }
    }

    struct Script(fn(&str) -> (u16, &'static str, &'static str));

    impl Wire for Script {
        fn start(&self, request: &[u8]) -> Result<Box<dyn Answer>, Failure> {
            let (status, headers, body) = (self.0)(&String::from_utf8_lossy(request));
            let head = format!(r#"{{"status":{status},"headers":[{headers}]}}"#);
            let mut bytes = Vec::new();
            for (letter, text) in [(b'H', head.as_str()), (b'B', body), (b'E', "")] {
                bytes.push(letter);
                bytes.extend(u32::try_from(text.len()).unwrap_or_default().to_le_bytes());
                bytes.extend(text.bytes());
            }
            Ok(Box::new(Bytes(bytes)))
        }
    }

    fn exit(line: &str, script: fn(&str) -> (u16, &'static str, &'static str)) -> Result<i32, i32> {
        let args: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let wanted = args::read(&args, "http").map_err(|_| USAGE)?;
        let request = item::request(&wanted, || Ok(Vec::new())).map_err(|_| USAGE)?;
        exchange(&wanted, request, &Script(script)).map_err(|it| it.status)
    }

    #[test]
    fn the_status_says_what_came_of_it() {
        for (line, want) in [
            ("--print= a.test/200", Ok(0)),
            ("--print= a.test/404", Ok(1)),
            ("--print= --check-status a.test/404", Ok(4)),
            ("--print= --check-status a.test/503", Ok(5)),
            ("--print= --check-status a.test/302", Ok(3)),
            ("--print= a.test/302", Ok(0)),
            ("--print= --follow --max-redirects=2 a.test/302", Err(TOO_MANY_REDIRECTS)),
            ("--offline --print= a.test/404", Ok(0)),
            ("--print= ftp://a.test/", Err(USAGE)),
            ("--print= a.test/ noseparator", Err(USAGE)),
        ] {
            let script = |request: &str| match request {
                it if it.contains("/404") => (404, "", "no"),
                it if it.contains("/503") => (503, "", "no"),
                it if it.contains("/302") => (302, r#"["location","/302"]"#, ""),
                _ => (200, "", "yes"),
            };
            assert_eq!(exit(line, script), want, "{line}");
        }
    }
}
