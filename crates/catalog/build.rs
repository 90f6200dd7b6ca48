//! Lists the rows of `rows/`, so that a new row is a new file and nothing else: `NAME.toml`, and the sources
//! that belong to it in `NAME/`.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rows = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("rows");
    println!("cargo::rerun-if-changed={}", rows.display());
    let mut list = String::from("&[\n");
    for file in sorted(&rows)?.into_iter().filter(|it| it.extension().is_some_and(|it| it == "toml")) {
        let folder = file.with_extension("");
        println!("cargo::rerun-if-changed={}", folder.display());
        let own = if folder.is_dir() { sorted(&folder)? } else { Vec::new() };
        let own: String = own.iter().map(|it| format!("({:?}, include_str!({it:?})), ", name(it))).collect();
        list.push_str(&format!("    ({:?}, include_str!({file:?}), &[{own}]),\n", name(&folder)));
    }
    list.push(']');
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("rows.rs"), list)?;
    Ok(())
}

fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut all = fs::read_dir(folder)?.map(|it| it.map(|it| it.path())).collect::<io::Result<Vec<_>>>()?;
    all.sort();
    Ok(all)
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
