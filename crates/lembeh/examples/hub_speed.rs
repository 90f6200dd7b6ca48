//! How many frames a second the hub takes on one core: futures that are over at once, each written, acknowledged,
//! ended and read. `cargo run --release -p drydock-lembeh --example hub_speed`.
#![allow(clippy::expect_used, clippy::print_stdout)]

use std::time::Instant;

use drydock_abi::lembeh::{
    CapSelector, Source, Trace, encode_source,
    zax::{Command, CommandIds, encode_command},
};
use drydock_lembeh::{Begun, Failure, Hub, HubLimits, Offer, Powers, Read};

/// A power whose futures are over at once.
struct Echo;

impl Powers for Echo {
    fn offer(&self, _: &str, _: &str, _: &str) -> Result<Offer, Trace> {
        Ok(Offer { value_bytes_max: 8 })
    }

    fn start(&mut self, _: u64, call: &CapSelector<'_>, value: &mut Vec<u8>) -> Result<Begun, Failure> {
        value.extend_from_slice(call.params);
        Ok(Begun::Done)
    }

    fn cancel(&mut self, _: u64) {}
}

const ROUNDS: u64 = 20_000;
const BATCH: u64 = 50;

fn main() {
    let call =
        CapSelector { kind: "exec", name: "default", selector: "exec.status.v1", params: b"\x07\0\0\0" };
    let source = encode_source(&Source::Selector(call)).expect("it is short");
    let mut hub = Hub::new(HubLimits::default());
    let (mut frames, mut out) = (Vec::new(), vec![0; 64 << 10]);
    let mut read = 0_u64;
    let began = Instant::now();
    for round in 0..ROUNDS {
        frames.clear();
        for at in 0..BATCH {
            let id = round * BATCH + at + 1;
            let ids = CommandIds { req_id: id, future_id: id, ..CommandIds::default() };
            encode_command(&mut frames, &ids, &Command::Register { source: &source }).expect("it is short");
        }
        assert_eq!(hub.write(&frames, round, &mut Echo), Ok(frames.len()));
        while let Read::Bytes(count) = hub.read(&mut out, round, &mut Echo) {
            read += count as u64;
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    // A command, its ACK and the future's end.
    let frames = ROUNDS * BATCH * 3;
    println!(
        "{frames} frames, {read} bytes read, {:.2} million frames a second",
        frames as f64 / seconds / 1e6
    );
}
