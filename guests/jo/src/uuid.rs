//! `uuidgen`: by chance (`-r`), by time (`-t`), or by name (`-m`, `-s` with `-n` and `-N`). Chance is the
//! session's.

use md5::{Digest as _, Md5};
use options::{Item, Order};
use sha1::Sha1;

use crate::Done;

const HELP: &str = "
Usage:
 uuidgen [options]

Create a new UUID value.

Options:
 -r, --random        generate random-based uuid
 -t, --time          generate time-based uuid
 -n, --namespace ns  generate hash-based uuid in this namespace
 -N, --name name     generate hash-based uuid from this name
 -m, --md5           generate md5 hash
 -C, --count num     generate more uuids in loop
 -s, --sha1          generate sha1 hash
 -x, --hex           interpret name as hex string
";

/// Tenths of microseconds from 1582 to 1970.
const SHIFT: u64 = 0x01B2_1DD2_1381_4000;
const COUNT_MAX: u64 = 100_000;

pub(crate) fn run(args: &[String]) -> Done {
    let table = [
        "r,random",
        "t,time",
        "n,namespace=",
        "N,name=",
        "m,md5",
        "s,sha1",
        "x,hex",
        "C,count=",
        "h,help",
        "V,version",
    ];
    let items = options::parse(args, &table, Order::Anywhere).map_err(|text| bad(&text))?;
    let has = |flag: &str| items.iter().any(|it| matches!(it, Item::Flag(id, _) if *id == flag));
    let value = |flag: &str| {
        items.iter().find_map(|it| match it {
            Item::Flag(id, value) if *id == flag => value.clone(),
            _ => None,
        })
    };
    if has("h") {
        return Ok(HELP.to_owned());
    }
    if has("V") {
        return Ok("uuidgen from util-linux 2.38.1\n".to_owned());
    }
    let count = match value("C") {
        Some(text) => text
            .parse::<u64>()
            .ok()
            .filter(|it| *it <= COUNT_MAX)
            .ok_or_else(|| bad("failed to parse count"))?,
        None => 1,
    };
    if has("m") || has("s") {
        let (Some(space), Some(name)) = (value("n"), value("N")) else {
            return Err(bad("--namespace and --name are required with --md5 and --sha1"));
        };
        let space = namespace(&space).ok_or_else(|| bad("invalid uuid for namespace: 'value'"))?;
        let name = if has("x") {
            hex(&name).ok_or_else(|| bad("not a valid hex string"))?
        } else {
            name.into_bytes()
        };
        let bytes = [&space[..], &name].concat();
        let (digest, version): (Vec<u8>, u8) =
            if has("s") { (Sha1::digest(&bytes).to_vec(), 5) } else { (Md5::digest(&bytes).to_vec(), 3) };
        return Ok(shown(first_16(&digest), version) + "\n");
    }
    let mut text = String::new();
    for _ in 0..count {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|cause| bad(&cause.to_string()))?;
        let version = if has("t") { timed(&mut bytes) } else { 4 };
        text.push_str(&shown(bytes, version));
        text.push('\n');
    }
    Ok(text)
}

fn bad(text: &str) -> (i32, String) {
    (1, format!("uuidgen: {text}\nTry 'uuidgen --help' for more information."))
}

fn first_16(bytes: &[u8]) -> [u8; 16] {
    let mut all = [0; 16];
    all.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    all
}

/// Puts the time in; node and sequence stay as chance made them, marked as such.
fn timed(bytes: &mut [u8; 16]) -> u8 {
    let now = facts::Time::now();
    let ticks = SHIFT.wrapping_add(now.seconds.max(0) as u64 * 10_000_000 + u64::from(now.nanos / 100));
    bytes[..4].copy_from_slice(&(ticks as u32).to_be_bytes());
    bytes[4..6].copy_from_slice(&((ticks >> 32) as u16).to_be_bytes());
    bytes[6..8].copy_from_slice(&((ticks >> 48) as u16).to_be_bytes());
    bytes[10] |= 1;
    1
}

fn shown(mut bytes: [u8; 16], version: u8) -> String {
    bytes[6] = bytes[6] & 0x0f | version << 4;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let text: String = bytes.iter().map(|it| format!("{it:02x}")).collect();
    format!("{}-{}-{}-{}-{}", &text[..8], &text[8..12], &text[12..16], &text[16..20], &text[20..])
}

fn namespace(text: &str) -> Option<[u8; 16]> {
    let known = ["dns", "url", "oid", "x500"].iter().position(|it| text.strip_prefix('@') == Some(it));
    let whole = match known {
        Some(at) => format!("6ba7b81{}-9dad-11d1-80b4-00c04fd430c8", [0, 1, 2, 4][at]),
        None => text.to_owned(),
    };
    hex(&whole.replace('-', ""))?.try_into().ok()
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let pairs = text.is_ascii() && text.len().is_multiple_of(2);
    (0..text.len() / 2)
        .map(|at| u8::from_str_radix(&text[at * 2..at * 2 + 2], 16).ok())
        .collect::<Option<Vec<_>>>()
        .filter(|_| pairs)
}

#[test]
fn names_give_the_known_ids_and_chance_gives_others() {
    let args = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let named = [
        ("-s -n @dns -N www.example.com", "2ed6657d-e927-568b-95e1-2665a8aea6a2\n"),
        ("-m -n @dns -N www.example.com", "5df41881-3aed-3515-88a7-2f4a814cf09e\n"),
    ];
    for (line, want) in named {
        assert_eq!(run(&args(line)).as_deref(), Ok(want), "{line}");
    }
    let (one, two) = (run(&[]), run(&[]));
    assert!(one != two && one.as_ref().is_ok_and(|it| it.len() == 37 && it.as_bytes()[14] == b'4'));
    assert!(run(&args("-t")).is_ok_and(|it| it.as_bytes()[14] == b'1'));
    assert!(
        run(&args("-m -N x")).is_err() && run(&args("-C x")).is_err() && run(&args("-m -n é -N x")).is_err()
    );
}
