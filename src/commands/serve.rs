//! `serve`: settings, confinement, log, tools, then the server until it ends.

use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::sync::Arc;

use nix::unistd;

use crate::commands::console::Exit;
use crate::confine::{self, Confinement, Inherited, Mode, Needs};
use crate::governance::Governor;
use crate::postgres::Database;
use crate::settings::Settings;
use crate::tools::catalog::Catalog;
use crate::tools::files::list::SandboxFsList;
use crate::tools::files::read::SandboxFsRead;
use crate::tools::metrics::SystemMetrics;
use crate::tools::sql::{DescribeDatabase, ExplainQuery, ReadOnlySql};
use crate::tools::{Lane, LaneId, Toolbox};
use crate::{NAME, VERSION, diagnostics, server};

pub(super) fn run(settings: Settings, inherited: Inherited) -> io::Result<Exit> {
    let needs = settings.needs()?;
    let uses_sql = settings.uses_sql();
    diagnostics::init(settings.log_level, settings.log_target);
    // INVARIANT: everything that the settings name is open, and no thread has begun.
    let Some(_confinement) = confined(settings.confine, &needs, inherited) else {
        return Ok(Exit::Configuration);
    };
    drop(needs);
    settings.warnings.iter().for_each(|warning| log::warn!(target: "session", "{warning}"));
    if io::stdin().is_terminal() {
        diagnostics::report_fatal(&format!(
            "{NAME} speaks MCP here, one JSON-RPC message a line, until Ctrl-D; to see it work: `{NAME} demo`, \
             to connect a client: `{NAME} client-config`"
        ));
    }
    let database = settings.sql.filter(|_| uses_sql).map(Database::new);
    let mut toolbox = Toolbox::default();
    toolbox.ignore(settings.ignored_arguments);
    if let Some(database) = &database {
        add_database_tools(&mut toolbox, database, settings.sql_adhoc, settings.catalog.as_ref());
    }
    if let Some(files) = settings.files {
        let root = Arc::new(files.root);
        toolbox.add(LaneId::GENERAL, Box::new(SandboxFsRead::new(Arc::clone(&root), files.max_bytes)));
        toolbox.add(LaneId::GENERAL, Box::new(SandboxFsList::new(root)));
    }
    if let Some(disk_path) = settings.metrics_disk_path {
        toolbox.add(LaneId::GENERAL, Box::new(SystemMetrics::new(disk_path)));
    }
    let names: Vec<&str> = toolbox.iter().map(|tool| tool.spec().name.as_str()).collect();
    let names = if names.is_empty() { "no tool".to_owned() } else { names.join(", ") };
    log::info!(target: "session", "{NAME} {VERSION} serves {names}");
    let stdin = io::stdin().as_fd().try_clone_to_owned()?;
    let stdout = io::stdout().as_fd().try_clone_to_owned()?;
    let session = server::run(settings.server, toolbox, Governor, stdin, stdout);
    hang_up()?;
    session.map(|()| Exit::Clean)
}

/// Confines the process as `mode` asks. Returns `None` when a required restriction is missing, which it has reported.
fn confined(mode: Mode, needs: &Needs, inherited: Inherited) -> Option<Confinement> {
    let confinement = match mode {
        Mode::Off => Confinement::default(),
        Mode::Auto | Mode::Require => confine::apply(needs, inherited),
    };
    for missing in &confinement.unenforced {
        match mode {
            Mode::Require => diagnostics::report_fatal(&format!("MCP_CONFINE: {missing}")),
            Mode::Auto | Mode::Off => log::warn!(target: "session", "{missing}"),
        }
    }
    (mode != Mode::Require || confinement.unenforced.is_empty()).then_some(confinement)
}

/// Adds the tools of the database, in a lane as wide as the connection pool: no worker waits for a connection.
fn add_database_tools(
    toolbox: &mut Toolbox,
    database: &Arc<Database>,
    adhoc: bool,
    catalog: Option<&Catalog>,
) {
    let capacity = usize::try_from(database.config().pool_max_size).unwrap_or(usize::MAX);
    let lane = toolbox.add_lane(Lane { name: "sql", capacity });
    if adhoc {
        toolbox.add(lane, Box::new(ReadOnlySql::new(Arc::clone(database))));
        toolbox.add(lane, Box::new(ExplainQuery::new(Arc::clone(database))));
        toolbox.add(lane, Box::new(DescribeDatabase::new(Arc::clone(database))));
    }
    if let Some(catalog) = catalog {
        catalog.warnings.iter().for_each(|warning| log::warn!(target: "session", "{warning}"));
        catalog.tools(database).for_each(|tool| toolbox.add(lane, tool));
    }
}

/// Gives stdin and stdout back to the client. Returning from `main` does so too, but only once the kernel has ended every
/// thread, and a thread that waits for a file system that hangs cannot always be killed.
fn hang_up() -> io::Result<()> {
    let (_, unread) = io::pipe()?;
    unistd::dup2_stdin(&unread)?;
    Ok(unistd::dup2_stdout(&unread)?)
}
