//! A guest that does what its input says, a word and its arguments a line, and answers each line with one. Tests drive the
//! running host with it.
#![cfg_attr(target_family = "wasm", no_std, no_main)]

#[cfg(target_family = "wasm")]
mod guest {
    use core::fmt::Write as _;

    use lembeh_guest::{
        Event, Failed, Hub, Stream, ctl, exec, say,
        wire::{Reader, Writer},
    };

    lembeh_guest::guest!(run);

    const SCRIPT_BYTES_MAX: usize = 64 << 10;
    const ARGS_MAX: usize = 300;

    static mut SCRIPT: [u8; SCRIPT_BYTES_MAX] = [0; SCRIPT_BYTES_MAX];
    static mut OUT: [u8; 1 << 20] = [0; 1 << 20];
    static mut EVENTS: [u8; 128 << 10] = [0; 128 << 10];
    static mut ROOM: [u8; 128 << 10] = [0; 128 << 10];

    /// The response, as something to format to.
    struct Answer(Stream);

    impl core::fmt::Write for Answer {
        fn write_str(&mut self, text: &str) -> core::fmt::Result {
            self.0.write_all(text.as_bytes()).map_err(|_| core::fmt::Error)
        }
    }

    fn run(request: Stream, response: Stream) {
        // SAFETY: this is the only thread, and each is borrowed once.
        let (script, out, events, room) = unsafe {
            (&mut *&raw mut SCRIPT, &mut *&raw mut OUT, &mut *&raw mut EVENTS, &mut *&raw mut ROOM)
        };
        let mut used = 0;
        while let Some(free) = script.get_mut(used..).filter(|it| !it.is_empty()) {
            match request.read(free) {
                Ok(count @ 1..) => used += count,
                _ => break,
            }
        }
        let mut hub: Option<Hub<'_>> = None;
        let (mut out, mut events) = (Some(out), Some(events));
        let text = core::str::from_utf8(script.get(..used).unwrap_or(&[])).unwrap_or("");
        for line in text.lines().filter(|it| !it.is_empty()) {
            let mut words = line.split(' ');
            let word = words.next().unwrap_or("");
            let mut answer = Answer(response);
            let _ = write!(answer, "{word}: ");
            if word == "hub" {
                if let (Some(out), Some(events)) = (out.take(), events.take()) {
                    hub = Hub::open(out, events);
                }
                let _ = match &hub {
                    Some(hub) => writeln!(answer, "{}", hub.stream().0),
                    None => writeln!(answer, "none"),
                };
                continue;
            }
            if step(word, words, &mut hub, room, &mut answer).is_none() {
                let _ = writeln!(answer, "?");
            }
        }
    }

    /// One line; nothing if it cannot be understood.
    fn step<'a>(
        word: &str,
        mut words: impl Iterator<Item = &'a str>,
        hub: &mut Option<Hub<'_>>,
        room: &mut [u8],
        answer: &mut Answer,
    ) -> Option<()> {
        match word {
            "caps" => {
                let mut list = Reader(ctl::operation(ctl::CAPS_LIST, &[], room).ok()?);
                for _ in 0..list.h4()? {
                    let (kind, name, flags) = (list.text()?, list.text()?, list.h4()?);
                    list.bytes()?;
                    write!(answer, "{kind}/{name}={flags} ").ok()?;
                }
                list.end()?;
                writeln!(answer).ok()
            }
            "describe" => {
                let mut payload = [0; 128];
                let mut writer = Writer::new(&mut payload);
                writer.bytes(words.next()?.as_bytes()).bytes(words.next()?.as_bytes());
                let used = writer.done()?;
                match ctl::operation(ctl::CAPS_DESCRIBE, payload.get(..used)?, room) {
                    Ok(body) => {
                        let mut body = Reader(body);
                        body.h4()?;
                        writeln!(answer, "{}", core::str::from_utf8(body.bytes()?).ok()?).ok()
                    }
                    Err(refused) => writeln!(answer, "{refused:?}").ok(),
                }
            }
            "ctl" => {
                let (frame_room, response_room) = room.split_at_mut(64 << 10);
                let used = hex(words.next()?, frame_room)?;
                let most: usize = words.next()?.parse().ok()?;
                let frame = frame_room.get(..used)?;
                match ctl::ask(frame, response_room.get_mut(..most)?) {
                    None => writeln!(answer, "-1").ok(),
                    Some(response) => {
                        let op = u16::from_le_bytes(response.get(6..8)?.try_into().ok()?);
                        match ctl::body(op, response) {
                            Ok(body) => writeln!(answer, "ok {} bytes", body.len()).ok(),
                            Err(refused) => writeln!(answer, "{refused:?}").ok(),
                        }
                    }
                }
            }
            "read" | "all" => {
                let handle = Stream(words.next()?.parse().ok()?);
                let most = words.next().map_or(Some(room.len()), |it| it.parse().ok())?;
                let mut total = 0;
                loop {
                    let got = handle.read(room.get_mut(total..most.max(total))?);
                    match got {
                        Ok(count) if word == "all" && count > 0 => total += count,
                        Ok(count) => {
                            total += count;
                            break;
                        }
                        Err(_) => return writeln!(answer, "-1").ok(),
                    }
                }
                write!(answer, "{total} ").ok()?;
                answer.0.write_all(room.get(..total)?).ok()?;
                writeln!(answer).ok()
            }
            "write" => {
                let handle = Stream(words.next()?.parse().ok()?);
                match handle.write(words.next().unwrap_or("").as_bytes()) {
                    Ok(count) => writeln!(answer, "{count}").ok(),
                    Err(_) => writeln!(answer, "-1").ok(),
                }
            }
            "fill" => {
                // As many bytes as are named, in writes of what is left.
                let handle = Stream(words.next()?.parse().ok()?);
                let mut left: usize = words.next()?.parse().ok()?;
                let mut taken = 0;
                while left > 0 {
                    match handle.write(room.get(..left.min(room.len()))?) {
                        Ok(count @ 1..) => (left, taken) = (left - count, taken + count),
                        Ok(_) => return writeln!(answer, "{taken} and 0").ok(),
                        Err(_) => return writeln!(answer, "{taken} and -1").ok(),
                    }
                }
                writeln!(answer, "{taken}").ok()
            }
            "end" => {
                Stream(words.next()?.parse().ok()?).end();
                writeln!(answer, "ended").ok()
            }
            "log" => {
                say(words.next()?, words.next().unwrap_or(""));
                writeln!(answer, "said").ok()
            }
            _ => with_hub(word, words, hub.as_mut()?, room, answer),
        }
    }

    fn with_hub<'a>(
        word: &str,
        mut words: impl Iterator<Item = &'a str>,
        hub: &mut Hub<'_>,
        room: &mut [u8],
        answer: &mut Answer,
    ) -> Option<()> {
        match word {
            "frame" => {
                let used = hex(words.next()?, room)?;
                match hub.stream().write(room.get(..used)?) {
                    Ok(count) => writeln!(answer, "{count}").ok(),
                    Err(_) => writeln!(answer, "-1").ok(),
                }
            }
            "start" | "begin" => {
                let (prog, wants) = (words.next()?, words.next()?.parse().ok()?);
                let (mut args, mut env) = ([""; ARGS_MAX], [("", ""); ARGS_MAX]);
                let (mut argc, mut envc) = (0, 0);
                for text in words {
                    match text.strip_prefix('$').and_then(|it| it.split_once('=')) {
                        Some(pair) => {
                            *env.get_mut(envc)? = pair;
                            envc += 1;
                        }
                        None => {
                            *args.get_mut(argc)? = text;
                            argc += 1;
                        }
                    }
                }
                let (args, env) = (args.get(..argc)?, env.get(..envc)?);
                if word == "begin" {
                    let future = hub.begin(prog, wants, args, env)?;
                    return writeln!(answer, "future {future}").ok();
                }
                match hub.start(prog, wants, args, env) {
                    Ok(process) => {
                        let number = |it: Option<Stream>| it.map_or(0, |it| it.0);
                        let (stdin, stdout) = (number(process.stdin), number(process.stdout));
                        let stderr = number(process.stderr);
                        writeln!(answer, "{} at {stdin} {stdout} {stderr}", process.exec_id).ok()
                    }
                    Err(failed) => tell(answer, failed),
                }
            }
            "status" => match hub.status(words.next()?.parse().ok()?) {
                Ok(status) => writeln!(answer, "{} {}", status.state, status.code).ok(),
                Err(failed) => tell(answer, failed),
            },
            "wait" => {
                let exec_id = words.next()?.parse().ok()?;
                loop {
                    match hub.status(exec_id) {
                        Ok(status) if status.is_over() => {
                            return writeln!(answer, "{} {}", status.state, status.code).ok();
                        }
                        Ok(_) => {}
                        Err(failed) => return tell(answer, failed),
                    }
                }
            }
            "call" | "later" => {
                let tuple = (words.next()?, words.next()?, words.next()?);
                let used = hex(words.next().unwrap_or(""), room)?;
                let timeout_ms = words.next().map_or(Some(0), |it| it.parse().ok())?;
                let params = room.get(..used)?;
                let future = hub.call(tuple, 0, timeout_ms, |writer| {
                    writer.raw(params);
                })?;
                if word == "later" {
                    return writeln!(answer, "future {future}").ok();
                }
                match hub.value(future) {
                    Ok(value) => {
                        for byte in value {
                            write!(answer, "{byte:02x}").ok()?;
                        }
                        writeln!(answer).ok()
                    }
                    Err(failed) => tell(answer, failed),
                }
            }
            "cancel" => {
                let request = hub.cancel(words.next()?.parse().ok()?)?;
                writeln!(answer, "request {request}").ok()
            }
            "join" => {
                let (scope, fuel) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
                let request = hub.join(scope, fuel, 0)?;
                writeln!(answer, "request {request}").ok()
            }
            "next" => match hub.next() {
                Ok(Event::Ok(future, value)) => writeln!(answer, "ok {future} {} bytes", value.len()).ok(),
                Ok(event) => writeln!(answer, "{event:?}").ok(),
                Err(_) => writeln!(answer, "-1").ok(),
            },
            _ => {
                let _ = exec::START;
                None
            }
        }
    }

    fn tell(answer: &mut Answer, failed: Failed<'_>) -> Option<()> {
        match failed {
            Failed::Trace(trace) => writeln!(answer, "{trace}").ok(),
            other => writeln!(answer, "{other:?}").ok(),
        }
    }

    /// Reads hex into the buffer: how many bytes.
    fn hex(text: &str, buffer: &mut [u8]) -> Option<usize> {
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|it| u8::try_from(it).ok());
        let mut used = 0;
        for pair in text.as_bytes().chunks(2) {
            *buffer.get_mut(used)? = digit(*pair.first()?)? << 4 | digit(*pair.get(1)?)?;
            used += 1;
        }
        Some(used)
    }
}

#[cfg(not(target_family = "wasm"))]
fn main() {}
