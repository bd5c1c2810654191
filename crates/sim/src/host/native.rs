//! The clock and the files of the operating system.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use lasthop_stack::units::Time;

/// The wall clock since a start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock(Instant);

impl Clock {
    #[expect(
        clippy::disallowed_methods,
        reason = "limits and reports of wall-clock time need the wall clock"
    )]
    pub(crate) fn start() -> Clock {
        Clock(Instant::now())
    }

    pub(crate) fn elapsed_s(self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

/// The simulated time that a run has reached; whoever asked for the run has other ways to learn it.
pub(crate) fn reached(_: Time) {}

/// A file that disappears when it is closed.
pub(crate) type Scratch = File;

/// One in the system's directory for temporary files.
pub(crate) fn scratch() -> io::Result<Scratch> {
    static MADE: AtomicU64 = AtomicU64::new(0);
    loop {
        let name = format!("lasthop-{}-{}.trace", process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
            Ok(file) => {
                // Where an open file cannot be removed, it remains for the system to remove.
                let _ = fs::remove_file(&path);
                return Ok(file);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// A new file, to be written.
pub(crate) fn create(path: &Path) -> io::Result<Box<dyn Write + Send>> {
    Ok(Box::new(BufWriter::new(File::create(path)?)))
}

pub(crate) fn is_file(path: &Path) -> bool {
    path.is_file()
}

/// The content of a file; `None` if it is not a regular one of at most `most` bytes.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let about = fs::metadata(path)?;
    if !about.is_file() || about.len() > most {
        return Ok(None);
    }
    fs::read(path).map(Some)
}
