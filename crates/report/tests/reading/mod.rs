//! Reads pages back: tags, tables, downloads. Strict, and independent of the crate's code.

#![allow(dead_code)]

use std::collections::BTreeMap;

/// Elements without an end tag.
const VOID: [&str; 6] = ["meta", "link", "br", "hr", "img", "input"];

/// One element, or a text.
#[derive(Clone, Debug, Default)]
pub struct Node {
    pub tag: String,
    pub attributes: BTreeMap<String, String>,
    /// The text of a node without a tag.
    pub text: String,
    pub children: Vec<Node>,
}

impl Node {
    /// Reads a page; panics with the position if tags do not match or text is not escaped.
    pub fn parse(page: &str) -> Self {
        let mut open = vec![Node { tag: "root".into(), ..Self::default() }];
        let mut rest = page.strip_prefix("<!doctype html>").expect("a doctype");
        while !rest.is_empty() {
            let (text, after) = rest.split_at(rest.find('<').unwrap_or(rest.len()));
            if !text.is_empty() {
                let raw = open.last().unwrap().tag == "style";
                assert!(raw || !text.contains('>'), "unescaped text: {text}");
                let text = if raw { text.to_owned() } else { unescape(text) };
                open.last_mut().unwrap().children.push(Node { text, ..Self::default() });
            }
            let Some(tag) = after.strip_prefix('<') else { break };
            let (inside, after) = split_tag(tag);
            rest = after;
            if let Some(name) = inside.strip_prefix('/') {
                let closed = open.pop().unwrap();
                assert_eq!(closed.tag, name, "an end without its beginning");
                open.last_mut().unwrap().children.push(closed);
                continue;
            }
            let (inside, closed) = match inside.strip_suffix('/') {
                Some(inside) => (inside, true),
                None => (inside, false),
            };
            let node = element(inside);
            if closed || VOID.contains(&node.tag.as_str()) {
                open.last_mut().unwrap().children.push(node);
            } else {
                open.push(node);
            }
        }
        assert_eq!(open.len(), 1, "never closed: {}", open.last().unwrap().tag);
        open.pop().unwrap()
    }

    /// All elements that satisfy a condition, in page order.
    pub fn all<'a>(&'a self, holds: &dyn Fn(&Node) -> bool) -> Vec<&'a Node> {
        let mut found = Vec::new();
        for child in &self.children {
            if holds(child) {
                found.push(child);
            }
            found.extend(child.all(holds));
        }
        found
    }

    pub fn tagged(&self, tag: &str) -> Vec<&Node> {
        self.all(&|node| node.tag == tag)
    }

    pub fn attribute(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }

    /// All text inside the element.
    pub fn inner(&self) -> String {
        self.children.iter().fold(self.text.clone(), |text, child| text + &child.inner())
    }
}

/// Splits a tag at its end; a `>` inside an attribute's value does not count.
fn split_tag(tag: &str) -> (&str, &str) {
    let mut quoted = false;
    for (index, letter) in tag.char_indices() {
        match letter {
            '"' => quoted = !quoted,
            '>' if !quoted => return (&tag[..index], &tag[index + 1..]),
            '<' => panic!("a tag in a tag: <{}", &tag[..index]),
            _ => {}
        }
    }
    panic!("a tag without end: <{tag}");
}

fn element(inside: &str) -> Node {
    let (tag, mut rest) = inside.split_once(' ').unwrap_or((inside, ""));
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    assert!(!tag.is_empty() && tag.chars().all(plain), "no element: <{inside}>");
    let mut attributes = BTreeMap::new();
    while !rest.trim().is_empty() {
        let (name, value) = rest.trim_start().split_once("=\"").expect("attributes have values");
        let (value, after) = value.split_once('"').expect("values end");
        assert!(name.chars().all(|c| plain(c) || c == ':'), "no attribute: {name}");
        let before = attributes.insert(name.to_owned(), unescape(value));
        assert!(before.is_none(), "{name} twice in <{inside}>");
        rest = after;
    }
    Node { tag: tag.into(), attributes, ..Node::default() }
}

fn unescape(text: &str) -> String {
    let known = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out += &rest[..at];
        let entity = known.iter().find(|(entity, _)| rest[at..].starts_with(entity));
        let (entity, letter) = entity.unwrap_or_else(|| panic!("unescaped: {}", &rest[at..]));
        out += letter;
        rest = &rest[at + entity.len()..];
    }
    out + rest
}

/// A download: lines of cells.
pub type Csv = Vec<Vec<String>>;

/// Every download of a page by its file name.
pub fn downloads(page: &Node) -> BTreeMap<String, String> {
    let links = page.all(&|node| node.attributes.contains_key("download"));
    let read = |link: &&Node| {
        let data = link.attribute("href").split_once(',').expect("a data link").1;
        (link.attribute("download").to_owned(), percent_decoded(data))
    };
    links.iter().map(read).collect()
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first == b'%' {
            let hex = std::str::from_utf8(&rest[..2]).unwrap();
            bytes.push(u8::from_str_radix(hex, 16).unwrap());
            rest = &rest[2..];
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).unwrap()
}

/// Cells of CSV (RFC 4180).
pub fn csv(text: &str) -> Csv {
    let (mut lines, mut line, mut cell, mut quoted) =
        (Vec::new(), Vec::new(), String::new(), false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (quoted, letter) {
            (true, '"') if letters.peek() == Some(&'"') => {
                cell.push('"');
                letters.next();
            }
            (_, '"') => quoted = !quoted,
            (false, ',') => line.push(std::mem::take(&mut cell)),
            (false, '\n') => {
                line.push(std::mem::take(&mut cell));
                lines.push(std::mem::take(&mut line));
            }
            _ => cell.push(letter),
        }
    }
    assert!(!quoted && cell.is_empty() && line.is_empty(), "the last line has its end");
    lines
}
