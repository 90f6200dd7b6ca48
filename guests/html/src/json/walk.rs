//! The tree of a page, walked once, to its text and its links.

use html5ever::{
    ParseOpts, parse_document,
    tendril::{StrTendril, TendrilSink as _},
    tree_builder::TreeBuilderOpts,
};
use markup5ever_rcdom::{Handle, NodeData, RcDom};

/// What is kept of a link's text.
const LABEL_BYTES_MAX: usize = 200;
/// The longest reference.
const REFERENCE_BYTES_MAX: usize = 2048;
/// The longest title and description.
const TITLE_BYTES_MAX: usize = 2000;

/// What a page says.
#[derive(Default)]
pub(super) struct Page {
    pub(super) title: String,
    pub(super) description: String,
    pub(super) base: Option<String>,
    pub(super) text: String,
    pub(super) is_text_cut: bool,
    pub(super) links: Vec<(String, String)>,
    pub(super) are_links_cut: bool,
}

/// What stands between two pieces of text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
enum Gap {
    #[default]
    None,
    Space,
    Line,
    Paragraph,
}

enum Step {
    Enter(Handle),
    Leave(Left),
}

/// What ends with an element.
#[derive(Clone, Copy)]
struct Left {
    gap: Gap,
    link: bool,
    pre: bool,
    quiet: bool,
}

struct Walk {
    page: Page,
    text_bytes_max: usize,
    links_max: usize,
    gap: Gap,
    /// The links that are open, by their place; none for one that is not kept.
    open: Vec<Option<usize>>,
    pre: usize,
    /// Inside of what readers skip: its links count, its words do not.
    quiet: usize,
    /// No cell of this row was there yet.
    first_cell: bool,
}

/// Reads a page.
pub(super) fn page(html: &str, text_bytes_max: usize, links_max: usize) -> Page {
    // What is shown where scripts do not run is markup then, which is left out by its name.
    let tree_builder = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
    let options = ParseOpts { tree_builder, ..ParseOpts::default() };
    let dom = parse_document(RcDom::default(), options).one(StrTendril::from(html));
    let mut walk = Walk {
        page: Page::default(),
        text_bytes_max,
        links_max,
        gap: Gap::None,
        open: Vec::new(),
        pre: 0,
        quiet: 0,
        first_cell: true,
    };
    let mut steps = vec![Step::Enter(dom.document.clone())];
    while let Some(step) = steps.pop() {
        match step {
            Step::Leave(left) => walk.leave(left),
            Step::Enter(node) => walk.enter(&node, &mut steps),
        }
    }
    walk.page
}

impl Walk {
    fn enter(&mut self, node: &Handle, steps: &mut Vec<Step>) {
        match &node.data {
            NodeData::Text { contents } => self.say(&contents.borrow()),
            NodeData::Document => descend(node, steps),
            NodeData::Element { name, attrs, .. } => {
                let attribute = |wanted: &str| {
                    let attrs = attrs.borrow();
                    attrs.iter().find(|it| &*it.name.local == wanted).map(|it| it.value.to_string())
                };
                if let Some(left) = self.element(&name.local, node, &attribute) {
                    steps.push(Step::Leave(left));
                    descend(node, steps);
                }
            }
            _ => {}
        }
    }

    /// Begins an element; none if nothing in it counts.
    fn element(
        &mut self,
        name: &str,
        node: &Handle,
        attribute: &dyn Fn(&str) -> Option<String>,
    ) -> Option<Left> {
        let mut left = Left { gap: Gap::None, link: false, pre: false, quiet: false };
        if attribute("hidden").is_some() {
            return None;
        }
        match name {
            "script" | "style" | "noscript" | "template" | "svg" | "math" | "iframe" | "object"
            | "canvas" | "audio" | "video" | "select" | "textarea" | "noframes" => return None,
            "title" => {
                if self.page.title.is_empty() {
                    self.page.title = words_of(node, TITLE_BYTES_MAX);
                }
                return None;
            }
            "base" => {
                let reference = attribute("href").filter(|it| it.len() <= REFERENCE_BYTES_MAX);
                self.page.base = self.page.base.take().or(reference);
                return None;
            }
            "meta" => {
                let about = attribute("name").or_else(|| attribute("property")).unwrap_or_default();
                let about = about.to_ascii_lowercase();
                if self.page.description.is_empty()
                    && matches!(about.as_str(), "description" | "og:description")
                {
                    self.page.description =
                        collapsed(&attribute("content").unwrap_or_default(), TITLE_BYTES_MAX);
                }
                return None;
            }
            "img" => {
                let alt = attribute("alt").unwrap_or_default();
                self.label(&alt);
                return None;
            }
            "br" => self.widen(Gap::Line),
            "a" => {
                let place = attribute("href").and_then(|it| self.link(it.trim()));
                self.open.push(place);
                left.link = true;
            }
            "nav" | "footer" => {
                self.quiet += 1;
                (left.quiet, left.gap) = (true, Gap::Paragraph);
            }
            "pre" => {
                self.pre += 1;
                (left.pre, left.gap) = (true, Gap::Paragraph);
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                left.gap = Gap::Paragraph;
                self.widen(Gap::Paragraph);
                let level = usize::from(name.as_bytes()[1] - b'0');
                self.mark(&format!("{} ", "#".repeat(level)));
                return Some(left);
            }
            "li" => {
                left.gap = Gap::Line;
                self.widen(Gap::Line);
                self.mark("- ");
                return Some(left);
            }
            "tr" => {
                left.gap = Gap::Line;
                self.first_cell = true;
            }
            "td" | "th" if !std::mem::take(&mut self.first_cell) => {
                self.gap = Gap::None;
                self.mark("\t");
            }
            "p" | "ul" | "ol" | "dl" | "table" | "blockquote" | "hr" | "figure" => left.gap = Gap::Paragraph,
            "html" | "body" | "div" | "section" | "article" | "main" | "header" | "aside" | "form"
            | "fieldset" | "dt" | "dd" | "figcaption" | "details" | "summary" | "address" | "option" => {
                left.gap = Gap::Line
            }
            _ => {}
        }
        self.widen(left.gap);
        Some(left)
    }

    fn leave(&mut self, left: Left) {
        self.widen(left.gap);
        if left.link {
            self.open.pop();
        }
        self.pre -= usize::from(left.pre);
        self.quiet -= usize::from(left.quiet);
    }

    fn widen(&mut self, gap: Gap) {
        self.gap = self.gap.max(gap);
    }

    /// Keeps a link, and answers its place.
    fn link(&mut self, reference: &str) -> Option<usize> {
        if reference.is_empty() || reference.len() > REFERENCE_BYTES_MAX {
            return None;
        }
        if self.page.links.len() >= self.links_max {
            self.page.are_links_cut = true;
            return None;
        }
        self.page.links.push((String::new(), reference.to_owned()));
        Some(self.page.links.len() - 1)
    }

    /// Adds words to the links that are open.
    fn label(&mut self, words: &str) {
        for place in self.open.iter().flatten() {
            let Some((label, _)) = self.page.links.get_mut(*place) else { continue };
            for word in words.split_whitespace() {
                if label.len() + word.len() + 1 > LABEL_BYTES_MAX {
                    break;
                }
                if !label.is_empty() {
                    label.push(' ');
                }
                label.push_str(word);
            }
        }
    }

    fn say(&mut self, text: &str) {
        self.label(text);
        if self.quiet > 0 {
            return;
        }
        if self.pre > 0 {
            self.fill_gap();
            return self.push(text);
        }
        if text.starts_with(char::is_whitespace) {
            self.widen(Gap::Space);
        }
        for (at, word) in text.split_whitespace().enumerate() {
            if at > 0 {
                self.widen(Gap::Space);
            }
            self.fill_gap();
            self.push(word);
            if self.page.is_text_cut {
                return;
            }
        }
        if text.ends_with(char::is_whitespace) {
            self.widen(Gap::Space);
        }
    }

    /// What the page does not say, and a reader sees all the same.
    fn mark(&mut self, text: &str) {
        if self.quiet == 0 {
            self.fill_gap();
            self.push(text);
        }
    }

    fn fill_gap(&mut self) {
        let gap = std::mem::take(&mut self.gap);
        if self.page.text.is_empty() || (gap == Gap::Space && self.page.text.ends_with(['\t', ' ', '\n'])) {
            return;
        }
        let more = match gap {
            Gap::None => "",
            Gap::Space => " ",
            // A mark without words leaves nothing behind.
            Gap::Line if self.page.text.ends_with('\n') => "",
            Gap::Line => "\n",
            Gap::Paragraph => "\n\n",
        };
        self.push(more);
    }

    fn push(&mut self, text: &str) {
        let room = self.text_bytes_max - self.page.text.len().min(self.text_bytes_max);
        let end = text.floor_char_boundary(room);
        self.page.is_text_cut |= end < text.len();
        self.page.text.push_str(&text[..end]);
    }
}

fn descend(node: &Handle, steps: &mut Vec<Step>) {
    steps.extend(node.children.borrow().iter().rev().map(|it| Step::Enter(it.clone())));
}

/// The text directly inside of an element that has no others.
fn words_of(node: &Handle, bytes_max: usize) -> String {
    let mut all = String::new();
    for child in node.children.borrow().iter() {
        if let NodeData::Text { contents } = &child.data {
            all.push_str(&contents.borrow());
        }
        if all.len() > bytes_max {
            break;
        }
    }
    collapsed(&all, bytes_max)
}

fn collapsed(text: &str, bytes_max: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut joined = words.join(" ");
    joined.truncate(joined.floor_char_boundary(bytes_max));
    joined
}
