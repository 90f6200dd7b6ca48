//! Lines for whoever runs the extension: `drydock ext logs NAME` shows them.

#[cfg(target_family = "wasm")]
mod host {
    #[link(wasm_import_module = "alga")]
    unsafe extern "C" {
        pub(super) fn log_info(at: *const u8, size: u32);
        pub(super) fn log_error(at: *const u8, size: u32);
    }
}

/// Something to be known.
pub fn info(line: &str) {
    #[cfg(target_family = "wasm")]
    // SAFETY: the host reads the line before it returns.
    unsafe {
        host::log_info(line.as_ptr(), line.len() as u32);
    }
    #[cfg(not(target_family = "wasm"))]
    eprintln!("info: {line}");
}

/// Something that went wrong.
pub fn error(line: &str) {
    #[cfg(target_family = "wasm")]
    // SAFETY: the host reads the line before it returns.
    unsafe {
        host::log_error(line.as_ptr(), line.len() as u32);
    }
    #[cfg(not(target_family = "wasm"))]
    eprintln!("error: {line}");
}
