//! `-w`: what is said of a transfer when it is over.

use std::time::Duration;

use serde_json::json;

use crate::wire::Head;

/// What there is to say.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub(crate) head: Head,
    pub(crate) url: String,
    pub(crate) method: String,
    pub(crate) redirects: u32,
    pub(crate) redirect_url: String,
    pub(crate) downloaded: u64,
    pub(crate) uploaded: u64,
    pub(crate) header_bytes: u64,
    pub(crate) time: Duration,
    pub(crate) head_time: Duration,
    pub(crate) file: String,
    /// Which URL of the command line, from 0.
    pub(crate) number: usize,
    /// Whether there is a head of the last request.
    pub(crate) answered: bool,
    pub(crate) exit: i32,
    pub(crate) error: String,
}

/// What goes to standard output, and what to standard error.
pub(crate) fn rendered(format: &str, facts: &Facts) -> (String, String) {
    let (mut out, mut err) = (String::new(), String::new());
    let (mut to_err, mut unknown) = (false, String::new());
    let mut rest = format;
    while let Some(at) = rest.find(['%', '\\']) {
        let (plain, special) = rest.split_at(at);
        let into = if to_err { &mut err } else { &mut out };
        into.push_str(plain);
        let (text, taken) = match special.as_bytes() {
            [b'\\', letter, ..] if letter.is_ascii() => (escape(*letter), 2),
            [b'%', b'%', ..] => ("%".to_owned(), 2),
            [b'%', b'{', ..] => match special.find('}') {
                // What follows is for transfers that failed.
                Some(end) if &special[2..end] == "onerror" && facts.exit == 0 => {
                    return (out, unknown + &err);
                }
                Some(end) => {
                    let name = &special[2..end];
                    let text = variable(name, facts, &mut to_err).unwrap_or_else(|| {
                        unknown.push_str(&format!("curl: unknown --write-out variable: '{name}'\n"));
                        String::new()
                    });
                    (text, end + 1)
                }
                None => (special.to_owned(), special.len()),
            },
            _ if special.starts_with("%header{") => match special.find('}') {
                Some(end) => (facts.head.get(&special[8..end]).unwrap_or_default().to_owned(), end + 1),
                None => (special.to_owned(), special.len()),
            },
            _ => (special[..1].to_owned(), 1),
        };
        into.push_str(&text);
        rest = special.get(taken..).unwrap_or_default();
    }
    if to_err { &mut err } else { &mut out }.push_str(rest);
    (out, unknown + &err)
}

fn escape(letter: u8) -> String {
    match letter {
        b'n' => "\n".to_owned(),
        b't' => "\t".to_owned(),
        b'r' => "\r".to_owned(),
        b'\\' => "\\".to_owned(),
        letter => format!("\\{}", char::from(letter)),
    }
}

/// What a name stands for; nothing of a name that there is not.
fn variable(name: &str, facts: &Facts, to_err: &mut bool) -> Option<String> {
    Some(match name {
        "stderr" | "stdout" => {
            *to_err = name == "stderr";
            String::new()
        }
        "onerror" => String::new(),
        "json" => {
            // As curl has them: strings where it has strings, in the order of names.
            let all: Vec<String> = NAMES
                .iter()
                .map(|it| format!("{}:{}", json!(it), of_json(it, &value(it, facts).unwrap_or_default())))
                .collect();
            format!("{{{}}}", all.join(","))
        }
        "header_json" => {
            let mut each: Vec<(String, Vec<&str>)> = Vec::new();
            for (name, value) in &facts.head.headers {
                let name = name.to_ascii_lowercase();
                match each.iter_mut().find(|it| it.0 == name) {
                    Some(it) => it.1.push(value),
                    None => each.push((name, vec![value])),
                }
            }
            let all: Vec<String> = each.iter().map(|it| format!("{}:{}", json!(it.0), json!(it.1))).collect();
            format!("{{{}\n}}", all.join(",\n"))
        }
        name => value(name, facts)?,
    })
}

/// Everything that `%{json}` has, in its order.
const NAMES: &[&str] = &[
    "content_type",
    "errormsg",
    "exitcode",
    "filename_effective",
    "http_code",
    "http_version",
    "local_ip",
    "local_port",
    "method",
    "num_connects",
    "num_headers",
    "num_redirects",
    "redirect_url",
    "referer",
    "remote_ip",
    "remote_port",
    "response_code",
    "scheme",
    "size_download",
    "size_header",
    "size_request",
    "size_upload",
    "speed_download",
    "speed_upload",
    "ssl_verify_result",
    "time_appconnect",
    "time_connect",
    "time_namelookup",
    "time_pretransfer",
    "time_redirect",
    "time_starttransfer",
    "time_total",
    "url",
    "url_effective",
    "urlnum",
];

fn of_json(name: &str, text: &str) -> String {
    let counted =
        ["num_", "size_", "speed_", "time_", "http_code", "response_code", "exitcode", "urlnum", "ssl_"];
    match text.parse::<f64>() {
        // A status before there was one has zeros in front.
        Ok(_) if counted.iter().any(|it| name.starts_with(it)) => {
            let short = text.trim_start_matches('0');
            if short.is_empty() || short.starts_with('.') { format!("0{short}") } else { short.to_owned() }
        }
        _ if text.is_empty() => "null".to_owned(),
        _ => json!(text).to_string(),
    }
}

fn value(name: &str, facts: &Facts) -> Option<String> {
    let seconds = |it: Duration| format!("{:.6}", it.as_secs_f64());
    let speed = |bytes: u64| format!("{:.0}", bytes as f64 / facts.time.as_secs_f64().max(1e-6));
    Some(match name {
        "http_code" | "response_code" => format!("{:03}", facts.head.status),
        "url_effective" | "url" => facts.url.clone(),
        "method" => facts.method.clone(),
        "scheme" => facts.url.split("://").next().unwrap_or_default().to_ascii_uppercase(),
        "content_type" => facts.head.get("content-type").unwrap_or_default().to_owned(),
        "size_download" => facts.downloaded.to_string(),
        "size_upload" => facts.uploaded.to_string(),
        "size_header" => facts.header_bytes.to_string(),
        "speed_download" => speed(facts.downloaded),
        "speed_upload" => speed(facts.uploaded),
        "num_redirects" => facts.redirects.to_string(),
        "num_connects" => (facts.redirects + 1).to_string(),
        "num_headers" => facts.head.headers.len().to_string(),
        "redirect_url" => facts.redirect_url.clone(),
        "time_total" => seconds(facts.time),
        "time_starttransfer" | "time_pretransfer" => seconds(facts.head_time),
        "time_namelookup" | "time_connect" | "time_appconnect" | "time_redirect" => seconds(Duration::ZERO),
        "http_version" => "1.1".to_owned(),
        "filename_effective" => facts.file.clone(),
        "exitcode" => facts.exit.to_string(),
        "errormsg" => facts.error.clone(),
        "ssl_verify_result" | "num_certs" => "0".to_owned(),
        "urlnum" => facts.number.to_string(),
        // The host does not tell what it wrote and which address it dialled.
        "size_request" | "remote_ip" | "local_ip" | "remote_port" | "local_port" | "referer" | "certs" => {
            String::new()
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_and_escapes_are_filled_in() {
        let head = Head { status: 204, headers: vec![("etag".into(), "x".into())] };
        let facts = Facts { head, url: "http://a.test/".into(), downloaded: 7, ..Facts::default() };
        for (format, want) in [
            ("%{http_code}\\n", "204\n"),
            (
                "%{response_code} %{size_download}%% %header{ETag}\\t%{url_effective}",
                "204 7% x\thttp://a.test/",
            ),
            ("%{unclosed", "%{unclosed"),
            ("100%", "100%"),
            ("a\\é\\q", "a\\é\\q"),
        ] {
            assert_eq!(rendered(format, &facts).0, want, "{format}");
        }
        assert_eq!(rendered("a%{stderr}b", &facts), ("a".into(), "b".into()));
        assert_eq!(rendered("a%{nope}b", &facts).1, "curl: unknown --write-out variable: 'nope'\n");
        assert_eq!(rendered("a%{onerror}b %{exitcode}", &facts).0, "a");
        let failed = Facts { exit: 7, ..Facts::default() };
        assert_eq!(rendered("a%{onerror}b %{exitcode}", &failed).0, "ab 7");
        assert_eq!(rendered("%{header_json}", &facts).0, "{\"etag\":[\"x\"]\n}");
        let told: serde_json::Value =
            serde_json::from_str(&rendered("%{json}", &facts).0).unwrap_or_default();
        assert_eq!(
            (&told["http_code"], &told["size_download"], &told["remote_ip"]),
            (&json!(204), &json!(7), &json!(null))
        );
    }
}
