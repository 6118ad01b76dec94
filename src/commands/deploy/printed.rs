//! A printed file or script, and the templates that it is made from.

/// A text for an operator to install.
pub(super) struct Printed {
    pub(super) text: String,
    /// Settings that are not carried, or left to the operator; the text holds them as comments, too.
    pub(super) notes: Vec<String>,
}

/// Renders notes as comments.
pub(super) fn comments(notes: &[String]) -> String {
    notes.iter().map(|note| format!("# {note}\n")).collect()
}

/// Replaces each `{name}` of a template. Values are not searched again: they may hold braces.
pub(super) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut pieces = template.split('{');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let known = piece.split_once('}').and_then(|(name, rest)| {
            let (_, value) = values.iter().find(|(known, _)| *known == name)?;
            Some((value, rest))
        });
        match known {
            Some((value, rest)) => text.extend([*value, rest]),
            None => text.extend(["{", piece]),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_filled_once() {
        let values = [("a", "{b}"), ("b", "2")];
        assert_eq!(fill("{a} {b} { {c} {a}", &values), "{b} 2 { {c} {b}");
        assert_eq!(fill("", &values), "");
    }
}
