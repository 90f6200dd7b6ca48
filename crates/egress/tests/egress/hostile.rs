//! Servers that mean ill: they drip, never end, unfold, or speak nonsense. Each ends by name, and in time.

use std::{io::Write, sync::Arc, thread::sleep, time::Duration};

use drydock_egress::{Decoding, Limits, Method, Request};

use crate::support::{Records, Scripted, caller, local, policy_for, run, server::serve};

/// The code that a fetch of all that the server sends ends with, or how many bytes it had.
fn outcome(
    limits: Limits,
    decoding: Decoding,
    answer: impl Fn(&mut dyn Write) -> std::io::Result<()> + Send + Sync + 'static,
) -> (String, String) {
    let server = serve(move |_, out| {
        // The client hangs up on it: that is what is tested.
        let _ = answer(out);
    });
    let records = Arc::new(Records::default());
    let code = run(async {
        let egress = local(Scripted::always(&["127.0.0.1"]), Vec::new());
        let target = format!("http://served.test:{}/", server.address.port()).parse().unwrap();
        let request = Request { decoding, limits, ..Request::new(Method::GET, target) };
        let fetched = egress.fetch(&caller(&records), &policy_for(server.address), request).await;
        match fetched {
            Err(error) => error.code().to_owned(),
            Ok(response) => match response.body.read_all().await {
                Err(error) => error.code().to_owned(),
                Ok(bytes) => format!("{} bytes", bytes.len()),
            },
        }
    });
    let last = records.lines().pop().unwrap();
    (code, last.rsplit(' ').next().unwrap().to_owned())
}

fn short() -> Limits {
    Limits { total_max: Duration::from_millis(300), ..Limits::default() }
}

/// Both what the caller is told and what is on record.
fn both(code: &str) -> (String, String) {
    (code.to_owned(), code.to_owned())
}

#[test]
fn a_server_that_drips_ends_at_the_deadline() {
    let body = outcome(short(), Decoding::AsSent, |out| {
        out.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")?;
        loop {
            out.write_all(b"x")?;
            sleep(Duration::from_millis(5));
        }
    });
    assert_eq!(body, both("timeout"));
    let head = outcome(short(), Decoding::AsSent, |out| {
        out.write_all(b"HTTP/1.1 200 OK\r\nX: ")?;
        loop {
            out.write_all(b"x")?;
            sleep(Duration::from_millis(5));
        }
    });
    assert_eq!(head, both("timeout"));
    let silent = outcome(short(), Decoding::AsSent, |_| {
        loop {
            sleep(Duration::from_secs(1));
        }
    });
    assert_eq!(silent, both("timeout"));
}

#[test]
fn endless_headers_end_at_their_cap() {
    let one = outcome(Limits::default(), Decoding::AsSent, |out| {
        out.write_all(b"HTTP/1.1 200 OK\r\nX: ")?;
        loop {
            out.write_all(&[b'x'; 4096])?;
        }
    });
    assert_eq!(one, both("headers_too_large"));
    let many = outcome(Limits::default(), Decoding::AsSent, |out| {
        out.write_all(b"HTTP/1.1 200 OK\r\n")?;
        for number in 0..500 {
            write!(out, "X-{number}: 1\r\n")?;
        }
        out.write_all(b"\r\n")
    });
    assert_eq!(many, both("headers_too_large"));
    let interim =
        outcome(Limits { response_bytes_max: 1000, ..Limits::default() }, Decoding::AsSent, |out| {
            loop {
                out.write_all(&b"HTTP/1.1 100 Continue\r\n\r\n".repeat(100))?;
            }
        });
    assert_eq!(interim, both("protocol_error"));
}

#[test]
fn a_gigabyte_ends_at_the_cap_with_and_without_a_length() {
    let announced = outcome(Limits::default(), Decoding::AsSent, |out| {
        out.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n")?;
        (0..1 << 18).try_for_each(|_| out.write_all(&[b'x'; 4096]))
    });
    assert_eq!(announced, both("body_too_large"));
    let endless = outcome(Limits::default(), Decoding::AsSent, |out| {
        out.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
        (0..1 << 18).try_for_each(|_| out.write_all(&[b'x'; 4096]))
    });
    assert_eq!(endless, both("body_too_large"));
    let limits = Limits { response_bytes_max: 1000, ..Limits::default() };
    for (length, want) in [(1000, "1000 bytes"), (1001, "body_too_large")] {
        let exact = outcome(limits, Decoding::AsSent, move |out| {
            out.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
            out.write_all(&vec![b'x'; length])
        });
        assert_eq!(exact.0, want);
    }
}

#[test]
fn a_gzip_bomb_ends_by_name() {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    for _ in 0..1 << 10 {
        packer.write_all(&[0; 64 << 10]).unwrap();
    }
    let bomb = Arc::new(packer.finish().unwrap());
    assert!(bomb.len() < 128 << 10, "{} bytes hold 64 MiB", bomb.len());
    let send = |bomb: &Arc<Vec<u8>>| {
        let bomb = Arc::clone(bomb);
        move |out: &mut dyn Write| {
            out.write_all(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")?;
            out.write_all(&bomb)
        }
    };
    assert_eq!(outcome(Limits::default(), Decoding::Decode, send(&bomb)), both("decoded_too_large"));
    // Who does not want it decoded gets it as it is.
    let packed = outcome(Limits::default(), Decoding::AsSent, send(&bomb));
    assert_eq!(packed, (format!("{} bytes", bomb.len()), "ok".to_owned()));
}

#[test]
fn nonsense_is_a_protocol_error_and_never_a_short_body() {
    for (sent, want) in [
        (&b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\ngarbage"[..], "protocol_error"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nx", "protocol_error"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", "protocol_error"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloXX0\r\n\r\n", "protocol_error"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort", "protocol_error"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", "protocol_error"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nx", "protocol_error"),
        (b"SSH-2.0-OpenSSH_9.9\r\n", "protocol_error"),
        (b"HTTP/1.1 999999 What\r\n\r\n", "protocol_error"),
        (b"\0\0\0\0\0\0", "protocol_error"),
        (b"", "no_answer"),
        (b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", "upgrade_refused"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;ext=1\r\nhello\r\n0\r\nX-Trailer: 1\r\n\r\n", "5 bytes"),
    ] {
        let answer = outcome(Limits::default(), Decoding::AsSent, move |out| out.write_all(sent));
        assert_eq!(answer.0, want, "{}", String::from_utf8_lossy(sent));
    }
}
