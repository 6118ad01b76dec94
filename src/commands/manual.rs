//! `manual`: a chapter of the manual on stdout, for hosts without a browser.

use std::io;

use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::commands::console::{Exit, print};
use crate::manual::{CHAPTERS, Chapter};

/// The options of `manual`.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// The chapter to print; without it, the list of chapters
    #[arg(value_parser = PossibleValuesParser::new(CHAPTERS.iter().map(|chapter| chapter.topic)))]
    topic: Option<String>,
}

pub(super) fn run(options: &Options) -> io::Result<Exit> {
    let chapter = options.topic.as_deref().and_then(Chapter::find);
    match print(&chapter.map_or_else(list, Chapter::for_terminal)) {
        // A pager that was left early.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Clean),
        printed => printed.map(|()| Exit::Clean),
    }
}

/// A line a chapter.
fn list() -> String {
    let lines: Vec<String> =
        CHAPTERS.iter().map(|Chapter { topic, summary, .. }| format!("  {topic:16} {summary}\n")).collect();
    format!("Chapters of the manual (`mcp-server-suite manual TOPIC`):\n{}", lines.concat())
}
