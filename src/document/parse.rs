//! The frame that every kind of document shares: TOML, a version, and keys that are all known.

use toml::de::DeTable;

use super::finding::DocumentRule;
use super::report::{Located, Report};
use super::section::Section;
use crate::diagnostics::escape;

/// Parses a file of version 1 and reads its root table, `noun` in sentences, with `read`. Keys that `read` does not take
/// are faults. Returns `None` when the file is not TOML; `read` was not called then.
pub(crate) fn parse<R: DocumentRule, T>(
    report: &mut Report<'_, R>,
    noun: &'static str,
    read: impl FnOnce(&mut Section<'_>, &mut Report<'_, R>) -> T,
) -> Option<T> {
    let source = report.source;
    let (root, errors) = DeTable::parse_recoverable(&source.text);
    for error in &errors {
        let line = source.line(error.span().map_or(0, |span| span.start));
        let text = format!("This is not TOML: {}.", escape(error.message()));
        report.add(R::SYNTAX, line, text, "Mend the syntax.");
    }
    if !errors.is_empty() {
        return None;
    }
    let mut section = Section::new(root.get_ref(), noun, 1);
    check_version(&mut section, report);
    let content = read(&mut section, report);
    section.finish(report);
    Some(content)
}

fn check_version<R: DocumentRule>(section: &mut Section<'_>, report: &mut Report<'_, R>) {
    const CURE: &str = "Write version = 1.";
    match section.integer("version", report) {
        Some(Located { value: 1, .. }) => {}
        Some(Located { line, .. }) => {
            report.add(R::SYNTAX, line, "This version of the format is unknown.", CURE);
        }
        None => report.add(R::SYNTAX, 1, "The version of the format is missing.", CURE),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::document::{file::Source, sample::Rule};

    /// `expected`: the list of names, and each finding with its line.
    #[track_caller]
    fn check(text: &str, expected: Option<&[&str]>, findings: &[(Rule, usize, &str)]) {
        let source = Source::new(PathBuf::new(), text.to_owned());
        let mut report = Report::new(&source);
        let names = parse(&mut report, "a list", |section, report| section.texts("names", report));
        let names = names.map(|names| names.into_iter().map(|name| name.value).collect::<Vec<_>>());
        assert_eq!(names, expected.map(|names| names.iter().map(ToString::to_string).collect()), "{text}");
        let found: Vec<_> = report.findings.iter().map(|found| (found.rule, found.place.line)).collect();
        assert_eq!(
            found,
            findings.iter().map(|(rule, line, _)| (*rule, *line)).collect::<Vec<_>>(),
            "{text}"
        );
        for (found, (_, _, part)) in report.findings.iter().zip(findings) {
            assert!(found.text.contains(part), "{}", found.text);
        }
    }

    #[test]
    fn every_fault_of_a_document_is_found_at_its_line() {
        let none = Some(&[][..]);
        check("version = 1\nnames = ['a']", Some(&["a"]), &[]);
        check("version = 1\nnames = [", None, &[(Rule::Syntax, 2, "This is not TOML: ")]);
        check("version = 1\nversion = 1", None, &[(Rule::Syntax, 2, "This is not TOML: ")]);
        check("\nversion = 2", none, &[(Rule::Syntax, 2, "This version of the format is unknown.")]);
        check("", none, &[(Rule::Syntax, 1, "The version of the format is missing.")]);
        check(
            "version = '1'\nname = 'a'\nnames = 'a'",
            none,
            &[
                (Rule::InvalidValue, 1, "The value of `version`"),
                (Rule::Syntax, 1, "The version of the format is missing."),
                (Rule::InvalidValue, 3, "The value of `names`"),
                (Rule::UnknownKey, 2, "'name' is no key of a list."),
            ],
        );
    }
}
