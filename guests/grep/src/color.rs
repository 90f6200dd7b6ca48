//! GNU's colours for `--color`, with `GREP_COLORS` over them.

/// The colours of the parts of a line.
pub(crate) struct Colors {
    pub matched: Option<String>,
    pub file: Option<String>,
    pub number: Option<String>,
    pub offset: Option<String>,
    pub separator: Option<String>,
}

impl Colors {
    /// No colours at all.
    pub(crate) fn off() -> Self {
        Self { matched: None, file: None, number: None, offset: None, separator: None }
    }

    /// The usual ones, changed by `custom`: `name=code` between colons.
    pub(crate) fn parse(custom: Option<&str>) -> Self {
        let color = |code: &str| Some(code.to_owned());
        let mut all = Self {
            matched: color("01;31"),
            file: color("35"),
            number: color("32"),
            offset: color("32"),
            separator: color("36"),
        };
        for field in custom.unwrap_or_default().split(':') {
            let Some((name, code)) = field.split_once('=') else { continue };
            if !code.bytes().all(|byte| byte.is_ascii_digit() || byte == b';') {
                continue;
            }
            match name {
                "mt" | "ms" => all.matched = color(code),
                "fn" => all.file = color(code),
                "ln" => all.number = color(code),
                "bn" => all.offset = color(code),
                "se" => all.separator = color(code),
                _ => {}
            }
        }
        all
    }
}

/// Appends `text` in a colour, or plainly.
pub(crate) fn paint(out: &mut Vec<u8>, color: &Option<String>, text: &[u8]) {
    let Some(code) = color.as_ref().filter(|code| !code.is_empty()) else {
        return out.extend_from_slice(text);
    };
    out.extend_from_slice(format!("\x1b[{code}m\x1b[K").as_bytes());
    out.extend_from_slice(text);
    out.extend_from_slice(b"\x1b[m\x1b[K");
}
