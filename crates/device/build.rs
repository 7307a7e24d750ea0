//! Collects the profiles of `profiles/*.toml` into the library: adding a drive is adding a file.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

fn main() {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../../profiles");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut names: Vec<String> = fs::read_dir(&folder)
        .expect("profiles folder")
        .filter_map(|entry| Some(entry.ok()?.path().file_name()?.to_str()?.strip_suffix(".toml")?.to_string()))
        .collect();
    names.sort();
    let mut code =
        String::from("/// Name and text of every profile in `profiles/`.\nconst BUILT_IN: &[(&str, &str)] = &[\n");
    for name in names {
        let path = folder.join(format!("{name}.toml"));
        let path = path.canonicalize().expect("profile");
        writeln!(code, "    ({name:?}, include_str!({path:?})),").expect("string");
    }
    code.push_str("];\n");
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&out).join("profiles.rs"), code).expect("write profiles.rs");
}
