//! The path between two peers: a scenario.

use std::path::{Path, PathBuf};

use lasthop_sim::scenario::{Overrides, Scenario};

/// Where the scenarios of lasthop are.
const CATALOGUE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");

/// The path between the peers: the first point of a scenario, between the ends of its first flow.
///
/// The server takes the place of the sender of the first flow and the client that of its receiver. Flows between other nodes
/// are simulated beside the peers, and flows with one of the two at an end are left out. The peers start after the warm-up.
///
/// ```
/// use lasthop_testing::Hop;
///
/// Hop::named("edge-of-range");
/// Hop::named("examples/trace").set("links.cell.queue", "50 packets");
/// ```
#[derive(Clone, Debug)]
pub struct Hop {
    source: Source,
    settings: Vec<(String, String)>,
}

#[derive(Clone, Debug)]
enum Source {
    Named(String),
    File(PathBuf),
    Text(String),
}

impl Hop {
    /// A last hop of `lasthop list hops`, or a scenario of `lasthop list scenarios` by its id.
    #[must_use]
    pub fn named(name: &str) -> Hop {
        Hop::of(Source::Named(name.to_string()))
    }

    /// A scenario file.
    #[must_use]
    pub fn file(path: impl AsRef<Path>) -> Hop {
        Hop::of(Source::File(path.as_ref().to_path_buf()))
    }

    /// The text of a scenario.
    #[must_use]
    pub fn text(toml: &str) -> Hop {
        Hop::of(Source::Text(toml.to_string()))
    }

    /// The same with another value of a key, as `lasthop run -s KEY=VALUE`.
    #[must_use]
    pub fn set(mut self, key: &str, value: &str) -> Hop {
        self.settings.push((key.to_string(), value.to_string()));
        self
    }

    fn of(source: Source) -> Hop {
        Hop { source, settings: Vec::new() }
    }

    /// What reports call it.
    pub(crate) fn name(&self) -> String {
        match &self.source {
            Source::Named(name) => name.clone(),
            Source::File(path) => path.display().to_string(),
            Source::Text(_) => "the scenario".to_string(),
        }
    }

    /// The scenario, read and checked.
    pub(crate) fn scenario(&self) -> Result<Scenario, String> {
        let file = match &self.source {
            Source::Named(name) => found(name)?,
            Source::File(path) => path.clone(),
            Source::Text(text) => {
                return Scenario::from_text(text, "scenario", &self.settings).map_err(|e| e.to_string());
            }
        };
        Scenario::from_file(&file, Overrides::new(&self.settings)).map_err(|error| error.to_string())
    }
}

/// The file of a hop or scenario with this name.
fn found(name: &str) -> Result<PathBuf, String> {
    let file = |folder: &str| Path::new(CATALOGUE).join(folder).join(format!("{name}.toml"));
    let files = [file("hops"), file("")];
    let none = || {
        format!("{name}: unknown hop; expected one of lasthop list hops, or an id of lasthop list scenarios")
    };
    files.into_iter().find(|file| file.is_file()).ok_or_else(none)
}
