//! The reach of the process: a list of files and TCP ports, and no other process. Landlock enforces it
//! (<https://docs.kernel.org/userspace-api/landlock.html>).

use std::collections::BTreeSet;
use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, NetPort, PathBeneath, Ruleset,
    RulesetAttr as _, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope,
};
use nix::fcntl::OFlag;
use nix::sys::stat::Mode;

use super::confinement::{Confinement, Needs, Unenforced};

/// Files that the C library reads while threads run: the number of processors.
const RUNTIME_FILES: [&str; 1] = ["/sys/devices/system/cpu/online"];

/// Files that the look-up of a host's name reads. A file that is replaced by another (and not written in place) is out of
/// reach from then on; for systemd-resolved, which does that, there is [`RESOLVED`].
const RESOLVER_FILES: [&str; 6] = [
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/nsswitch.conf",
    "/etc/host.conf",
    "/etc/gai.conf",
    "/etc/ld.so.cache",
];
/// The directory of systemd-resolved that `/etc/resolv.conf` links to. It holds name servers and no secrets.
const RESOLVED: &str = "/run/systemd/resolve";
/// DNS over TCP, for answers that do not fit a datagram.
const DNS_PORT: u16 = 53;

/// A right that Landlock can take away: its name, the cure where it is missing, and the request.
struct Feature(&'static str, &'static str, fn(Ruleset) -> Result<Ruleset, RulesetError>);

/// In the order in which Linux gained them.
#[rustfmt::skip]
const FEATURES: [Feature; 6] = [
    Feature("reading, writing and executing files", "Linux 5.13 or newer, with landlock in /sys/kernel/security/lsm",
        |ruleset| ruleset.handle_access(AccessFs::from_all(ABI::V1))),
    Feature("moving files between directories", "Linux 5.19 or newer",
        |ruleset| ruleset.handle_access(AccessFs::Refer)),
    Feature("truncating files", "Linux 6.2 or newer",
        |ruleset| ruleset.handle_access(AccessFs::Truncate)),
    Feature("TCP", "Linux 6.7 or newer",
        |ruleset| ruleset.handle_access(AccessNet::from_all(ABI::V4))),
    Feature("controlling devices", "Linux 6.10 or newer",
        |ruleset| ruleset.handle_access(AccessFs::IoctlDev)),
    Feature("signals to and abstract sockets of other processes", "Linux 6.12 or newer",
        |ruleset| ruleset.scope(Scope::from_all(ABI::V6))),
];

impl Feature {
    fn is_offered(&self) -> bool {
        (self.2)(Ruleset::default().set_compatibility(CompatLevel::HardRequirement)).is_ok()
    }
}

/// Takes every right away that `needs` does not list.
pub(super) fn restrict(needs: &Needs, confinement: &mut Confinement) {
    let (offered, missing): (Vec<&Feature>, Vec<&Feature>) =
        FEATURES.iter().partition(|feature| feature.is_offered());
    for Feature(what, cure, _) in &missing {
        let why = "the kernel does not offer it, or a filter around us hides it";
        confinement.unenforced.push(Unenforced::new(what, why, cure));
    }
    if offered.is_empty() {
        return;
    }
    let readable = Readable::open(needs);
    let failed = match enforce(needs, &readable) {
        Ok(RulesetStatus::FullyEnforced) => None,
        Ok(RulesetStatus::PartiallyEnforced) if !missing.is_empty() => None,
        Ok(status) => Some(format!("{status:?}")),
        Err(error) => Some(error.to_string()),
    };
    confinement.add(match failed {
        Some(why) => {
            Err(Unenforced::new("files, TCP, other processes", why, "see what sandbox is around us"))
        }
        None => Ok(summary(&offered, needs, &readable)),
    });
    confinement.pins.extend(readable.files);
}

fn enforce(needs: &Needs, readable: &Readable) -> Result<RulesetStatus, RulesetError> {
    // A feature that the kernel does not offer is left out silently; it was reported as unenforced.
    let ruleset = FEATURES.iter().try_fold(Ruleset::default(), |ruleset, feature| (feature.2)(ruleset))?;
    let mut ruleset = ruleset.create()?;
    if let Some(root) = &needs.data_root {
        ruleset = ruleset.add_rule(PathBeneath::new(root, AccessFs::ReadFile | AccessFs::ReadDir))?;
    }
    for place in readable.files.iter().chain(&readable.directories) {
        ruleset = ruleset.add_rule(PathBeneath::new(place, AccessFs::ReadFile))?;
    }
    for port in tcp_ports(needs) {
        ruleset = ruleset.add_rule(NetPort::new(port, AccessNet::ConnectTcp))?;
    }
    Ok(ruleset.restrict_self()?.ruleset)
}

/// The files that stay readable besides the data directory. Missing and unreadable ones are left out.
struct Readable {
    files: Vec<OwnedFd>,
    /// Every file beneath, but no listing.
    directories: Vec<OwnedFd>,
}

impl Readable {
    fn open(needs: &Needs) -> Self {
        let (names, libraries) = if needs.names {
            (RESOLVER_FILES.as_slice(), [Some(PathBuf::from(RESOLVED)), libraries()])
        } else {
            ([].as_slice(), [None, None])
        };
        let files =
            RUNTIME_FILES.iter().chain(names).map(Path::new).chain(needs.files.iter().map(PathBuf::as_path));
        Self {
            files: files.filter_map(open).collect(),
            directories: libraries.iter().flatten().filter_map(|directory| open(directory)).collect(),
        }
    }
}

fn open(path: &Path) -> Option<OwnedFd> {
    nix::fcntl::open(path, OFlag::O_PATH | OFlag::O_CLOEXEC, Mode::empty()).ok()
}

/// Returns the directory of the modules that `/etc/nsswitch.conf` names: glibc's own. `None` in a static binary.
fn libraries() -> Option<PathBuf> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let libc = maps.lines().find_map(|line| {
        line.find('/').and_then(|start| line.get(start..)).filter(|path| path.ends_with("/libc.so.6"))
    })?;
    Path::new(libc).parent().map(Path::to_owned)
}

fn tcp_ports(needs: &Needs) -> BTreeSet<u16> {
    needs.tcp_ports.iter().copied().chain(needs.names.then_some(DNS_PORT)).collect()
}

fn summary(offered: &[&Feature], needs: &Needs, readable: &Readable) -> String {
    let given_up: Vec<&str> = offered.iter().map(|feature| feature.0).collect();
    let ports: Vec<String> = tcp_ports(needs).iter().map(u16::to_string).collect();
    let root = if needs.data_root.is_some() { "the data directory, " } else { "" };
    let libraries = if readable.directories.is_empty() { "" } else { "name-service libraries, " };
    let ports =
        if ports.is_empty() { "no TCP port".to_owned() } else { format!("TCP port {}", ports.join(", ")) };
    format!(
        "given up: {}; left to read or reach: {root}{libraries}{} single files, {ports}",
        given_up.join(", "),
        readable.files.len(),
    )
}
