//! Lists the rows of `rows/`, so that a new row is a new file and nothing else: `NAME.toml`, and the sources
//! that belong to it in `NAME/`.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

fn main() {
    let rows = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo says where")).join("rows");
    println!("cargo::rerun-if-changed={}", rows.display());
    let mut list = String::from("&[\n");
    for file in sorted(&rows).into_iter().filter(|it| it.extension().is_some_and(|it| it == "toml")) {
        let folder = file.with_extension("");
        println!("cargo::rerun-if-changed={}", folder.display());
        let own = if folder.is_dir() { sorted(&folder) } else { Vec::new() };
        let own: String = own.iter().map(|it| format!("({:?}, include_str!({it:?})), ", name(it))).collect();
        list.push_str(&format!("    ({:?}, include_str!({file:?}), &[{own}]),\n", name(&folder)));
    }
    list.push(']');
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo says where"));
    fs::write(out.join("rows.rs"), list).expect("the output directory can be written");
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder of rows can be read");
    let mut all: Vec<PathBuf> = entries.map(|it| it.expect("an entry can be read").path()).collect();
    all.sort();
    all
}

fn name(path: &Path) -> String {
    path.file_name().expect("a file has a name").to_string_lossy().into_owned()
}
