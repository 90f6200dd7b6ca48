//! `-i`: the results take the place of the file, and nothing else of it is lost.
//!
//! A YAML file is edited where it changes: comments, anchors, quotes and blank lines stay. Where that
//! cannot be done, and a file of another format with comments in it, is refused with what would be lost.

use crate::evaluate::{self, Queue};
use crate::format::{Format, comments, edit, yaml};
use crate::options::Options;
use crate::source::Input;
use jq::value::Value as Val;
use std::path::Path;

/// Edits one file.
pub(crate) fn edit(options: &Options, file: &str) -> Result<(), String> {
    let format = evaluate::format_of(options, Some(file));
    let target = options.to.unwrap_or(format);
    let bad = |problem| format!("bad file '{file}': {problem}");
    let bytes = Input::open(Some(file))?.whole().map_err(bad)?;
    let text = String::from_utf8_lossy(&bytes);
    let plain = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let before = format.read(plain).map_err(bad)?;
    let documents = if before.is_empty() { vec![Val::Null] } else { before.clone() };

    let layout = evaluate::layout(options, target);
    let (mut after, mut rewritten) = (Vec::new(), Vec::new());
    evaluate::results(options, Queue::of(documents), |value, separate| {
        if separate && options.separators && target == Format::Yaml {
            rewritten.extend_from_slice(b"---\n");
        }
        target.write(&mut rewritten, &value, &layout)?;
        rewritten.push(if options.nul { 0 } else { b'\n' });
        after.push(value);
        Ok(())
    })?;

    let edited = match (format, target) {
        (Format::Yaml, Format::Yaml) if !options.sort_keys => edit::edited(plain, &before, &after),
        _ => None,
    };
    if let Some(edited) = edited {
        return replace(file, edited.as_bytes());
    }
    let mut lost = comments::found(format, plain);
    if format == Format::Yaml {
        lost.extend(yaml::particulars(plain));
    }
    if !lost.is_empty() {
        return Err(format!(
            "{file}: -i would lose its {}, and the file is left as it is; write the result to another file \
             instead, if that is meant",
            lost.join(" and ")
        ));
    }
    replace(file, &rewritten)
}

/// Writes beside the file, and gives that its name: a file that is cut off half-way helps nobody.
fn replace(file: &str, text: &[u8]) -> Result<(), String> {
    let path = std::fs::canonicalize(file).unwrap_or_else(|_| Path::new(file).to_owned());
    let base = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let beside = path.with_file_name(format!("yq-{base}"));
    let mode = modes::get(&path, true);
    let done = std::fs::write(&beside, text)
        .and_then(|()| mode.and_then(|mode| modes::set(&beside, true, mode)))
        .and_then(|()| std::fs::rename(&beside, &path));
    done.map_err(|error| {
        let _ = std::fs::remove_file(&beside);
        format!("{file}: {}", place::reason(&error))
    })
}
