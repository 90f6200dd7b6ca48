//! `image`: asks a server that speaks OpenAI's images API, at the gate, in a session that may reach that server and nobody
//! else, with its key along. What it draws is written by whoever asked.

use std::{net::SocketAddr, path::Path, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use drydock_agent::tools::Aspect;
use drydock_contract::{Cap, CapSet};
use drydock_egress::{Host, InjectedHeader, PrivateRule, Rules, Secret, Secrets};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{ToolError, settings::Images};
use crate::{Dock, DownloadError, Network, SecretSource, Setup};

/// The longest answer: an image in base64.
const ANSWER_BYTES_MAX: u64 = 64 << 20;
/// The longest wish.
const PROMPT_BYTES_MAX: usize = 32 << 10;
/// How much of an error is told.
const TOLD_BYTES_MAX: usize = 500;

/// What an image looks like on the wire.
const KINDS: &[(&str, &[u8])] =
    &[("png", b"\x89PNG\r\n\x1a\n"), ("jpeg", b"\xff\xd8\xff"), ("webp", b"RIFF"), ("gif", b"GIF8")];

/// A picture that was drawn.
pub(in super::super) struct Drawn {
    pub(in super::super) kind: &'static str,
    pub(in super::super) bytes: Vec<u8>,
}

/// Whoever asks: a dock, the principal that it is for, and whoever reads keys.
pub(super) struct Asking<'a> {
    pub(super) dock: &'a Dock,
    pub(super) principal: &'a str,
    pub(super) secrets: Option<&'a Arc<SecretSource>>,
    /// The data directory, which may keep the key.
    pub(super) home: &'a Path,
}

pub(super) async fn draw(
    asking: Asking<'_>,
    images: &Images,
    prompt: &str,
    aspect: Aspect,
) -> Result<Drawn, ToolError> {
    if prompt.trim().is_empty() || prompt.len() > PROMPT_BYTES_MAX {
        let why = format!("`prompt` is a text of 1 to {PROMPT_BYTES_MAX} bytes");
        return Err(ToolError::new("bad_arguments", why));
    }
    let body = request(images, prompt, aspect);
    let session = {
        let setup = Setup {
            only_grants: true,
            withheld: CapSet::of(&[Cap::Vfs]),
            network: network(&asking, images)?,
            ..Setup::default()
        };
        let opened = asking.dock.session_beside(asking.principal, setup);
        opened.map_err(|error| ToolError::new("image_failed", error.to_string()))?
    };
    let request = json!({
        "url": images.target.href(),
        "method": "POST",
        "headers": { "content-type": "application/json", "accept": "application/json" },
        "body_b64": STANDARD.encode(Value::Object(body).to_string()),
        "max_bytes": ANSWER_BYTES_MAX,
        "timeout_ms": u64::try_from(images.wall_max.as_millis()).unwrap_or(u64::MAX),
    });
    let (status, answer) = session.fetch_long(&request).await.map_err(|error: DownloadError| {
        ToolError::new(
            "image_failed",
            format!("the server of images was not reached: {}: {error}", error.code()),
        )
    })?;
    match status {
        200..=299 => picture(&answer),
        _ => {
            let text = String::from_utf8_lossy(&answer);
            let said = &text[..text.floor_char_boundary(TOLD_BYTES_MAX)];
            Err(ToolError::new("image_failed", format!("the server of images answered {status}: {said}")))
        }
    }
}

fn request(images: &Images, prompt: &str, aspect: Aspect) -> Map<String, Value> {
    let (name, usual) = match aspect {
        Aspect::Wide => ("16:9", "1792x1024"),
        Aspect::Square => ("1:1", "1024x1024"),
        Aspect::Banner => ("3:1", "1536x512"),
    };
    let settings = &images.settings;
    let size = settings.sizes.get(name).map_or(usual, String::as_str);
    let ours = json!({
        "model": settings.model,
        "prompt": prompt,
        "n": 1,
        "size": size,
        "response_format": "b64_json",
    });
    let Value::Object(mut body) = ours else { return Map::new() };
    body.extend(settings.extra.clone());
    settings.omit.iter().for_each(|name| drop(body.remove(name)));
    body
}

/// That server alone, with its key. An address that is not public was opened by whoever wrote it as one.
fn network(asking: &Asking<'_>, images: &Images) -> Result<Network, ToolError> {
    let target = &images.target;
    let address = target.literal().filter(|it| drydock_egress::judge(*it).is_err());
    let opened = address.map(|it| PrivateRule(SocketAddr::new(it, target.port())));
    let rules = Rules::only(target, opened.into_iter().collect());
    let Some(key) = &images.settings.key else { return Ok(Network { rules, injected: Vec::new() }) };
    let no_key = |why: &dyn std::fmt::Display| ToolError::new("no_key", format!("the key of images: {why}"));
    let source = asking.secrets.ok_or_else(|| no_key(&"nobody reads secrets here"))?;
    let value = key.read(asking.home, &**source).map_err(|error| no_key(&format!("{key}: {error}")))?;
    let mut secrets = Secrets::default();
    secrets.put("KEY", Secret::new(value).map_err(|error| no_key(&error))?);
    let place = match target.host() {
        Host::Address(it) if it.is_ipv6() => format!("[{it}]:{}", target.port()),
        host => format!("{host}:{}", target.port()),
    };
    let header = InjectedHeader::parse(&place, "Authorization: Bearer {{secret:KEY}}", &secrets);
    Ok(Network { rules, injected: vec![header.map_err(|error| no_key(&error))?] })
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Datum>,
}

#[derive(Deserialize)]
struct Datum {
    b64_json: Option<String>,
    url: Option<String>,
}

fn picture(answer: &[u8]) -> Result<Drawn, ToolError> {
    let bad = |why: &str| ToolError::new("image_failed", format!("the server of images answered {why}"));
    let answer: Answer =
        serde_json::from_slice(answer).map_err(|_| bad("something that is no list of images"))?;
    let datum = answer.data.into_iter().next().ok_or_else(|| bad("no image"))?;
    let Some(coded) = datum.b64_json else {
        return Err(match datum.url {
            Some(_) => bad("with a place where the image is; a person configures it to answer `b64_json`"),
            None => bad("no image"),
        });
    };
    let bytes = STANDARD.decode(coded.trim()).map_err(|_| bad("an image that is not base64"))?;
    let kind = KINDS.iter().find(|(_, magic)| bytes.starts_with(magic));
    let (kind, _) = kind.ok_or_else(|| bad("bytes that are no image"))?;
    Ok(Drawn { kind, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_an_image_or_says_what_else_it_is() {
        let told = |text: &str| picture(text.as_bytes()).map(|it| it.kind).map_err(|it| it.message);
        let png = STANDARD.encode(b"\x89PNG\r\n\x1a\nrest");
        assert_eq!(told(&format!(r#"{{"data":[{{"b64_json":"{png}"}}]}}"#)), Ok("png"));
        for (bad, want) in [
            ("", "no list"),
            (r#"{"data":[]}"#, "no image"),
            (r#"{"data":[{}]}"#, "no image"),
            (r#"{"data":[{"url":"https://a.test/x.png"}]}"#, "`b64_json`"),
            (r#"{"data":[{"b64_json":"?"}]}"#, "not base64"),
            (r#"{"data":[{"b64_json":"aGk="}]}"#, "no image"),
        ] {
            assert!(told(bad).unwrap_err().contains(want), "{bad}");
        }
    }
}
