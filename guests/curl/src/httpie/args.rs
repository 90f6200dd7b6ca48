//! The command line of `http`: flags anywhere, then perhaps a method, a URL, and items.

use options::{Item, Order};

/// Redirects that are followed where nobody says how many.
const REDIRECTS_MAX: u32 = 30;

const HELP: &str = "Usage: http [OPTION]... [METHOD] URL [ITEM]...
Make a request; https is the same with another scheme. METHOD is GET, or POST where there is data.

Items:
  Header:value    a header; 'Header:' takes one away, 'Header;' sends it empty
  name==value     part of the query
  name=value      a field of the body: JSON, or a form with --form
  name:=json      the same with a number, a list and so on
  name@file       a file to upload (--form)
  name=@file, name:=@file, Header:@file, name==@file   the value from a file
  \\ before one of these signs makes it a letter

  -j, --json            the body is JSON (usual)
  -f, --form            the body is a form; --multipart even without files
      --raw=TEXT        the body itself; so is standard input, unless -I
  -d, --data=TEXT       the same
  -H, --header=TEXT     'Header: value'
  -I, --ignore-stdin
  -h, --headers         print the answer's headers only
  -b, --body            print its body only (usual)
  -v, --verbose         print everything; -q, --quiet nothing
  -p, --print=WHAT      H, B: what is sent; h, b: what comes
      --pretty=HOW      all, format: indent JSON; none (usual)
  -o, --output=FILE     the body into a file; --download names it after the URL
  -F, --follow          follow redirects, at most --max-redirects=30; --all prints each
  -a, --auth=USER:PW    -A, --auth-type=basic|bearer
      --timeout=SECONDS
      --check-status    exit with 3, 4 or 5 as the answer begins
      --offline         print what would be sent
      --default-scheme=http|https
      --help

Exit status: 0; 1 where the server answers 400 and more, or nobody may or can be asked; 2 for wrong usage, or time
that is up; 6 for too many redirects.
";

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub(super) struct Wanted {
    pub(super) told: Option<String>,
    pub(super) method: Option<String>,
    pub(super) url: String,
    pub(super) items: Vec<String>,
    pub(super) form: bool,
    pub(super) multipart: bool,
    pub(super) raw: Option<String>,
    pub(super) headers: Vec<String>,
    pub(super) ignore_stdin: bool,
    /// Of `HBhb`.
    pub(super) print: String,
    pub(super) pretty: bool,
    pub(super) output: Option<String>,
    pub(super) download: bool,
    pub(super) follow: bool,
    pub(super) all: bool,
    pub(super) redirects_max: u32,
    pub(super) auth: Option<String>,
    pub(super) bearer: bool,
    pub(super) timeout_ms: Option<u64>,
    pub(super) check_status: bool,
    pub(super) offline: bool,
    pub(super) scheme: String,
}

const TABLE: [&str; 25] = [
    "j,json",
    "f,form",
    "multipart",
    "raw,d,data=",
    "H,header=",
    "I,ignore-stdin",
    "h,headers",
    "b,body",
    "v,verbose",
    "q,quiet",
    "p,print=",
    "pretty=",
    "o,output=",
    "download",
    "F,follow",
    "all",
    "max-redirects=",
    "a,auth=",
    "A,auth-type=",
    "timeout=",
    "check-status",
    "offline",
    "default-scheme=",
    "help",
    "c,continue",
];

pub(super) fn read(args: &[String], scheme: &str) -> Result<Wanted, String> {
    let mut wanted = Wanted {
        print: "b".into(),
        redirects_max: REDIRECTS_MAX,
        scheme: scheme.to_owned(),
        ..Wanted::default()
    };
    let (mut words, mut printed) = (Vec::new(), false);
    for item in options::parse(args, &TABLE, Order::Anywhere)? {
        let (name, value) = match item {
            Item::Operand(word) => {
                words.push(word);
                continue;
            }
            Item::Flag(name, value) => (name, value.unwrap_or_default()),
        };
        let bad = || format!("invalid value '{value}' for '{name}'");
        let mut print = |what: &str| {
            printed = true;
            wanted.print = what.to_owned();
        };
        match name {
            "j" => wanted.form = false,
            "f" => wanted.form = true,
            "multipart" => wanted.multipart = true,
            "raw" => wanted.raw = Some(value),
            "H" => wanted.headers.push(value),
            "I" => wanted.ignore_stdin = true,
            "h" => print("h"),
            "b" => print("b"),
            "v" => print("HBhb"),
            "q" => print(""),
            "p" if value.chars().all(|it| "HBhb".contains(it)) => print(&value),
            "pretty" if matches!(value.as_str(), "all" | "format" | "colors" | "none") => {
                wanted.pretty = matches!(value.as_str(), "all" | "format");
            }
            "o" => wanted.output = Some(value),
            "download" => wanted.download = true,
            "F" => wanted.follow = true,
            "all" => wanted.all = true,
            "max-redirects" => wanted.redirects_max = value.parse().map_err(|_| bad())?,
            "a" => wanted.auth = Some(value),
            "A" if matches!(value.as_str(), "basic" | "bearer") => wanted.bearer = value == "bearer",
            "timeout" => {
                let seconds: f64 = value.parse().map_err(|_| bad())?;
                if !(0.0..=1e6).contains(&seconds) {
                    return Err(bad());
                }
                // In range: nothing is lost but parts of a millisecond. None at all means no end of ours.
                wanted.timeout_ms = Some((seconds * 1000.0) as u64).filter(|it| *it > 0);
            }
            "check-status" => wanted.check_status = true,
            "offline" => wanted.offline = true,
            "default-scheme" if matches!(value.as_str(), "http" | "https") => wanted.scheme = value,
            "help" => return Ok(Wanted { told: Some(HELP.to_owned()), ..wanted }),
            "c" => return Err("a download cannot be continued here".to_owned()),
            _ => return Err(bad()),
        }
    }
    if wanted.offline && !printed {
        wanted.print = "HB".to_owned();
    }
    let mut words = words.into_iter().peekable();
    let first = words.next().ok_or("there is no URL")?;
    // A word in letters before another one that is no item is a method.
    let is_method = first.bytes().all(|it| it.is_ascii_alphabetic())
        && words.peek().is_some_and(|next| {
            !super::item::is_item(next) || first.bytes().all(|it| it.is_ascii_uppercase())
        });
    wanted.url = match is_method {
        true => {
            wanted.method = Some(first.to_ascii_uppercase());
            words.next().ok_or("there is no URL")?
        }
        false => first,
    };
    wanted.items = words.collect();
    Ok(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Result<Wanted, String> {
        read(&text.split(' ').map(str::to_owned).collect::<Vec<_>>(), "http")
    }

    #[test]
    fn a_method_is_told_from_a_url_and_a_url_from_items() {
        for (text, method, url, items) in [
            ("a.test", None, "a.test", 0),
            ("PUT a.test x=1", Some("PUT"), "a.test", 1),
            ("delete a.test", Some("DELETE"), "a.test", 0),
            ("localhost x=1", None, "localhost", 1),
            ("a.test x=1 y:2", None, "a.test", 2),
            ("GET :3000/x", Some("GET"), ":3000/x", 0),
            ("-f POST a.test x=1 --follow", Some("POST"), "a.test", 1),
        ] {
            let wanted = line(text).unwrap_or_default();
            assert_eq!(
                (wanted.method.as_deref(), wanted.url.as_str(), wanted.items.len()),
                (method, url, items),
                "{text}"
            );
        }
        assert_eq!(line("-v a.test").map(|it| it.print), Ok("HBhb".to_owned()));
        assert_eq!(line("--offline a.test").map(|it| it.print), Ok("HB".to_owned()));
        for bad in
            ["-p", "-p x a.test", "--timeout=x a.test", "--pretty=no a.test", "--nothing a.test", "GET", ""]
        {
            assert!(
                line(bad).is_err() || line(bad).is_ok_and(|it| it.url.is_empty() || it.url == "GET"),
                "{bad}"
            );
        }
    }
}
