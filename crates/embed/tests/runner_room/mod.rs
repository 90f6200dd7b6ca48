//! Guests of the Runner ABI, each a few lines of text around the same allocator, and a dock that they are asked through.
#![allow(dead_code, clippy::unwrap_used)]

use drydock_embed::{
    Dock, DockSession, DockSettings, HANDLER_LIMITS, Setup, WorkerProgram,
    extension::runner::{FailureKind, Invoked},
};

/// A dock and a session of handlers.
pub(crate) struct Room {
    _home: tempfile::TempDir,
    pub(crate) dock: Dock,
    pub(crate) session: DockSession,
}

pub(crate) fn room() -> Room {
    room_with(DockSettings::default())
}

pub(crate) fn room_with(settings: DockSettings) -> Room {
    let home = tempfile::tempdir().unwrap();
    let worker = Some(WorkerProgram::new(env!("CARGO_BIN_EXE_drydock-compile-worker"), [""; 0]));
    let dock = Dock::open_with(home.path(), DockSettings { worker, ..settings }).unwrap();
    let session = dock.session("me", Setup::instances(HANDLER_LIMITS)).unwrap();
    Room { _home: home, dock, session }
}

impl Room {
    pub(crate) async fn invoke(&self, wat: &str, request: &str) -> Invoked {
        self.invoke_in(&self.session, &wat::parse_str(wat).unwrap(), request).await
    }

    pub(crate) async fn invoke_in(&self, session: &DockSession, module: &[u8], request: &str) -> Invoked {
        let module = self.dock.hand_over(module.to_vec()).await;
        self.dock.invoke(session, &module, "guest", request.to_owned()).await
    }
}

/// The allocator of every guest: it takes what it needs, and grows for it.
pub(crate) const ALLOC: &str = r#"
  (global $next (mut i32) (i32.const 8192))
  (func $alloc (export "alloc") (param $n i32) (result i32) (local $at i32)
    (local.set $at (global.get $next))
    (global.set $next (i32.add (local.get $at) (local.get $n)))
    (if (i32.gt_u (global.get $next) (i32.mul (memory.size) (i32.const 65536)))
      (then (drop (memory.grow (i32.add (i32.const 1) (i32.shr_u (local.get $n) (i32.const 16)))))))
    (local.get $at))"#;

/// A guest whose handler has this body. `$out` is the tuple.
pub(crate) fn guest(imports: &str, more: &str, body: &str) -> String {
    format!(
        r#"(module {imports} (memory (export "memory") 2) {ALLOC} {more}
          (func $answer (param $out i32) (param $at i32) (param $len i32)
            (i32.store (local.get $out) (local.get $at))
            (i32.store offset=4 (local.get $out) (local.get $len)))
          (func (export "handler") (param $req i32) (param $len i32) (param $out i32) (result i32) (local $i i32)
            {body}))"#
    )
}

/// A guest that answers these bytes.
pub(crate) fn answers(text: &str, more: &str) -> String {
    let escaped: String = text.bytes().map(|byte| format!("\\{byte:02x}")).collect();
    let data = format!(r#"(data (i32.const 16) "{escaped}") {more}"#);
    let body =
        format!("(call $answer (local.get $out) (i32.const 16) (i32.const {})) (i32.const 0)", text.len());
    guest("", &data, &body)
}

pub(crate) const NOTHING: &str = "(i32.const 0)";
pub(crate) const LOGS: &str = r#"(import "alga" "log_info" (func $info (param i32 i32))) (import "alga" "log_error" (func $error (param i32 i32)))"#;

pub(crate) fn kind(invoked: &Invoked) -> Option<FailureKind> {
    invoked.envelope.error.as_ref().map(|it| it.kind)
}

pub(crate) fn message(invoked: &Invoked) -> &str {
    invoked.envelope.error.as_ref().map_or("", |it| &it.message)
}
