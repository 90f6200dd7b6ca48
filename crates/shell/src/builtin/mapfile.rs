//! `mapfile`: lines into an array.

use std::collections::BTreeMap;

use crate::{
    state::{Env, Eval},
    text,
    vars::Value,
};

pub(super) async fn run(env: &mut Env, by: &str, args: &[String]) -> Eval<i32> {
    let (mut trim, mut delimiter, mut number) = (false, b'\n', 0);
    let (mut count, mut skip, mut origin) = (usize::MAX, 0, None);
    let (mut callback, mut every) = (None, 5_000);
    let mut name = "MAPFILE".to_owned();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        if !arg.starts_with('-') || arg.len() < 2 {
            name.clone_from(arg);
            continue;
        }
        let mut letters = &arg[1..];
        if let Some(after) = letters.strip_prefix('t') {
            trim = true;
            letters = after;
            if letters.is_empty() {
                continue;
            }
        }
        let letter = letters.as_bytes()[0];
        let inline = letters.get(1..).unwrap_or_default();
        let value =
            if inline.is_empty() { rest.next().cloned().unwrap_or_default() } else { inline.to_owned() };
        let parsed = value.parse::<usize>();
        match letter {
            b't' => {}
            b'd' => delimiter = value.bytes().next().unwrap_or(0),
            b'n' => count = parsed.ok().filter(|it| *it > 0).unwrap_or(usize::MAX),
            b's' => skip = parsed.unwrap_or(0),
            b'O' => origin = parsed.ok(),
            b'u' => number = parsed.ok().and_then(|it| u32::try_from(it).ok()).unwrap_or(0),
            b'C' => callback = Some(value.split_whitespace().map(str::to_owned).collect::<Vec<_>>()),
            b'c' => every = parsed.unwrap_or(5_000).max(1),
            _ => {
                env.complain(&format!("{by}: {arg}: invalid option")).await?;
                return Ok(2);
            }
        }
    }
    let Some(fd) = env.fd(number) else {
        env.complain(&format!("{by}: {number}: invalid file descriptor")).await?;
        return Ok(1);
    };
    let max = env.shared.limits.expansion_bytes_max;
    let mut bytes = Vec::new();
    let mut buffer = vec![0; 16 << 10];
    while let Ok(got @ 1..) = fd.read(&mut buffer).await {
        bytes.extend_from_slice(&buffer[..got]);
        if bytes.len() > max {
            return Err(env.abort(format!("{by} read more than {max} bytes; --line-memory allows more")));
        }
    }
    // The line's own input ends with the line: what looks like its end may be that of the time.
    env.check_expired()?;
    if !crate::syntax::is_name(&name) || matches!(name.as_str(), "FUNCNAME" | "BASH_SOURCE" | "BASH_LINENO") {
        env.complain(&format!("{by}: `{name}': not a valid identifier")).await?;
        return Ok(1);
    }
    let mut items = match origin {
        Some(_) => env.value(&name).into_indexed(),
        None => BTreeMap::new(),
    };
    let first = i64::try_from(origin.unwrap_or(0)).unwrap_or(i64::MAX);
    if first.checked_add(bytes.len() as i64).is_none() {
        env.complain(&format!("{by}: {first}: invalid array origin")).await?;
        return Ok(1);
    }
    let lines = bytes.split_inclusive(|byte| *byte == delimiter);
    for (index, line) in lines.skip(skip).take(count).enumerate() {
        let line = match line.split_last() {
            Some((last, line)) if trim && *last == delimiter => line,
            _ => line,
        };
        // A value ends at the first NUL, as a C string does.
        let line = line.split(|byte| *byte == 0).next().unwrap_or_default();
        let line = text::from_bytes(line);
        if let Some(words) = callback.as_ref().filter(|it| !it.is_empty() && (index + 1) % every == 0) {
            let mut words = words.clone();
            words.push((first + index as i64).to_string());
            words.push(line.clone());
            Box::pin(env.dispatch(words)).await?;
        }
        items.insert(first + index as i64, line);
    }
    if let Err(error) = env.vars.set_value(&name, Value::Indexed(items)) {
        env.complain(&format!("{by}: {error}")).await?;
        return Ok(1);
    }
    Ok(0)
}
