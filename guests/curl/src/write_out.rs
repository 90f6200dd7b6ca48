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
    pub(crate) exit: i32,
    pub(crate) error: String,
}

/// What goes to standard output, and what to standard error.
pub(crate) fn rendered(format: &str, facts: &Facts) -> (String, String) {
    let (mut out, mut err) = (String::new(), String::new());
    let mut to_err = false;
    let mut rest = format;
    while let Some(at) = rest.find(['%', '\\']) {
        let (plain, special) = rest.split_at(at);
        let into = if to_err { &mut err } else { &mut out };
        into.push_str(plain);
        let (text, taken) = match special.as_bytes() {
            [b'\\', letter, ..] if letter.is_ascii() => (escape(*letter), 2),
            [b'%', b'%', ..] => ("%".to_owned(), 2),
            [b'%', b'{', ..] => match special.find('}') {
                Some(end) => (variable(&special[2..end], facts, &mut to_err), end + 1),
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
    (out, err)
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

fn variable(name: &str, facts: &Facts, to_err: &mut bool) -> String {
    let seconds = |it: Duration| format!("{:.6}", it.as_secs_f64());
    let speed = |bytes: u64| format!("{:.0}", bytes as f64 / facts.time.as_secs_f64().max(1e-6));
    match name {
        "http_code" | "response_code" => format!("{:03}", facts.head.status),
        "url_effective" | "url" => facts.url.clone(),
        "method" => facts.method.clone(),
        "scheme" => facts.url.split("://").next().unwrap_or_default().to_owned(),
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
        "ssl_verify_result" => "0".to_owned(),
        "json" => json!({ "http_code": facts.head.status, "url_effective": facts.url, "method": facts.method,
            "size_download": facts.downloaded, "num_redirects": facts.redirects,
            "time_total": facts.time.as_secs_f64(), "exitcode": facts.exit })
        .to_string(),
        "stderr" | "stdout" => {
            *to_err = name == "stderr";
            String::new()
        }
        // What the host does not tell is empty: addresses and ports among it.
        _ => String::new(),
    }
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
            ("%{nothing}%{unclosed", "%{unclosed"),
            ("100%", "100%"),
            ("a\\é\\q", "a\\é\\q"),
        ] {
            assert_eq!(rendered(format, &facts).0, want, "{format}");
        }
        assert_eq!(rendered("a%{stderr}b", &facts), ("a".into(), "b".into()));
    }
}
