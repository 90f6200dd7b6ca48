//! The part `time`: see `parts::time` for what is in it.

fn main() {
    wbox::run(wbox::parts::time::find)
}
