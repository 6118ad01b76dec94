//! `manual`: a chapter of the manual on stdout, for hosts without a browser.

use std::io;

use clap::Args;

use crate::arguments::suggest;
use crate::commands::console::print;
use crate::commands::exit::Exit;
use crate::manual::{CHAPTERS, Chapter};

/// The options of `manual`.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// The chapter to print; without it, the list of chapters
    #[arg(value_parser = find)]
    topic: Option<&'static Chapter>,
}

/// A topic that has no chapter.
#[derive(Debug, thiserror::Error)]
#[error("there is no such chapter; did you mean '{closest}'? `mcp-server-suite manual` lists them")]
struct UnknownTopic {
    closest: &'static str,
}

pub(super) fn run(options: &Options) -> io::Result<Exit> {
    let text = options.topic.map_or_else(list, Chapter::for_terminal);
    match print(&text) {
        // A pager that was left early.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Clean),
        printed => printed.map(|()| Exit::Clean),
    }
}

fn find(topic: &str) -> Result<&'static Chapter, UnknownTopic> {
    let closest = || suggest::closest(topic, CHAPTERS.iter().map(|chapter| chapter.topic));
    Chapter::find(topic)
        .ok_or_else(|| UnknownTopic { closest: closest().map_or("settings", |(_, closest)| closest) })
}

/// A line a chapter.
fn list() -> String {
    let lines: Vec<String> =
        CHAPTERS.iter().map(|Chapter { topic, summary, .. }| format!("  {topic:16} {summary}\n")).collect();
    format!("Chapters of the manual (`mcp-server-suite manual TOPIC`):\n{}", lines.concat())
}
