//! Runs the first point of a scenario file and prints its metrics: the simulator without Python.
//!
//!     cargo run --release -p lasthop-sim --example run_scenario -- scenarios/examples/udp-cross.toml

use std::error::Error;
use std::path::Path;

use lasthop_sim::scenario::{Overrides, Scenario};
use lasthop_sim::{Request, run};

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("expected the path of a scenario file")?;
    let scenario = Scenario::from_file(Path::new(&file), Overrides::new(&[]))?;
    let config = scenario.config(0);
    let request = Request::new(&config, scenario.seed(), 0);
    for (name, value) in run(&request)?.metrics {
        match value {
            Some(value) => println!("{name} = {value}"),
            None => println!("{name} = none"),
        }
    }
    Ok(())
}
