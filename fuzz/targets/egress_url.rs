//! URLs and rules of egress: never panics; what is read prints as it was understood and reads the same again; a host that is a
//! number is an address, and no name.
#![no_main]

use drydock_egress::{Host, HostRule, PrivateRule, Rules, Target, UrlRule};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let (rule, rest) = text.split_once('\n').unwrap_or((text, text));
    if let Ok(rule) = rule.parse::<HostRule>() {
        assert_eq!(rule.to_string().parse::<HostRule>().as_ref(), Ok(&rule));
    }
    if let Ok(rule) = rule.parse::<UrlRule>() {
        assert_eq!(rule.to_string().parse::<UrlRule>().as_ref(), Ok(&rule));
    }
    if let Ok(rule) = rule.parse::<PrivateRule>() {
        assert_eq!(rule.to_string().parse::<PrivateRule>(), Ok(rule));
    }
    let _ = Rules::parse_list(rest);
    let Ok(target) = rest.parse::<Target>() else { return };
    let shown = format!("{}://{}:{}/", target.scheme(), target.host(), target.port());
    let again: Target = shown.parse().expect("what was understood can be written");
    assert!(again.same_origin(&target));
    if let Host::Name(name) = target.host() {
        assert!(!name.as_str().bytes().all(|b| b.is_ascii_digit() || b == b'.'));
        assert!(name.as_str().parse::<std::net::IpAddr>().is_err());
    }
    // What it names can be granted, and the grant is for it.
    let rule = format!("{}:{}", target.host(), target.port());
    assert!(rule.parse::<HostRule>().is_ok(), "{rule}");
    let _ = target.join(rule.as_str());
});
