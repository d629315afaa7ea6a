//! Widths in characters: padding, wrapping.

/// `text` padded with trailing blanks to `width` characters.
pub fn pad_right(text: &str, width: usize) -> String {
    format!("{text:<width$}")
}

/// `text` padded with leading blanks to `width` characters.
pub fn pad_left(text: &str, width: usize) -> String {
    format!("{text:>width$}")
}

/// `text` in lines of at most `width` characters, broken at blanks; continuation lines begin with
/// `indent`.
pub fn wrap(text: &str, width: usize, indent: &str) -> String {
    let (mut lines, mut line) = (Vec::new(), String::new());
    let together = keep_units(text);
    let between = |letter: char| letter.is_whitespace() && letter != NO_BREAK;
    for word in together.split(between).filter(|word| !word.is_empty()) {
        let blank = usize::from(!line.trim().is_empty());
        if blank > 0 && line.chars().count() + blank + word.chars().count() > width {
            lines.push(std::mem::replace(&mut line, format!("{indent}{word}")));
        } else {
            line.push_str(&" ".repeat(blank));
            line.push_str(word);
        }
    }
    lines.push(line);
    lines.join("\n").replace(NO_BREAK, " ")
}

/// The same text with a capital letter at its beginning.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

/// The space that is no place to break a line.
const NO_BREAK: char = '\u{a0}';

/// What no line begins with: units and intervals.
const KEPT: [&str; 3] = ["%", "±", "nm"];

/// The same text without line breaks inside a figure: between it and its unit or its interval, and
/// on either side of an arrow between two figures.
pub fn keep_units(text: &str) -> String {
    let text = KEPT.iter().fold(text.to_owned(), |text, kept| {
        text.replace(&format!(" {kept}"), &format!("{NO_BREAK}{kept}"))
    });
    let mut pieces = text.split(" → ");
    let mut joined = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let figures = joined.ends_with(|c: char| c.is_ascii_digit())
            && piece.starts_with(|c: char| c.is_ascii_digit());
        let space = if figures { NO_BREAK } else { ' ' };
        joined.extend([space, '→', space]);
        joined += piece;
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_counts_characters_and_cuts_nothing() {
        assert_eq!((pad_left("±1", 4), pad_right("±1", 4)), ("  ±1".into(), "±1  ".into()));
        assert_eq!((pad_left("long", 2), pad_right("long", 2)), ("long".into(), "long".into()));
    }

    #[test]
    fn wrapping_keeps_every_word_within_the_width() {
        let text = "one two three four five six seven";
        let wrapped = wrap(text, 12, "  ");
        assert!(wrapped.lines().all(|line| line.chars().count() <= 12), "{wrapped}");
        assert_eq!(wrapped.split_whitespace().collect::<Vec<_>>().join(" "), text);
        assert_eq!(wrap("a gain of 25 % is", 12, ""), "a gain of\n25 % is");
        assert_eq!(wrap("a gain of 25 ±1 % is", 12, ""), "a gain of\n25 ±1 % is");
        assert_eq!(wrap("from 9.5 → 8.25 cycles", 13, ""), "from\n9.5 → 8.25\ncycles");
        assert_eq!(wrap("from one → two of them", 11, ""), "from one →\ntwo of them");
        assert_eq!(wrap("unbreakable-and-long a", 5, ""), "unbreakable-and-long\na");
    }
}
