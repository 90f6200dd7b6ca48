//! Hosts that a grant names: one request, one answer. Nothing is asked twice, so the room for an answer is the caller's to
//! say: an answer that does not fit is `reply_too_large`, and was made all the same.

use crate::{Error, error::filled, raw};

type Socket = unsafe extern "C" fn(*const u8, u32, u32, *const u8, u32, *mut u8, u32) -> i32;

/// The body that a GET brings. The power `net`.
pub fn http_get(url: &str, bytes_max: usize) -> Result<Vec<u8>, Error> {
    filled(bytes_max, bytes_max, |out, cap| {
        // SAFETY: the host reads the URL, and writes no more than `cap` bytes, before it returns.
        unsafe { raw::host_http_get(url.as_ptr(), url.len() as u32, out, cap) }
    })
}

/// Sends data over TCP and reads to the end. The power `tcp`.
pub fn tcp(host: &str, port: u16, data: &[u8], bytes_max: usize) -> Result<Vec<u8>, Error> {
    ask(raw::host_tcp, host, port, data, bytes_max)
}

/// Sends one datagram and reads one. The power `udp`.
pub fn udp(host: &str, port: u16, data: &[u8], bytes_max: usize) -> Result<Vec<u8>, Error> {
    ask(raw::host_udp, host, port, data, bytes_max)
}

/// Sends data over verified TLS and reads to the end. The power `tls`.
pub fn tls(host: &str, port: u16, data: &[u8], bytes_max: usize) -> Result<Vec<u8>, Error> {
    ask(raw::host_tls, host, port, data, bytes_max)
}

#[inline]
fn ask(socket: Socket, host: &str, port: u16, data: &[u8], bytes_max: usize) -> Result<Vec<u8>, Error> {
    let (host_len, data_len) = (host.len() as u32, data.len() as u32);
    filled(bytes_max, bytes_max, |out, cap| {
        // SAFETY: the host reads the parts, and writes no more than `cap` bytes, before it returns.
        unsafe { socket(host.as_ptr(), host_len, port.into(), data.as_ptr(), data_len, out, cap) }
    })
}
