//! The table: addresses and URLs in every spelling, and what is decided about each. No row is ever dialled.

use std::{net::IpAddr, sync::Arc};

use crate::support::{Recording, Scripted, run};
use drydock_egress::{Egress, Limits, Method, Parts, Rules, Target};

struct Row {
    url: String,
    addresses: Vec<IpAddr>,
    want: String,
}

/// `\u0041` as the character that it stands for, `\\` as a backslash.
fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((head, tail)) = rest.split_once('\\') {
        out.push_str(head);
        if let Some(tail) = tail.strip_prefix('\\') {
            out.push('\\');
            rest = tail;
        } else {
            let code = u32::from_str_radix(&tail[1..5], 16).unwrap();
            out.push(char::from_u32(code).unwrap());
            rest = &tail[5..];
        }
    }
    out + rest
}

fn rows() -> Vec<Row> {
    let addresses = |text: &str| match text.strip_prefix('*') {
        Some(count) => (0..count.parse::<u32>().unwrap())
            .map(|n| IpAddr::from((0x0808_0000_u32 + n).to_be_bytes()))
            .collect(),
        None => text.split(' ').filter_map(|it| it.parse().ok()).collect(),
    };
    include_str!("spellings.txt")
        .lines()
        .filter(|line| !line.starts_with("# "))
        .map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            let [url, found, want] = fields[..] else { panic!("{line}") };
            Row { url: unescape(url), addresses: addresses(found), want: want.to_owned() }
        })
        .collect()
}

#[test]
fn every_spelling_is_judged_as_what_a_connector_would_make_of_it() {
    let rows = rows();
    assert!(rows.len() >= 150, "{} rows", rows.len());
    for row in rows {
        // Nothing but the address can refuse: the rule names host and port as they were understood.
        let rule = row.url.parse::<Target>().map(|it| format!("{}:{}", it.host(), it.port())).ok();
        let rules = Rules::parse(rule.as_slice(), &[], &[]).unwrap();
        let answers = if row.addresses.is_empty() { Vec::new() } else { vec![row.addresses.clone()] };
        let dialler = Arc::new(Recording::default());
        let (resolver, dialler_too) = (Scripted::new(answers), Arc::clone(&dialler) as _);
        let egress = Egress::new(Parts { resolver, dialler: dialler_too, ..Parts::default() });
        let limits = Limits::default();
        let explanation = run(egress.explain(&rules, &Method::GET, &row.url, &limits));
        let code = if explanation.allowed { "ok" } else { explanation.code };
        assert_eq!(code, row.want, "{:?}: {explanation}", row.url);
        assert!(dialler.0.lock().unwrap().is_empty(), "explain dialled for {}", row.url);
    }
}

#[test]
fn an_explanation_is_complete_as_json_and_as_text() {
    let resolver = Scripted::always(&["93.184.216.34", "10.0.0.1"]);
    let egress = Egress::new(Parts { resolver, ..Parts::default() });
    let rules = Rules::parse(&["mixed.test:8080"], &[], &["10.0.0.1:8080"]).unwrap();
    let ask = |url: &'static str| run(egress.explain(&rules, &Method::GET, url, &Limits::default()));
    insta::assert_snapshot!(ask("http://mixed.test:8080/path?query"), @"
    allowed: 93.184.216.34:8080 would be dialled
      target   http to mixed.test, port 8080
      rule     --allow-host mixed.test:8080
      address  93.184.216.34 public
      address  10.0.0.1 10.0.0.0/8 (private use), opened by --allow-private
    ");
    insta::assert_snapshot!(ask("http://other.test/"), @"
    refused (host_not_granted): no rule admits other.test: it would take --allow-host other.test
      target   http to other.test, port 80
    ");
    let rules = Rules::parse(&["mixed.test:8080"], &[], &[]).unwrap();
    let refused = run(egress.explain(&rules, &Method::GET, "http://mixed.test:8080/", &Limits::default()));
    insta::assert_snapshot!(serde_json::to_string_pretty(&refused).unwrap(), @r#"
    {
      "allowed": false,
      "code": "address_forbidden",
      "reason": "10.0.0.1 is in 10.0.0.0/8 (private use) and is not dialled: only --allow-private 10.0.0.1:8080 opens it",
      "scheme": "http",
      "host": "mixed.test",
      "port": 8080,
      "rule": "--allow-host mixed.test:8080",
      "addresses": [
        {
          "address": "93.184.216.34",
          "allowed": true,
          "block": "public",
          "opened": false
        },
        {
          "address": "10.0.0.1",
          "allowed": false,
          "block": "10.0.0.0/8",
          "purpose": "private use",
          "opened": false
        }
      ]
    }
    "#);
    let bad = "*".parse::<drydock_egress::HostRule>().unwrap_err();
    insta::assert_snapshot!(drydock_egress::Explanation::of_bad_rule(&bad), @"refused (bad_rule): `*` is not a rule of --allow-host: name a host: there is no rule for all of them");
}
