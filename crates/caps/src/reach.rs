//! The rules of a command line as grants, and the credentials that go along with requests.
//!
//! A rule and the grants made of it admit the same requests. What an operator allows at all becomes the parent of every grant:
//! a child can only be narrower.

use std::sync::Arc;

use drydock_contract::{
    ArgumentRule, Cap, Must, Scalar, Terms,
    host::{METHOD, PATH, PRIVATE, SCHEME},
};
use drydock_egress::{Host, HostRule, InjectedHeader, Policy, PrivateRule, Rules, UrlRule};
use drydock_gate::Grant;

/// Secrets of a session, each for its host. No guest sees them: `egress` puts them into headers.
#[derive(Debug, Default)]
pub struct Credentials(pub(crate) Policy);

impl Credentials {
    /// These headers, for requests to their hosts.
    pub fn new(injected: Vec<InjectedHeader>) -> Self {
        Self(Policy::new(Rules::default(), injected))
    }
}

/// The grants that admit what the rules do. Where there is a ceiling, those for hosts hang from it; an address that
/// somebody opened by itself is no host of a list.
pub fn grants_of(rules: &Rules) -> Vec<Arc<Grant>> {
    let named = rules.hosts.iter().map(of_host).chain(rules.urls.iter().map(of_url));
    let opened = rules.privates.iter().map(|rule| granted(of_private(rule)));
    let Some(ceiling) = &rules.ceiling else { return named.map(granted).chain(opened).collect() };
    let parents: Vec<Arc<Grant>> = ceiling.iter().map(|rule| granted(of_host(rule))).collect();
    let under = |terms: Terms| parents.iter().map(move |it| Arc::new(it.narrowed().within(terms.clone())));
    named.flat_map(under).chain(opened).collect()
}

fn granted(terms: Terms) -> Arc<Grant> {
    Arc::new(Grant::of(Cap::Net).within(terms))
}

fn of_host(rule: &HostRule) -> Terms {
    let names = match rule.host() {
        Host::Name(name) => vec![name.to_string(), format!("*.{name}")],
        Host::Address(_) => vec![rule.host().to_string()],
    };
    let ports = rule.ports();
    let pairs = names.iter().flat_map(|name| ports.iter().map(move |port| format!("{name}:{port}")));
    let scheme = rule.scheme().map(|it| equal(SCHEME, it.as_str()));
    Terms { rules: scheme.into_iter().collect(), ..named(pairs) }
}

fn of_url(rule: &UrlRule) -> Terms {
    let origin = rule.origin();
    let scheme = origin.scheme().map(|it| equal(SCHEME, it.as_str()));
    let methods = rule.methods().iter().map(|it| Scalar::Text(it.to_string())).collect::<Vec<_>>();
    let methods = (!methods.is_empty()).then(|| ArgumentRule::new(METHOD, Must::OneOf(methods)));
    let path = ArgumentRule::new(PATH, Must::StartWith(rule.prefix().to_owned()));
    let places = origin.ports().into_iter().map(|port| format!("{}:{port}", origin.host()));
    Terms { rules: scheme.into_iter().chain(methods).chain([path]).collect(), ..named(places) }
}

/// The address by itself, whether or not it would be public.
fn of_private(rule: &PrivateRule) -> Terms {
    named([rule.to_string(), format!("{PRIVATE}{rule}")])
}

fn equal(argument: &str, text: &str) -> ArgumentRule {
    ArgumentRule::new(argument, Must::Equal(Scalar::Text(text.to_owned())))
}

/// Hosts have neither backslashes nor stars of their own.
fn named(patterns: impl IntoIterator<Item = String>) -> Terms {
    Terms::of(patterns.into_iter().filter_map(|it| it.parse().ok()))
}
