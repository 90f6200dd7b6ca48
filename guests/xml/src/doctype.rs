//! The document type: kept as text, so that it can be printed again, and taken out of what is parsed.

/// The text without its document type, and the document type. Entities may not be defined.
pub(crate) fn take(text: &str) -> Result<(String, Option<String>), String> {
    let Some(start) = text.find("<!DOCTYPE") else { return Ok((text.to_owned(), None)) };
    // In a comment, or after the first element, it is none.
    let first = text
        .match_indices('<')
        .find(|(at, _)| text[at + 1..].starts_with(|it: char| it.is_alphabetic() || it == '_'));
    let comment = text.find("<!--").is_some_and(|open| {
        open < start && text[open..].find("-->").is_none_or(|close| open + close > start)
    });
    if first.is_some_and(|it| it.0 < start) || comment {
        return Ok((text.to_owned(), None));
    }
    let (mut depth, mut quote, mut inner) = (0_usize, None, false);
    for (at, letter) in text[start..].char_indices() {
        match (letter, quote) {
            (letter, Some(open)) if letter == open => quote = None,
            (_, Some(_)) => {}
            ('"' | '\'', None) => quote = Some(letter),
            ('[', None) => inner = true,
            (']', None) => inner = false,
            ('<', None) => depth += 1,
            ('>', None) => {
                depth = depth.saturating_sub(1);
                if depth == 0 && !inner {
                    let kind = &text[start..=start + at];
                    if kind.contains("<!ENTITY") {
                        return Err("Entities of a document are not defined here: they are neither expanded nor fetched".to_owned());
                    }
                    return Ok((
                        format!("{}{}", &text[..start], &text[start + at + 1..]),
                        Some(kind.to_owned()),
                    ));
                }
            }
            _ => {}
        }
    }
    Err("DOCTYPE improperly terminated".to_owned())
}

#[test]
fn a_document_type_is_taken_out_and_entities_are_refused() {
    let kept = take("<?xml version=\"1.0\"?><!DOCTYPE a [<!ELEMENT a (#PCDATA)>]><a/>");
    assert_eq!(
        kept,
        Ok((
            "<?xml version=\"1.0\"?><a/>".to_owned(),
            Some("<!DOCTYPE a [<!ELEMENT a (#PCDATA)>]>".to_owned())
        ))
    );
    assert!(take("<!DOCTYPE l [<!ENTITY a \"b\">]><a>&a;</a>").is_err());
    assert!(take("<!DOCTYPE l [<!ENTITY a SYSTEM \"file:///etc/passwd\">]><a>&a;</a>").is_err());
    assert!(take("<!DOCTYPE l [").is_err());
    assert_eq!(take("<a><![CDATA[<!DOCTYPE]]></a>"), Ok(("<a><![CDATA[<!DOCTYPE]]></a>".to_owned(), None)));
}
