//! A printed file or script, and the templates that it is made from.

/// The names and the values of a template.
pub(super) type Values = Vec<(&'static str, String)>;

/// A text for an operator to install.
pub(super) struct Printed {
    pub(super) text: String,
    /// Settings that are not carried, or left to the operator; the text holds them as comments, too.
    pub(super) notes: Vec<String>,
}

impl Printed {
    /// Fills a template whose `{notes}` are comments.
    pub(super) fn fill(template: &str, notes: Vec<String>, mut values: Values) -> Self {
        values.push(("notes", notes.iter().map(|note| format!("# {note}\n")).collect()));
        Self { text: fill(template, &values), notes }
    }
}

/// Replaces each `{name}` of a template. Values are not searched again: they may hold braces.
fn fill(template: &str, values: &[(&str, String)]) -> String {
    let mut pieces = template.split('{');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let known = piece.split_once('}').and_then(|(name, rest)| {
            let (_, value) = values.iter().find(|(known, _)| *known == name)?;
            Some((value, rest))
        });
        match known {
            Some((value, rest)) => text.extend([value, rest]),
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
        let values = [("a", "{b}".to_owned()), ("b", "2".to_owned())];
        assert_eq!(fill("{a} {b} { {c} {a}", &values), "{b} 2 { {c} {b}");
        assert_eq!(fill("", &values), "");
    }
}
