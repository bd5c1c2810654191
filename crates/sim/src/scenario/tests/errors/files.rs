//! Files that are missing, empty, cut off, or not text.

use super::super::BASE;
use super::message;
use crate::scenario::{Overrides, Scenario};
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn a_truncated_file_is_told_with_its_last_line() {
    let text = &BASE[..BASE.find("\"newreno\"").unwrap() + 5];
    let message = message(text);
    assert!(message.starts_with(&format!("x.toml:{}: ", text.lines().count())), "{message}");
    assert!(message.contains("; expected "), "{message}");
    assert!(!message.contains('\n'), "{message}");
}

#[test]
fn an_empty_file_is_told_to_be_empty() {
    assert_eq!(
        message("  \n\n"),
        "x.toml:1: the file is empty; expected a scenario with [run], [nodes], [links] and [flows]"
    );
}

/// A directory for one test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("lasthop-scenario-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn message(&self, name: &str) -> String {
        Scenario::from_file(&self.0.join(name), Overrides::new(&[])).unwrap_err().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_missing_file_is_answered_with_the_nearest_name_in_its_folder() {
    let folder = Folder::new("missing");
    fs::write(folder.0.join("baseline.toml"), BASE).unwrap();
    let near = folder.0.join("baseline.toml");
    let message = folder.message("baselines.toml");
    assert!(message.ends_with(&format!("no such file; did you mean \"{}\"?", near.display())), "{message}");
    assert!(folder.message("other.toml").ends_with("no such file; expected a scenario file"));
}

#[test]
fn a_directory_and_bytes_that_are_no_text_are_refused() {
    let folder = Folder::new("bytes");
    fs::write(folder.0.join("latin.toml"), b"title = 'a'\nsummary = '\xe9'\n").unwrap();
    let message = folder.message("latin.toml");
    assert!(message.ends_with("latin.toml:2: invalid UTF-8; expected TOML text in UTF-8"), "{message}");
    let error = Scenario::from_file(&folder.0, Overrides::new(&[])).unwrap_err().to_string();
    assert!(error.ends_with("a directory; expected a scenario file"), "{error}");
    assert!(Scenario::from_file(Path::new(""), Overrides::new(&[])).is_err());
}

#[test]
fn a_newer_format_is_refused_before_any_key_that_it_may_have_changed() {
    let newer = |format: &str| message(&format!("{format}\n{BASE}[links.later]\nkind = \"laser\"\n"));
    let reads = concat!("than lasthop ", env!("CARGO_PKG_VERSION"), " reads; expected at most 1");
    assert_eq!(newer("format = 2"), format!("x.toml:1: format: 2 is a newer format {reads}"));
    for format in ["1.5", "99999999999999999999999.0"] {
        let message = newer(&format!("format = {format}"));
        assert!(message.contains(reads) && !message.contains('\n'), "{message}");
    }
    assert!(newer("format = 1").contains("\"laser\""));
    assert_eq!(message(&format!("format = 1\n{BASE}")), "no error");
    assert_eq!(
        message(&format!("format = 0\n{BASE}")),
        "x.toml:1: format: 0 is too small; expected at least 1"
    );
}
