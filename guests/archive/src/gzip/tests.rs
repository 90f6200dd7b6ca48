//! There and back in every compression, and bytes that are none.

use super::options::{Act, Tool, parse};
use super::{compress, decompress};
use proptest::prelude::*;

fn options(name: &str, args: &str) -> super::Options {
    let tool = Tool::named(name).expect("a tool of ours");
    let args: Vec<String> = args.split_whitespace().map(str::to_owned).collect();
    parse(tool, &args).expect("a legal command line")
}

#[test]
fn names_and_letters_choose_the_act() {
    let cases = [
        ("gzip", "", Act::Compress),
        ("zcat", "", Act::Decompress),
        ("gzip", "-dc", Act::Decompress),
        ("xz", "-t", Act::Test),
        ("gzip", "--list", Act::List),
    ];
    for (name, args, want) in cases {
        assert_eq!(options(name, args).act, want, "{name} {args}");
    }
    assert!(parse(Tool::named("gzip").expect("there is one"), &["--nope".to_owned()]).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn what_is_packed_can_be_unpacked(bytes in proptest::collection::vec(any::<u8>(), 1..2000), which in 0..3usize) {
        let (pack, unpack) = [("gzip", "gunzip"), ("bzip2", "bunzip2"), ("xz", "unxz")][which];
        let (mut packed, mut back) = (Vec::new(), Vec::new());
        prop_assert!(compress(&options(pack, ""), &bytes[..], &mut packed, None).is_ok());
        let twice = [packed.clone(), packed].concat();
        prop_assert!(decompress(&options(unpack, ""), &twice[..], &mut back).is_ok());
        prop_assert_eq!(back, [bytes.clone(), bytes].concat());
    }

    #[test]
    fn no_bytes_make_a_decoder_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..600), which in 0..3usize) {
        let (tool, start): (&str, &[u8]) = [("gunzip", &[0x1f, 0x8b, 8, 0][..]), ("bunzip2", b"BZh9"), ("unxz", &[0xfd, b'7', b'z', b'X', b'Z', 0])][which];
        bytes.splice(0..0, start.iter().copied());
        let _ = decompress(&options(tool, ""), &bytes[..], std::io::sink());
    }
}
