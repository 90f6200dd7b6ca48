//! What an installation reaches: its own hosts, what is granted beside it, the operator's list over both, and secrets that
//! whoever opened the dock reads.
#![allow(clippy::unwrap_used)]

mod runner_room;
mod web_room;

use std::{io, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use drydock_embed::{
    DockSettings, ExtensionCode, ExtensionSettings, InstallationSettings, Network, SecretRef, Setup,
    contract::Timestamp,
    egress::{QuotaLimits, Rules},
    extension::runner::Code,
};
use runner_room::{Room, guest, message, room_with};
use serde_json::json;
use web_room::{Server, local, serve};

/// Fetches this and hands the answer on; its handler answers the code where there is none.
fn asks(url: &str) -> Vec<u8> {
    let request = json!({ "url": url }).to_string();
    let data: String = request.bytes().map(|byte| format!("\\{byte:02x}")).collect();
    let import = r#"(import "alga" "http.fetch" (func $fetch (param i32 i32 i32) (result i32)))"#;
    let body = format!("(call $fetch (i32.const 1024) (i32.const {}) (local.get $out))", request.len());
    wat::parse_str(guest(import, &format!(r#"(data (i32.const 1024) "{data}")"#), &body)).unwrap()
}

fn site() -> Server {
    serve(|head, to| {
        let key = head.lines().find_map(|it| it.strip_prefix("x-key: ")).unwrap_or("none");
        let text = format!("key {key}");
        write!(to, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{text}", text.len()).unwrap();
    })
}

fn room_under(list: Option<&str>) -> Room {
    let (egress, _) = local(QuotaLimits::default());
    let read = |from: &SecretRef| match from.to_string().as_str() {
        "env:KEY" => Ok(b"canary-0123456789".to_vec()),
        _ => Err(io::Error::other("it is not there")),
    };
    let allow_list = list.map(|it| Rules::parse_list(it).unwrap());
    let extensions = ExtensionSettings { allow_list, secrets: Some(Arc::new(read)) };
    room_with(DockSettings { egress: Some(egress), extensions, ..DockSettings::default() })
}

/// Installs it and asks it for a URL; what it was told, or why there was no session.
async fn ask(room: &Room, settings: serde_json::Value, beside: Rules, url: &str) -> Result<String, String> {
    let settings: InstallationSettings = serde_json::from_value(settings).unwrap();
    let code = ExtensionCode::Module(asks(url).into());
    let made = room.dock.install_extension("shop".parse().unwrap(), code, settings, Timestamp(0)).await;
    let installed = room.dock.installed(made.map_err(|it| it.code().to_owned())?).await.unwrap();
    let network = Network { rules: beside, injected: Vec::new() };
    let setup = Setup { network, ..Setup::default() };
    let session = room.dock.extension_session("me", &installed, setup).map_err(|it| it.to_string())?;
    let invoked = room.dock.invoke(&session, &installed.module, "shop", "{}").await;
    if let Some(error) = &invoked.envelope.error {
        assert_eq!(error.code, Code::Number(1), "{}", message(&invoked));
        return Ok("denied".to_owned());
    }
    Ok(String::from_utf8(STANDARD.decode(invoked.envelope.body_b64.unwrap()).unwrap()).unwrap())
}

#[tokio::test]
async fn the_operators_list_is_that_of_an_extension_without_one_and_bounds_one_that_has() {
    let site = site();
    let (port, place) = (site.address.port(), site.address.to_string());
    let opened = || Rules::parse(&[], &[], std::slice::from_ref(&place)).unwrap();
    for (own, list, host, passes) in [
        (None, None, "listed.test", false),
        (None, Some("listed.test"), "listed.test", true),
        (None, Some("other.test,listed.test,"), "a.listed.test", true),
        (None, Some("listed.test"), "notlisted.test", false),
        (None, Some(""), "listed.test", false),
        (Some("own.test"), None, "own.test", true),
        (Some("own.test"), Some("listed.test"), "own.test", false),
        (Some("own.test"), Some("listed.test"), "listed.test", false),
        (Some("a.listed.test"), Some("listed.test"), "a.listed.test", true),
        (Some("a.listed.test"), Some("listed.test"), "listed.test", false),
        (Some("listed.test"), Some("a.listed.test"), "listed.test", false),
        (Some("listed.test"), Some("a.listed.test"), "a.listed.test", true),
    ] {
        let with_port = |it: &str| format!("{it}:{port}");
        let list = list
            .map(|it| it.split(',').filter(|it| !it.is_empty()).map(with_port).collect::<Vec<_>>().join(","));
        let room = room_under(list.as_deref());
        let hosts: Vec<String> = own.into_iter().map(with_port).collect();
        let settings = json!({ "allow_host": hosts });
        let told = ask(&room, settings, opened(), &format!("http://{host}:{port}/")).await.unwrap();
        assert_eq!(told, if passes { "key none" } else { "denied" }, "{own:?} {list:?} {host}");
    }
}

#[tokio::test]
async fn an_address_that_is_not_public_is_reached_where_the_installation_names_it() {
    let (site, room) = (site(), room_under(None));
    let named = json!({ "allow_private": [site.address.to_string()] });
    assert_eq!(ask(&room, named, Rules::default(), &site.url("/")).await.unwrap(), "key none");
    let host = json!({ "allow_host": [site.address.to_string()] });
    assert_eq!(ask(&room, host, Rules::default(), &site.url("/")).await.unwrap(), "denied");
    assert_eq!(ask(&room, json!({}), Rules::default(), &site.url("/")).await.unwrap(), "denied");
    assert_eq!(site.heads().len(), 1);
}

#[tokio::test]
async fn a_secret_is_read_when_a_session_begins_if_a_header_has_it_and_only_then() {
    let (site, room) = (site(), room_under(None));
    let place = site.address.to_string();
    let with = |secrets: serde_json::Value, headers: serde_json::Value| json!({ "allow_private": [place], "secrets": secrets, "secret_headers": headers });
    let header = json!([format!("{place} X-Key: {{{{secret:KEY}}}}")]);
    let both = with(json!({ "KEY": "env:KEY", "SPARE": "file:/nowhere" }), header.clone());
    let told = ask(&room, both, Rules::default(), &site.url("/")).await.unwrap();
    assert_eq!(told, "key [redacted]");
    assert!(site.heads()[0].contains("x-key: canary-0123456789\r\n"));
    let missing = with(json!({ "KEY": "env:OTHER" }), header.clone());
    let why = ask(&room, missing, Rules::default(), &site.url("/")).await.unwrap_err();
    assert_eq!(why, "secret `KEY` cannot be read: env:OTHER: it is not there");
    let registered = with(json!({ "KEY": "registered" }), header.clone());
    let why = ask(&room, registered.clone(), Rules::default(), &site.url("/")).await.unwrap_err();
    assert_eq!(why, "secret `KEY` cannot be read: it is not registered any more");
    assert!(room.dock.secrets().put(&"KEY".parse().unwrap(), &"env:KEY".parse().unwrap()).unwrap());
    let told = ask(&room, registered, Rules::default(), &site.url("/")).await.unwrap();
    assert_eq!(told, "key [redacted]");
    // The same name, kept: nobody's environment is asked.
    let value = zeroize::Zeroizing::new(b"canary-kept-0123456789".to_vec());
    room.dock.vault().keep(room.dock.tenant(), &"KEY".parse().unwrap(), &value).unwrap();
    let told =
        ask(&room, with(json!({ "KEY": "registered" }), header.clone()), Rules::default(), &site.url("/"))
            .await;
    assert_eq!(told.unwrap(), "key [redacted]");
    assert!(site.heads().last().unwrap().contains("x-key: canary-kept-0123456789\r\n"));
    let unknown = ask(&room, with(json!({}), header), Rules::default(), &site.url("/")).await.unwrap_err();
    assert_eq!(unknown, "bad_secret_header", "it names a secret that there is not");
}
