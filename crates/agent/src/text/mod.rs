//! Texts that people write about agents: outlines in org, and Markdown with front matter. They come from anybody, so each
//! is small, and a reader answers or refuses.

mod front_matter;
mod outline;

pub use front_matter::{BadFrontMatter, FRONT_MATTER_BYTES_MAX, FrontMatter, Node};
pub use outline::{BadOutline, Drawer, Heading, Outline};

/// The longest text that is read: a definition, a manifest, a skill.
pub const TEXT_BYTES_MAX: usize = 256 << 10;

/// On one line and without control characters, cut after so many characters: what somebody wrote, as part of a list that
/// a model or a person reads. A line end in it would begin a line that looks like ours.
pub(crate) fn one_line(text: &str, chars_max: usize) -> String {
    let words = text.split(|it: char| it.is_whitespace() || it.is_control());
    let flat = words.filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" ");
    match flat.char_indices().nth(chars_max) {
        Some((at, _)) => format!("{}…", flat.get(..at).unwrap_or_default().trim_end()),
        None => flat,
    }
}

/// A piece of somebody's text inside of a message about it.
pub(crate) fn shown(text: &str) -> String {
    text.chars().take(80).collect::<String>().escape_debug().to_string()
}
