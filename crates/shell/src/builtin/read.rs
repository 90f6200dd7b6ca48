//! `read`: one line from a descriptor, not a byte more.

use std::{collections::BTreeMap, time::Duration};

use drydock_contract::schedule;

use crate::{
    exec::Heard,
    fd::Fd,
    state::{Env, Eval},
    syntax::is_name,
    text,
    vars::Value,
};

/// What it ends with when its time is up: as SIGALRM would have it.
const LATE: i32 = 142;

#[derive(Default)]
struct Wanted {
    raw: bool,
    array: Option<String>,
    delimiter: Option<u8>,
    count: Option<usize>,
    exact: bool,
    fd: u32,
    prompt: String,
    /// `-t 0`: only whether there is something to read.
    asks: bool,
    /// `-t`: how long it waits.
    patience: Option<Duration>,
    names: Vec<String>,
}

/// A line into `REPLY`, as `read` without a name takes it.
pub(crate) async fn read_line(env: &mut Env) -> Eval<i32> {
    run(env, &[]).await
}

pub(super) async fn run(env: &mut Env, args: &[String]) -> Eval<i32> {
    let wanted = match parse(args) {
        Ok(wanted) => wanted,
        Err((status, text)) => {
            env.complain(&format!("read: {text}")).await?;
            return Ok(status);
        }
    };
    let Some(fd) = env.fd(wanted.fd) else {
        env.complain(&format!("read: {}: invalid file descriptor", wanted.fd)).await?;
        return Ok(1);
    };
    if wanted.asks {
        return Ok(i32::from(!is_ready(&fd).await));
    }
    if !wanted.prompt.is_empty() && env.is_terminal(&fd) {
        let prompt = crate::text::to_bytes(&wanted.prompt).into_owned();
        env.write(2, &prompt).await?;
    }
    let max = env.shared.limits.expansion_bytes_max;
    let taken = match take(env, &fd, &wanted, max).await? {
        Ok(taken) => taken,
        Err(error) => {
            env.complain(&format!("read: read error: {error}")).await?;
            return Ok(1);
        }
    };
    // The line's own input ends with the line: what looks like its end may be that of the time.
    env.check_expired()?;
    if taken.chars.len() > max {
        return Err(env.abort(format!("read took more than {max} bytes; --line-memory allows more")));
    }
    if let Err(error) = store(env, &wanted, taken.chars) {
        env.complain(&format!("read: {error}")).await?;
        return Ok(1);
    }
    Ok(if taken.is_late { LATE } else { i32::from(!taken.delimited) })
}

/// Whether a read would not wait.
async fn is_ready(fd: &Fd) -> bool {
    let mut byte = [0];
    std::future::poll_fn(|cx| match fd.poll_read(cx, &mut byte) {
        std::task::Poll::Ready(Ok(count)) => {
            fd.unread(&byte[..count]);
            std::task::Poll::Ready(true)
        }
        std::task::Poll::Ready(Err(_)) | std::task::Poll::Pending => {
            schedule::goes_on();
            std::task::Poll::Ready(false)
        }
    })
    .await
}

/// What is asked for, or a status and why it cannot be done.
fn parse(args: &[String]) -> Result<Wanted, (i32, String)> {
    let mut wanted = Wanted::default();
    let mut rest = args.iter();
    let mut options = true;
    while let Some(arg) = rest.next() {
        if !options || !arg.starts_with('-') || arg.len() < 2 {
            options = false;
            wanted.names.push(arg.clone());
            continue;
        }
        if arg == "--" {
            options = false;
            continue;
        }
        let letters = arg[1..].char_indices();
        for (at, letter) in letters {
            match letter {
                'r' => wanted.raw = true,
                's' | 'e' => {}
                'a' | 'd' | 'n' | 'N' | 'p' | 't' | 'u' | 'i' => {
                    let inline = &arg[1 + at + 1..];
                    let value =
                        if inline.is_empty() { rest.next().cloned() } else { Some(inline.to_owned()) };
                    let value =
                        value.ok_or_else(|| (2, format!("-{letter}: option requires an argument")))?;
                    let number = || value.parse().map_err(|_| (1, format!("{value}: invalid number")));
                    match letter {
                        'a' => wanted.array = Some(value),
                        'd' => wanted.delimiter = Some(value.bytes().next().unwrap_or(0)),
                        'n' => wanted.count = Some(number()?),
                        'N' => {
                            wanted.count = Some(number()?);
                            wanted.exact = true;
                        }
                        'u' => {
                            wanted.fd = value
                                .parse()
                                .map_err(|_| (1, format!("{value}: invalid file descriptor specification")))?
                        }
                        'p' => wanted.prompt = value,
                        't' if value.parse::<f64>().is_err() => {
                            return Err((1, format!("{value}: invalid timeout specification")));
                        }
                        't' if value.parse::<f64>() == Ok(0.0) => wanted.asks = true,
                        't' => {
                            let patience = value.parse().ok().map(Duration::try_from_secs_f64);
                            let bad = || (1, format!("{value}: invalid timeout specification"));
                            wanted.patience = Some(patience.and_then(Result::ok).ok_or_else(bad)?);
                        }
                        _ => {}
                    }
                    break;
                }
                other => return Err((2, format!("-{other}: invalid option"))),
            }
        }
    }
    Ok(wanted)
}

/// How many characters some bytes are, asked again as they grow. Only what was not counted is looked at, or a long read
/// would take as much time again for each byte.
#[derive(Default)]
struct Characters {
    whole: usize,
    /// How many bytes those are.
    counted: usize,
}

impl Characters {
    /// One that is not all there yet does not count.
    fn count(&mut self, bytes: &[u8]) -> usize {
        let new = &bytes[self.counted..];
        let is_half = |it: std::str::Utf8Error| it.error_len().is_none();
        if !std::str::from_utf8(new).is_err_and(is_half) {
            self.whole += text::from_bytes(new).chars().count();
            self.counted = bytes.len();
        }
        self.whole
    }
}

struct Taken {
    /// Characters, and whether a backslash stood before them.
    chars: Vec<(char, bool)>,
    delimited: bool,
    /// Its time was up before.
    is_late: bool,
}

/// Reads what is asked for. Traps of signals that come meanwhile run at once, and then it goes on.
async fn take(env: &mut Env, fd: &Fd, wanted: &Wanted, max: usize) -> Eval<std::io::Result<Taken>> {
    let delimiter = wanted.delimiter.unwrap_or(b'\n');
    let mut bytes: Vec<u8> = Vec::new();
    let mut escaped = Vec::new();
    let mut buffer = [0; 1024];
    let mut backslash = false;
    let mut delimited = false;
    let mut characters = Characters::default();
    if wanted.count == Some(0) {
        return Ok(Ok(Taken { chars: Vec::new(), delimited: true, is_late: false }));
    }
    let mut due = wanted.patience.and_then(|it| env.shared.door.timer(it));
    let mut is_late = false;
    let mut read = 0;
    'reading: loop {
        let count = loop {
            match env.read_or_signal(fd, &mut buffer, due.as_mut()).await {
                Heard::Read(Ok(count)) => break count,
                Heard::Read(Err(error)) => return Ok(Err(error)),
                Heard::Signal => env.take_signals().await?,
                Heard::TimeIsUp => {
                    is_late = true;
                    break 'reading;
                }
            }
        };
        if count == 0 {
            break;
        }
        // Zeros are no part of the value, and `/dev/zero` has nothing else.
        read += count;
        if read > max.saturating_mul(2) {
            return Ok(Err(std::io::ErrorKind::FileTooLarge.into()));
        }
        for (at, byte) in buffer[..count].iter().copied().enumerate() {
            if backslash {
                backslash = false;
                if byte != b'\n' {
                    bytes.push(byte);
                    escaped.push(true);
                }
            } else if byte == b'\\' && !wanted.raw {
                backslash = true;
            } else if byte == delimiter && !wanted.exact {
                fd.unread(&buffer[at + 1..count]);
                delimited = true;
                break 'reading;
            } else if byte != 0 {
                bytes.push(byte);
                escaped.push(false);
            }
            let full = wanted.count.is_some_and(|max| characters.count(&bytes) >= max);
            if full && !backslash {
                fd.unread(&buffer[at + 1..count]);
                delimited = true;
                break 'reading;
            }
        }
        if bytes.len() > max {
            break;
        }
    }
    let line = text::from_bytes(&bytes);
    let mut at = 0;
    let chars = line
        .chars()
        .map(|next| {
            let flag = escaped.get(at).copied().unwrap_or(false);
            at += text::to_bytes(next.encode_utf8(&mut [0; 4])).len();
            (next, flag)
        })
        .collect();
    Ok(Ok(Taken { chars, delimited, is_late }))
}

fn store(env: &mut Env, wanted: &Wanted, chars: Vec<(char, bool)>) -> Result<(), String> {
    let plain = |chars: &[(char, bool)]| chars.iter().map(|it| it.0).collect::<String>();
    let ifs = env.ifs();
    let mut set = |name: &str, value: String| assign(env, name, value);
    if wanted.exact && wanted.array.is_none() {
        if let Some(bad) = wanted.names.iter().skip(1).find(|it| !is_name(it)) {
            let bad = format!("`{bad}': not a valid identifier");
            let name = wanted.names.first().map_or("REPLY", String::as_str);
            return set(name, plain(&chars)).and(Err(bad));
        }
        let name = wanted.names.first().map_or("REPLY", String::as_str);
        set(name, plain(&chars))?;
        // All went to the first.
        return wanted.names.iter().skip(1).try_for_each(|name| set(name, String::new()));
    }
    if wanted.names.is_empty() && wanted.array.is_none() {
        return set("REPLY", plain(&chars));
    }
    if let Some(name) = &wanted.array {
        if !is_name(name) {
            return Err(format!("`{name}': not a valid identifier"));
        }
        let fields = if wanted.exact { vec![chars.as_slice()] } else { split(&chars, &ifs, usize::MAX) };
        let items: BTreeMap<i64, String> = (0..).zip(fields.iter().map(|it| plain(it))).collect();
        return env.vars.set_value(name, Value::Indexed(items)).map_err(|error| error.to_string());
    }
    let fields = split(&chars, &ifs, wanted.names.len());
    for (index, name) in wanted.names.iter().enumerate() {
        let value = fields.get(index).map(|it| plain(it)).unwrap_or_default();
        set(name, value)?;
    }
    Ok(())
}

/// Sets a variable or an element.
fn assign(env: &mut Env, name: &str, value: String) -> Result<(), String> {
    let bad = || format!("`{name}': not a valid identifier");
    let integer = env.vars.var(name).is_some_and(|var| var.attributes.integer);
    let value = if integer { env.compute(&value).map_err(|error| error.0)?.to_string() } else { value };
    let result = match name.strip_suffix(']').and_then(|it| it.split_once('[')) {
        None if !is_name(name) => return Err(bad()),
        None => env.vars.set(name, value),
        Some((base, _)) if !is_name(base) => return Err(bad()),
        Some((base, key)) if matches!(env.value(base), Value::Assoc(_)) => env.vars.set_key(base, key, value),
        Some((base, key)) => {
            let index = env.compute(key).map_err(|error| error.0)?;
            env.vars.set_index(base, index, value)
        }
    };
    result.map_err(|error| error.to_string())
}

/// At most `max` fields; the last takes the rest of the line, separators and all.
fn split<'c>(chars: &'c [(char, bool)], ifs: &str, max: usize) -> Vec<&'c [(char, bool)]> {
    let separates = |it: &(char, bool)| !it.1 && ifs.contains(it.0);
    let blank = |it: &(char, bool)| separates(it) && matches!(it.0, ' ' | '\t' | '\n');
    let skip = |mut at: usize| {
        while chars.get(at).is_some_and(blank) {
            at += 1;
        }
        at
    };
    let mut fields = Vec::new();
    let mut at = skip(0);
    while at < chars.len() {
        if fields.len() + 1 == max {
            let mut end = chars.len();
            while end > at && blank(&chars[end - 1]) {
                end -= 1;
            }
            // One separator that ends the line belongs to the last field only if others stand in it.
            if end > at && separates(&chars[end - 1]) {
                let inner = &chars[at..end - 1];
                if !inner.iter().any(separates) {
                    end -= 1;
                    while end > at && blank(&chars[end - 1]) {
                        end -= 1;
                    }
                }
            }
            fields.push(&chars[at..end]);
            return fields;
        }
        let start = at;
        while at < chars.len() && !separates(&chars[at]) {
            at += 1;
        }
        fields.push(&chars[start..at]);
        at = skip(at);
        if chars.get(at).is_some_and(|it| separates(it) && !blank(it)) {
            at = skip(at + 1);
        }
    }
    fields
}
