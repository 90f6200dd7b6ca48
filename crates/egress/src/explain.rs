//! What would be decided about a request, and why, without a connection: `drydock egress explain`.
//!
//! The same functions as a fetch, up to the point where it would dial. A name is looked up, if a rule admits it.

use std::{fmt, net::IpAddr};

use hyper::Method;

use crate::{
    host::Host,
    pin::{self, Findings, LookUp},
    refusal::Refusal,
    rule::{ParseRuleError, Rules},
    target::{Scheme, Target},
};

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Explanation {
    /// Whether it would be dialled.
    pub allowed: bool,
    /// `allowed`, or the code of the refusal.
    pub code: &'static str,
    /// The same as a sentence.
    pub reason: String,
    /// How it would be spoken to; absent where the URL cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<Scheme>,
    /// The host as it was understood, whatever its spelling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<Host>,
    /// The port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The rule that admits the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Every address that was found, in the order in which they would be tried.
    pub addresses: Vec<AddressVerdict>,
}

/// What was decided about one address.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct AddressVerdict {
    /// The address.
    pub address: IpAddr,
    /// Whether it might be dialled, were it alone.
    pub allowed: bool,
    /// The block it is in, or `public`.
    pub block: &'static str,
    /// What the block is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purpose: Option<&'static str>,
    /// Whether `--allow-private` opens it.
    pub opened: bool,
}

impl Explanation {
    /// For a rule that cannot be read: nothing is allowed by it.
    pub fn of_bad_rule(error: &ParseRuleError) -> Self {
        Self::refused(error.code(), error.to_string())
    }

    fn refused(code: &'static str, reason: String) -> Self {
        let (scheme, host, port, rule, addresses) = (None, None, None, None, Vec::new());
        Self { allowed: false, code, reason, scheme, host, port, rule, addresses }
    }

    fn of_refusal(refusal: &Refusal) -> Self {
        Self::refused(refusal.code(), refusal.to_string())
    }
}

pub(crate) async fn explain(rules: &Rules, method: &Method, url: &str, look_up: LookUp<'_>) -> Explanation {
    let target: Target = match url.parse() {
        Ok(target) => target,
        Err(error) => return Explanation::of_refusal(&Refusal::Url(error)),
    };
    let mut findings = Findings::default();
    let verdict = pin::pin(rules, method, &target, look_up, &mut findings).await;
    let answer = match verdict {
        Ok(pinned) => Explanation {
            allowed: true,
            reason: pinned
                .first()
                .map_or_else(String::new, |first| format!("{} would be dialled", first.address())),
            ..Explanation::refused("allowed", String::new())
        },
        Err(refusal) => Explanation::of_refusal(&refusal),
    };
    let addresses = findings.judged.iter().map(|judged| AddressVerdict {
        address: judged.address,
        allowed: judged.forbidden.is_none() || judged.opened,
        block: judged.forbidden.map_or("public", |it| it.block),
        purpose: judged.forbidden.map(|it| it.purpose),
        opened: judged.opened,
    });
    Explanation {
        scheme: Some(target.scheme()),
        host: Some(target.host().clone()),
        port: Some(target.port()),
        rule: findings.rule,
        addresses: addresses.collect(),
        ..answer
    }
}

/// As a person reads it: the verdict, then one line a fact.
impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.allowed {
            write!(f, "allowed: {}", self.reason)?;
        } else {
            write!(f, "refused ({}): {}", self.code, self.reason)?;
        }
        if let (Some(scheme), Some(host), Some(port)) = (self.scheme, &self.host, self.port) {
            write!(f, "\n  target   {scheme} to {host}, port {port}")?;
        }
        if let Some(rule) = &self.rule {
            write!(f, "\n  rule     {rule}")?;
        }
        for it in &self.addresses {
            write!(f, "\n  address  {} {}", it.address, it.block)?;
            if let Some(purpose) = it.purpose {
                write!(f, " ({purpose})")?;
            }
            if it.opened {
                f.write_str(", opened by --allow-private")?;
            }
        }
        Ok(())
    }
}
