//! Positions through a pattern.

use super::{Effort, Kind, Node, Pattern};

/// A set of places between characters.
type Places = Vec<bool>;

impl Pattern {
    /// Whether the whole text matches.
    pub(crate) fn matches(&self, text: &str) -> bool {
        if let Some(literal) = self.literal() {
            return literal == text;
        }
        let chars = self.chars(text);
        self.whole(&chars, 0)
    }

    pub(crate) fn chars(&self, text: &str) -> Vec<char> {
        if self.fold { text.to_lowercase().chars().collect() } else { text.chars().collect() }
    }

    /// Where a match that starts at `from` can end: the shortest or the longest.
    pub(crate) fn end_from(&self, chars: &[char], from: usize, longest: bool) -> Option<usize> {
        if let Some(length) = self.fixed() {
            return self.fixed_at(chars, from).then_some(from + length);
        }
        if let Some(Node::Char(first)) = self.nodes.first()
            && chars.get(from) != Some(first)
        {
            return None;
        }
        if self.tired() {
            return None;
        }
        let places = self.places(&chars[from..]);
        let found =
            if longest { places.iter().rposition(|it| *it) } else { places.iter().position(|it| *it) };
        found.map(|end| from + end)
    }

    /// Whether everything from `from` on matches.
    pub(crate) fn whole(&self, chars: &[char], from: usize) -> bool {
        if let Some(length) = self.fixed() {
            return chars.len() - from == length && self.fixed_at(chars, from);
        }
        if let Some(Node::Char(first)) = self.nodes.first()
            && chars.get(from) != Some(first)
        {
            return false;
        }
        !self.tired() && self.places(&chars[from..]).last() == Some(&true)
    }

    /// Its length, if every match has the same.
    fn fixed(&self) -> Option<usize> {
        let plain = |it: &Node| !matches!(it, Node::Star | Node::Group(..));
        self.nodes.iter().all(plain).then_some(self.nodes.len())
    }

    fn fixed_at(&self, chars: &[char], from: usize) -> bool {
        let Some(part) = chars.get(from..from + self.nodes.len()) else { return false };
        part.iter().zip(&self.nodes).all(|(it, node)| one(node, *it))
    }

    fn places(&self, chars: &[char]) -> Places {
        let mut start = vec![false; chars.len() + 1];
        start[0] = true;
        run(&self.nodes, chars, start, &self.effort)
    }
}

fn one(node: &Node, it: char) -> bool {
    match node {
        Node::Char(wanted) => *wanted == it,
        Node::Any => true,
        Node::Class(class) => class.has(it),
        Node::Star | Node::Group(..) => false,
    }
}

fn run(nodes: &[Node], chars: &[char], mut places: Places, effort: &Effort) -> Places {
    for node in nodes {
        if !effort.spend(places.len()) {
            return vec![false; places.len()];
        }
        match node {
            Node::Star => {
                let mut seen = false;
                for place in &mut places {
                    seen |= *place;
                    *place = seen;
                }
            }
            Node::Group(kind, arms) => places = group(*kind, arms, chars, places, effort),
            single => {
                let mut any = false;
                for at in (0..chars.len()).rev() {
                    let hit = places[at] && one(single, chars[at]);
                    places[at + 1] = hit;
                    any |= hit;
                }
                places[0] = false;
                if !any {
                    return places;
                }
            }
        }
    }
    places
}

fn group(kind: Kind, arms: &[Vec<Node>], chars: &[char], places: Places, effort: &Effort) -> Places {
    let once = |from: &Places| {
        let mut all = vec![false; from.len()];
        for arm in arms {
            for (into, hit) in all.iter_mut().zip(run(arm, chars, from.clone(), effort)) {
                *into |= hit;
            }
        }
        all
    };
    match kind {
        Kind::One => once(&places),
        Kind::Optional => union(once(&places), &places),
        Kind::Many | Kind::Some => {
            let mut all = if kind == Kind::Many { places.clone() } else { vec![false; places.len()] };
            let mut front = places;
            loop {
                let next = once(&front);
                let fresh: Places = next.iter().zip(&all).map(|(new, old)| *new && !old).collect();
                if !fresh.contains(&true) {
                    return all;
                }
                all = union(all, &fresh);
                front = fresh;
            }
        }
        Kind::Not => {
            let mut all = vec![false; places.len()];
            for start in (0..places.len()).filter(|at| places[*at]) {
                if effort.is_spent() {
                    break;
                }
                let mut from = vec![false; places.len()];
                from[start] = true;
                let hits = once(&from);
                for end in start..places.len() {
                    all[end] |= !hits[end];
                }
            }
            all
        }
    }
}

fn union(mut left: Places, right: &Places) -> Places {
    for (into, other) in left.iter_mut().zip(right) {
        *into |= *other;
    }
    left
}
