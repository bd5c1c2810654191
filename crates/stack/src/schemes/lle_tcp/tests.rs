//! One test per rule, and connections over a faulty hop.

mod bench;
mod holes;
mod moving;
mod paths;
mod property;
mod repair;
mod returning;
mod sending;
mod world;
