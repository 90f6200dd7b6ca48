//! Models as an operator writes them: a table each, with where it is served, in which format, and where its key comes from.
//! A key is read when a turn is asked for, and is nowhere here.

use std::{sync::Arc, time::Duration};

use drydock_abi::llm::{BadRecorded, BadScript, Recorded, Script, wire::Dialect};
use drydock_caps::llm::{Endpoint, Model, Patience, Prices, Served};
use drydock_egress::ParseUrlError;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{KeyReader, KeyRef, keys};

/// One model, as it is configured.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ModelSettings {
    /// What its server speaks.
    #[serde(default)]
    pub dialect: ModelDialect,
    /// Where it is, without what the format adds: `https://models.example.com/v1`.
    pub base_url: Option<String>,
    /// Where its key comes from: `env:VARIABLE`, `file:/PATH` or `secret:NAME`.
    pub key: Option<KeyRef>,
    /// What the server calls it, if not as it is called here.
    pub model: Option<String>,
    /// Members of every request, in the place of ours.
    #[serde(default)]
    pub extra: Map<String, Value>,
    /// Members that its server does not take.
    #[serde(default)]
    pub omit: Vec<String>,
    /// What a million tokens cost.
    pub price: Option<ModelPrice>,
    /// How often its server is asked for a turn.
    pub attempts: Option<u32>,
    /// How long a turn may take, with all tries, in seconds.
    pub timeout_s: Option<u64>,
    /// How long nothing may come, in seconds.
    pub idle_timeout_s: Option<u64>,
    /// The file of turns of a scripted model.
    pub script: Option<String>,
    /// The file of events of the run that is replayed.
    pub run: Option<String>,
}

/// What a server of models speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelDialect {
    /// OpenAI's chat completions, which most servers speak.
    #[default]
    OpenAi,
    /// Anthropic's Messages.
    Anthropic,
    /// No server: a file of turns.
    Scripted,
    /// No server: a run of an agent, whose model says again what it said.
    Replay,
}

/// What a million tokens cost, in whatever money the operator thinks in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelPrice {
    /// Read.
    pub input: f64,
    /// Read, and known from before; as `input` if it is not said.
    pub cached: Option<f64>,
    /// Written.
    pub output: f64,
}

/// A model cannot be used as it is configured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BadModel {
    /// It has no server.
    #[error("it has no `base-url`")]
    NoBaseUrl,
    /// Its server's URL is none.
    #[error("its `base-url` cannot be used")]
    BaseUrl(#[source] ParseUrlError),
    /// It has no script.
    #[error("it is scripted, and has no `script`")]
    NoScript,
    /// Its script cannot be read.
    #[error("its script `{path}` cannot be read: {cause}")]
    ReadScript {
        /// Which file.
        path: String,
        /// Why not.
        cause: std::io::Error,
    },
    /// Its script is none.
    #[error("its script `{path}` cannot be used: {cause}")]
    Script {
        /// Which file.
        path: String,
        /// Why not.
        cause: BadScript,
    },
    /// It has no run.
    #[error("it is a replay, and has no `run`")]
    NoRun,
    /// Its run cannot be read.
    #[error("its run `{path}` cannot be read: {cause}")]
    ReadRun {
        /// Which file.
        path: String,
        /// Why not.
        cause: std::io::Error,
    },
    /// Its run is none.
    #[error("its run `{path}` cannot be used: {cause}")]
    Run {
        /// Which file.
        path: String,
        /// Why not.
        cause: BadRecorded,
    },
    /// A price is less than nothing, or no number.
    #[error("a price is a number of at least 0 and at most 1000000")]
    Price,
    /// A bound makes no sense.
    #[error("`attempts` is 1 to 10, and `timeout-s` and `idle-timeout-s` are 1 to 86400")]
    Patience,
}

impl ModelSettings {
    /// The model of that name. Keys are read by `secrets` when they are needed, a script by `read` now.
    pub fn open(
        &self,
        name: &str,
        secrets: Option<Arc<KeyReader>>,
        read: impl FnOnce(&str) -> std::io::Result<String>,
    ) -> Result<Model, BadModel> {
        let prices = self.price.as_ref().map(ModelPrice::prices).transpose()?;
        let dialect = match self.dialect {
            ModelDialect::OpenAi => Dialect::OpenAi,
            ModelDialect::Anthropic => Dialect::Anthropic,
            ModelDialect::Scripted => {
                let path = self.script.clone().ok_or(BadModel::NoScript)?;
                let text = read(&path).map_err(|cause| BadModel::ReadScript { path: path.clone(), cause })?;
                let script = Script::parse(&text).map_err(|cause| BadModel::Script { path, cause })?;
                return Ok(Model { served: Served::Scripted(script), prices });
            }
            ModelDialect::Replay => {
                let path = self.run.clone().ok_or(BadModel::NoRun)?;
                let text = read(&path).map_err(|cause| BadModel::ReadRun { path: path.clone(), cause })?;
                let run = Recorded::parse(&text).map_err(|cause| BadModel::Run { path, cause })?;
                return Ok(Model { served: Served::Replay(Arc::new(run)), prices });
            }
        };
        let base = self.base_url.as_deref().ok_or(BadModel::NoBaseUrl)?;
        let url = format!("{}{}", base.trim_end_matches('/'), dialect.path());
        let target = url.parse().map_err(BadModel::BaseUrl)?;
        let key = self.key.clone().map(|from| keys::source(from, secrets));
        let model = self.model.clone().unwrap_or_else(|| name.to_owned());
        let omitted = self.omit.iter().map(|it| (it.clone(), Value::Null));
        let (extra, patience) = (self.extra.clone().into_iter().chain(omitted).collect(), self.patience()?);
        let endpoint = Endpoint { dialect, target, model, key, extra, patience };
        Ok(Model { served: Served::At(Box::new(endpoint)), prices })
    }

    fn patience(&self) -> Result<Patience, BadModel> {
        let usual = Patience::default();
        let seconds = |set: Option<u64>, usual: Duration| match set {
            None => Ok(usual),
            Some(seconds @ 1..=86_400) => Ok(Duration::from_secs(seconds)),
            Some(_) => Err(BadModel::Patience),
        };
        let attempts_max = self.attempts.unwrap_or(usual.attempts_max);
        if !(1..=10).contains(&attempts_max) {
            return Err(BadModel::Patience);
        }
        Ok(Patience {
            total_max: seconds(self.timeout_s, usual.total_max)?,
            idle_max: seconds(self.idle_timeout_s, usual.idle_max)?,
            attempts_max,
            ..usual
        })
    }
}

impl ModelPrice {
    fn prices(&self) -> Result<Prices, BadModel> {
        let micros = |price: f64| match (0.0..=1e6).contains(&price) {
            // In range, and rounded: nothing is lost but what is less than a millionth.
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was judged")]
            true => Ok((price * 1e6).round() as u64),
            false => Err(BadModel::Price),
        };
        Ok(Prices {
            input_micros: micros(self.input)?,
            cached_input_micros: micros(self.cached.unwrap_or(self.input))?,
            output_micros: micros(self.output)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> Result<ModelSettings, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    fn opened(text: &str) -> Result<Model, String> {
        let read = |path: &str| match path {
            "good" => Ok(r#"{"content":"hi"}"#.to_owned()),
            "run" => Ok(r#"{"event":"turn","content":"hi","stop_reason":"end_turn"}"#.to_owned()),
            "bad" => Ok("{".to_owned()),
            _ => Err(std::io::ErrorKind::NotFound.into()),
        };
        settings(text)?.open("openai/m", None, read).map_err(|error| error.to_string())
    }

    #[test]
    fn a_model_is_where_its_table_says() {
        let model = opened(
            r#"{"base-url":"https://models.example.com/v1/","key":"env:K","price":{"input":1.25,"output":10},"extra":{"reasoning_effort":"low"}}"#,
        )
        .unwrap();
        let Served::At(endpoint) = &model.served else { panic!("no server") };
        assert_eq!(endpoint.target.href(), "https://models.example.com/v1/chat/completions");
        assert_eq!((endpoint.model.as_str(), endpoint.patience), ("openai/m", Patience::default()));
        let prices = model.prices.unwrap();
        assert_eq!(
            (prices.input_micros, prices.cached_input_micros, prices.output_micros),
            (1_250_000, 1_250_000, 10_000_000)
        );
        let told = endpoint.key.as_ref().unwrap()().err().unwrap();
        assert_eq!(told, "nobody reads secrets here");
        let model = opened(r#"{"dialect":"anthropic","base-url":"http://127.0.0.1:9","model":"claude","attempts":1,"timeout-s":5}"#).unwrap();
        let Served::At(endpoint) = &model.served else { panic!("no server") };
        assert_eq!(
            (endpoint.target.href(), endpoint.model.as_str()),
            ("http://127.0.0.1:9/messages", "claude")
        );
        assert!(matches!(
            opened(r#"{"dialect":"scripted","script":"good"}"#).unwrap().served,
            Served::Scripted(_)
        ));
        assert!(matches!(opened(r#"{"dialect":"replay","run":"run"}"#).unwrap().served, Served::Replay(_)));
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        for (text, want) in [
            ("{}", "no `base-url`"),
            (r#"{"base-url":"models.example.com"}"#, "`base-url` cannot be used"),
            (r#"{"base-url":"https://me:pw@models.example.com"}"#, "`base-url` cannot be used"),
            (r#"{"base-url":"https://a.test","key":"sk-literal"}"#, "no place where a secret comes from"),
            (r#"{"base-url":"https://a.test","api-key":"x"}"#, "unknown field `api-key`"),
            (r#"{"dialect":"other"}"#, "unknown variant `other`"),
            (r#"{"dialect":"scripted"}"#, "has no `script`"),
            (r#"{"dialect":"scripted","script":"missing"}"#, "`missing` cannot be read"),
            (r#"{"dialect":"scripted","script":"bad"}"#, "turn 1"),
            (r#"{"dialect":"replay"}"#, "has no `run`"),
            (r#"{"dialect":"replay","run":"missing"}"#, "its run `missing` cannot be read"),
            (r#"{"dialect":"replay","run":"bad"}"#, "event 1"),
            (r#"{"dialect":"replay","run":"good"}"#, "missing field `event`"),
            (r#"{"base-url":"https://a.test","price":{"input":-1,"output":0}}"#, "a price"),
            (r#"{"base-url":"https://a.test","attempts":0}"#, "`attempts`"),
            (r#"{"base-url":"https://a.test","timeout-s":0}"#, "`timeout-s`"),
        ] {
            let told = opened(text).err().unwrap();
            assert!(told.contains(want), "{text}: {told}");
        }
    }
}
