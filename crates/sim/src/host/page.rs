//! A clock that stands still, and files in memory.

#![cfg_attr(test, allow(dead_code, unreachable_pub, reason = "the tests look at the files only"))]

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io::{self, Cursor, ErrorKind, Write};
use std::path::{Path, PathBuf};

use lasthop_stack::units::Time;

thread_local! {
    static FILES: RefCell<BTreeMap<PathBuf, Vec<u8>>> = const { RefCell::new(BTreeMap::new()) };
    static WATCH: Cell<fn(f64)> = const { Cell::new(|_| {}) };
}

/// Sets what is called now and then with the simulated time in seconds that a run has reached.
pub fn watch(call: fn(f64)) {
    WATCH.set(call);
}

pub(crate) fn reached(now: Time) {
    WATCH.get()(now.as_secs());
}

/// Writes a file.
pub fn put(path: &Path, bytes: Vec<u8>) {
    FILES.with_borrow_mut(|files| files.insert(path.to_path_buf(), bytes));
}

/// Removes a file, and returns its content.
#[must_use]
pub fn take(path: &Path) -> Option<Vec<u8>> {
    FILES.with_borrow_mut(|files| files.remove(path))
}

/// A clock that stands still.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock;

impl Clock {
    pub(crate) fn start() -> Clock {
        Clock
    }

    #[expect(clippy::unused_self, reason = "a clock of the operating system goes on")]
    pub(crate) fn elapsed_s(self) -> f64 {
        0.0
    }
}

/// A file without a name.
pub(crate) type Scratch = Cursor<Vec<u8>>;

#[expect(clippy::unnecessary_wraps, reason = "a file of the operating system can fail")]
pub(crate) fn scratch() -> io::Result<Scratch> {
    Ok(Cursor::default())
}

/// A new file, to be written.
#[expect(clippy::unnecessary_wraps, reason = "a file of the operating system can fail")]
pub(crate) fn create(path: &Path) -> io::Result<Box<dyn Write + Send>> {
    put(path, Vec::new());
    Ok(Box::new(Appended(path.to_path_buf())))
}

pub(crate) fn is_file(path: &Path) -> bool {
    FILES.with_borrow(|files| files.contains_key(path))
}

/// The content of a file; `None` if it has more than `most` bytes.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    FILES.with_borrow(|files| {
        let bytes = files.get(path).ok_or(ErrorKind::NotFound)?;
        Ok((bytes.len() as u64 <= most).then(|| bytes.clone()))
    })
}

/// Adds to the end of a file.
struct Appended(PathBuf);

impl Write for Appended {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        FILES.with_borrow_mut(|files| {
            files.get_mut(&self.0).ok_or(ErrorKind::NotFound)?.extend_from_slice(bytes);
            Ok(bytes.len())
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_to_a_file_in_memory_is_taken_once() {
        let path = Path::new("here/path.pcap");
        let mut file = create(path).expect("memory");
        file.write_all(b"one").and_then(|()| file.write_all(b" two")).expect("memory");
        assert!(is_file(path));
        assert_eq!(read(path, 7).expect("it is there"), Some(b"one two".to_vec()));
        assert_eq!(read(path, 6).expect("it is there"), None);
        assert_eq!(take(path), Some(b"one two".to_vec()));
        assert_eq!(take(path), None);
        assert_eq!(read(path, 7).expect_err("it was taken").kind(), ErrorKind::NotFound);
        assert!(file.write(b"three").is_err());
    }
}
