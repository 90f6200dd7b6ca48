//! How grants of `net`, `tcp`, `tls` and `udp` name hosts, and the flags of the command line that say the same.
//!
//! A subject is `host:port`; of an address that is not public it is `private:address:port`, which has to be named letter for
//! letter, and also opens the address to names that resolve to it. What may be asked of a host is said by rules about `/method`, `/path` and `/scheme`.

use crate::{ArgumentRule, Cap, GrantSpec, Must, Scalar};

/// What stands before an address and a port that a grant opens.
pub const PRIVATE: &str = "private:";
/// The argument that is the request's method.
pub const METHOD: &str = "/method";
/// The argument that is the path of its URL.
pub const PATH: &str = "/path";
/// The argument that is the scheme of its URL.
pub const SCHEME: &str = "/scheme";

/// The flags that grant the same; nothing where there are none.
pub(crate) fn flag(grant: &GrantSpec) -> Option<String> {
    let [subject] = grant.subjects.as_deref()? else { return None };
    let host = subject.literal()?;
    match grant.cap {
        Cap::Net => {}
        // The subject itself, that of an address which is not public with it: each opens for its own power.
        Cap::Tcp | Cap::Tls | Cap::Udp if grant.rules.is_empty() => {
            return Some(format!("--allow-{} {host}", grant.cap));
        }
        Cap::Secrets if grant.rules.is_empty() => return Some(format!("--allow-secret {host}")),
        _ => return None,
    }
    if let Some(opened) = host.strip_prefix(PRIVATE) {
        return Some(format!("--allow-private {opened}"));
    }
    if !grant.rules.is_empty() {
        let text = |argument| text_of(&grant.rules, argument);
        let (method, scheme, path) = (text(METHOD)?, text(SCHEME)?, text(PATH)?);
        return Some(format!("--allow-url '{method} {scheme}://{host}{path}'"));
    }
    let usual = host.strip_suffix(":443").or_else(|| host.strip_suffix(":80")).unwrap_or(&host);
    Some(format!("--allow-host {usual}"))
}

fn text_of<'a>(rules: &'a [ArgumentRule], argument: &str) -> Option<&'a str> {
    rules.iter().find(|it| it.argument == argument).and_then(|it| match &it.must {
        Must::Equal(Scalar::Text(text)) | Must::StartWith(text) => Some(text.as_str()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cap;

    #[test]
    fn a_grant_for_a_host_is_a_flag_too() {
        for (subject, want) in [
            ("a.test:443", "--allow-host a.test"),
            ("a.test:80", "--allow-host a.test"),
            ("a.test:8080", "--allow-host a.test:8080"),
            ("[2001:db8::1]:443", "--allow-host [2001:db8::1]"),
            ("private:127.0.0.1:80", "--allow-private 127.0.0.1:80"),
        ] {
            let grant = GrantSpec::exactly(Cap::Net, [subject]).unwrap();
            assert_eq!(flag(&grant).as_deref(), Some(want));
        }
        for (cap, subject, want) in [
            (Cap::Tcp, "a.test:25", Some("--allow-tcp a.test:25")),
            (Cap::Tls, "a.test:443", Some("--allow-tls a.test:443")),
            (Cap::Udp, "private:127.0.0.1:53", Some("--allow-udp private:127.0.0.1:53")),
            (Cap::Secrets, "KEY", Some("--allow-secret KEY")),
            (Cap::Exec, "jq", None),
        ] {
            let grant = GrantSpec::exactly(cap, [subject]).unwrap();
            assert_eq!(flag(&grant).as_deref(), want);
        }
        let rule = |argument: &str, must| ArgumentRule::new(argument, must);
        let grant = GrantSpec {
            rules: vec![
                rule(METHOD, Must::Equal(Scalar::Text("POST".into()))),
                rule(SCHEME, Must::Equal(Scalar::Text("https".into()))),
                rule(PATH, Must::StartWith("/v1".into())),
            ],
            ..GrantSpec::exactly(Cap::Net, ["a.test:443"]).unwrap()
        };
        assert_eq!(flag(&grant).as_deref(), Some("--allow-url 'POST https://a.test:443/v1'"));
        assert_eq!(flag(&GrantSpec { subjects: None, ..grant }), None);
    }
}
