//! A guest that prints every file it sees, each behind its name, and then what its configuration says of `greeting`.
#![cfg_attr(target_family = "wasm", no_std, no_main)]

#[cfg(target_family = "wasm")]
mod guest {
    use lembeh_guest::{Hub, Stream, say, wire::Reader};

    lembeh_guest::guest!(run);

    static mut OUT: [u8; 4096] = [0; 4096];
    static mut EVENTS: [u8; 64 << 10] = [0; 64 << 10];
    static mut NAMES: [u8; 32 << 10] = [0; 32 << 10];
    static mut PIECE: [u8; 16 << 10] = [0; 16 << 10];

    fn run(_: Stream, response: Stream) {
        // SAFETY: this is the only thread, and each is borrowed once.
        let (out, events, names, piece) = unsafe {
            (&mut *&raw mut OUT, &mut *&raw mut EVENTS, &mut *&raw mut NAMES, &mut *&raw mut PIECE)
        };
        let Some(mut hub) = Hub::open(out, events) else { return say("view", "no hub") };
        if show(&mut hub, response, names, piece).is_none() {
            say("view", "something is missing");
        }
    }

    fn show(hub: &mut Hub<'_>, response: Stream, names: &mut [u8], piece: &mut [u8]) -> Option<()> {
        let future = hub.call(("file", "view", "files.list.v1"), 0, 0, |writer| {
            writer.bytes(b"");
        })?;
        let list = hub.value(future).ok()?;
        // Kept, because what a hub says lies there until the next call.
        let names = names.get_mut(..list.len())?;
        names.copy_from_slice(list);
        let mut list = Reader(names);
        for _ in 0..list.h4()? {
            let (id, display, flags) = (list.bytes()?, list.text()?, list.h4()?);
            response.write_all(display.as_bytes()).ok()?;
            if flags & 2 == 0 {
                response.write_all(b"/\n").ok()?;
                continue;
            }
            response.write_all(b":\n").ok()?;
            let future = hub.call(("file", "view", "files.open.v1"), 0, 0, |writer| {
                writer.bytes(id).h4(1);
            })?;
            let mut opened = Reader(hub.value(future).ok()?);
            let (handle, hflags) = (opened.h4()?, opened.h4()?);
            if hflags != 1 {
                return None;
            }
            let file = Stream(i32::try_from(handle).ok()?);
            while let Ok(count @ 1..) = file.read(piece) {
                response.write_all(piece.get(..count)?).ok()?;
            }
        }
        let future = hub.call(("config", "default", "config.get.v1"), 0, 0, |writer| {
            writer.bytes(b"greeting");
        })?;
        if let Ok(value) = hub.value(future) {
            response.write_all(Reader(value).bytes()?).ok()?;
        }
        Some(())
    }
}

#[cfg(not(target_family = "wasm"))]
fn main() {}
