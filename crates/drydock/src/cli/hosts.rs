//! Which hosts may be reached, and which secrets go along: the flags that everything shares that reaches out.

use std::{convert::Infallible, fmt, str::FromStr};

use clap::Args;
use drydock_embed::{
    Network,
    egress::{HostRule, InjectedHeader, PrivateRule, Rules, Secret, Secrets, UrlRule},
};

use crate::extensions::read_secret_file;

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Hosts {
    /// Let HTTP requests go to this host and what is below it, on 80 and 443 or the port it names
    #[arg(long, value_name = "HOST[:PORT]")]
    pub(super) allow_host: Vec<HostRule>,
    /// Open one address that is not public, for a local service
    #[arg(long, value_name = "ADDR:PORT")]
    pub(super) allow_private: Vec<PrivateRule>,
    /// Let requests go to one host by method and by the beginning of the path: 'GET,HEAD https://api.test/v1'
    #[arg(long, value_name = "[METHODS ]URL")]
    pub(super) allow_url: Vec<UrlRule>,
}

/// Secrets that egress sends along; no guest sees one.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct SecretFlags {
    /// A secret by name, from an environment variable or a file of yours
    #[arg(long, value_name = "NAME=env:VAR|file:PATH")]
    secret: Vec<NamedSecret>,
    /// A header with secrets for one host: 'api.test Authorization: Bearer {{secret:NAME}}'
    #[arg(long, value_name = "HOST[:PORT] HEADER", value_parser = Template::parse)]
    secret_header: Vec<Template>,
}

/// Where a secret is to be found. What was typed is kept out of every message, because it may be the secret itself.
#[derive(Clone)]
struct NamedSecret(String);

impl fmt::Debug for NamedSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NamedSecret")
    }
}

impl FromStr for NamedSecret {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

impl NamedSecret {
    fn read(&self) -> Result<(String, Secret), String> {
        let usage = "use NAME=env:VAR or NAME=file:PATH: the secret itself is never typed";
        let (name, place) = self.0.split_once('=').ok_or(usage)?;
        let legal = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
        if name.is_empty() || !name.bytes().all(legal) {
            return Err(usage.into());
        }
        let bytes = match place.split_once(':') {
            Some(("env", variable)) => {
                let value =
                    std::env::var(variable).map_err(|_| format!("there is no variable `{variable}`"))?;
                value.into_bytes()
            }
            Some(("file", path)) => {
                read_secret_file(path).map_err(|error| format!("could not read `{path}`: {error}"))?
            }
            _ => return Err(usage.into()),
        };
        let secret = Secret::new(bytes).map_err(|bad| bad.to_string())?;
        Ok((name.to_owned(), secret))
    }
}

#[derive(Debug, Clone)]
struct Template {
    place: String,
    header: String,
}

impl Template {
    fn parse(text: &str) -> Result<Self, String> {
        let usage = "use 'HOST[:PORT] Name: value with {{secret:NAME}}'";
        let (place, header) = text.trim().split_once(' ').ok_or(usage)?;
        Ok(Self { place: place.to_owned(), header: header.trim().to_owned() })
    }
}

impl Hosts {
    pub(super) fn rules(&self) -> Rules {
        let Self { allow_host, allow_private, allow_url } = self.clone();
        Rules { hosts: allow_host, urls: allow_url, privates: allow_private, ceiling: None }
    }
}

impl SecretFlags {
    /// These rules, with the secrets that go along.
    pub(super) fn with(&self, rules: Rules) -> anyhow::Result<Network> {
        // A replay asks nobody, so that nobody is to be told a secret.
        if crate::taped::is_played() {
            return Ok(Network { rules, ..Network::default() });
        }
        let mut secrets = Secrets::default();
        for it in &self.secret {
            let (name, secret) = it.read().map_err(|why| anyhow::anyhow!("--secret: {why}"))?;
            secrets.put(name, secret);
        }
        let parse = |it: &Template| InjectedHeader::parse(&it.place, &it.header, &secrets);
        let injected = self.secret_header.iter().map(parse).collect::<Result<_, _>>()?;
        Ok(Network { rules, injected })
    }
}
