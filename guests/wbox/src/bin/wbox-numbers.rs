//! The part `numbers`: see `parts::numbers` for what is in it.

fn main() {
    wbox::run(wbox::parts::numbers::find)
}
