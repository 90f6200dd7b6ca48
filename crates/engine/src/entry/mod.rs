//! The kinds of guest, one file or folder each: which exports a module of the kind has, what it may import, what growing
//! past its memory limit does, and how it is driven.
//!
//! A kind is data that is checked when a module is linked, before any of its code runs. A module is linked once for each
//! kind and set of powers it is used with; a run then starts from what is ready.

pub(crate) mod command;
pub(crate) mod handler;
pub(crate) mod kernel;
pub(crate) mod lembeh;
pub(crate) mod program;
pub(crate) mod serving;
pub(crate) mod shell;

use drydock_contract::{CapSet, Digest, Fault};
use wasmtime::{ExternType, InstancePre, Linker, Module, ModuleExport};

use crate::{guest::Guest, host, preview1};

/// What a module can be used as.
pub(crate) struct Kind {
    /// As messages call it.
    pub(crate) name: &'static str,
    /// Whether it has WASI.
    pub(crate) wasi: bool,
    /// What growing past the memory limit does.
    pub(crate) growth: Growth,
    /// Links the imports that the kind has besides WASI and granted powers. It sees the module, to offer what some
    /// modules import and most do not.
    pub(crate) imports: fn(&mut Linker<Guest>, &Module, CapSet) -> wasmtime::Result<()>,
    /// What it may import, for whoever imports something else.
    pub(crate) may_import: &'static str,
    /// The exports that its driver needs, or which one is missing.
    pub(crate) exports: fn(&Module) -> Result<Exports, String>,
}

/// What happens to a guest that grows past its memory limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Growth {
    /// Its run ends: told no, it would only abort a little later, with a worse message.
    Ends,
    /// It is told no, as the dialect of its kind promises, and carries on.
    Refused,
}

/// What a driver found.
pub(crate) enum Exports {
    Command(command::Start),
    Program(program::Starts),
    Handler(handler::Functions),
    Lembeh(lembeh::Functions),
    Serving(serving::Functions),
    /// They are found by their names when an instance is made.
    Named,
}

/// A module linked for one kind and one set of powers, ready to be instantiated.
pub(crate) struct Prepared {
    pub(crate) pre: InstancePre<Guest>,
    pub(crate) kind: &'static Kind,
    pub(crate) caps: CapSet,
    pub(crate) exports: Exports,
    pub(crate) memory: Option<ModuleExport>,
    /// It goes to the directory that `PWD` names by itself.
    pub(crate) starts_in_pwd: bool,
}

/// A module that exports this says that it starts in the directory that `PWD` names; what it stands for does not matter.
const STARTS_IN_PWD: &str = "drydock_starts_in_pwd";

/// Links a module, or says which import or export stands in the way.
pub(crate) fn prepare(
    engine: &wasmtime::Engine,
    module: &Module,
    digest: Digest,
    kind: &'static Kind,
    caps: CapSet,
) -> Result<Prepared, Fault> {
    let internal = |error: wasmtime::Error| Fault::Internal(format!("{error:#}"));
    let mut linker = Linker::new(engine);
    if kind.wasi {
        preview1::link(&mut linker).map_err(internal)?;
    }
    // What has no WASI is no program: its powers, if it has any, are imports of its kind.
    host::link(&mut linker, if kind.wasi { caps } else { CapSet::EMPTY }, kind.wasi).map_err(internal)?;
    (kind.imports)(&mut linker, module, caps).map_err(internal)?;
    let pre = linker.instantiate_pre(module).map_err(|error| cannot_link(digest, kind, &error))?;
    let exports = (kind.exports)(module).map_err(|reason| match kind.wasi {
        // A program is what a module is unless somebody says otherwise.
        true => Fault::BadModule { digest, reason },
        false => Fault::Exports { digest, kind: kind.name, reason },
    })?;
    let memory = module.get_export_index(MEMORY).filter(|_| exports_memory(module).is_ok());
    let starts_in_pwd = module.get_export(STARTS_IN_PWD).is_some();
    Ok(Prepared { pre, kind, caps, exports, memory, starts_in_pwd })
}

/// The name of a guest's memory in every dialect.
const MEMORY: &str = "memory";

/// Whether the module exports its memory.
fn exports_memory(module: &Module) -> Result<(), String> {
    match module.get_export(MEMORY) {
        Some(ExternType::Memory(_)) => Ok(()),
        Some(_) => Err("its export `memory` is not a memory".into()),
        None => Err("it does not export `memory`".into()),
    }
}

/// The exported function of that name, which takes and answers as many 32-bit integers.
fn function(module: &Module, name: &str, params: usize, results: usize) -> Result<ModuleExport, String> {
    let words = |count: usize| vec!["i32"; count].join(", ");
    let wanted = || format!("({}) -> ({})", words(params), words(results));
    let is_word = |ty: wasmtime::ValType| matches!(ty, wasmtime::ValType::I32);
    let found = match module.get_export(name) {
        Some(ExternType::Func(ty))
            if ty.params().len() == params
                && ty.results().len() == results
                && ty.params().chain(ty.results()).all(is_word) =>
        {
            module.get_export_index(name)
        }
        Some(ExternType::Func(_)) => {
            return Err(format!("its export `{name}` has another type than {}", wanted()));
        }
        Some(_) => return Err(format!("its export `{name}` is not a function")),
        None => None,
    };
    found.ok_or_else(|| format!("it does not export `{name}`, a function of type {}", wanted()))
}

/// Says which import stands in the way, and why, rather than leave it to the linker's words.
fn cannot_link(digest: Digest, kind: &Kind, error: &wasmtime::Error) -> Fault {
    let Some(unknown) = error.downcast_ref::<wasmtime::UnknownImportError>() else {
        return Fault::BadModule { digest, reason: format!("{error:#}") };
    };
    let (space, name) = (unknown.module(), unknown.name());
    let reason = match (host::cap_of(space, name), space) {
        (Some(cap), _) if kind.wasi => {
            format!("needs the capability `{cap}`; grant it, or use a module without it")
        }
        (None, "wasi_snapshot_preview1") if kind.wasi => "is not a function of WASI preview 1".into(),
        (None, "wasi_unstable") if kind.wasi => {
            "belongs to a WASI older than preview 1; rebuild the module".into()
        }
        _ => format!("is not offered here; a {} may import {}", kind.name, kind.may_import),
    };
    Fault::Import { digest, import: format!("{space}.{name}"), reason }
}
