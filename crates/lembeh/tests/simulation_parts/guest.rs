//! A guest that composes frames at random: mostly commands, sometimes what a guest may not send.

use drydock_abi::lembeh::{
    CapSelector, Source, encode_source,
    zax::{Command, CommandIds, HEADER_BYTES, Header, encode_command},
};

use super::{
    model::{Model, Sent},
    random::Random,
};

pub(crate) struct Guest {
    bytes: Vec<u8>,
    /// What was composed and cannot be answered yet: where in the stream it can, and what it is.
    sent: Vec<(usize, Sent)>,
    hostile: bool,
    payload_bytes_max: u32,
    req_ids: u64,
    future_ids: u64,
}

impl Guest {
    pub(crate) const fn new(hostile: bool, payload_bytes_max: u32) -> Self {
        Self { bytes: Vec::new(), sent: Vec::new(), hostile, payload_bytes_max, req_ids: 0, future_ids: 0 }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(crate) fn unwritten(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn forget(&mut self) {
        self.bytes.clear();
        self.sent.clear();
    }

    /// So many bytes were taken: the model learns which frames are written.
    pub(crate) fn wrote(&mut self, count: usize, model: &mut Model) {
        self.bytes.drain(..count);
        for (end, _) in &mut self.sent {
            *end = end.saturating_sub(count);
        }
        while self.sent.first().is_some_and(|(end, _)| *end == 0) {
            model.sent(self.sent.remove(0).1);
        }
    }

    /// Composes one frame, and says what it is.
    pub(crate) fn compose(&mut self, random: &mut Random) -> Sent {
        self.req_ids += 1;
        let mut ids = CommandIds {
            req_id: if random.one_in(5) { 0 } else { self.req_ids },
            scope_id: random.below(2),
            task_id: random.below(4),
            future_id: random.below(self.future_ids + 3),
            timeout_ms: if random.one_in(3) { 1 + random.below(60) as u16 } else { 0 },
        };
        let mut frame = Vec::new();
        let fuel = random.below(4);
        let mut sent = match random.below(12) {
            0..=5 => {
                // Mostly the next one; now and then one that may have been used.
                if !random.one_in(5) {
                    self.future_ids += 1;
                    ids.future_id = self.future_ids;
                }
                self.register(random, &ids, &mut frame)
            }
            6 | 7 => {
                ids.future_id = self.future_ids.saturating_sub(random.below(4));
                encode_command(&mut frame, &ids, &Command::Cancel).unwrap();
                Sent::Cancel { req_id: ids.req_id, future_id: ids.future_id }
            }
            8 | 9 => {
                encode_command(&mut frame, &ids, &Command::Join { fuel }).unwrap();
                Sent::Join { req_id: ids.req_id }
            }
            10 => {
                let owner = ["", "worker", "much too long"][random.below(3) as usize];
                encode_command(&mut frame, &ids, &Command::Detach { owner }).unwrap();
                Sent::Other { req_id: ids.req_id }
            }
            _ => self.wrong(random, &ids, &mut frame),
        };
        if self.hostile && random.one_in(2) {
            let at = random.below(frame.len() as u64) as usize;
            frame[at] = random.next() as u8;
            sent = Sent::Unknown;
        }
        // A frame that is too long is answered when its header is there.
        let long = Header::decode(&frame).is_some_and(|it| it.payload_len > self.payload_bytes_max);
        let end = self.bytes.len() + if long { HEADER_BYTES } else { frame.len() };
        self.bytes.extend_from_slice(&frame);
        self.sent.push((end, sent));
        sent
    }

    fn register(&self, random: &mut Random, ids: &CommandIds, frame: &mut Vec<u8>) -> Sent {
        let selector = ["wait", "wait", "wait", "now", "fail", "large", "other"][random.below(7) as usize];
        let kind = if random.one_in(12) { "nothing" } else { "test" };
        let params = ids.timeout_ms.to_le_bytes();
        let call = CapSelector { kind, name: "default", selector, params: &params };
        let mut source = encode_source(&Source::Selector(call)).unwrap();
        if random.one_in(10) {
            source[0] = random.below(4) as u8;
        }
        if random.one_in(10) {
            source.truncate(random.below(source.len() as u64) as usize);
        }
        encode_command(frame, ids, &Command::Register { source: &source }).unwrap();
        Sent::Register { req_id: ids.req_id, future_id: ids.future_id }
    }

    /// A frame that is refused for its header.
    fn wrong(&self, random: &mut Random, ids: &CommandIds, frame: &mut Vec<u8>) -> Sent {
        encode_command(frame, ids, &Command::Cancel).unwrap();
        match random.below(12) {
            0..=4 => frame[8] = 9,
            5..=7 => frame[6] = 2,
            8..=10 => {
                let payload_len = self.payload_bytes_max + 1 + random.below(500) as u32;
                let header = Header { payload_len, ..Header::decode(frame).unwrap() };
                frame.clear();
                header.put(frame);
                frame.resize(HEADER_BYTES + payload_len as usize, b'Z');
            }
            _ => {
                frame[0] = b'N';
                return Sent::Break { req_id: ids.req_id };
            }
        }
        Sent::Other { req_id: ids.req_id }
    }
}
