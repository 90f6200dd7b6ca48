//! Proofs for rules: what each admits, and how near the nearest one came.

use super::*;

fn code(rules: &Rules, method: &str, url: &str) -> &'static str {
    let target: Target = url.parse().unwrap();
    match rules.admit(&method.parse().unwrap(), &target) {
        Ok(_) => "admitted",
        Err(refusal) => refusal.code(),
    }
}

#[test]
fn hosts_are_admitted_exactly_or_as_a_subdomain_on_usual_ports() {
    for (rule, url, want) in [
        ("example.com", "https://example.com/", "admitted"),
        ("example.com", "http://example.com/", "admitted"),
        ("example.com", "http://EXAMPLE.com.:443/", "admitted"),
        ("example.com", "https://a.b.example.com/", "admitted"),
        ("*.example.com", "https://example.com/", "admitted"),
        ("*.example.com", "https://a.example.com/", "admitted"),
        ("example.com", "https://notexample.com/", "host_not_granted"),
        ("example.com", "https://example.com.evil.test/", "host_not_granted"),
        ("a.example.com", "https://example.com/", "host_not_granted"),
        ("example.com", "https://example.com:8443/", "port_not_granted"),
        ("example.com:8443", "https://example.com:8443/", "admitted"),
        ("example.com:8443", "https://example.com/", "port_not_granted"),
        ("example.com:80", "https://example.com/", "port_not_granted"),
        ("https://example.com", "https://example.com/", "admitted"),
        ("https://example.com/", "https://example.com/", "admitted"),
        ("https://example.com", "http://example.com/", "scheme_not_granted"),
        ("https://example.com", "https://example.com:80/", "port_not_granted"),
        ("https://example.com:8443", "https://x.example.com:8443/", "admitted"),
        ("93.184.216.34", "http://1572395042/", "admitted"),
        ("93.184.216.34", "http://93.184.216.35/", "host_not_granted"),
        ("[2606:4700::1111]", "https://[2606:4700:0::1111]/", "admitted"),
        ("2606:4700::1111", "https://[2606:4700::1111]/", "admitted"),
        ("[2606:4700::1111]:8443", "https://[2606:4700::1111]:8443/", "admitted"),
        ("B\u{dc}CHER.example", "https://b\u{fc}cher.example/", "admitted"),
    ] {
        let rules = Rules::parse(&[rule], &[], &[]).unwrap();
        assert_eq!(code(&rules, "GET", url), want, "{rule} {url}");
    }
}

#[test]
fn without_rules_nothing_is_admitted() {
    assert_eq!(code(&Rules::default(), "GET", "https://example.com/"), "host_not_granted");
    assert!(Rules::parse_list(" , ,").unwrap().is_empty());
}

#[test]
fn urls_are_admitted_by_method_and_by_the_beginning_of_the_path() {
    for (rule, method, url, want) in [
        ("https://a.test/v1", "GET", "https://a.test/v1", "admitted"),
        ("https://a.test/v1", "GET", "https://a.test/v1/x?q=1", "admitted"),
        ("https://a.test/v1", "GET", "https://a.test/v10", "path_not_granted"),
        ("https://a.test/v1/", "GET", "https://a.test/v1", "path_not_granted"),
        ("https://a.test/v1", "GET", "https://a.test/v1/../admin", "path_not_granted"),
        ("https://a.test/v1", "GET", "https://a.test/v1/%2e%2e/admin", "path_not_granted"),
        ("https://a.test/v1", "GET", "https://a.test/v1/..%2fadmin", "path_not_granted"),
        ("https://a.test/v1", "GET", "https://a.test/v1/%2e%2e%2fadmin", "path_not_granted"),
        ("https://a.test/v1", "GET", "https://a.test/v1/..%252fadmin", "path_not_granted"),
        ("https://a.test/v1", "GET", "https://a.test/v1/..;x=1/admin", "path_not_granted"),
        ("https://a.test/v1", "GET", "https://a.test/v1/..%5cadmin", "path_not_granted"),
        ("https://a.test/v1", "GET", "https://a.test/v1/%00", "path_not_granted"),
        ("https://a.test/v1", "GET", "https://a.test/v1/a%20b", "admitted"),
        ("https://a.test/", "GET", "https://a.test/v1/..%2fx", "admitted"),
        ("https://a.test", "DELETE", "https://a.test/x", "admitted"),
        ("GET,HEAD https://a.test/v1", "HEAD", "https://a.test/v1", "admitted"),
        ("get https://a.test/v1", "GET", "https://a.test/v1", "admitted"),
        ("GET https://a.test/v1", "POST", "https://a.test/v1", "method_not_granted"),
        ("GET https://a.test/v1", "POST", "https://a.test/v2", "path_not_granted"),
        ("https://a.test/v1", "GET", "http://a.test/v1", "scheme_not_granted"),
        ("https://a.test/v1", "GET", "https://b.a.test/v1", "host_not_granted"),
        ("https://a.test:8443/", "GET", "https://a.test:8443/", "admitted"),
        ("https://a.test/", "GET", "https://a.test:8443/", "port_not_granted"),
    ] {
        let rules = Rules::parse(&[], &[rule], &[]).unwrap();
        assert_eq!(code(&rules, method, url), want, "{rule} {method} {url}");
    }
}

#[test]
fn a_private_rule_admits_its_literal_and_a_ceiling_narrows_everything() {
    let rules = Rules::parse(&["a.test", "b.test"], &[], &["127.0.0.1:8080"]).unwrap();
    assert_eq!(code(&rules, "GET", "http://127.0.0.1:8080/"), "admitted");
    assert_eq!(code(&rules, "GET", "http://0x7f.1:8080/"), "admitted");
    assert_eq!(code(&rules, "GET", "http://127.0.0.1/"), "host_not_granted");
    assert_eq!(code(&rules, "GET", "http://127.0.0.2:8080/"), "host_not_granted");
    let narrowed = Rules { ceiling: Some(Rules::parse_list("a.test, c.test").unwrap()), ..rules };
    assert_eq!(code(&narrowed, "GET", "http://a.test/"), "admitted");
    assert_eq!(code(&narrowed, "GET", "http://b.test/"), "beyond_ceiling");
    assert_eq!(code(&narrowed, "GET", "http://c.test/"), "host_not_granted");
    assert_eq!(code(&narrowed, "GET", "http://127.0.0.1:8080/"), "beyond_ceiling");
    let nothing = Rules { ceiling: Some(Vec::new()), ..narrowed };
    assert_eq!(code(&nothing, "GET", "http://a.test/"), "beyond_ceiling");
}

#[test]
fn what_is_no_rule_is_refused_and_what_is_one_prints_as_it_reads() {
    for text in [
        "",
        " ",
        "*",
        "*.",
        "*.*.test",
        "a.*.test",
        "a b",
        "u@a.test",
        "a.test/x",
        "a.test:",
        "a.test:0",
        "a.test:99999",
        "a.test:+80",
        "ftp://a.test",
        "https://",
        "https://a.test/x",
        "a..test",
        "[::1",
        "256.1.1.1",
        "a.test,b.test",
    ] {
        assert_eq!(text.parse::<HostRule>().unwrap_err().code(), "bad_rule", "{text:?}");
    }
    for text in [
        "",
        "a.test",
        "https://a.test/?q",
        "https://u@a.test/",
        "G(T https://a.test/",
        "https://a.test/a/%2e%2e%2fb",
        "https://a.test/v1/../",
        "https://a.test/./v1",
        "https://a.test/v1/%2e%2e/",
    ] {
        assert!(text.parse::<UrlRule>().is_err(), "{text:?}");
    }
    for text in [
        "",
        "127.0.0.1",
        "localhost:80",
        "127.1:80",
        "127.0.0.1:0",
        "10.0.0.0/8:80",
        "[fe80::1%1]:80",
        "0.0.0.0:80",
        "[ff02::1]:80",
    ] {
        assert!(text.parse::<PrivateRule>().is_err(), "{text:?}");
    }
    for text in
        ["a.test", "a.test:8443", "https://a.test", "http://a.test:8080", "1.2.3.4:80", "[2001:db8::1]:443"]
    {
        assert_eq!(text.parse::<HostRule>().unwrap().to_string(), text);
    }
    for text in ["https://a.test/", "GET,POST http://a.test:8080/x/"] {
        assert_eq!(text.parse::<UrlRule>().unwrap().to_string(), text);
    }
}
