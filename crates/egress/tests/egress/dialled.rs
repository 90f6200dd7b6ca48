//! No forbidden address is ever dialled: not by any spelling, not among others, not when the resolver changes its mind.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::{Arc, atomic::Ordering},
};

use drydock_egress::{Egress, Limits, Method, Parts, Policy, QuotaLimits, Redirects, Request, Rules, Target};
use proptest::prelude::*;

use crate::support::{Hanging, Recording, Records, Scripted, caller, run};

/// Written down apart from the room's own table, so that a mistake there is seen here.
const FORBIDDEN_V4: &[(&str, u32)] = &[
    ("0.0.0.0", 8),
    ("10.0.0.0", 8),
    ("100.64.0.0", 10),
    ("127.0.0.0", 8),
    ("169.254.0.0", 16),
    ("172.16.0.0", 12),
    ("192.0.0.0", 24),
    ("192.0.2.0", 24),
    ("192.88.99.0", 24),
    ("192.168.0.0", 16),
    ("198.18.0.0", 15),
    ("198.51.100.0", 24),
    ("203.0.113.0", 24),
    ("224.0.0.0", 3),
];
const FORBIDDEN_V6: &[(&str, u32)] = &[
    ("::", 3),
    ("2001::", 23),
    ("2001:db8::", 32),
    ("2002::", 16),
    ("3fff::", 20),
    ("4000::", 2),
    ("8000::", 1),
];

fn in_v4((start, length): &(&str, u32), address: Ipv4Addr) -> bool {
    let start: Ipv4Addr = start.parse().unwrap();
    (u32::from(start) ^ u32::from(address)) >> (32 - length) == 0
}

fn in_v6((start, length): &(&str, u32), address: Ipv6Addr) -> bool {
    let start: Ipv6Addr = start.parse().unwrap();
    (u128::from(start) ^ u128::from(address)) >> (128 - length) == 0
}

fn is_forbidden(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => FORBIDDEN_V4.iter().any(|block| in_v4(block, address)),
        IpAddr::V6(address) => {
            let isatap = address.segments()[5] == 0x5efe && address.segments()[4] & 0xfcff == 0;
            isatap || FORBIDDEN_V6.iter().any(|block| in_v6(block, address))
        }
    }
}

fn forbidden() -> impl Strategy<Value = IpAddr> {
    let v4 = (0..FORBIDDEN_V4.len(), any::<u32>()).prop_map(|(at, bits)| {
        let (start, length) = FORBIDDEN_V4[at];
        let start: Ipv4Addr = start.parse().unwrap();
        IpAddr::from(Ipv4Addr::from(u32::from(start) | (bits >> length)))
    });
    let v6 = (0..FORBIDDEN_V6.len(), any::<u128>()).prop_map(|(at, bits)| {
        let (start, length) = FORBIDDEN_V6[at];
        let start: Ipv6Addr = start.parse().unwrap();
        IpAddr::from(Ipv6Addr::from(u128::from(start) | (bits >> length)))
    });
    let isatap = any::<(u16, u32)>().prop_map(|(site, v4)| {
        let [high, low] = [(v4 >> 16) as u16, v4 as u16];
        IpAddr::from([0x2606, 0x4700, site, 0, 0x200, 0x5efe, high, low])
    });
    prop_oneof![v4, v6, isatap]
}

fn public() -> impl Strategy<Value = IpAddr> {
    let v4 = any::<u32>().prop_map(|bits| IpAddr::from(Ipv4Addr::from(bits)));
    let v6 = any::<u128>().prop_map(|bits| IpAddr::from(Ipv6Addr::from((bits >> 3) | (1 << 125))));
    prop_oneof![v4, v6].prop_filter("public", |address| !is_forbidden(*address))
}

/// Asks once for each URL, and says where it dialled.
fn dialled(resolver: Arc<Scripted>, rules: &Rules, urls: &[String]) -> (Vec<IpAddr>, Vec<String>) {
    let dialler = Arc::new(Recording::default());
    let quota = QuotaLimits { requests_max: u32::MAX, ..QuotaLimits::default() };
    let parts = Parts { resolver, dialler: Arc::clone(&dialler) as _, quota, ..Parts::default() };
    let (egress, records) = (Egress::new(parts), Arc::new(Records::default()));
    let policy = Policy::new(rules.clone(), Vec::new());
    run(async {
        for url in urls {
            let Ok(target) = url.parse::<Target>() else { continue };
            let mut request = Request::new(Method::GET, target);
            request.redirects = Redirects::Follow { hops_max: 5 };
            egress.fetch(&caller(&records), &policy, request).await.expect_err("nobody answers");
        }
    });
    let dialled = dialler.0.lock().unwrap().iter().map(|it| it.ip()).collect();
    (dialled, records.lines())
}

fn any_host() -> Rules {
    Rules::parse(&["name.test"], &[], &[]).unwrap()
}

proptest! {
    #[test]
    fn no_forbidden_address_is_ever_dialled_rebinding_included(
        answers in prop::collection::vec(
            prop::collection::vec(prop_oneof![forbidden(), public()], 1..6),
            1..5,
        ),
    ) {
        let resolver = Scripted::new(answers.clone());
        let urls = vec!["http://name.test/".to_owned(); answers.len()];
        let (dialled, _) = dialled(Arc::clone(&resolver), &any_host(), &urls);
        prop_assert!(dialled.iter().all(|it| !is_forbidden(*it)), "{dialled:?}");
        // One question a request, and only answers without a forbidden address were dialled.
        prop_assert_eq!(resolver.asked.load(Ordering::SeqCst), answers.len());
        let clean: Vec<IpAddr> =
            answers.into_iter().filter(|it| !it.iter().any(|one| is_forbidden(*one))).flatten().collect();
        prop_assert_eq!(dialled, clean);
    }

    #[test]
    fn a_forbidden_literal_is_never_dialled_in_any_spelling(address in forbidden()) {
        let mut hosts = Vec::new();
        match address {
            IpAddr::V4(v4) => {
                let [a, b, c, d] = v4.octets();
                let bits = u32::from(v4);
                hosts.extend([
                    v4.to_string(),
                    format!("{bits}"),
                    format!("{bits:#x}"),
                    format!("0{bits:o}"),
                    format!("{a:#x}.{b:#x}.{c:#x}.{d:#x}"),
                    format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"),
                    format!("{a}.{b}.{}", u32::from(c) << 8 | u32::from(d)),
                    format!("{a}.{}", bits & 0xff_ffff),
                    format!("[::ffff:{v4}]"),
                    format!("[::{v4}]"),
                    format!("[64:ff9b::{v4}]"),
                    format!("[2002:{:x}:{:x}::]", bits >> 16, bits & 0xffff),
                ]);
            }
            IpAddr::V6(v6) => hosts.push(format!("[{v6}]")),
        }
        let urls: Vec<String> = hosts.iter().map(|host| format!("http://{host}/")).collect();
        // Each is granted by name, which must not help.
        let named: Vec<String> = urls
            .iter()
            .filter_map(|it| it.parse::<Target>().ok())
            .map(|it| it.host().to_string())
            .collect();
        prop_assert_eq!(named.len(), urls.len());
        let rules = Rules::parse(&named, &[], &[]).unwrap();
        let (dialled, records) = dialled(Scripted::new(Vec::new()), &rules, &urls);
        prop_assert!(dialled.is_empty(), "{dialled:?}");
        prop_assert!(records.iter().all(|it| it.ends_with("address_forbidden")), "{records:?}");
    }

    #[test]
    fn any_text_is_refused_or_judged_and_never_panics(text in "\\PC{0,60}") {
        let urls = [text.clone(), format!("http://{text}/"), format!("http://name.test{text}")];
        let rules = Rules::parse(&["name.test", "127.0.0.1", "[::1]"], &[], &[]).unwrap();
        let (dialled, _) = dialled(Scripted::always(&["10.0.0.1"]), &rules, &urls);
        prop_assert!(dialled.is_empty());
        let _ = (text.parse::<drydock_egress::HostRule>(), text.parse::<drydock_egress::UrlRule>());
    }
}

#[test]
fn a_name_that_answers_public_first_and_private_next_is_dialled_once() {
    let answers = vec![vec!["93.184.216.34".parse().unwrap()], vec!["169.254.169.254".parse().unwrap()]];
    let resolver = Scripted::new(answers);
    let urls = vec!["http://name.test/".to_owned(); 2];
    let (dialled, records) = dialled(Arc::clone(&resolver), &any_host(), &urls);
    assert_eq!(dialled, ["93.184.216.34".parse::<IpAddr>().unwrap()]);
    insta::assert_snapshot!(records.join("\n"), @"
    began name.test 93.184.216.34
    ended name.test 0 0 connect_failed
    refused name.test:80 address_forbidden
    ");
}

#[test]
fn a_host_that_no_rule_names_is_not_even_looked_up() {
    let resolver = Scripted::always(&["93.184.216.34"]);
    let urls = ["http://other.test/".to_owned(), "http://name.test:8080/".to_owned()];
    let (dialled, records) = dialled(Arc::clone(&resolver), &any_host(), &urls);
    assert!(dialled.is_empty());
    assert_eq!(
        records,
        ["refused other.test:80 host_not_granted", "refused name.test:8080 port_not_granted"]
    );
    assert_eq!(resolver.asked.load(Ordering::SeqCst), 0);
}

#[test]
fn a_private_rule_opens_one_address_on_one_port() {
    let rules = Rules::parse(&["name.test:8080"], &[], &["127.0.0.1:8080"]).unwrap();
    for (found, want) in [
        (&["127.0.0.1"][..], 1),
        (&["127.0.0.1", "93.184.216.34"], 2),
        (&["127.0.0.1", "127.0.0.2"], 0),
        (&["127.0.0.1", "::1"], 0),
        (&["::ffff:127.0.0.1"], 0),
    ] {
        let (dialled, _) = dialled(Scripted::always(found), &rules, &["http://name.test:8080/".to_owned()]);
        assert_eq!(dialled.len(), want, "{found:?}");
    }
}

#[test]
fn a_name_with_a_thousand_addresses_is_refused_and_none_of_them_dialled() {
    let many: Vec<IpAddr> =
        (0..1000u32).map(|it| IpAddr::from([93, 184, (it >> 8) as u8, it as u8])).collect();
    let (dialled, records) =
        dialled(Scripted::new(vec![many]), &any_host(), &["http://name.test/".to_owned()]);
    assert!(dialled.is_empty());
    assert_eq!(records, ["refused name.test:80 too_many_addresses"]);
}

#[test]
fn a_resolver_that_never_answers_ends_in_time_and_a_name_without_addresses_is_refused() {
    let egress = Egress::new(Parts { resolver: Arc::new(Hanging), ..Parts::default() });
    let limits = Limits { resolve_max: std::time::Duration::from_millis(20), ..Limits::default() };
    let answer = run(egress.explain(&any_host(), &Method::GET, "http://name.test/", &limits));
    assert_eq!(answer.code, "resolve_timeout");
    let egress = Egress::new(Parts { resolver: Scripted::new(vec![Vec::new()]), ..Parts::default() });
    let answer = run(egress.explain(&any_host(), &Method::GET, "http://name.test/", &Limits::default()));
    assert_eq!(answer.code, "name_unresolved");
}

#[test]
fn the_machines_own_resolver_knows_loopback_and_it_is_refused() {
    let rules = Rules::parse(&["localhost"], &[], &[]).unwrap();
    let egress = Egress::new(Parts { dialler: Arc::new(Recording::default()), ..Parts::default() });
    let answer = run(egress.explain(&rules, &Method::GET, "http://localhost/", &Limits::default()));
    assert_eq!(answer.code, "address_forbidden", "{answer}");
}
