//! What a server of models sends, in both formats, whole and in events: a turn or an error, the same in any pieces.
#![no_main]

use drydock_abi::llm::{
    Asked, Recorded, Script,
    wire::{AnswerReader, Dialect, error_text},
};
use libfuzzer_sys::fuzz_target;

fn read(dialect: Dialect, kind: Option<&str>, bytes: &[u8], piece: usize) -> (String, String) {
    let (mut reader, mut said) = (AnswerReader::new(dialect, kind), String::new());
    for piece in bytes.chunks(piece.max(1)) {
        if let Err(error) = reader.push(piece, |words| said.push_str(words)) {
            return (error.code().to_owned(), said);
        }
    }
    (format!("{:?}", reader.finish().map_err(|it| it.code())), said)
}

const QUESTION: &[u8] = br#"{"model":"m","messages":[{"role":"user","content":"?"}],"tools":[{"name":"t"}]}"#;

fuzz_target!(|data: &[u8]| {
    let Some((first, bytes)) = data.split_first() else { return };
    let piece = usize::from(*first);
    for dialect in [Dialect::OpenAi, Dialect::Anthropic] {
        for kind in [None, Some("application/json")] {
            assert_eq!(read(dialect, kind, bytes, piece), read(dialect, kind, bytes, bytes.len()));
        }
    }
    let _ = error_text(bytes);
    let _ = Asked::parse(bytes)
        .map(|it| Asked::parse(it.json()).map(|again| assert_eq!(again.json(), it.json())));
    let text = String::from_utf8_lossy(bytes);
    let _ = Script::parse(&text);
    // A run that can be read says a turn, or that nothing was said to this.
    if let (Ok(run), Ok(asked)) = (Recorded::parse(&text), Asked::parse(QUESTION)) {
        match run.answer(&asked) {
            Ok(turn) => assert_eq!(turn.model, "m"),
            Err(failure) => assert_eq!(failure.code, "replay_diverged"),
        }
    }
});
