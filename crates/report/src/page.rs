//! The shell of a page: head, lead, contents, sections, foot.

use crate::html::{Html, escape};
use crate::style;

/// The page may load nothing: no script, no font, no picture that is not contained in it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/// A page under construction.
#[derive(Clone, Debug, Default)]
pub struct Page {
    title: String,
    kicker: String,
    command: bool,
    leads: Vec<String>,
    intro: Html,
    sections: Vec<Section>,
    foot: String,
    style: String,
}

#[derive(Clone, Debug)]
struct Section {
    level: usize,
    id: String,
    title: String,
    body: Html,
}

impl Page {
    /// A page with this title.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// The title is a command line.
    pub fn titled_by_command(&mut self) {
        self.command = true;
    }

    /// The small line over the title.
    pub fn kicker(&mut self, text: impl Into<String>) {
        self.kicker = text.into();
    }

    /// Adds a sentence of the summary; the first is the answer and stands out.
    pub fn lead(&mut self, sentence: impl Into<String>) {
        self.leads.push(sentence.into());
    }

    /// Adds content below the summary.
    pub fn intro(&mut self, html: Html) {
        self.intro.push(html);
    }

    /// Adds rules to the style sheet; its variables (`--ink`, `--c0` …) have light and dark values.
    pub fn style(&mut self, rules: &str) {
        self.style.push_str(rules);
    }

    /// The last line.
    pub fn foot(&mut self, text: impl Into<String>) {
        self.foot = text.into();
    }

    /// Adds a section: level 1, or level 2 for a subsection of the last level 1 section. Links
    /// refer to its `id`; if that is already in use, a number is appended.
    pub fn section(&mut self, level: usize, id: &str, title: impl Into<String>, body: Html) {
        let base: String = id
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
            .collect();
        let taken = |id: &str| id == "content" || self.sections.iter().any(|s| s.id == id);
        let mut id = base.clone();
        let mut number = 2;
        while taken(&id) {
            id = format!("{base}-{number}");
            number += 1;
        }
        self.sections.push(Section { level: level.clamp(1, 2), id, title: title.into(), body });
    }

    /// The page.
    pub fn render(&self) -> String {
        let title = escape(&self.title);
        format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
             <meta name=\"color-scheme\" content=\"light dark\">\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\
             <link rel=\"icon\" href=\"data:,\"><title>{title}</title>\n<style>\n{}{}</style>\n\
             </head><body>{}<a class=\"skip\" href=\"#content\">To the content</a>\
             <div class=\"page\">{}<div class=\"{}\">{}\n<main id=\"content\">{}</main></div>\
             {}</div></body></html>\n",
            style::SHEET,
            self.style,
            style::patterns(),
            self.head().as_str(),
            if self.sections.len() < 2 { "body" } else { "body beside" },
            self.contents().as_str(),
            self.body().as_str(),
            if self.foot.is_empty() {
                String::new()
            } else {
                Html::tag("footer", &[("class", "end")], &self.foot).as_str().to_owned()
            },
        )
    }

    fn head(&self) -> Html {
        let mut head = Html::default();
        if !self.kicker.is_empty() {
            head.push(Html::tag("p", &[("class", "kicker")], &self.kicker));
        }
        let class = if self.command { "command" } else { "title" };
        head.push(Html::tag("h1", &[("class", class)], &self.title));
        for sentence in &self.leads {
            head.push(Html::prose("p", &[("class", "lead")], sentence));
        }
        head.push(self.intro.clone());
        Html::element("header", &[("class", "top")], head)
    }

    fn contents(&self) -> Html {
        if self.sections.len() < 2 {
            return Html::default();
        }
        let mut list = Html::default();
        for section in &self.sections {
            let link = format!("#{}", section.id);
            let link = Html::tag("a", &[("href", &link)], &section.title);
            let class = if section.level > 1 { "sub" } else { "item" };
            list.push(Html::element("li", &[("class", class)], link));
        }
        let list = Html::element("ul", &[], list);
        Html::element("nav", &[("class", "contents"), ("aria-label", "Contents")], list)
    }

    fn body(&self) -> Html {
        let mut body = Html::default();
        for section in &self.sections {
            let heading = if section.level > 1 { "h3" } else { "h2" };
            let name = format!("{}-title", section.id);
            let mut inner = Html::tag(heading, &[("id", &name)], &section.title);
            inner.push(section.body.clone());
            let attributes = [("id", section.id.as_str()), ("aria-labelledby", name.as_str())];
            body.push(Html::raw("\n"));
            body.push(Html::element("section", &attributes, inner));
        }
        body
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_link_of_the_contents_has_its_target_even_when_names_repeat() {
        let mut page = Page::new("t");
        for _ in 0..3 {
            page.section(2, "Class coverage", "Coverage", Html::text("x"));
        }
        page.section(1, "content", "Content", Html::default());
        let text = page.render();
        for id in ["class-coverage", "class-coverage-2", "class-coverage-3", "content-2"] {
            assert_eq!(text.matches(&format!(" id=\"{id}\"")).count(), 1, "{id}");
            assert_eq!(text.matches(&format!("href=\"#{id}\"")).count(), 1, "{id}");
        }
    }

    #[test]
    fn the_page_forbids_what_it_does_not_hold() {
        let text = Page::new("<b>").render();
        assert!(text.contains("default-src 'none'") && !text.contains("<script"));
        assert!(text.contains("<title>&lt;b&gt;</title>"));
    }
}
