//! curl's command line.

use options::{Item, Order};

use crate::{
    data::Kind,
    failure::{Failure, UNSUPPORTED, USAGE},
    form::Part,
};

const TABLE: &[&str] = &[
    "s,silent",
    "S,show-error",
    "f,fail",
    "fail-with-body",
    "fail-early",
    "L,location",
    "location-trusted",
    "max-redirs=",
    "o,output=",
    "O,remote-name",
    "remote-name-all",
    "J,remote-header-name",
    "output-dir=",
    "create-dirs",
    "i,include,show-headers",
    "I,head",
    "D,dump-header=",
    "X,request=",
    "H,header=",
    "d,data=",
    "data-ascii=",
    "data-raw=",
    "data-binary=",
    "data-urlencode=",
    "json=",
    "G,get",
    "url=",
    "url-query=",
    "T,upload-file=",
    "F,form=",
    "form-string=",
    "u,user=",
    "basic",
    "oauth2-bearer=",
    "A,user-agent=",
    "e,referer=",
    "b,cookie=",
    "c,cookie-jar=",
    "j,junk-session-cookies",
    "m,max-time=",
    "connect-timeout=",
    "max-filesize=",
    "r,range=",
    "retry=",
    "retry-delay=",
    "retry-max-time=",
    "retry-all-errors",
    "retry-connrefused",
    "compressed",
    "tr-encoding",
    "w,write-out=",
    "v,verbose",
    "#,progress-bar",
    "no-progress-meter",
    "N,no-buffer",
    "g,globoff",
    "q,disable",
    "post301",
    "post302",
    "post303",
    "0,http1.0",
    "http1.1",
    "http2",
    "http2-prior-knowledge",
    "1,tlsv1",
    "tlsv1.0",
    "tlsv1.1",
    "tlsv1.2",
    "tlsv1.3",
    "4,ipv4",
    "6,ipv6",
    "path-as-is",
    "proto=",
    "proto-redir=",
    "proto-default=",
    "noproxy=",
    "limit-rate=",
    "Y,speed-limit=",
    "y,speed-time=",
    "R,remote-time",
    "no-keepalive",
    "keepalive-time=",
    "stderr=",
    "Z,parallel",
    "k,insecure",
    "x,proxy=",
    "preproxy=",
    "socks5=",
    "cacert=",
    "capath=",
    "E,cert=",
    "key=",
    "resolve=",
    "connect-to=",
    "unix-socket=",
    "interface=",
    "V,version",
    "h,help?",
    "M,manual",
];

/// Options that would make a request something else than the host judges, and what to say of them.
const REFUSED: &[(&str, &str)] = &[
    (
        "k",
        "certificates are always verified; a local server without one is reached by http and --allow-private",
    ),
    ("x", "there is no proxy here: requests go straight to the host that was granted"),
    ("preproxy", "there is no proxy here"),
    ("socks5", "there is no proxy here"),
    ("cacert", "certificates are verified against the machine's own trust store"),
    ("capath", "certificates are verified against the machine's own trust store"),
    ("E", "a guest holds no certificate of its own"),
    ("key", "a guest holds no key of its own"),
    ("resolve", "names are resolved by the host, once for each request"),
    ("connect-to", "requests go to the host that was granted"),
    ("unix-socket", "there are no sockets here"),
    ("interface", "which interface is used is the host's affair"),
];

/// Where a body goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    Named(String),
    /// By the last part of the URL's path.
    Remote,
}

/// What becomes of an answer of 400 or more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Fail {
    #[default]
    No,
    Quietly,
    WithBody,
}

/// Which of the two schemes may be used; both, unless somebody says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Schemes {
    pub(crate) http: bool,
    pub(crate) https: bool,
}

impl Default for Schemes {
    fn default() -> Self {
        Self { http: true, https: true }
    }
}

impl Schemes {
    /// `=https`, `-all,https`, `+http`: what stands in front counts for what follows; other schemes are not here anyway.
    fn read(&mut self, text: &str) {
        for word in text.split(',') {
            let (name, on) = match word.as_bytes().first() {
                Some(b'=') => {
                    *self = Self { http: false, https: false };
                    (&word[1..], true)
                }
                Some(b'-') => (&word[1..], false),
                Some(b'+') => (&word[1..], true),
                _ => (word, true),
            };
            let is = |it: &str| name.eq_ignore_ascii_case(it) || name.eq_ignore_ascii_case("all");
            self.http = if is("http") { on } else { self.http };
            self.https = if is("https") { on } else { self.https };
        }
    }

    pub(crate) fn check(self, scheme: &str) -> Result<(), Failure> {
        if if scheme == "https" { self.https } else { self.http } {
            return Ok(());
        }
        Err(Failure::new(UNSUPPORTED, format!("Protocol \"{scheme}\" disabled")))
    }
}

/// Everything that was said.
#[derive(Debug, Default)]
pub(crate) struct Flags {
    pub(crate) urls: Vec<String>,
    pub(crate) targets: Vec<Target>,
    pub(crate) all_remote: bool,
    pub(crate) header_name: bool,
    pub(crate) output_dir: Option<String>,
    pub(crate) create_dirs: bool,
    pub(crate) silent: bool,
    pub(crate) show_error: bool,
    pub(crate) fail: Fail,
    pub(crate) fail_early: bool,
    pub(crate) location: bool,
    pub(crate) trusted: bool,
    pub(crate) redirects_max: Option<u32>,
    pub(crate) include: bool,
    pub(crate) head: bool,
    pub(crate) dump_header: Option<String>,
    pub(crate) method: Option<String>,
    pub(crate) headers: Vec<String>,
    pub(crate) data: Vec<(Kind, String)>,
    pub(crate) json: bool,
    pub(crate) get: bool,
    pub(crate) query: Vec<(Kind, String)>,
    pub(crate) upload: Option<String>,
    pub(crate) parts: Vec<Part>,
    pub(crate) user: Option<String>,
    pub(crate) bearer: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) referer: Option<String>,
    pub(crate) cookies: Vec<String>,
    pub(crate) jar: Option<String>,
    pub(crate) time_max: Option<f64>,
    pub(crate) bytes_max: Option<u64>,
    pub(crate) range: Option<String>,
    pub(crate) retries: u32,
    pub(crate) retry_delay: Option<u64>,
    pub(crate) retry_all: bool,
    pub(crate) retry_refused: bool,
    pub(crate) compressed: bool,
    pub(crate) write_out: Option<String>,
    pub(crate) verbose: bool,
    pub(crate) keep_post: [bool; 3],
    pub(crate) path_as_is: bool,
    /// Schemes that `--proto` leaves, of a URL and of a redirect.
    pub(crate) schemes: Schemes,
    pub(crate) redirect_schemes: Schemes,
    /// Something to print instead of a transfer.
    pub(crate) told: Option<&'static str>,
}

const VERSION: &str =
    "curl 8.0 (drydock) http https\nProtocols: http https\nFeatures: cookies gzip redirects retries\n";
const HELP: &str = "Usage: curl [options...] <url>
 -d, --data <data>           HTTP POST data (@file, @-)
     --data-raw, --data-binary, --data-urlencode, --json <data>
 -f, --fail                  Fail fast with no output on HTTP errors
     --fail-with-body        Fail on HTTP errors but save the body
 -F, --form <name=content>   Specify multipart MIME data
 -G, --get                   Put the post data in the URL and use GET
 -H, --header <header/@file> Pass custom header(s) to server
 -I, --head                  Show document info only
 -i, --include               Include response headers in output
 -L, --location              Follow redirects
 -m, --max-time <seconds>    Maximum time allowed for transfer
 -o, --output <file>         Write to file instead of stdout
 -O, --remote-name           Write output to file named as remote file
     --retry <num>           Retry request if transient problems occur
 -s, --silent  -S, --show-error  -v, --verbose
 -T, --upload-file <file>    Transfer local FILE to destination
 -u, --user <user:password>  Server user and password
 -A, --user-agent  -b, --cookie  -c, --cookie-jar  -e, --referer  -X, --request
 -w, --write-out <format>    Output FORMAT after completion
Hosts have to be granted: drydock sh --allow-host HOST …
";

/// Reads a command line; a `-` alone is standard output, and so is nothing a URL.
pub(crate) fn read(args: &[String]) -> Result<Flags, Failure> {
    let items = options::parse(args, TABLE, Order::Anywhere).map_err(|error| usage(&error))?;
    let mut flags = Flags::default();
    for item in items {
        match item {
            Item::Operand(url) => flags.urls.push(url),
            Item::Flag(id, value) => take(&mut flags, id, value.unwrap_or_default())?,
        }
    }
    let methods =
        [flags.head, !flags.parts.is_empty(), flags.upload.is_some(), !flags.data.is_empty() && !flags.get];
    if methods.iter().filter(|it| **it).count() > 1 && flags.told.is_none() {
        return Err(Failure::new(USAGE, "You can only select one HTTP request method!"));
    }
    if flags.urls.is_empty() && flags.told.is_none() {
        return Err(Failure::new(USAGE, "no URL specified"));
    }
    Ok(flags)
}

/// The words of GNU's reader in curl's.
fn usage(error: &str) -> Failure {
    let name = error.split('\'').nth(1).unwrap_or(error);
    let dashed = if name.starts_with('-') { name.to_owned() } else { format!("-{name}") };
    let what = if error.contains("requires an argument") { "requires parameter" } else { "is unknown" };
    Failure::new(USAGE, format!("option {dashed}: {what}"))
}

fn number<T: std::str::FromStr>(id: &str, value: &str) -> Result<T, Failure> {
    let dashes = if id.len() == 1 { "-" } else { "--" };
    value.parse().map_err(|_| {
        Failure::new(USAGE, format!("option {dashes}{id}: expected a proper numerical parameter"))
    })
}

fn take(flags: &mut Flags, id: &'static str, value: String) -> Result<(), Failure> {
    if let Some((_, why)) = REFUSED.iter().find(|it| it.0 == id) {
        let dashes = if id.len() == 1 { "-" } else { "--" };
        return Err(Failure::new(USAGE, format!("option {dashes}{id}: {why}")));
    }
    match id {
        "s" => flags.silent = true,
        "S" => flags.show_error = true,
        "f" => flags.fail = Fail::Quietly,
        "fail-with-body" => flags.fail = Fail::WithBody,
        "fail-early" => flags.fail_early = true,
        "L" => flags.location = true,
        "location-trusted" => (flags.location, flags.trusted) = (true, true),
        "max-redirs" => {
            flags.redirects_max = Some(u32::try_from(number::<i64>(id, &value)?).unwrap_or(u32::MAX))
        }
        "i" => flags.include = true,
        "I" => flags.head = true,
        "v" => flags.verbose = true,
        "G" => flags.get = true,
        "compressed" => flags.compressed = true,
        "proto" => flags.schemes.read(&value),
        "proto-redir" => flags.redirect_schemes.read(&value),
        "path-as-is" => flags.path_as_is = true,
        "F" | "form-string" => {
            let part = Part { word: value, literal: id != "F" };
            if !part.is_whole() {
                let dashes = if id == "F" { "-" } else { "--" };
                return Err(Failure::new(USAGE, format!("option {dashes}{id}: is badly used here")));
            }
            flags.parts.push(part);
        }
        "X" => flags.method = Some(value),
        "H" => flags.headers.push(value),
        "u" => flags.user = Some(value),
        "oauth2-bearer" => flags.bearer = Some(value),
        "A" => flags.agent = Some(value),
        "e" => flags.referer = Some(value),
        "b" => flags.cookies.push(value),
        "c" => flags.jar = Some(value),
        "m" => flags.time_max = Some(number(id, &value)?),
        "max-filesize" => flags.bytes_max = Some(number(id, &value)?),
        "r" => flags.range = Some(value),
        "retry" => flags.retries = number(id, &value)?,
        "retry-delay" => flags.retry_delay = Some(number(id, &value)?),
        "retry-all-errors" => flags.retry_all = true,
        "retry-connrefused" => flags.retry_refused = true,
        "w" => flags.write_out = Some(value),
        "post301" => flags.keep_post[0] = true,
        "post302" => flags.keep_post[1] = true,
        "post303" => flags.keep_post[2] = true,
        "V" => flags.told = Some(VERSION),
        "h" | "M" => flags.told = Some(HELP),
        _ => take_body_or_place(flags, id, value),
    }
    Ok(())
}

/// What is sent, and where the answer goes. What is not named here changes nothing about a request here.
fn take_body_or_place(flags: &mut Flags, id: &str, value: String) {
    match id {
        "d" | "data-ascii" => flags.data.push((Kind::Plain, value)),
        "data-raw" => flags.data.push((Kind::Raw, value)),
        "data-binary" => flags.data.push((Kind::Binary, value)),
        "data-urlencode" => flags.data.push((Kind::Encoded, value)),
        "json" => {
            flags.json = true;
            flags.data.push((Kind::Binary, value));
        }
        "url-query" => flags.query.push((Kind::Encoded, value)),
        "T" => flags.upload = Some(value),
        "url" => flags.urls.push(value),
        "o" => flags.targets.push(Target::Named(value)),
        "O" => flags.targets.push(Target::Remote),
        "remote-name-all" => flags.all_remote = true,
        "J" => flags.header_name = true,
        "output-dir" => flags.output_dir = Some(value),
        "create-dirs" => flags.create_dirs = true,
        "D" => flags.dump_header = Some(value),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Result<Flags, Failure> {
        read(&text.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn a_usual_line_is_read() {
        let Ok(flags) =
            line("-sSfL -XPOST -H a:b -d x=1 --data-raw @y -o out http://a.test -m 2.5 --retry 3")
        else {
            panic!("not read")
        };
        assert!(flags.silent && flags.show_error && flags.location && flags.fail == Fail::Quietly);
        assert_eq!((flags.method.as_deref(), flags.urls.len(), flags.data.len()), (Some("POST"), 1, 2));
        assert_eq!((flags.time_max, flags.retries, flags.targets.len()), (Some(2.5), 3, 1));
    }

    #[test]
    fn what_is_wrong_is_said_as_curl_says_it() {
        for (text, want) in [
            ("--frobnicate u", "option --frobnicate: is unknown"),
            ("-s%", "option -%: is unknown"),
            ("-o", "option -o: requires parameter"),
            ("-m x u", "option -m: expected a proper numerical parameter"),
            ("-s", "no URL specified"),
            ("-F nothing u", "option -F: is badly used here"),
            ("-I -d x u", "You can only select one HTTP request method!"),
        ] {
            assert_eq!(line(text).map(drop).map_err(|it| (it.status, it.message)), Err((2, want.to_owned())));
        }
        for (text, http, https) in [
            ("--proto =https u", false, true),
            ("--proto -http u", false, true),
            ("--proto -all,http u", true, false),
            ("--proto =all u", true, true),
            ("--proto ftp u", true, true),
        ] {
            assert_eq!(line(text).map(|it| it.schemes).ok(), Some(Schemes { http, https }), "{text}");
        }
        for text in ["-k https://a.test", "-sk u", "--proxy p u", "--insecure u"] {
            assert_eq!(line(text).map(drop).map_err(|it| it.status), Err(2), "{text}");
        }
    }
}
