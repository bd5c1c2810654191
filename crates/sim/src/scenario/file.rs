//! Scenario files, and errors in reading them.

use super::error::ScenarioError;
use super::nearest::nearest;
use std::fs;
use std::io;
use std::path::Path;

/// The text of a file.
pub(super) fn text(path: &Path) -> Result<String, ScenarioError> {
    let bytes = fs::read(path).map_err(|error| ScenarioError::plain(unreadable(path, &error)))?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = String::from_utf8_lossy(&error.as_bytes()[..error.utf8_error().valid_up_to()]);
        let line = 1 + valid.matches('\n').count();
        let found = "invalid UTF-8; expected TOML text in UTF-8";
        ScenarioError::plain(format!("{}:{line}: {found}", path.display()))
    })
}

/// Why a file cannot be read.
fn unreadable(path: &Path, error: &io::Error) -> String {
    let shown = path.display();
    if path.is_dir() {
        return format!("{shown}: a directory; expected a scenario file");
    }
    if error.kind() != io::ErrorKind::NotFound {
        return format!("{shown}: {error}; expected a readable scenario file");
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut names: Vec<String> = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().extension().is_some_and(|extension| extension == "toml") {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    let wanted = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    match nearest(&wanted, &known) {
        Some(near) => format!("{shown}: no such file; did you mean \"{}\"?", folder.join(near).display()),
        None => format!("{shown}: no such file; expected a scenario file"),
    }
}
