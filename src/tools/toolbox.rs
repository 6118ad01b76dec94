//! The tools of a session and the lanes that their calls wait in: fixed at start.

use std::collections::HashMap;

use super::tool::Tool;

/// The names of the tools that are not a catalog's.
pub const BUILT_IN: [&str; 6] = [
    "read_only_sql",
    "explain_query",
    "describe_database",
    "sandbox_fs_read",
    "sandbox_fs_list",
    "system_metrics",
];

/// A queue of calls that share a resource, such as the connections to one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// Names it in logs.
    pub name: &'static str,
    /// The most workers that its calls take at a time, so that no worker waits for the resource.
    pub capacity: usize,
}

/// The place of a lane in its toolbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LaneId(usize);

impl LaneId {
    /// The lane that every toolbox has: its calls share no resource, and every worker takes them.
    pub const GENERAL: Self = Self(0);

    /// Returns the position in [`Toolbox::lanes`].
    pub fn index(self) -> usize {
        self.0
    }
}

/// A tool and its lane.
#[derive(Debug)]
pub struct Registered {
    /// The lane that its calls wait in.
    pub lane: LaneId,
    /// The tool.
    pub tool: Box<dyn Tool>,
}

/// The one table of tools, in registration order, looked up by name in constant time.
#[derive(Debug)]
pub struct Toolbox {
    lanes: Vec<Lane>,
    tools: Vec<Registered>,
    /// The position in `tools` of each name.
    places: HashMap<String, usize>,
    /// Names of arguments that clients add, and that no tool sees.
    ignored: Vec<String>,
}

impl Default for Toolbox {
    fn default() -> Self {
        let general = Lane { name: "general", capacity: usize::MAX };
        Self { lanes: vec![general], tools: Vec::new(), places: HashMap::new(), ignored: Vec::new() }
    }
}

impl Toolbox {
    /// Adds a lane.
    pub fn add_lane(&mut self, lane: Lane) -> LaneId {
        self.lanes.push(lane);
        LaneId(self.lanes.len() - 1)
    }

    /// Adds a tool whose calls wait in `lane`. A name that is taken already is a bug, and keeps the first.
    pub fn add(&mut self, lane: LaneId, tool: Box<dyn Tool>) {
        let name = tool.spec().name.as_str().to_owned();
        if let std::collections::hash_map::Entry::Vacant(free) = self.places.entry(name) {
            free.insert(self.tools.len());
            self.tools.push(Registered { lane, tool });
        }
    }

    /// Drops arguments of these names before anything is judged.
    pub fn ignore(&mut self, names: Vec<String>) {
        self.ignored = names;
    }

    /// Returns whether arguments of this name are dropped.
    pub fn ignores(&self, name: &str) -> bool {
        self.ignored.iter().any(|ignored| ignored == name)
    }

    /// Finds the tool of this name and its position.
    pub fn find(&self, name: &str) -> Option<(usize, &Registered)> {
        let index = *self.places.get(name)?;
        Some((index, self.tools.get(index)?))
    }

    /// Returns the tool at this position.
    pub fn get(&self, index: usize) -> Option<&Registered> {
        self.tools.get(index)
    }

    /// Returns every tool, in registration order.
    pub fn iter(&self) -> impl Iterator<Item = &dyn Tool> {
        self.tools.iter().map(|registered| registered.tool.as_ref())
    }

    /// Returns every lane, the general one first.
    pub fn lanes(&self) -> impl Iterator<Item = (LaneId, &Lane)> {
        self.lanes.iter().enumerate().map(|(index, lane)| (LaneId(index), lane))
    }
}
