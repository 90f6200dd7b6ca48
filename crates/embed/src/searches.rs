//! The search of the web as an operator writes it: one table with who searches, where, and where the key comes from. The key
//! is read when somebody searches, and is nowhere here.

use std::{sync::Arc, time::Duration};

use drydock_caps::search::{Provider, ProviderKind};
use drydock_egress::{ParseUrlError, Target};
use serde::Deserialize;

use crate::{KeyReader, KeyRef, keys};

/// How long a provider is waited for, if nobody says.
const TIMEOUT_S_USUAL: u64 = 20;

/// The table `[search]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SearchSettings {
    /// What the provider speaks.
    pub provider: ProviderKind,
    /// Where it is, without what the format adds: `https://search.example.com/v1`.
    pub base_url: String,
    /// Where its key comes from: `env:VARIABLE`, `file:/PATH` or `secret:NAME`.
    pub key: Option<KeyRef>,
    /// How long it is waited for, in seconds.
    pub timeout_s: Option<u64>,
}

/// The provider cannot be used as it is configured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BadSearch {
    /// Its URL is none.
    #[error("its `base-url` cannot be used")]
    BaseUrl(#[source] ParseUrlError),
    /// It has words of a query, which are whoever's who searches.
    #[error("its `base-url` ends before any `?` or `#`")]
    Query,
    /// A bound makes no sense.
    #[error("`timeout-s` is 1 to 300")]
    Timeout,
}

impl SearchSettings {
    /// The provider. Its key is read by `secrets` when it is needed.
    pub fn open(&self, secrets: Option<Arc<KeyReader>>) -> Result<Provider, BadSearch> {
        let _: Target = self.base_url.parse().map_err(BadSearch::BaseUrl)?;
        if self.base_url.contains(['?', '#']) {
            return Err(BadSearch::Query);
        }
        let seconds = self.timeout_s.unwrap_or(TIMEOUT_S_USUAL);
        if !(1..=300).contains(&seconds) {
            return Err(BadSearch::Timeout);
        }
        let key = self.key.clone().map(|from| keys::source(from, secrets));
        let (kind, base_url) = (self.provider, self.base_url.clone());
        Ok(Provider { kind, base_url, key, total_max: Duration::from_secs(seconds) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(text: &str) -> Result<Provider, String> {
        let settings: SearchSettings = serde_json::from_str(text).map_err(|error| error.to_string())?;
        settings.open(None).map_err(|error| error.to_string())
    }

    #[test]
    fn a_provider_is_where_its_table_says_and_what_cannot_be_used_is_named() {
        let text =
            r#"{"provider":"brave","base-url":"https://search.example.com/v1","key":"env:K","timeout-s":5}"#;
        let provider = opened(text).unwrap();
        assert_eq!((provider.kind, provider.total_max), (ProviderKind::Brave, Duration::from_secs(5)));
        assert_eq!(provider.key.as_ref().unwrap()().err().unwrap(), "nobody reads secrets here");
        assert!(
            opened(r#"{"provider":"searxng","base-url":"http://127.0.0.1:8080"}"#).unwrap().key.is_none()
        );
        for (text, want) in [
            (r#"{"base-url":"https://a.test"}"#, "missing field `provider`"),
            (r#"{"provider":"other","base-url":"https://a.test"}"#, "unknown variant `other`"),
            (r#"{"provider":"brave"}"#, "missing field `base-url`"),
            (r#"{"provider":"brave","base-url":"a.test"}"#, "`base-url` cannot be used"),
            (r#"{"provider":"brave","base-url":"https://me:pw@a.test"}"#, "`base-url` cannot be used"),
            (r#"{"provider":"brave","base-url":"https://a.test/?key=1"}"#, "before any `?`"),
            (
                r#"{"provider":"brave","base-url":"https://a.test","key":"sk-literal"}"#,
                "no place where a secret",
            ),
            (r#"{"provider":"brave","base-url":"https://a.test","timeout-s":0}"#, "`timeout-s`"),
            (r#"{"provider":"brave","base-url":"https://a.test","api-key":"x"}"#, "unknown field `api-key`"),
        ] {
            let told = opened(text).err().unwrap();
            assert!(told.contains(want), "{text}: {told}");
        }
    }
}
