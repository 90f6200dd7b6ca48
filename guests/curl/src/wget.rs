//! `wget`: the same requests with other words; it follows redirects and makes a file unless it is told otherwise.

use std::{
    io::Write as _,
    path::Path,
    time::{Duration, Instant},
};

use options::{Item, Order};

use crate::{
    failure::{CERTIFICATE, Failure, READ_ERROR, TLS, WRITE_ERROR, reason},
    flags::{Flags, Target},
    output::{Output, head_text},
    request::Request,
    url::{Url, decoded},
    wire::{Event, Head, Host, Reader, Wire as _},
};

const TABLE: &[&str] = &[
    "q,quiet",
    "nv,no-verbose",
    "v,verbose",
    "O,output-document=",
    "P,directory-prefix=",
    "S,server-response",
    "spider",
    "header=",
    "U,user-agent=",
    "referer=",
    "user=",
    "password=",
    "http-user=",
    "http-password=",
    "post-data=",
    "post-file=",
    "method=",
    "body-data=",
    "body-file=",
    "T,timeout=",
    "t,tries=",
    "w,wait=",
    "max-redirect=",
    "content-on-error",
    "compression=",
    "no-check-certificate",
    "no-cache",
    "no-cookies",
    "c,continue",
    "N,timestamping",
    "nc,no-clobber",
    "show-progress",
    "progress=",
    "4,inet4-only",
    "6,inet6-only",
    "h,help",
    "V,version",
    "i,input-file=",
    "content-disposition",
    // What follows changes nothing about a request here.
    "auth-no-challenge",
    "connect-timeout=",
    "dns-timeout=",
    "read-timeout=",
    "waitretry=",
    "retry-connrefused",
    "limit-rate=",
    "quota=",
    "e,execute=",
    "no-directories",
    "no-host-directories",
    "no-proxy",
    "no-hsts",
    "no-config",
    "no-dns-cache",
    "no-http-keep-alive",
    "https-only",
    "random-wait",
    "trust-server-names",
    "n=",
];
const AGENT: &str = "Wget/1.24 (drydock)";
const VERSION: &str = "Wget 1.24 (drydock)\n";
const HELP: &str = "Usage: wget [OPTION]... [URL]...
  -q, --quiet                quiet
  -O, --output-document=FILE write documents to FILE, - is stdout
  -P, --directory-prefix=DIR save files to DIR/
  -S, --server-response      print server response
      --header=STRING        insert STRING among the headers
      --post-data=STRING     use the POST method
  -T, --timeout=SECONDS      set the timeout
  -t, --tries=NUMBER         set number of retries
      --spider               don't download anything
Hosts have to be granted: drydock sh --allow-host HOST …
";

const NO_URL: &str = "missing URL";

/// wget's own statuses.
const GENERIC: i32 = 1;
const PARSE: i32 = 2;
const FILE: i32 = 3;
const NETWORK: i32 = 4;
const SSL: i32 = 5;
const SERVER: i32 = 8;

struct Words {
    flags: Flags,
    quiet: bool,
    brief: bool,
    server_response: bool,
    spider: bool,
    content_on_error: bool,
    tries: u32,
    redirects_max: u32,
    no_clobber: bool,
    /// What is there is overwritten: `-c` and `-N` get it whole again.
    overwrites: bool,
    /// Files with further URLs.
    lists: Vec<String>,
    told: Option<&'static str>,
}

/// Runs the command line, and answers its exit status.
pub(crate) fn run(args: &[String]) -> i32 {
    let words = match read(args) {
        Ok(words) => words,
        Err(problem) => {
            place::stdio::complain("wget", &problem);
            place::stdio::complain(
                "Usage",
                "wget [OPTION]... [URL]...\n\nTry `wget --help' for more options.",
            );
            return if problem == NO_URL { GENERIC } else { PARSE };
        }
    };
    if let Some(text) = words.told {
        return i32::from(!place::stdio::print(text.as_bytes()));
    }
    let mut status = 0;
    for (index, url) in words.flags.urls.iter().enumerate() {
        let mut tries = 1;
        let one = loop {
            match fetch(&words, index, url) {
                Err((_, failure)) if failure.transient && tries < words.tries => {
                    tries += 1;
                    std::thread::sleep(Duration::from_secs(1));
                }
                ended => break ended,
            }
        };
        if let Err((one, failure)) = one {
            if !words.quiet {
                place::stdio::complain("wget", &failure.message);
            }
            status = one;
        }
    }
    status
}

fn read(args: &[String]) -> Result<Words, String> {
    // `-nv` and `-nc` are options of two letters.
    let args: Vec<String> = args
        .iter()
        .map(|it| match it.as_str() {
            "-nv" => "--no-verbose".to_owned(),
            "-nc" => "--no-clobber".to_owned(),
            "-nd" => "--no-directories".to_owned(),
            "-nH" => "--no-host-directories".to_owned(),
            other => other.to_owned(),
        })
        .collect();
    let flags = Flags { location: true, agent: Some(AGENT.to_owned()), ..Flags::default() };
    let mut words = Words {
        flags,
        quiet: false,
        brief: false,
        server_response: false,
        spider: false,
        content_on_error: false,
        tries: 20,
        redirects_max: 20,
        no_clobber: false,
        overwrites: false,
        lists: Vec::new(),
        told: None,
    };
    let (mut user, mut password, mut output) = (None, None, None);
    for item in options::parse(&args, TABLE, Order::Anywhere)? {
        let (id, value) = match item {
            Item::Operand(url) => {
                words.flags.urls.push(url);
                continue;
            }
            Item::Flag(id, value) => (id, value.unwrap_or_default()),
        };
        match id {
            "O" => output = Some(value),
            "user" | "http-user" => user = Some(value),
            "password" | "http-password" => password = Some(value),
            "no-check-certificate" => {
                return Err("--no-check-certificate: certificates are always verified".to_owned());
            }
            _ => take(&mut words, id, value)?,
        }
    }
    if let Some(user) = user {
        words.flags.user = Some(format!("{user}:{}", password.unwrap_or_default()));
    }
    for file in &words.lists {
        let text = crate::data::read(file).map_err(|failure| failure.message)?;
        let text = String::from_utf8_lossy(&text).into_owned();
        words.flags.urls.extend(text.lines().map(str::trim).filter(|it| !it.is_empty()).map(str::to_owned));
    }
    if words.flags.urls.is_empty() && words.told.is_none() {
        return Err(NO_URL.to_owned());
    }
    if !words.flags.headers.iter().any(|it| it.to_ascii_lowercase().starts_with("accept-encoding:")) {
        words.flags.headers.push("Accept-Encoding: identity".to_owned());
    }
    let target = output.map_or(Target::Remote, Target::Named);
    words.flags.targets = vec![target; words.flags.urls.len()];
    Ok(words)
}

fn take(words: &mut Words, id: &str, value: String) -> Result<(), String> {
    let number = |value: &str| value.parse::<f64>().map_err(|_| format!("--{id}: `{value}` is no number"));
    let flags = &mut words.flags;
    match id {
        "q" => words.quiet = true,
        "nv" => words.brief = true,
        "S" => words.server_response = true,
        "spider" => (words.spider, flags.head) = (true, true),
        "content-on-error" => words.content_on_error = true,
        "P" => (flags.output_dir, flags.create_dirs) = (Some(value), true),
        "header" => flags.headers.push(value),
        "U" => flags.agent = Some(value),
        "referer" => flags.referer = Some(value),
        "post-data" | "body-data" => flags.data.push((crate::data::Kind::Raw, value)),
        "post-file" | "body-file" => flags.data.push((crate::data::Kind::Binary, format!("@{value}"))),
        "method" => flags.method = Some(value),
        "T" => flags.time_max = Some(number(&value)?),
        "t" => words.tries = number(&value)?.max(1.0) as u32,
        "max-redirect" => words.redirects_max = number(&value)? as u32,
        "compression" => flags.compressed = value != "none",
        "h" => words.told = Some(HELP),
        "V" => words.told = Some(VERSION),
        "i" => words.lists.push(value),
        "nc" => words.no_clobber = true,
        "c" | "N" => words.overwrites = true,
        "content-disposition" => flags.header_name = true,
        _ => {}
    }
    Ok(())
}

/// One URL, with its redirects.
fn fetch(words: &Words, index: usize, url: &str) -> Result<(), (i32, Failure)> {
    let failed = |failure: Failure| (status_of(failure.status), failure);
    let flags = &words.flags;
    let mut request = Request::of(flags, url).map_err(failed)?;
    let mut output = match Output::of(flags, index, &request.url) {
        Ok(output) => output,
        Err(_) => Output::in_folder(flags, "index.html".to_owned()),
    };
    if matches!(flags.targets.get(index), Some(Target::Remote)) {
        if let Some(name) = remote_name(&request.url) {
            output = Output::in_folder(flags, name);
        }
        if words.no_clobber && Path::new(output.name()).exists() {
            return Ok(());
        }
    }
    let began = Instant::now();
    let mut redirects = 0;
    loop {
        let time = flags.time_max.map(|it| (it.clamp(0.001, 1e9) * 1e3) as u64);
        let mut reader = Reader::new(Host.start(&request.json(flags, None, time)).map_err(failed)?);
        let Event::Head(head) = reader.next().map_err(failed)? else { return Err(failed(Failure::broken())) };
        if words.server_response {
            tell_head(&head);
        }
        let next = head.get("location").filter(|_| matches!(head.status, 301 | 302 | 303 | 307 | 308));
        if let Some(next) = next.map(str::to_owned) {
            redirects += 1;
            if redirects > words.redirects_max {
                let text = format!("{} redirections exceeded.", words.redirects_max);
                return Err((SERVER, Failure::new(GENERIC, text)));
            }
            request = request.follow(flags, head.status, &next).map_err(failed)?;
            continue;
        }
        if head.status >= 400 && !words.content_on_error {
            let text = format!("ERROR {}: {}.", head.status, reason(head.status));
            return Err((SERVER, Failure::new(GENERIC, text)));
        }
        if flags.header_name {
            output.rename(&head);
        }
        if matches!(flags.targets.get(index), Some(Target::Remote)) && !words.overwrites {
            output.step_aside();
        }
        let bytes = if words.spider { 0 } else { pass_on(&mut reader, &mut output).map_err(failed)? };
        if !words.quiet && !words.spider && !output.name().is_empty() {
            let (name, time) = (output.name(), began.elapsed().as_secs_f64());
            let text = format!("'{name}' saved [{bytes}] in {time:.1}s");
            place::stdio::complain("wget", if words.brief { name } else { &text });
        }
        let status = head.status;
        return match status >= 400 {
            true => Err((SERVER, Failure::new(GENERIC, format!("ERROR {status}: {}.", reason(status))))),
            false => Ok(()),
        };
    }
}

/// The last part of the path with the query, as people read it.
fn remote_name(url: &Url) -> Option<String> {
    let name = url.file_name()?;
    let query = url.path.split_once('?').map(|it| format!("?{}", it.1)).unwrap_or_default();
    // A slash that was written with a percent sign stays so: it must not lead elsewhere.
    let name = decoded(&format!("{name}{query}")).replace('/', "%2F");
    (name != "." && name != "..").then_some(name)
}

fn tell_head(head: &Head) {
    let text: String =
        head_text(head).lines().filter(|it| !it.is_empty()).map(|it| format!("  {it}\n")).collect();
    // Nobody is left to be told that standard error is closed.
    let _ = place::stdio::Standard::error().write_all(text.as_bytes());
}

fn pass_on(reader: &mut Reader, output: &mut Output) -> Result<u64, Failure> {
    let mut bytes = 0;
    loop {
        match reader.next()? {
            Event::Body(piece) => {
                bytes += piece.len() as u64;
                output.write(&piece)?;
            }
            Event::End => return output.finish().map(|()| bytes),
            Event::Head(_) => return Err(Failure::broken()),
        }
    }
}

/// wget's status for a failure in curl's.
fn status_of(curls: i32) -> i32 {
    match curls {
        WRITE_ERROR | READ_ERROR => FILE,
        TLS | CERTIFICATE => SSL,
        1 | 3 => GENERIC,
        _ => NETWORK,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_lines_are_read() {
        let line = |text: &str| read(&text.split(' ').map(str::to_owned).collect::<Vec<_>>());
        let Ok(words) = line("-qO- http://a.test") else { panic!("not read") };
        assert!(words.quiet && words.flags.targets == [Target::Named("-".into())]);
        let Ok(words) = line("-nv --header A:b -O out --post-data x=1 http://a.test/f") else {
            panic!("not read")
        };
        assert!(
            words.brief
                && words.flags.targets == [Target::Named("out".into())]
                && words.flags.data.len() == 1
        );
        let Ok(words) = line("http://a.test/f http://a.test/g") else { panic!("not read") };
        assert_eq!(words.flags.targets, [Target::Remote, Target::Remote]);
        for bad in ["-q", "--no-check-certificate http://a.test", "--frobnicate u"] {
            assert!(line(bad).is_err(), "{bad}");
        }
    }
}
