//! Chance, as the session gives it.

#[cfg(target_os = "wasi")]
pub fn fill(bytes: &mut [u8]) -> std::io::Result<()> {
    unsafe extern "C" {
        fn getentropy(bytes: *mut u8, count: usize) -> i32;
    }
    // SAFETY: the buffer is as long as the call is told.
    if unsafe { getentropy(bytes.as_mut_ptr(), bytes.len()) } == 0 {
        Ok(())
    } else {
        Err(std::io::Error::last_os_error())
    }
}

#[cfg(not(target_os = "wasi"))]
pub fn fill(bytes: &mut [u8]) -> std::io::Result<()> {
    std::io::Read::read_exact(&mut std::fs::File::open("/dev/urandom")?, bytes)
}
