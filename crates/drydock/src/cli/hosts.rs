//! Which hosts may be reached, and which secrets go along: the flags that everything shares that reaches out.

use std::{convert::Infallible, fmt, str::FromStr, sync::Arc};

use anyhow::bail;
use clap::Args;
use drydock_embed::{
    Network, SecretName, SecretRef, StoredSecrets,
    contract::{BadPattern, BadSecretName, Cap, Pattern, Tenant, Terms},
    egress::{HostRule, InjectedHeader, PrivateRule, Rules, Secret, Secrets, UrlRule},
    gate::Grant,
    judge_terms,
    store::{Home, SqliteLedger, Vault},
};

use crate::{extensions::read_secret_file, home};

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

/// Where raw bytes may go, and which secrets sign: a grant for each, as a file of grants has it.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Reach {
    /// Let raw TCP go to this host and port; private:ADDR:PORT is an address that is not public
    #[arg(long, value_name = "HOST:PORT", value_parser = |text: &str| subject(Cap::Tcp, text))]
    allow_tcp: Vec<Pattern>,
    /// Let raw TLS go to this host and port, with its certificate verified
    #[arg(long, value_name = "HOST:PORT", value_parser = |text: &str| subject(Cap::Tls, text))]
    allow_tls: Vec<Pattern>,
    /// Let datagrams go to this host and port
    #[arg(long, value_name = "HOST:PORT", value_parser = |text: &str| subject(Cap::Udp, text))]
    allow_udp: Vec<Pattern>,
    /// Let guests sign with this secret, which they never see
    #[arg(long, value_name = "NAME", value_parser = |text: &str| subject(Cap::Secrets, text))]
    allow_secret: Vec<Pattern>,
}

fn subject(cap: Cap, text: &str) -> Result<Pattern, String> {
    let pattern: Pattern = text.parse().map_err(|bad: BadPattern| bad.to_string())?;
    judge_terms(cap, &Terms::of([pattern.clone()]))?;
    Ok(pattern)
}

impl Reach {
    pub(super) fn grants(&self) -> impl Iterator<Item = Arc<Grant>> {
        let of = |cap: Cap, subjects: &[Pattern]| {
            let terms = (!subjects.is_empty()).then(|| Terms::of(subjects.iter().cloned()));
            terms.map(|it| Arc::new(Grant::of(cap).within(it)))
        };
        let all = [
            of(Cap::Tcp, &self.allow_tcp),
            of(Cap::Tls, &self.allow_tls),
            of(Cap::Udp, &self.allow_udp),
            of(Cap::Secrets, &self.allow_secret),
        ];
        all.into_iter().flatten()
    }

    /// An error if a secret that was named is not kept; a pattern may name none.
    pub(super) fn check_secrets(&self, home: &Home, tenant: &Tenant) -> anyhow::Result<()> {
        let secrets = StoredSecrets::new(Arc::new(SqliteLedger::of(home)), tenant.clone());
        let named = self.allow_secret.iter().filter_map(|it| it.as_str().parse::<SecretName>().ok());
        for name in named {
            match secrets.find(&name)? {
                Some(SecretRef::Kept) => {}
                Some(_) => bail!(
                    "secret `{name}` is referred to, and only a kept one signs; `drydock secret keep {name}` keeps it"
                ),
                None => bail!(
                    "there is no secret `{name}`; `drydock secret keep {name}` keeps one, and `drydock secret list` shows those there are"
                ),
            }
        }
        Ok(())
    }
}

/// Secrets that egress sends along; no guest sees one.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct SecretFlags {
    /// A secret by name: from an environment variable or a file of yours, or one that `drydock secret keep` keeps
    #[arg(long, value_name = "NAME=env:VAR|file:PATH|kept")]
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
        let usage = "use NAME=env:VAR, NAME=file:PATH or NAME=kept: the secret itself is never typed";
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
            None if place == "kept" => kept(name)?,
            _ => return Err(usage.into()),
        };
        let secret = Secret::new(bytes).map_err(|bad| bad.to_string())?;
        Ok((name.to_owned(), secret))
    }
}

/// What the tenant of the command line keeps under that name.
fn kept(name: &str) -> Result<Vec<u8>, String> {
    let name: SecretName = name.parse().map_err(|bad: BadSecretName| bad.to_string())?;
    let home = home::open().map_err(|error| error.to_string())?;
    let vault = Vault::new(&home, Arc::new(SqliteLedger::of(&home)));
    let value = vault.open_for_header(&Tenant::default(), &name);
    Ok(std::mem::take(&mut *value.map_err(|error| error.to_string())?))
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
