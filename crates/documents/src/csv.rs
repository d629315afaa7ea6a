//! CSV (RFC 4180, except that lines end in a newline only).

use csv::{QuoteStyle, Terminator, Writer, WriterBuilder};

/// A document under construction. Its lines may differ in their number of fields.
#[derive(Debug)]
pub struct Csv(Writer<Vec<u8>>);

impl Default for Csv {
    fn default() -> Self {
        Self::with(QuoteStyle::Necessary)
    }
}

impl Csv {
    /// A document that begins with this line and quotes only where necessary.
    pub fn new<T: AsRef<[u8]>>(header: impl IntoIterator<Item = T>) -> Self {
        let mut csv = Self::default();
        csv.line(header);
        csv
    }

    /// A document without a header that quotes every field, so that text which looks like a number
    /// stays text.
    pub fn quoted() -> Self {
        Self::with(QuoteStyle::Always)
    }

    fn with(quotes: QuoteStyle) -> Self {
        let mut builder = WriterBuilder::new();
        builder.flexible(true).terminator(Terminator::Any(b'\n')).quote_style(quotes);
        Self(builder.from_writer(Vec::new()))
    }

    /// Adds a line.
    pub fn line<T: AsRef<[u8]>>(&mut self, fields: impl IntoIterator<Item = T>) {
        self.0.write_record(fields).expect("memory takes lines of any length");
    }

    /// The document.
    pub fn text(self) -> String {
        let bytes = self.0.into_inner().expect("memory needs no flushing");
        // Fields are texts, although the type does not say so; invalid UTF-8 becomes visible.
        String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into())
    }
}

/// One line.
pub fn line<T: AsRef<[u8]>>(fields: impl IntoIterator<Item = T>) -> String {
    Csv::new(fields).text()
}

/// A number in full; empty if there is none.
pub fn number(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_a_reader_would_take_apart_is_quoted_and_nothing_else() {
        let fields = ["a b", "1.5", "", "x,y", "say \"x\"", "two\nlines", "a\rb"];
        let expected = "a b,1.5,,\"x,y\",\"say \"\"x\"\"\",\"two\nlines\",\"a\rb\"\n";
        assert_eq!(line(fields), expected);
    }

    #[test]
    fn every_field_is_quoted_on_request_and_lines_may_differ_in_length() {
        let mut csv = Csv::quoted();
        csv.line(["", "one"]);
        csv.line(["group"]);
        assert_eq!(csv.text(), "\"\",\"one\"\n\"group\"\n");
    }

    #[test]
    fn numbers_are_written_in_full() {
        assert_eq!(number(Some(1.0 / 3.0)), "0.3333333333333333");
        assert_eq!((number(Some(4.0)), number(None)), ("4".into(), String::new()));
    }

    proptest! {
        #[test]
        fn a_reader_gets_back_what_was_written(
            lines in prop::collection::vec(prop::collection::vec("(?s).{0,8}", 2..5), 1..5)
        ) {
            // A header, because readers remove a byte-order mark from the beginning.
            let mut csv = Csv::new(["header"]);
            lines.iter().for_each(|fields| csv.line(fields));
            let text = csv.text();
            let mut reader =
                ::csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
            let read: Vec<Vec<String>> = reader
                .records()
                .map(|line| line.unwrap().iter().map(str::to_owned).collect())
                .collect();
            prop_assert_eq!(read, lines);
        }
    }
}
