//! `sleep`: waits.

use super::arguments::{self, refuse};
use crate::stream::text;
use std::time::Duration;

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    let help = "Usage: sleep NUMBER[smhd]...\nWaits for the sum of the times.\n";
    let line = match arguments::read("sleep", help, args, &[], 1) {
        Ok(line) => line,
        Err(status) => return status,
    };
    if line.operands.is_empty() {
        return refuse("sleep", "missing operand", 1);
    }
    let mut sum = Duration::ZERO;
    for operand in &line.operands {
        match calendar::duration(&text(operand)) {
            Some(time) => sum = sum.saturating_add(time),
            None => return refuse("sleep", &format!("invalid time interval '{}'", text(operand)), 1),
        }
    }
    std::thread::sleep(sum);
    0
}
