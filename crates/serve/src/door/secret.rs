//! Secrets of a tenant: their names, kept anew, forgotten. No answer has a value in it, and none says where one is read.

use std::sync::Arc;

use drydock_contract::Outcome;
use drydock_embed::{
    SecretName, StoredSecret,
    change::{GENERATE, KEEP, REMOVE},
    store::{KEPT_BYTES_MAX, KeptSecret, VaultError},
};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::{kept::kept as keeper, off_thread};
use crate::{
    ask::{Answer, Ask},
    error::ApiError,
    json,
};

fn shown(name: &SecretName, kept: Option<&KeptSecret>) -> Value {
    let public_key = kept.and_then(|it| it.public_key);
    let hex = |key: [u8; 32]| key.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    json!({
        "name": name, "kept": kept.is_some(), "algorithm": kept.map(|it| it.algorithm), "public_key": public_key.map(hex),
    })
}

/// Has the change on record under the caller's name, until it is made.
async fn changing<T>(
    ask: &Ask,
    operation: &'static str,
    name: &SecretName,
    change: impl Future<Output = Result<T, ApiError>>,
) -> Result<T, ApiError> {
    let work = keeper(ask)?.begin_change(operation, name.as_str()).await?;
    let done = change.await;
    work.end(Outcome::Exited(i32::from(done.is_err())));
    done
}

/// `GET /v1/secrets`.
pub(crate) async fn list(ask: Ask) -> Answer {
    ask.parameters([])?;
    let all = ask.caller.state.dock.secrets();
    let all = off_thread(move || all.all().map_err(VaultError::from)).await?;
    let rows: Vec<_> = all.iter().map(|StoredSecret { name, kept, .. }| shown(name, kept.as_ref())).collect();
    Ok(json::ok(&json!({ "secrets": rows })))
}

/// `PUT /v1/secrets/{name}`: the value as it is, or nothing and `?generate=ed25519`.
pub(crate) async fn keep(mut ask: Ask) -> Answer {
    let name = named(&ask).map_err(|bad| ApiError::bad("bad_name", bad))?;
    let [generate] = ask.parameters(["generate"])?;
    let value = Zeroizing::new(Vec::from(ask.body(KEPT_BYTES_MAX as u64).await?));
    let (vault, tenant) = (Arc::clone(ask.caller.state.dock.vault()), ask.caller.tenant.clone());
    let wanted = name.clone();
    let kept = match generate.as_deref() {
        None => {
            let keeping = off_thread(move || vault.keep(&tenant, &wanted, &value).map(|()| None));
            changing(&ask, KEEP, &name, keeping).await?
        }
        Some("ed25519") if value.is_empty() => {
            let making = off_thread(move || vault.generate(&tenant, &wanted).map(Some));
            changing(&ask, GENERATE, &name, making).await?
        }
        Some("ed25519") => return Err(ApiError::bad("bad_input", "a key that is made here has no body")),
        Some(_) => return Err(ApiError::bad("bad_parameter", "what can be made here is `generate=ed25519`")),
    };
    let algorithm = match kept {
        None => drydock_contract::SignAlgorithm::HmacSha256,
        Some(_) => drydock_contract::SignAlgorithm::Ed25519,
    };
    Ok(json::ok(&shown(&name, Some(&KeptSecret { algorithm, public_key: kept }))))
}

/// `DELETE /v1/secrets/{name}`.
pub(crate) async fn remove(ask: Ask) -> Answer {
    ask.parameters([])?;
    let absent = || ApiError::absent("secret");
    let name = named(&ask).map_err(|_| absent())?;
    let (all, wanted) = (ask.caller.state.dock.secrets(), name.clone());
    let removing = off_thread(move || all.remove(&wanted).map_err(VaultError::from));
    match changing(&ask, REMOVE, &name, removing).await? {
        true => Ok(json::ok(&json!({ "removed": name }))),
        false => Err(absent()),
    }
}

fn named(ask: &Ask) -> Result<SecretName, String> {
    ask.found("name").parse().map_err(|bad: drydock_contract::BadSecretName| bad.to_string())
}
