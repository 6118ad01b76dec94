//! `serve`: settings, confinement, log, tools, then the server until it ends.

use std::{
    io::{self, IsTerminal},
    os::fd::AsFd,
    sync::Arc,
};

use nix::unistd;

use crate::{
    NAME, VERSION,
    commands::Exit,
    confine::{self, Confinement, Inherited, Mode},
    diagnostics,
    governance::Governor,
    postgres::Database,
    server,
    settings::Settings,
    tools::{
        Toolbox,
        files::{list::SandboxFsList, read::SandboxFsRead},
        metrics::SystemMetrics,
        sql::{DescribeDatabase, ExplainQuery, ReadOnlySql},
    },
};

pub(super) fn run(settings: Settings, inherited: Inherited) -> io::Result<Exit> {
    let needs = settings.needs()?;
    let uses_sql = settings.uses_sql();
    let Settings {
        log_level,
        log_target,
        confine: mode,
        server,
        sql,
        sql_adhoc,
        catalog,
        files,
        metrics_disk_path,
        warnings,
        ..
    } = settings;
    diagnostics::init(log_level, log_target);
    // INVARIANT: everything that the settings name is open, and no thread has begun.
    let confinement = match mode {
        Mode::Off => Confinement::default(),
        Mode::Auto | Mode::Require => confine::apply(&needs, inherited),
    };
    drop(needs);
    if mode == Mode::Require && !confinement.lacking.is_empty() {
        confinement.lacking.iter().for_each(|lack| diagnostics::complain(&format!("MCP_CONFINE: {lack}")));
        return Ok(Exit::Configuration);
    }
    warnings.iter().for_each(|warning| log::warn!(target: "session", "{warning}"));
    confinement.lacking.iter().for_each(|lack| log::warn!(target: "session", "{lack}"));
    if io::stdin().is_terminal() {
        diagnostics::complain(&format!(
            "{NAME} speaks MCP here, one JSON-RPC message a line, until Ctrl-D; to see it work: `{NAME} demo`, \
             to connect a client: `{NAME} client-config`"
        ));
    }
    let database = sql.filter(|_| uses_sql).map(Database::new);
    let mut toolbox = Toolbox::default();
    if let Some(database) = database.as_ref().filter(|_| sql_adhoc) {
        toolbox.add(Box::new(ReadOnlySql::new(Arc::clone(database))));
        toolbox.add(Box::new(ExplainQuery::new(Arc::clone(database))));
        toolbox.add(Box::new(DescribeDatabase::new(Arc::clone(database))));
    }
    if let Some((catalog, database)) = catalog.as_ref().zip(database.as_ref()) {
        catalog.warnings().iter().for_each(|warning| log::warn!(target: "session", "{warning}"));
        catalog.tools(database).for_each(|tool| toolbox.add(tool));
    }
    if let Some(files) = files {
        let root = Arc::new(files.root);
        toolbox.add(Box::new(SandboxFsRead::new(Arc::clone(&root), files.max_bytes)));
        toolbox.add(Box::new(SandboxFsList::new(root)));
    }
    if let Some(disk_path) = metrics_disk_path {
        toolbox.add(Box::new(SystemMetrics::new(disk_path)));
    }
    let names: Vec<&str> = toolbox.iter().map(|tool| tool.spec().name.as_str()).collect();
    let names = if names.is_empty() { "no tool".to_owned() } else { names.join(", ") };
    log::info!(target: "session", "{NAME} {VERSION} serves {names}");
    let stdin = io::stdin().as_fd().try_clone_to_owned()?;
    let stdout = io::stdout().as_fd().try_clone_to_owned()?;
    let session = server::run(server, toolbox, Governor, stdin, stdout);
    hang_up()?;
    session.map(|()| Exit::Clean)
}

/// Gives stdin and stdout back to the client. Returning from `main` does so too, but only once the kernel has let go of every
/// thread, and what waits for a file system that hangs cannot always be killed.
fn hang_up() -> io::Result<()> {
    let (_, nobody) = io::pipe()?;
    unistd::dup2_stdin(&nobody)?;
    Ok(unistd::dup2_stdout(&nobody)?)
}
