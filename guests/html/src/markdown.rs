//! `html-to-markdown`: a page from files or standard input, as Markdown. Scripts and styles are left out.

use htmd::HtmlToMarkdown;
use htmd::options::{BulletListMarker, HeadingStyle, LinkStyle, Options};
use options::{Item, Order};

use crate::read;

const HELP: &str = "Usage: html-to-markdown [OPTION]... [FILE]...
Print HTML from FILEs, or standard input, as Markdown.

      --headings=atx|setext  how headings are written (atx)
      --bullet=-|*           what list items begin with (*)
      --links=inline|reference
      --skip=TAG[,TAG]...    leave these elements out too
  -h, --help
";

/// Elements inside elements: deeper ones would cost the converter its stack.
const DEPTH_MAX: usize = 400;

pub(crate) fn run(args: &[String]) -> Result<String, String> {
    let table = ["headings=", "bullet=", "links=", "skip=", "h,help"];
    let mut options = Options::default();
    let mut skipped = vec![
        "script".to_owned(),
        "style".to_owned(),
        "noscript".to_owned(),
        "template".to_owned(),
        "head".to_owned(),
    ];
    let mut files = Vec::new();
    for item in options::parse(args, &table, Order::Anywhere)? {
        match item {
            Item::Flag("h", _) => return Ok(HELP.to_owned()),
            Item::Flag("headings", Some(it)) if it == "setext" => options.heading_style = HeadingStyle::Setex,
            Item::Flag("headings", Some(it)) if it == "atx" => options.heading_style = HeadingStyle::Atx,
            Item::Flag("bullet", Some(it)) if it == "-" => {
                options.bullet_list_marker = BulletListMarker::Dash
            }
            Item::Flag("bullet", Some(it)) if it == "*" => {
                options.bullet_list_marker = BulletListMarker::Asterisk
            }
            Item::Flag("links", Some(it)) if it == "reference" => options.link_style = LinkStyle::Referenced,
            Item::Flag("links", Some(it)) if it == "inline" => options.link_style = LinkStyle::Inlined,
            Item::Flag("skip", Some(it)) => skipped.extend(it.split(',').map(str::to_owned)),
            Item::Flag(name, value) => {
                return Err(format!("invalid value '{}' for '--{name}'", value.unwrap_or_default()));
            }
            Item::Operand(file) => files.push(file),
        }
    }
    if files.is_empty() {
        files.push("-".to_owned());
    }
    let skipped: Vec<&str> = skipped.iter().map(String::as_str).collect();
    let converter = HtmlToMarkdown::builder().options(options).skip_tags(skipped).build();
    let mut all = String::new();
    for file in files {
        let page = String::from_utf8_lossy(&read(&file)?).into_owned();
        if depth(&page) > DEPTH_MAX {
            return Err(format!("{file}: elements are nested more than {DEPTH_MAX} deep"));
        }
        let text = converter.convert(&page).map_err(|cause| format!("{file}: {cause}"))?;
        all.push_str(text.trim_end());
        all.push('\n');
    }
    Ok(all)
}

/// The deepest that tags could nest, counted without knowing which of them close themselves.
fn depth(page: &str) -> usize {
    const VOID: [&str; 14] = [
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr",
        "p",
    ];
    let (mut now, mut most) = (0_usize, 0);
    for part in page.split('<').skip(1) {
        let name: String =
            part.chars().take_while(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
        if part.starts_with('/') {
            now = now.saturating_sub(1);
        } else if !name.is_empty()
            && !VOID.contains(&name.as_str())
            && !part.split('>').next().unwrap_or_default().ends_with('/')
        {
            now += 1;
            most = most.max(now);
        }
    }
    most
}

#[test]
fn a_page_becomes_text_and_scripts_do_not() {
    let folder = std::env::temp_dir().join(format!("html-{}", std::process::id()));
    let _ = std::fs::create_dir_all(&folder);
    let file = folder.join("p.html");
    let _ = std::fs::write(
        &file,
        "<html><head><title>t</title></head><body><h1>Hi <b>you</b></h1><script>alert(1)</script><p>a <a href=\"/x\">link</a></p><ul><li>one<li>two</ul><pre><code>x = 1</code></pre></body></html>",
    );
    let text = run(&[file.display().to_string()]).unwrap_or_default();
    assert!(
        text.starts_with("# Hi **you**\n") && text.contains("a [link](/x)") && text.contains("x = 1"),
        "{text}"
    );
    assert!(!text.contains("alert"), "{text}");
    let _ = std::fs::write(&file, "<div>".repeat(5000));
    assert!(run(&[file.display().to_string()]).is_err());
    let _ = std::fs::remove_dir_all(&folder);
}
