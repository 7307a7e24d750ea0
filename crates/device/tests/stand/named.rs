//! That a crate whose tests are one program, `tests/all.rs`, leaves none of their files out.

use std::path::Path;

/// No file and no folder of tests in `folder` is forgotten in the text of its `all.rs`, where it would not be run.
///
/// # Panics
///
/// One is not named.
pub fn assert_every_file_is_named(folder: &Path, all: &str) {
    let mut files = 0;
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        let name = path.file_stem().expect("files have names").to_string_lossy().into_owned();
        let is_tests = path.extension().is_some_and(|kind| kind == "rs") || path.join("mod.rs").exists();
        if is_tests && name != "all" {
            files += 1;
            assert!(all.contains(&format!("\nmod {name};\n")), "tests/all.rs does not name {name}");
        }
    }
    assert!(files > 1, "{} holds no tests", folder.display());
}
