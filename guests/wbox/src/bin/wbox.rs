//! The part `core`: see `parts::core` for what is in it.

fn main() {
    wbox::run(wbox::parts::core::find)
}
