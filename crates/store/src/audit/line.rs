//! A record as a line of JSON, and back. Written by hand: it happens for every call.

use drydock_contract::{
    Timestamp,
    port::{AuditRecord, Decision},
};

use super::reader::{ReadDecision, ReadRecord};

/// How every line begins. It cannot occur inside a string, where its quotes would be escaped.
pub(super) const HEAD: &[u8] = b"{\"at\":\"";

/// Writes lines into a buffer, remembering the second it last spelled out.
#[derive(Debug, Default)]
pub(super) struct LineWriter {
    second: u64,
    spelled: Option<[u8; 19]>,
}

impl LineWriter {
    pub(super) fn write(&mut self, record: &AuditRecord, line: &mut Vec<u8>) {
        line.extend_from_slice(HEAD);
        self.write_time(record.at, line);
        line.extend_from_slice(b"\",\"principal\":\"");
        escape(record.principal.as_str(), line);
        line.extend_from_slice(b"\",\"operation\":\"");
        escape(record.operation, line);
        line.extend_from_slice(b"\",\"subject\":\"");
        escape(&record.subject, line);
        match record.decision {
            Decision::Allowed => line.extend_from_slice(b"\",\"decision\":\"allowed\"}\n"),
            Decision::Denied(code) => {
                line.extend_from_slice(b"\",\"decision\":\"denied\",\"reason\":\"");
                escape(code, line);
                line.extend_from_slice(b"\"}\n");
            }
        }
    }

    fn write_time(&mut self, at: Timestamp, line: &mut Vec<u8>) {
        let (second, micros) = (at.0 / 1_000_000_000, at.0 % 1_000_000_000 / 1000);
        let spelled = match self.spelled {
            Some(spelled) if self.second == second => spelled,
            _ => spell_second(second),
        };
        (self.second, self.spelled) = (second, Some(spelled));
        line.extend_from_slice(&spelled);
        let mut tail = *b".000000Z";
        digits(&mut tail[1..7], micros);
        line.extend_from_slice(&tail);
    }
}

/// Reads one line, its newline left out. `None` if it is not a whole record.
pub(super) fn parse(line: &[u8]) -> Option<ReadRecord> {
    #[derive(serde::Deserialize)]
    struct Row {
        at: String,
        principal: String,
        operation: String,
        subject: String,
        decision: String,
        reason: Option<String>,
    }
    let row: Row = serde_json::from_slice(line).ok()?;
    let decision = match (row.decision.as_str(), row.reason) {
        ("allowed", None) => ReadDecision::Allowed,
        ("denied", Some(reason)) => ReadDecision::Denied(reason),
        _ => return None,
    };
    Some(ReadRecord {
        at: parse_time(&row.at)?,
        principal: row.principal,
        operation: row.operation,
        subject: row.subject,
        decision,
    })
}

/// A moment as the journal spells it: RFC 3339, UTC, six digits of a second.
pub(super) fn spell_time(at: Timestamp) -> String {
    let mut text = Vec::with_capacity(27);
    LineWriter::default().write_time(at, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// Appends the text as the inside of a JSON string.
fn escape(text: &str, line: &mut Vec<u8>) {
    let mut plain_from = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        line.extend_from_slice(&text.as_bytes()[plain_from..at]);
        plain_from = at + 1;
        if byte < 0x20 {
            let hex = b"0123456789abcdef";
            let (high, low) = (hex[usize::from(byte >> 4)], hex[usize::from(byte & 15)]);
            line.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
        } else {
            line.extend_from_slice(&[b'\\', byte]);
        }
    }
    line.extend_from_slice(&text.as_bytes()[plain_from..]);
}

/// `2026-01-31T23:59:59`. Days to dates by Hinnant's `civil_from_days`.
fn spell_second(second: u64) -> [u8; 19] {
    let (days, of_day) = (second / 86_400, second % 86_400);
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    let mut text = *b"0000-00-00T00:00:00";
    digits(&mut text[0..4], year);
    digits(&mut text[5..7], month);
    digits(&mut text[8..10], day);
    digits(&mut text[11..13], of_day / 3600);
    digits(&mut text[14..16], of_day / 60 % 60);
    digits(&mut text[17..19], of_day % 60);
    text
}

fn digits(into: &mut [u8], mut number: u64) {
    for place in into.iter_mut().rev() {
        *place = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

fn parse_time(text: &str) -> Option<Timestamp> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<u64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    if year < 1970 || !(1..=12).contains(&month) {
        return None;
    }
    let (shifted_year, shifted_month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, of_era) = (shifted_year / 400, shifted_year % 400);
    let of_year = (153 * shifted_month + 2) / 5 + day.checked_sub(1)?;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    let seconds = days.checked_sub(719_468)? * 86_400 + hour * 3600 + minute * 60 + second;
    let nanos = seconds.checked_mul(1_000_000_000)?.checked_add(number(20, 26)? * 1000)?;
    // Written again it must be the same text: that rules out the 31st of February and other dialects.
    Some(Timestamp(nanos)).filter(|at| spell_time(*at) == text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn moments_are_spelled_as_rfc_3339_with_micros() {
        let cases = [
            (0, "1970-01-01T00:00:00.000000Z"),
            (951_782_399_999_999_999, "2000-02-28T23:59:59.999999Z"),
            (951_782_400_000_001_000, "2000-02-29T00:00:00.000001Z"),
            (1_767_225_599_123_456_789, "2025-12-31T23:59:59.123456Z"),
            (4_107_542_400_000_000_000, "2100-03-01T00:00:00.000000Z"),
            (u64::MAX, "2554-07-21T23:34:33.709551Z"),
        ];
        for (nanos, want) in cases {
            assert_eq!(spell_time(Timestamp(nanos)), want);
            assert_eq!(parse_time(want), Some(Timestamp(nanos / 1000 * 1000)));
        }
        for bad in [
            "",
            "2025-02-31T00:00:00.000000Z",
            "2025-13-01T00:00:00.000000Z",
            "2025-01-01 00:00:00.000000Z",
            "1969-12-31T23:59:59.000000Z",
            "2025-01-01T00:00:00Z",
            "9999-01-01T00:00:00.000000Z",
            "é025-01-01T00:00:00.000000Z",
        ] {
            assert_eq!(parse_time(bad), None, "{bad}");
        }
    }

    fn line(record: &AuditRecord) -> Vec<u8> {
        let mut line = Vec::new();
        LineWriter::default().write(record, &mut line);
        line
    }

    proptest! {
        #[test]
        fn a_line_reads_back_whatever_the_strings_hold(
            at in any::<u64>(),
            principal in "[!-~]{1,128}",
            subject in any::<String>(),
            denied in any::<bool>(),
        ) {
            let decision = if denied { Decision::Denied("max_depth") } else { Decision::Allowed };
            let record = AuditRecord {
                at: Timestamp(at),
                principal: principal.parse().unwrap(),
                operation: "exec.start",
                subject: subject.as_str().into(),
                decision,
            };
            let line = line(&record);
            let body = line.strip_suffix(b"\n").unwrap();
            prop_assert!(!body.contains(&b'\n'));
            prop_assert_eq!(body.windows(HEAD.len()).filter(|it| *it == HEAD).count(), 1);
            let read = parse(body).unwrap();
            prop_assert_eq!(read.at, Timestamp(at / 1000 * 1000));
            prop_assert_eq!(&read.principal, &principal);
            prop_assert_eq!(&read.subject, &subject);
            prop_assert_eq!(read.decision == ReadDecision::Allowed, !denied);
            // A torn line is never a record.
            prop_assert!((0..body.len()).all(|cut| parse(&body[..cut]).is_none()));
        }
    }
}
