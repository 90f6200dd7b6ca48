//! A folder as a toolkit: paths and texts of anybody's. Nothing that is read has a reserved name or a path that leads out, nobody's
//! unsigned folder is taken from a third party, and an index has no line that a toolkit wrote.
#![no_main]

use drydock_agent::toolkit::{Folder, MANIFEST, Origin, Toolkit, ToolkitSet, Trust, reserved, wb};

libfuzzer_sys::fuzz_target!(|input: (String, String, String, String)| {
    let (manifest, path, text, args) = input;
    let mut folder = Folder::new("t");
    let _ = folder.put(MANIFEST, manifest.into_bytes());
    if folder.put(&path, text.into_bytes()).is_ok() {
        assert!(path.split('/').all(|it| !matches!(it, "" | "." | "..")));
    }
    assert!(Toolkit::read(folder.clone(), &Trust::default()).is_err());
    let own = Trust { origin: Origin::Own, authors: None };
    let Ok(toolkit) = Toolkit::read(folder, &own) else { return };
    assert!(toolkit.commands.iter().all(|it| !reserved::is_reserved(it.name.as_str())));
    let lone = Toolkit { requires: Vec::new(), ..toolkit };
    let set = ToolkitSet::resolve(&["t".to_owned()], |_| Ok::<_, ()>(Some(lone.clone())));
    let set = set.expect("one that requires nothing");
    assert!(set.index().lines().skip(4).all(|it| it.starts_with("- ") || it.starts_with("  ")));
    let _ = wb(&set, &args);
});
