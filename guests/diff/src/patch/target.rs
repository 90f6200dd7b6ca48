//! Which file a patch is for.

use super::script::{FilePatch, Name};
use super::settings::Settings;
use std::path::Path;

/// The file that is read, and the one that is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub from: String,
    pub to: String,
}

/// Chooses by what the patch says and by what exists.
pub(super) fn choose(patch: &FilePatch, settings: &Settings) -> Option<Target> {
    if let Some(file) = &settings.file {
        return Some(Target { from: file.clone(), to: file.clone() });
    }
    let strip = |path: &str| stripped(path, settings.strip);
    if let Some((from, to)) = patch.git.rename.as_ref().or(patch.git.copy.as_ref()) {
        // These two names have no folder in front that would have to go.
        let (from, to) = if settings.reverse { (to, from) } else { (from, to) };
        return Some(Target { from: from.clone(), to: to.clone() });
    }
    let mut names: Vec<String> = Vec::new();
    let of = |name: &Option<Name>| {
        name.as_ref().filter(|it| it.path != "/dev/null").and_then(|it| strip(&it.path))
    };
    names.extend(of(&patch.old));
    names.extend(of(&patch.new));
    names.extend(patch.index.as_deref().and_then(strip));
    if names.is_empty()
        && let Some((old, new)) = &patch.git.names
    {
        names.extend([old, new].into_iter().filter_map(|it| strip(it)));
    }
    let there: Vec<&String> = names.iter().filter(|it| Path::new(it).exists()).collect();
    let best = there.iter().min_by_key(|it| cost(it)).map(|it| (*it).clone());
    let created = || {
        let (gone, come) = if settings.reverse { (&patch.new, &patch.old) } else { (&patch.old, &patch.new) };
        let absent = |name: &Option<Name>| name.as_ref().is_some_and(|it| it.absent);
        let only_adds = patch.hunks.len() == 1 && patch.hunks[0].old_start == 0;
        (absent(gone) && !absent(come)) || patch.git.created || only_adds
    };
    let name = match best {
        Some(name) => Some(name),
        None if created() => names.iter().min_by_key(|it| cost(it)).cloned(),
        None => None,
    }?;
    Some(Target { from: name.clone(), to: name })
}

/// Few folders, a short last name, a short path: in this order.
fn cost(path: &str) -> (usize, usize, usize) {
    let base = path.rsplit('/').next().unwrap_or(path);
    (path.split('/').count(), base.len(), path.len())
}

/// The name without its first folders; `None` if it has not so many, or leads out of here.
fn stripped(path: &str, count: Option<usize>) -> Option<String> {
    let Some(count) = count else {
        return path.rsplit('/').next().map(str::to_owned).filter(|it| !it.is_empty());
    };
    let mut rest = path;
    for _ in 0..count {
        rest = rest.split_once('/')?.1.trim_start_matches('/');
    }
    let outside = (rest.starts_with('/') && count > 0) || rest.split('/').any(|it| it == "..");
    (!rest.is_empty() && !outside).then(|| rest.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_stripped_and_nothing_leads_out() {
        let cases = [
            ("a/b/c", None, Some("c")),
            ("a/b/c", Some(0), Some("a/b/c")),
            ("a/b/c", Some(1), Some("b/c")),
            ("a/b/c", Some(3), None),
            ("a//b", Some(1), Some("b")),
            ("a/../../x", Some(1), None),
        ];
        for (path, count, want) in cases {
            assert_eq!(stripped(path, count).as_deref(), want, "{path} {count:?}");
        }
    }
}
