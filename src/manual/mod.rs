//! The user's manual, a Markdown file a chapter.
//!
//! It is read here, on the repository's web page, and by `mcp-server-suite manual TOPIC` on a host without a browser.
//! [`CHAPTERS`] is the one list: the pages of this module and the command are made from it.
//!
//! A chapter links to another by `[text][topic]`. The web page follows the definitions at the end of each file
//! (`[topic]: topic.md`); this page follows those that the macro puts in front, since Markdown takes the first.

/// A chapter of the manual.
#[derive(Debug, PartialEq, Eq)]
pub struct Chapter {
    /// Its name on the command line, and its file's name.
    pub topic: &'static str,
    /// The question that it answers, in a line.
    pub summary: &'static str,
    /// Its Markdown.
    pub text: &'static str,
}

macro_rules! links {
    ($($module:ident $topic:literal $summary:literal)+) => {
        concat!($("[", $topic, "]: crate::manual::", stringify!($module), "\n"),+)
    };
}

macro_rules! chapters {
    (@expand $all:tt $($module:ident $topic:literal $summary:literal)+) => {
        /// Every chapter, in reading order.
        pub const CHAPTERS: &[Chapter] =
            &[$(Chapter { topic: $topic, summary: $summary, text: include_str!(concat!($topic, ".md")) }),+];
        $(
            #[doc = links! $all]
            #[doc = include_str!(concat!($topic, ".md"))]
            pub mod $module {}
        )+
    };
    ($($rows:tt)+) => { chapters! { @expand ($($rows)+) $($rows)+ } };
}

chapters! {
    getting_started "getting-started" "Build it, check it, connect a client, talk to it by hand"
    tools "tools" "Each tool: arguments, answers, an example, how values are written"
    catalog "catalog" "Reviewed statements as tools: the file, the parameters, every rule"
    settings "settings" "Every environment variable, and the connection string"
    errors "errors" "Problem documents, JSON-RPC errors, exit codes"
    sql_guard "sql-guard" "How a query is judged, what is refused, what bounds its cost"
    dialect "dialect" "What differs from psql, and functions by name, set and extension"
    files "files" "How paths are walked, what a read returns"
    roles "roles" "The database role: made, checked, narrowed"
    deploy "deploy" "systemd, container, inetd"
    operate "operate" "Bounds of a call, the log, the end, memory on the database host"
    confinement "confinement" "What the process gives up before it serves"
    threat_model "threat-model" "Who is trusted with what, what stands in the way, what remains"
    troubleshooting "troubleshooting" "From what you see to its cause and cure"
    transcript "transcript" "A whole session of the demo, word for word"
    development "development" "Layout of the code, tests, checks, measurements"
    changes "changes" "What changed, version by version"
    licences "licences" "The licences of the program and of all its crates"
}

impl Chapter {
    /// The chapter about this topic.
    pub fn find(topic: &str) -> Option<&'static Self> {
        CHAPTERS.iter().find(|chapter| chapter.topic == topic)
    }

    /// Its text for a terminal: without the marks of the tests and the addresses of its links.
    pub fn for_terminal(&self) -> String {
        let is_for_machines = |line: &str| line.starts_with("<!--") || is_definition(line);
        let lines: Vec<&str> = self.text.lines().filter(|line| !is_for_machines(line)).collect();
        format!("{}\n", lines.join("\n").trim_end())
    }
}

/// Recognises `[topic]: topic.md`.
fn is_definition(line: &str) -> bool {
    CHAPTERS.iter().any(|Chapter { topic, .. }| line == format!("[{topic}]: {topic}.md"))
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;

    /// The text outside of fenced blocks and code spans.
    fn prose(text: &str) -> String {
        let blocks = text.split("```").step_by(2);
        blocks.flat_map(|block| block.split('`').step_by(2)).collect::<Vec<_>>().join("`")
    }

    /// Returns the text from each `open` up to the next `close`.
    fn between<'t>(text: &'t str, open: &'t str, close: char) -> BTreeSet<&'t str> {
        text.split(open).skip(1).filter_map(|rest| Some(rest.split_once(close)?.0)).collect()
    }

    #[test]
    fn every_file_is_a_chapter_with_a_title_a_summary_and_plain_text() {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/manual");
        let files = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
        let files: BTreeSet<String> = files
            .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
            .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
            .collect();
        assert_eq!(files, CHAPTERS.iter().map(|chapter| chapter.topic.to_owned()).collect());
        for chapter @ Chapter { topic, summary, text } in CHAPTERS {
            assert_eq!(Chapter::find(topic), Some(chapter));
            assert!(text.starts_with("# ") && text.ends_with('\n'), "{topic}");
            assert!(summary.len() < 80 && !summary.ends_with('.'), "{topic}");
            assert_eq!(text.matches("```").count() % 2, 0, "{topic}: a block is not closed");
            let plain = chapter.for_terminal();
            assert!(!plain.contains("<!--") && !plain.contains(".md\n["), "{topic}");
        }
    }

    #[test]
    fn links_between_chapters_are_defined_and_used() {
        for Chapter { topic, text, .. } in CHAPTERS {
            let (definitions, body): (Vec<&str>, Vec<&str>) =
                text.lines().partition(|line| line.starts_with('[') && line.contains("]: "));
            assert!(text.trim_end().ends_with(&definitions.join("\n")), "{topic}: they stand at the end");
            let prose = prose(&body.join("\n"));
            let used = between(&prose, "][", ']').into_iter().map(|label| format!("[{label}]: {label}.md"));
            assert_eq!(definitions, used.collect::<Vec<_>>(), "{topic}");
            assert!(definitions.iter().all(|line| is_definition(line)), "{topic}: {definitions:?}");
            for address in between(&prose, "](", ')') {
                assert!(address.starts_with("https://"), "{topic} links to {address}: write [text][topic]");
            }
        }
    }

    #[test]
    fn the_licence_is_the_repositorys() {
        assert!(Chapter::find("licences").unwrap().text.contains(include_str!("../../LICENSE")));
    }
}
