//! Frames of lembeh: any bytes at the hub, at `_ctl` and at the decoders never panic; what reads is written as it was
//! read; where a stream is cut changes nothing that the guest reads; and the hub holds no more than its limits say.
#![no_main]

use drydock_abi::lembeh::{
    CapSelector, Source, Trace, config, ctl, decode_envelope, decode_refusal, decode_source, encode_source,
    exec, files, net, zax::next_event,
};
use drydock_lembeh::{Begun, Failure, Hub, HubLimits, Offer, Powers, Read, ctl as answers};

/// Every future of the kind `now` is over at once; all others wait.
struct Idle;

impl Powers for Idle {
    fn offer(&self, _: &str, _: &str, _: &str) -> Result<Offer, Trace> {
        Ok(Offer { value_bytes_max: 32 })
    }

    fn start(&mut self, _: u64, call: &CapSelector<'_>, value: &mut Vec<u8>) -> Result<Begun, Failure> {
        value.extend(call.params.iter().take(40));
        Ok(if call.kind == "now" { Begun::Done } else { Begun::Pending })
    }

    fn cancel(&mut self, _: u64) {}
}

/// What a guest reads that writes `bytes` in pieces, and reads all there is after each.
fn replies(bytes: &[u8], piece: usize) -> Vec<u8> {
    let limits = HubLimits { payload_bytes_max: 4096, ..HubLimits::default() };
    let mut hub = Hub::new(limits);
    let mut all = Vec::new();
    for mut rest in bytes.chunks(piece.max(1)) {
        loop {
            let taken = hub.write(rest, 0, &mut Idle);
            assert!(hub.held_bytes() <= limits.held_bytes_max());
            let mut out = [0; 512];
            while let Read::Bytes(count) = hub.read(&mut out, 0, &mut Idle) {
                all.extend_from_slice(&out[..count]);
            }
            match taken {
                Ok(count) if count < rest.len() && !hub.is_broken() => rest = &rest[count..],
                _ => break,
            }
        }
    }
    hub.end(&mut Idle);
    assert_eq!((hub.held_bytes(), hub.pending_count()), (0, 0));
    all
}

fn decoders(bytes: &[u8]) {
    if let Ok(source @ Source::Selector(_)) = decode_source(bytes) {
        assert_eq!(encode_source(&source).as_deref(), Ok(bytes));
    }
    if let Ok(start) = exec::decode_start(bytes) {
        let (args, env): (Vec<_>, Vec<_>) = (start.args.iter().collect(), start.env().collect());
        assert_eq!(exec::encode_start(start.prog_id, start.wants, &args, &env).as_deref(), Ok(bytes));
    }
    if let Ok(connect) = net::decode_connect(bytes) {
        assert_eq!(net::encode_connect(&connect).as_deref(), Ok(bytes));
    }
    if let Ok(entries) = files::decode_entries(bytes) {
        assert_eq!(files::encode_entries(&entries).as_deref(), Ok(bytes));
    }
    if let Ok(keys) = config::decode_keys(bytes) {
        assert_eq!(config::encode_keys(&keys).as_deref(), Ok(bytes));
    }
    let _ = (decode_envelope(bytes), decode_refusal(bytes), ctl::decode_response(bytes));
    let _ = (exec::Started::decode(bytes, 7), exec::Status::decode(bytes), files::decode_opened(bytes));
    let _ = (answers::judge(bytes, &[]), next_event(bytes));
}

libfuzzer_sys::fuzz_target!(|input: (u8, &[u8])| {
    let (piece, bytes) = input;
    decoders(bytes);
    let whole = replies(bytes, usize::MAX);
    assert_eq!(replies(bytes, piece.into()), whole, "cut into pieces of {piece}");
    let mut rest = &whole[..];
    while let Some((_, length)) = next_event(rest).expect("a host writes events") {
        rest = &rest[length..];
    }
    assert!(rest.is_empty());
});
