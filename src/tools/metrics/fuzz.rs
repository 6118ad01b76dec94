//! A membership of a control group never leads out of the mount of control groups.

use std::path::{Component, Path};

use super::cgroup::{directory, number, processors};

/// Runs the target.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mount = Path::new("/mount");
    if let Some(directory) = directory(mount, &text) {
        let beneath = directory.strip_prefix(mount);
        let stays = |path: &Path| path.components().all(|part| matches!(part, Component::Normal(_)));
        assert!(beneath.is_ok_and(stays), "{}", directory.display());
    }
    assert!(processors(&text).is_none_or(|processors| processors.is_finite() && processors >= 0.0));
    if let Some(number) = number(&text) {
        assert!(text.trim_ascii_end().trim_start_matches('+').ends_with(&number.to_string()), "{text:?}");
    }
}
