//! What an index says of a package: its pure wheels, from JSON or from a page of links.

use std::cmp::Ordering;

use serde_json::Value;

use crate::hash::Hash;

/// One pure wheel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wheel {
    pub(super) version: String,
    /// Relative to the index's page.
    pub(super) url: String,
    pub(super) hash: Option<Hash>,
}

impl Wheel {
    /// By version; what was not released comes before what was.
    pub(super) fn newer(one: &Self, other: &Self) -> Ordering {
        key(&one.version).cmp(&key(&other.version))
    }
}

/// Whether two texts are one version.
pub(super) fn same(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other) || key(one) == key(other)
}

/// Epoch, whether it was released, and its numbers without zeros at their end.
fn key(version: &str) -> (u64, bool, Vec<u64>, String) {
    let version = version.to_ascii_lowercase();
    let (epoch, rest) = version.split_once('!').unwrap_or(("0", &version));
    let end = rest.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(rest.len());
    let (numbers, suffix) = rest.split_at(end);
    let mut numbers: Vec<u64> = numbers.split('.').filter_map(|it| it.parse().ok()).collect();
    while numbers.last() == Some(&0) {
        numbers.pop();
    }
    let is_released = suffix.is_empty() || suffix.starts_with("post") || suffix.starts_with('+');
    (epoch.parse().unwrap_or(0), is_released, numbers, suffix.to_owned())
}

/// The pure wheels of a package.
pub(super) fn wheels(page: &[u8], name: &str) -> Vec<Wheel> {
    let files = match serde_json::from_slice::<Value>(page) {
        Ok(value) => of_json(&value),
        Err(_) => of_html(&String::from_utf8_lossy(page)),
    };
    let wheel = |(file, url, hash): (String, String, Option<Hash>)| {
        Some(Wheel { version: version(&file, name)?, url, hash })
    };
    files.into_iter().filter_map(wheel).collect()
}

type File = (String, String, Option<Hash>);

fn of_json(value: &Value) -> Vec<File> {
    let is_there = |it: &&Value| matches!(it.get("yanked"), None | Some(Value::Bool(false)));
    let files = value["files"].as_array().into_iter().flatten().filter(is_there);
    let file = |it: &Value| {
        let text = |name: &str| it[name].as_str().map(str::to_owned);
        Some((text("filename")?, text("url")?, it["hashes"]["sha256"].as_str().and_then(Hash::parse)))
    };
    files.filter_map(file).collect()
}

/// Links of a page: `<a href="URL#sha256=HEX">FILE</a>`.
fn of_html(page: &str) -> Vec<File> {
    let mut files = Vec::new();
    for anchor in page.split("<a ").skip(1) {
        let Some((tag, text)) = anchor.split_once('>') else { continue };
        if tag.contains("data-yanked") {
            continue;
        }
        let Some((_, rest)) = tag.split_once("href=\"") else { continue };
        let Some((href, _)) = rest.split_once('"') else { continue };
        let href = href.replace("&amp;", "&");
        let (url, fragment) = href.split_once('#').unwrap_or((&href, ""));
        let file = text.split('<').next().unwrap_or_default().trim().to_owned();
        let hash = fragment.strip_prefix("sha256=").and_then(Hash::parse);
        files.push((file, url.to_owned(), hash));
    }
    files
}

/// The version of a wheel's name, if it is this package's, runs on any machine and on Python 3.
fn version(file: &str, name: &str) -> Option<String> {
    let stem = file.strip_suffix(".whl")?;
    let parts: Vec<&str> = stem.split('-').collect();
    let ([own, version, python, "none", "any"] | [own, version, _, python, "none", "any"]) = &parts[..]
    else {
        return None;
    };
    let is_python = python.split('.').any(|it| it == "py3" || it.starts_with("py3"));
    // It becomes part of a folder's name, so it is none that leads elsewhere.
    let is_plain =
        !version.is_empty() && version.bytes().all(|b| b.is_ascii_alphanumeric() || b".!+_".contains(&b));
    (super::normal(own) == name && is_python && is_plain && !version.starts_with('.'))
        .then(|| (*version).to_owned())
}

#[test]
fn versions_are_compared_by_their_numbers() {
    let older = ["0.9", "1.0rc1", "1.0.dev3", "1.2", "1.10", "1!0.1"];
    for (one, other, want) in [
        ("1.9", "1.10", Ordering::Less),
        ("1.0", "1", Ordering::Equal),
        ("2.0rc1", "1.0", Ordering::Less),
        ("1!0.1", "9", Ordering::Greater),
        ("1.0.post1", "1.0", Ordering::Greater),
    ] {
        assert_eq!(key(one).cmp(&key(other)), want, "{one} {other}");
    }
    assert!(older.iter().all(|it| same(it, it)) && same("1.0", "1.0.0") && !same("1.0", "1.0.1"));
}

#[test]
fn a_version_that_leads_elsewhere_is_none() {
    for (version, want) in
        [("1.0+a_b", true), ("1/../../../x", false), ("..", false), ("", false), ("1\u{e9}", false)]
    {
        let page = format!("<a href=\"x\">a_b-{version}-py3-none-any.whl</a>");
        assert_eq!(wheels(page.as_bytes(), "a-b").len(), usize::from(want), "{version}");
    }
}

#[test]
fn whatever_an_index_says_its_wheels_are_of_this_package_and_their_hashes_strong() {
    const PIECES: [&str; 18] = [
        "<a href=\"x",
        "href=\"",
        "\"",
        "\">",
        "</a>",
        "#sha256=",
        "data-yanked",
        "&amp;",
        "a_b-1.0-py3-none-any.whl",
        "c-1-py3-none-any.whl",
        "a.B-2!1-1-py2.py3-none-any.whl",
        "-",
        ".whl",
        "0123456789abcdef0123456789abcdef",
        "\u{e9}",
        "{\"files\":[{\"filename\":\"",
        "\",\"url\":\"",
        "\"}]}",
    ];
    // A generator of its own: the same pages each time.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap_or_default()
    };
    let mut found = 0;
    for _ in 0..20_000 {
        let mut page: Vec<u8> = (0..next(24)).flat_map(|_| PIECES[next(PIECES.len())].bytes()).collect();
        if next(8) == 0 && !page.is_empty() {
            let at = next(page.len());
            page[at] = 0xff;
        }
        for wheel in wheels(&page, "a-b") {
            assert!(["1.0", "2!1"].contains(&&*wheel.version), "{wheel:?}");
            assert!(wheel.hash.is_none_or(|it| matches!(it, Hash::Sha256(bytes) if bytes.len() == 32)));
            found += 1;
        }
        let text = String::from_utf8_lossy(&page);
        assert!(Hash::parse(&text).is_none_or(|it| it.shown().len() >= 51), "{text}");
    }
    assert!(found > 20, "{found}");
}
