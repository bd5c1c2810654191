//! The media: the only code that loses frames at random.

pub mod impairments;
pub mod loss;
pub mod modulation;
pub mod motion;
pub mod outages;
pub mod path;
pub mod radio;
pub mod slots;
pub mod warnings;
