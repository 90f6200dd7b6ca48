//! There is no encoding of a program that could be run: no guest starts one.

use drydock_contract::Denial;
use drydock_gate::ProgramStart;

pub(super) fn decode(_: &[u8]) -> Result<ProgramStart, Denial> {
    Err(Denial::Malformed("programs are started by their host, and not in bytes".into()))
}
