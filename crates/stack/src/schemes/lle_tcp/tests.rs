//! One test for each rule, and connections over a faulty hop.

mod bench;
mod paths;
mod property;
mod returning;
mod sending;
mod world;
