//! The part `text`: see `parts::text` for what is in it.

fn main() {
    wbox::run(wbox::parts::text::find)
}
