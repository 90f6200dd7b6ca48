//! `python -m pip …` is `pip …`: packages are the host's affair, and no interpreter of ours carries the module.

use std::sync::Arc;

use drydock_abi::exec::{decode_command, encode_command};
use drydock_contract::{BoxFuture, Call, CallError, Dispatch, Reply};

/// The same request for `pip`, where it asks for that in so many words.
pub(crate) fn as_pip(payload: &[u8]) -> Option<Vec<u8>> {
    let command = decode_command(payload).ok()?;
    if !matches!(command.request.name, "python" | "python3") {
        return None;
    }
    let args: Vec<&[u8]> = command.request.args.iter().collect();
    let rest = match args.as_slice() {
        [b"-m", b"pip" | b"pip3", rest @ ..] => rest,
        _ => return None,
    };
    let env: Vec<&[u8]> = command.env.iter().collect();
    let mut bytes = encode_command(&env, "pip", rest, command.request.stdin).ok()?;
    if let Some(millis) = command.wall_ms_max {
        bytes.extend_from_slice(&millis.to_le_bytes());
    }
    Some(bytes)
}

/// Carries a call out, as one of `pip` where it is one.
pub(crate) async fn dispatch(door: Arc<dyn Dispatch>, call: Call<'_>) -> Result<Reply, CallError> {
    match as_pip(call.payload) {
        None => door.dispatch(call).await,
        Some(payload) => door.dispatch(Call { payload: &payload, ..call }).await,
    }
}

/// A door whose calls are those of `pip` where they are.
pub(crate) struct PipDoor(pub(crate) Arc<dyn Dispatch>);

impl Dispatch for PipDoor {
    fn dispatch<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Reply, CallError>> {
        Box::pin(dispatch(Arc::clone(&self.0), call))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pip_as_a_module_is_pip() {
        let cases = [
            ("python3 -m pip install x", Some("pip install x")),
            ("python -m venv x", None),
            ("python x.py -m pip", None),
            ("ruby -m pip", None),
        ];
        for (typed, want) in cases {
            let words: Vec<&str> = typed.split(' ').collect();
            let wire = encode_command(&["A=1"], words[0], &words[1..], b"in").unwrap();
            let got = as_pip(&wire).map(|it| {
                let command = decode_command(&it).unwrap();
                assert_eq!((command.request.stdin, command.env.iter().count()), (&b"in"[..], 1));
                let args = command.request.args.iter().map(|it| String::from_utf8_lossy(it).into_owned());
                [vec![command.request.name.to_owned()], args.collect()].concat().join(" ")
            });
            assert_eq!(got.as_deref(), want, "{typed}");
        }
    }
}
