//! A record as a line of JSON, and back. Written by hand: it happens for every call.
//!
//! A reader ignores members that it does not know, so that a journal can be read by the version before; what every line
//! must have is in [`parse`].

use std::io::Write as _;

use drydock_contract::{
    Outcome, Timestamp,
    port::{Attempt, AuditEvent, AuditRecord, CallEnd, Digested, EndKind},
};

use super::{
    fold::Repeats,
    reader::{ReadAttempt, ReadDecision, ReadRecord},
};

/// How every line begins. It cannot occur inside a string, where its quotes would be escaped.
pub(super) const HEAD: &[u8] = b"{\"at\":\"";

/// Writes lines into a buffer, remembering the second it last spelled out.
#[derive(Debug, Default)]
pub(super) struct LineWriter {
    second: u64,
    spelled: Option<[u8; 19]>,
}

impl LineWriter {
    /// One record; or, where it was repeated, the last of them and how many they were since when; or the beginning of a
    /// call and its end, where that came right behind it.
    pub(super) fn write(
        &mut self,
        record: &AuditRecord,
        times: Option<Repeats>,
        end: Option<&AuditRecord>,
        line: &mut Vec<u8>,
    ) {
        line.extend_from_slice(HEAD);
        self.write_time(record.at, line);
        let call = &record.call;
        for (name, value) in
            [("tenant", call.who.tenant.as_str()), ("principal", call.who.principal.as_str())]
        {
            member(name, line);
            escape(value, line);
        }
        member("trace", line);
        hex((call.trace.0 >> 64) as u64, line);
        hex(call.trace.0 as u64, line);
        for (name, id) in [("call", call.call), ("parent", call.parent)] {
            member(name, line);
            hex(id.0, line);
        }
        member("operation", line);
        escape(call.operation, line);
        member("subject", line);
        escape(call.subjects.first(), line);
        line.push(b'"');
        let mut more = call.subjects.iter().skip(1).peekable();
        if more.peek().is_some() {
            line.extend_from_slice(b",\"subjects\":[");
            for (index, subject) in more.enumerate() {
                line.extend_from_slice(if index == 0 { b"\"" } else { b",\"" });
                escape(subject, line);
                line.push(b'"');
            }
            line.push(b']');
        }
        write_event(record, line);
        if let Some(AuditRecord { at, event: AuditEvent::Ended(end), .. }) = end {
            line.extend_from_slice(b",\"ended\":\"");
            self.write_time(*at, line);
            line.push(b'"');
            write_end(end, line);
        }
        if let Some(Repeats { count, first }) = times {
            line.extend_from_slice(format!(",\"count\":{count},\"first\":\"").as_bytes());
            self.write_time(first, line);
            line.push(b'"');
        }
        line.extend_from_slice(b"}\n");
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

/// Closes a string and opens the next member's.
fn member(name: &str, line: &mut Vec<u8>) {
    line.extend_from_slice(b"\",\"");
    line.extend_from_slice(name.as_bytes());
    line.extend_from_slice(b"\":\"");
}

fn hex(word: u64, line: &mut Vec<u8>) {
    let digits = b"0123456789abcdef";
    let mut spelled = [0; 16];
    for (pair, byte) in spelled.chunks_exact_mut(2).zip(word.to_be_bytes()) {
        pair.copy_from_slice(&[digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]);
    }
    line.extend_from_slice(&spelled);
}

fn write_event(record: &AuditRecord, line: &mut Vec<u8>) {
    let say = |decision: &str, reason: Option<&str>, line: &mut Vec<u8>| {
        line.extend_from_slice(b",\"decision\":\"");
        line.extend_from_slice(decision.as_bytes());
        if let Some(reason) = reason {
            member("reason", line);
            escape(reason, line);
        }
        line.push(b'"');
    };
    match &record.event {
        AuditEvent::Begun => {
            say("allowed", None, line);
            if let Some(grant) = &record.call.grant {
                line.extend_from_slice(b",\"grant\":\"");
                escape(grant.as_str(), line);
                line.push(b'"');
            }
            write_digest("request", record.call.request.as_ref(), line);
        }
        AuditEvent::Denied(code) => say("denied", Some(code), line),
        AuditEvent::Ended(end) => {
            match end.kind {
                EndKind::Done => say("ended", None, line),
                EndKind::Dropped => say("ended", Some("dropped"), line),
                EndKind::Denied(code) => say("denied", Some(code), line),
                EndKind::Failed(code) => say("failed", Some(code), line),
            }
            write_end(end, line);
        }
    }
}

fn put(text: std::fmt::Arguments<'_>, line: &mut Vec<u8>) {
    // A vector takes whatever there is memory for.
    let _ = line.write_fmt(text);
}

fn write_end(end: &CallEnd, line: &mut Vec<u8>) {
    if let Some(outcome) = &end.outcome {
        line.extend_from_slice(b",\"outcome\":\"");
        line.extend_from_slice(outcome.code().as_bytes());
        line.push(b'"');
        if let Outcome::Exited(status) = outcome {
            put(format_args!(",\"status\":{status}"), line);
        }
    }
    if let Some([stdin, stdout, stderr]) = end.stream_bytes {
        put(format_args!(",\"stream_bytes\":[{stdin},{stdout},{stderr}]"), line);
    }
    write_digest("reply", end.reply.as_ref(), line);
    let attempts = end.attempts.as_deref().unwrap_or_default();
    for (index, attempt) in attempts.iter().enumerate() {
        let Attempt { address, status, bytes_sent, bytes_received, code } = attempt;
        line.extend_from_slice(if index == 0 { b",\"attempts\":[" } else { b"," });
        put(format_args!("{{\"address\":\"{address}\",\"code\":\"{code}\""), line);
        if let Some(status) = status {
            put(format_args!(",\"status\":{status}"), line);
        }
        put(format_args!(",\"bytes_sent\":{bytes_sent},\"bytes_received\":{bytes_received}}}"), line);
    }
    if !attempts.is_empty() {
        line.push(b']');
    }
}

fn write_digest(name: &str, digested: Option<&Digested>, line: &mut Vec<u8>) {
    let Some(Digested { digest, bytes }) = digested else { return };
    line.extend_from_slice(b",\"");
    line.extend_from_slice(name.as_bytes());
    line.extend_from_slice(b"\":\"");
    for half in digest.chunks_exact(8) {
        hex(half.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)), line);
    }
    line.extend_from_slice(b"\",\"");
    line.extend_from_slice(name.as_bytes());
    put(format_args!("_bytes\":{bytes}"), line);
}

/// Reads one line, its newline left out: a record, and perhaps the end of the call that it begins. `None` if it is not
/// whole.
pub(super) fn parse(line: &[u8]) -> Option<(ReadRecord, Option<ReadRecord>)> {
    #[derive(serde::Deserialize)]
    struct Row {
        at: String,
        tenant: String,
        principal: String,
        trace: String,
        call: String,
        parent: String,
        operation: String,
        subject: String,
        #[serde(default)]
        subjects: Vec<String>,
        decision: String,
        reason: Option<String>,
        grant: Option<String>,
        outcome: Option<String>,
        status: Option<i32>,
        count: Option<u64>,
        first: Option<String>,
        ended: Option<String>,
        #[serde(default)]
        attempts: Vec<ReadAttempt>,
    }
    let row: Row = serde_json::from_slice(line).ok()?;
    let decision = match (row.decision.as_str(), row.reason) {
        ("allowed", None) => ReadDecision::Allowed,
        ("denied", Some(reason)) => ReadDecision::Denied(reason),
        ("failed", Some(reason)) => ReadDecision::Failed(reason),
        ("ended", reason) => ReadDecision::Ended(reason),
        _ => return None,
    };
    let at = parse_time(&row.at)?;
    let (count, first) = match (row.count, row.first) {
        (None, None) => (1, at),
        (Some(count), Some(first)) => (count, parse_time(&first)?),
        _ => return None,
    };
    let mut record = ReadRecord {
        at,
        count,
        first,
        tenant: row.tenant,
        principal: row.principal,
        trace: row.trace,
        call: row.call,
        parent: row.parent,
        operation: row.operation,
        subject: row.subject,
        more_subjects: row.subjects,
        grant: row.grant,
        outcome: row.outcome,
        status: row.status,
        attempts: row.attempts,
        decision,
    };
    let Some(ended) = row.ended else { return Some((record, None)) };
    let ended = parse_time(&ended)?;
    let end = ReadRecord { at: ended, first: ended, decision: ReadDecision::Ended(None), ..record.clone() };
    (record.outcome, record.status, record.attempts) = (None, None, Vec::new());
    Some((record, Some(end)))
}

/// A moment as the journal spells it: RFC 3339, UTC, six digits of a second.
pub(crate) fn spell_time(at: Timestamp) -> String {
    let mut text = Vec::with_capacity(27);
    LineWriter::default().write_time(at, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// Appends the text as the inside of a JSON string.
fn escape(text: &str, line: &mut Vec<u8>) {
    let is_plain = |byte: u8| (byte >= 0x20) & (byte != b'"') & (byte != b'\\');
    // Most are, and to see that of all of it at once is quicker than to look for the first that is not.
    if text.bytes().fold(true, |plain, byte| plain & is_plain(byte)) {
        return line.extend_from_slice(text.as_bytes());
    }
    let mut plain_from = 0;
    for (at, byte) in text.bytes().enumerate() {
        if is_plain(byte) {
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
    use std::sync::Arc;

    use drydock_contract::port::Subjects;
    use proptest::prelude::*;

    use super::{super::tests::record_of, *};

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

    fn line(record: &AuditRecord, times: Option<Repeats>) -> Vec<u8> {
        let mut line = Vec::new();
        LineWriter::default().write(record, times, None, &mut line);
        line
    }

    #[test]
    fn a_member_that_is_not_known_here_is_left_out_and_one_that_is_missing_costs_the_line() {
        let line = r#"{"at":"2025-12-31T23:59:59.000000Z","tenant":"t","principal":"p",
            "trace":"1","call":"2","parent":"3","operation":"o","subject":"s",
            "decision":"denied","reason":"r","later":{"deep":[1,{}]}}"#;
        let read = parse(line.as_bytes()).unwrap().0;
        assert_eq!((read.tenant.as_str(), read.count), ("t", 1));
        for member in
            ["tenant", "principal", "trace", "call", "parent", "operation", "subject", "decision", "reason"]
        {
            let without = line.replace(&format!("\"{member}\":"), "\"other\":");
            assert!(parse(without.as_bytes()).is_none(), "{member}");
        }
    }

    #[test]
    fn the_end_of_a_call_says_how_it_ended_and_digests_are_hex() {
        let digested = Some(Digested { digest: [0xab; 16], bytes: 3 });
        let end = CallEnd {
            kind: EndKind::Done,
            outcome: Some(Outcome::Exited(2)),
            stream_bytes: Some([1, 2, 3]),
            reply: digested,
            attempts: Some(Arc::new([Attempt {
                address: "127.0.0.1:80".parse().unwrap(),
                status: Some(204),
                bytes_sent: 1,
                bytes_received: 2,
                code: "ok",
            }])),
        };
        let mut begun = record_of("dev", "me", "jq", 1, AuditEvent::Begun);
        let call = drydock_contract::port::CallFacts {
            grant: Some("g1".parse().unwrap()),
            request: digested,
            subjects: Subjects::Many(Arc::new(["a".into(), "b\"".into()])),
            ..begun.call.clone()
        };
        begun.call = call;
        let ended = AuditRecord { event: AuditEvent::Ended(end), ..begun.clone() };
        let late = AuditEvent::Ended(CallEnd::plain(EndKind::Denied("revoked")));
        let failed = AuditEvent::Ended(CallEnd::plain(EndKind::Failed("bad_module")));
        let texts: Vec<String> = [begun.clone(), ended.clone()]
            .into_iter()
            .chain([late, failed].map(|event| AuditRecord { event, ..begun.clone() }))
            .map(|it| String::from_utf8(line(&it, None)).unwrap())
            .collect();
        let read: Vec<_> = texts.iter().map(|it| parse(it.trim_end().as_bytes()).unwrap().0).collect();
        assert_eq!(read[0].grant.as_deref(), Some("g1"));
        assert_eq!((read[0].subject.as_str(), &read[0].more_subjects[..]), ("a", &["b\"".to_owned()][..]));
        assert!(
            texts[0].contains(&format!("\"request\":\"{}\",\"request_bytes\":3", "ab".repeat(16))),
            "{}",
            texts[0]
        );
        assert_eq!((read[1].outcome.as_deref(), read[1].status), (Some("exited"), Some(2)));
        assert!(texts[1].contains("\"stream_bytes\":[1,2,3]"));
        let attempts =
            r#"[{"address":"127.0.0.1:80","code":"ok","status":204,"bytes_sent":1,"bytes_received":2}]"#;
        assert!(texts[1].contains(attempts), "{}", texts[1]);
        assert_eq!(serde_json::to_string(&read[1].attempts).unwrap(), attempts);
        assert_eq!(read[2].decision, ReadDecision::Denied("revoked".into()));
        assert_eq!(read[3].decision, ReadDecision::Failed("bad_module".into()));
        assert_eq!((&read[1].call, &read[1].trace), (&read[0].call, &read[0].trace));
        let mut both = Vec::new();
        let later = AuditRecord { at: Timestamp(9_000), ..ended };
        LineWriter::default().write(&begun, None, Some(&later), &mut both);
        let (first, second) = parse(both.strip_suffix(b"\n").unwrap()).unwrap();
        let second = second.unwrap();
        assert_eq!(
            (&first, first.outcome.as_deref()),
            (&read[0], None),
            "the beginning is as if it stood alone"
        );
        assert_eq!(
            (second.at, second.status, &second.decision),
            (Timestamp(9_000), Some(2), &ReadDecision::Ended(None))
        );
    }

    proptest! {
        #[test]
        fn a_line_reads_back_whatever_the_strings_hold(
            at in any::<u64>(),
            tenant in "[!-~]{1,128}",
            count in proptest::option::of(1_u64..),
            principal in "[!-~]{1,128}",
            subject in any::<String>(),
            denied in any::<bool>(),
        ) {
            let event = if denied { AuditEvent::Denied("max_depth") } else { AuditEvent::Begun };
            let mut record = record_of(&tenant, &principal, &subject, 7, event);
            record.at = Timestamp(at);
            let times = count.map(|count| Repeats { count, first: Timestamp(at / 2) });
            let line = line(&record, times);
            let body = line.strip_suffix(b"\n").unwrap();
            prop_assert!(!body.contains(&b'\n'));
            prop_assert_eq!(body.windows(HEAD.len()).filter(|it| *it == HEAD).count(), 1);
            let read = parse(body).unwrap().0;
            prop_assert_eq!(read.at, Timestamp(at / 1000 * 1000));
            prop_assert_eq!(&read.tenant, &tenant);
            prop_assert_eq!(read.count, count.unwrap_or(1));
            let first = if count.is_some() { at / 2 } else { at };
            prop_assert_eq!(read.first, Timestamp(first / 1000 * 1000));
            prop_assert_eq!(&read.principal, &principal);
            prop_assert_eq!(&read.subject, &subject);
            prop_assert_eq!(read.decision == ReadDecision::Allowed, !denied);
            // A torn line is never a record.
            prop_assert!((0..body.len()).all(|cut| parse(&body[..cut]).is_none()));
        }
    }
}
