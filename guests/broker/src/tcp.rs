//! `tcp-send HOST PORT`: sends standard input to a host and prints what it sends back.

use options::{Item, Order};

use crate::host::{Done, Failure, Refusal, end, input};

const HELP: &str = "Usage: tcp-send HOST PORT [TEXT]
Send TEXT, or standard input, over one TCP connection, and print what comes back until the other side closes, or is
silent, or 1 MiB came. A grant names the host with its port.

      --help

Exit status: 0; 1 where nobody may or can be reached; 2 for wrong usage.
";

/// The longest answer that the host reads.
const REPLY_BYTES_MAX: usize = 1 << 20;

/// Runs a command line, and answers its exit status.
pub fn run(args: &[String]) -> i32 {
    end("tcp-send", done(args, ask, input))
}

fn done(
    args: &[String],
    ask: impl FnOnce(&str, u16, &[u8]) -> Result<Vec<u8>, Refusal>,
    stdin: impl FnOnce() -> Result<Vec<u8>, Failure>,
) -> Done {
    let mut words = Vec::new();
    for item in options::parse(args, &["help"], Order::Anywhere)? {
        match item {
            Item::Operand(word) => words.push(word),
            Item::Flag(..) => return Ok((HELP.as_bytes().to_vec(), 0)),
        }
    }
    let [host, port, text @ ..] = &words[..] else { return Err("a host and a port are wanted".into()) };
    let number: u16 =
        port.parse().ok().filter(|it| *it != 0).ok_or_else(|| format!("'{port}' is no port"))?;
    let request = match text {
        [] => stdin()?,
        [text] => text.clone().into_bytes(),
        _ => return Err("one text at a time".into()),
    };
    Ok((ask(host, number, &request)?, 0))
}

#[cfg(target_os = "wasi")]
fn ask(host: &str, port: u16, request: &[u8]) -> Result<Vec<u8>, Refusal> {
    #[link(wasm_import_module = "env")]
    unsafe extern "C" {
        fn host_tcp(
            host: *const u8,
            host_len: usize,
            port: i32,
            request: *const u8,
            request_len: usize,
            out: *mut u8,
            out_cap: usize,
        ) -> i32;
    }
    let mut out = vec![0; REPLY_BYTES_MAX];
    let (bytes, cap) = (out.as_mut_ptr(), out.len());
    // SAFETY: host and request live until after the call, their lengths are their own, and the host writes at most as
    // many bytes as there is room for.
    let count = unsafe {
        host_tcp(host.as_ptr(), host.len(), i32::from(port), request.as_ptr(), request.len(), bytes, cap)
    };
    let Ok(count) = usize::try_from(count) else {
        let code = crate::host::wasi::code();
        let message = match code.as_str() {
            "denied" | "host_not_granted" => {
                format!("{host}:{port} is not granted, or is no public address ({code})")
            }
            code => format!("{host}:{port}: {code}"),
        };
        return Err(Refusal { code, message });
    };
    out.truncate(count);
    Ok(out)
}

#[cfg(not(target_os = "wasi"))]
fn ask(_: &str, _: u16, _: &[u8]) -> Result<Vec<u8>, Refusal> {
    let _ = REPLY_BYTES_MAX;
    Err(crate::host::nobody())
}

#[test]
fn a_host_a_port_and_a_text_are_one_request() {
    let said = |line: &str| {
        let args: Vec<String> = line.split(' ').filter(|it| !it.is_empty()).map(str::to_owned).collect();
        let ask = |host: &str, port: u16, request: &[u8]| {
            Ok([format!("{host}:{port} ").as_bytes(), request].concat())
        };
        done(&args, ask, || Ok(b"in".to_vec())).map(|it| String::from_utf8_lossy(&it.0).into_owned())
    };
    assert_eq!(said("a.test 80 PING"), Ok("a.test:80 PING".to_owned()));
    assert_eq!(said("a.test 80"), Ok("a.test:80 in".to_owned()));
    for bad in ["", "a.test", "a.test 0", "a.test 99999", "a.test x", "a.test 80 a b"] {
        assert!(matches!(said(bad), Err(Failure::Usage(_))), "{bad}");
    }
}
