//! Hosts that a grant names: one request, one answer. Nothing is asked twice, so the room for an answer is the caller's to
//! say: an answer that does not fit is `reply_too_large`, and was made all the same.

use crate::{Error, command::read_map, error::filled, raw};

type Socket = unsafe extern "C" fn(*const u8, u32, u32, *const u8, u32, *mut u8, u32) -> i32;

/// The body that a GET brings. The power `net`.
pub fn http_get(url: &str, bytes_max: usize) -> Result<Vec<u8>, Error> {
    filled(bytes_max, bytes_max, |out, cap| {
        // SAFETY: the host reads the URL, and writes no more than `cap` bytes, before it returns.
        unsafe { raw::host_http_get(url.as_ptr(), url.len() as u32, out, cap) }
    })
}

/// The body that a request brings. A line break in a header would begin another one, so it becomes a blank. The power `net`.
pub fn http(
    method: &str,
    url: &str,
    headers: &[(&str, &str)],
    body: &[u8],
    bytes_max: usize,
) -> Result<Vec<u8>, Error> {
    let headers = header_lines(headers);
    filled(bytes_max, bytes_max, |out, cap| {
        // SAFETY: the host reads the parts, and writes no more than `cap` bytes, before it returns.
        unsafe {
            raw::host_http(
                method.as_ptr(),
                method.len() as u32,
                url.as_ptr(),
                url.len() as u32,
                headers.as_ptr(),
                headers.len() as u32,
                body.as_ptr(),
                body.len() as u32,
                out,
                cap,
            )
        }
    })
}

/// The bodies that GETs bring, sixteen at a time, in the order of the URLs; nothing for one that brought none. Those that
/// do not fit together into `bytes_max` are `reply_too_large`. The power `net`.
pub fn http_get_many(urls: &[&str], bytes_max: usize) -> Result<Vec<Option<Vec<u8>>>, Error> {
    let urls = urls.join("\n");
    let reply = filled(bytes_max, bytes_max, |out, cap| {
        // SAFETY: the host reads the URLs, and writes no more than `cap` bytes, before it returns.
        unsafe { raw::host_http_get_many(urls.as_ptr(), urls.len() as u32, out, cap) }
    })?;
    Ok(read_map(&reply, |_| 0).into_iter().map(|it| it.map(|it| it.stdout)).collect())
}

fn header_lines(headers: &[(&str, &str)]) -> String {
    let one_line = |it: &str| it.replace(['\r', '\n'], " ");
    let lines = headers.iter().map(|(name, value)| format!("{}: {}", one_line(name), one_line(value)));
    lines.collect::<Vec<_>>().join("\n")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_lines_of_which_none_becomes_two() {
        assert_eq!(header_lines(&[("a", "1"), ("b", "2\nc: 3")]), "a: 1\nb: 2 c: 3");
        assert_eq!(header_lines(&[]), "");
    }
}
