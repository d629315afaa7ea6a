//! Markup that cannot contain unescaped text. Everything from a run passes through [`escape`].

use std::fmt::Write as _;

use documents::text::keep_units;

/// A piece of a page: complete elements, all text in them escaped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Html(String);

impl Html {
    /// Text, escaped.
    pub fn text(text: &str) -> Self {
        Self(escape(text))
    }

    /// Markup as it is. The caller has escaped its contents.
    pub fn raw(markup: impl Into<String>) -> Self {
        Self(markup.into())
    }

    /// An element. Attribute values are escaped here; the body is already markup.
    pub fn element(tag: &str, attributes: &[(&str, &str)], body: Self) -> Self {
        Self(format!("<{tag}{}>{}</{tag}>", written(attributes), body.0))
    }

    /// An element around text.
    pub fn tag(tag: &str, attributes: &[(&str, &str)], text: &str) -> Self {
        Self::element(tag, attributes, Self::text(text))
    }

    /// An element around a sentence of ours: no line breaks between a figure and its percent sign.
    /// Not for what readers copy.
    pub fn prose(tag: &str, attributes: &[(&str, &str)], text: &str) -> Self {
        Self::tag(tag, attributes, &keep_units(text))
    }

    /// Appends.
    pub fn push(&mut self, other: Self) {
        self.0.push_str(&other.0);
    }

    /// The pieces in sequence.
    pub fn join(pieces: impl IntoIterator<Item = Self>) -> Self {
        Self(pieces.into_iter().map(|piece| piece.0).collect())
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The markup.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn written(attributes: &[(&str, &str)]) -> String {
    attributes.iter().fold(String::new(), |mut text, (name, value)| {
        let _ = write!(text, " {name}=\"{}\"", escape(value));
        text
    })
}

/// Escapes text for elements and quoted attributes. Control characters that HTML does not allow are
/// replaced by U+FFFD.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(letter),
            // They include those that would reverse the direction of the following text.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => out.push('\u{fffd}'),
            letter if letter.is_control() => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}

/// A link that downloads a file contained in the link itself.
pub fn download(label: &str, about: &str, file: &str, media: &str, contents: &str) -> Html {
    let mut link = format!("data:{media};charset=utf-8,");
    for byte in contents.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b',' | b'/' => {
                link.push(char::from(byte));
            }
            _ => {
                let _ = write!(link, "%{byte:02X}");
            }
        }
    }
    let attributes =
        [("class", "download"), ("download", file), ("href", &link), ("aria-label", about)];
    Html::tag("a", &attributes, label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_never_becomes_markup_in_an_element_or_an_attribute() {
        let hostile = "<script>alert(\"1\" & '2')</script>\u{0}\u{202e}";
        let html = Html::tag("p", &[("title", hostile)], hostile);
        let safe =
            "&lt;script&gt;alert(&quot;1&quot; &amp; &#39;2&#39;)&lt;/script&gt;\u{fffd}\u{fffd}";
        assert_eq!(html.as_str(), format!("<p title=\"{safe}\">{safe}</p>"));
    }

    #[test]
    fn a_download_is_percent_encoded_in_utf_8() {
        let link = download("CSV", "about", "x.csv", "text/csv", "a b,\n±\"");
        // ± is C2 B1 in UTF-8.
        assert!(link.as_str().contains("data:text/csv;charset=utf-8,a%20b,%0A%C2%B1%22"));
    }
}
