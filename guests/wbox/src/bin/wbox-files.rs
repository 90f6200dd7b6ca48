//! The part `files`: see `parts::files` for what is in it.

fn main() {
    wbox::run(wbox::parts::files::find)
}
