//! The wire of `host_http_get_many`: URLs with line ends between them, and `[count u32]`, then for each `[length i32]` and so
//! many bytes, little-endian; a length of -1 where there is no answer.

use bytes::Bytes;

/// The URLs of a request, in their order. Blank lines are none.
pub fn urls(text: &str) -> Vec<&str> {
    text.split('\n').map(str::trim).filter(|it| !it.is_empty()).collect()
}

/// What a reply of so many answers has besides their bytes.
pub fn head_bytes(count: usize) -> u64 {
    4 + 4 * count as u64
}

/// A reply. An answer that no length can say is none.
pub fn encode(bodies: &[Option<Bytes>]) -> Vec<u8> {
    let count = u32::try_from(bodies.len()).unwrap_or(u32::MAX);
    let mut reply = count.to_le_bytes().to_vec();
    for body in bodies {
        let sized = body.as_ref().and_then(|it| Some((i32::try_from(it.len()).ok()?, it)));
        match sized {
            Some((length, body)) => {
                reply.extend_from_slice(&length.to_le_bytes());
                reply.extend_from_slice(body);
            }
            None => reply.extend_from_slice(&(-1i32).to_le_bytes()),
        }
    }
    reply
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_has_every_answer_in_its_place_and_minus_one_where_there_is_none() {
        assert_eq!(urls("http://a.test/\n\n http://b.test/\r\n"), ["http://a.test/", "http://b.test/"]);
        assert!(urls("\n").is_empty());
        let reply = encode(&[Some(Bytes::from_static(b"ab")), None, Some(Bytes::new())]);
        assert_eq!(reply, b"\x03\0\0\0\x02\0\0\0ab\xff\xff\xff\xff\0\0\0\0");
        assert_eq!(head_bytes(3) + 2, reply.len() as u64);
    }
}
