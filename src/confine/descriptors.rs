//! File descriptors: those that the parent process left open, and the limit on their number.

use std::os::fd::{AsRawFd as _, RawFd};

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::stat::Mode;
use nix::unistd;

use super::confinement::Unenforced;

/// Standard error, the last descriptor that we were given on purpose.
const LAST_GIVEN: RawFd = 2;

/// Descriptors above standard error that were open when the process began.
#[derive(Debug)]
pub struct Inherited(Result<Vec<RawFd>, Errno>);

impl Inherited {
    /// Lists the open descriptors.
    ///
    /// INVARIANT: comes before the first descriptor of our own is opened: it cannot distinguish ours from inherited ones.
    pub fn list() -> Self {
        Self(open_now())
    }

    /// Closes them. `MCP_SQL_DSN_FILE=/dev/fd/63` was read by then, through a descriptor of our own.
    pub(super) fn close(self) -> Result<String, Unenforced> {
        let failed = |errno| Unenforced::new("inherited descriptors", errno, "mount /proc");
        let inherited = self.0.map_err(failed)?;
        inherited.iter().try_for_each(|descriptor| unistd::close(*descriptor)).map_err(failed)?;
        Ok(match inherited.len() {
            0 => "no inherited descriptors".to_owned(),
            count => format!("{count} inherited descriptors closed"),
        })
    }
}

fn open_now() -> Result<Vec<RawFd>, Errno> {
    let mut listing = Dir::open("/proc/self/fd", OFlag::O_DIRECTORY | OFlag::O_CLOEXEC, Mode::empty())?;
    let own = listing.as_raw_fd();
    let mut descriptors = Vec::new();
    for entry in listing.iter() {
        let number: Option<RawFd> = entry?.file_name().to_str().ok().and_then(|name| name.parse().ok());
        descriptors.extend(number.filter(|number| *number > LAST_GIVEN && *number != own));
    }
    Ok(descriptors)
}

/// Raises the limit so that `needed` descriptors may be open at once.
pub(super) fn allow(needed: u64) -> Result<String, Unenforced> {
    const CURE: &str = "raise the limit (ulimit -Hn, LimitNOFILE=), or lower MCP_MAX_CONCURRENCY";
    let too_few = |why: String| Unenforced {
        text: format!("too few descriptors for these settings: {why}"),
        cure: CURE,
    };
    let failed = |errno: Errno| too_few(errno.to_string());
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).map_err(failed)?;
    if hard < needed {
        return Err(too_few(format!("the hard limit is {hard}, {needed} may be needed")));
    }
    if soft < needed {
        setrlimit(Resource::RLIMIT_NOFILE, needed, hard).map_err(failed)?;
    }
    Ok(format!("{} descriptors may be open, {needed} may be needed", soft.max(needed)))
}
