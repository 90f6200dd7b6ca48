//! The functions of `alga`: two that log, and the fetch.

use drydock_contract::LogLevel;
use wasmtime::{Caller, Linker};

use super::fetch::fetch;
use crate::{guest::Guest, memory};

/// Lines of one call; what follows is dropped.
pub const LINES_MAX: u32 = 200;
/// Bytes of one line; the rest of it is dropped.
pub const LINE_BYTES_MAX: usize = 8 << 10;

/// What the canonical name and its aliases are.
const FETCH_NAMES: [(&str, &str); 3] =
    [("alga", "http.fetch"), ("alga", "http_fetch"), ("alga.http", "fetch")];

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    for (name, level) in [("log_info", LogLevel::Info), ("log_error", LogLevel::Error)] {
        linker.func_wrap("alga", name, move |mut caller: Caller<'_, Guest>, at: u32, count: u32| {
            log(&mut caller, level, at, count)
        })?;
    }
    for (space, name) in FETCH_NAMES {
        linker.func_wrap_async(
            space,
            name,
            |mut caller: Caller<'_, Guest>, (at, count, out): (u32, u32, u32)| {
                Box::new(async move { fetch(&mut caller, at, count, out).await })
            },
        )?;
    }
    Ok(())
}

/// A line that cannot be read is told as such and hurts nobody.
fn log(caller: &mut Caller<'_, Guest>, level: LogLevel, at: u32, count: u32) -> wasmtime::Result<()> {
    caller.data().check_time()?;
    let Ok((memory, guest)) = memory::split(caller) else { return Ok(()) };
    let Some(log) = &mut guest.log else { return Ok(()) };
    match log.lines_left {
        0 => return Ok(()),
        1 => log.sink.line(LogLevel::Error, &format!("[more than {LINES_MAX} lines: the rest is dropped]")),
        _ => match memory.bytes(at, count) {
            Ok(bytes) => log.sink.line(level, &line(bytes)),
            Err(_) => {
                log.sink.line(
                    level,
                    &format!("[a line of {count} bytes at {at}, outside of the guest's memory]"),
                );
            }
        },
    }
    log.lines_left -= 1;
    Ok(())
}

/// As text of at most so many bytes, with a mark where something was cut.
pub fn line(bytes: &[u8]) -> String {
    let cut = &bytes[..bytes.len().min(LINE_BYTES_MAX)];
    // A byte that is no text becomes three, so the text is measured again.
    let mut text = String::from_utf8_lossy(cut).into_owned();
    text.truncate(text.floor_char_boundary(LINE_BYTES_MAX));
    if bytes.len() > LINE_BYTES_MAX {
        text.push_str(" […]");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_text_of_bounded_length_whatever_its_bytes() {
        assert_eq!(line(b"plain"), "plain");
        assert_eq!(line(b"a\xffb"), "a\u{fffd}b");
        let exact = vec![b'x'; LINE_BYTES_MAX];
        assert_eq!(line(&exact).len(), LINE_BYTES_MAX);
        assert!(line(&[exact, vec![b'x']].concat()).ends_with("x […]"));
        assert!(line(&[0xff; LINE_BYTES_MAX]).len() <= LINE_BYTES_MAX);
        assert!(line("é".repeat(LINE_BYTES_MAX).as_bytes()).ends_with("é […]"));
    }
}
