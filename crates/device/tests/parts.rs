//! The FTL and the drive are parts that own their state, and steps that work on them.
//!
//! A file of `ftl/` or `ssd/` is a *part*, which owns structs and never names `Ftl` or `Ssd`, or a *step*, which is
//! `impl Ftl` or `impl Ssd` and owns no struct. The file of the folder holds the parts together. Left out: what stands in
//! tests and what macros are given.

use std::fs;
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};

/// Fields that a struct has at most, but for those that are named with their reason.
const MOST_FIELDS: usize = 14;
/// A list of all that a drive file keeps, in the file's order.
const LISTS: [&str; 1] = ["Saved"];

/// What a file says.
#[derive(Default)]
struct Found {
    structs: Vec<(String, usize)>,
    implements: Vec<String>,
    names_whole: bool,
}

/// The structs that hold the parts together.
fn is_whole(name: &str) -> bool {
    name == "Ftl" || name == "Ssd"
}

impl<'ast> Visit<'ast> for Found {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if item.ident != "test" {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.structs.push((item.ident.to_string(), item.fields.len()));
        visit::visit_item_struct(self, item);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if let syn::Type::Path(path) = &*item.self_ty {
            self.implements.extend(path.path.segments.last().map(|segment| segment.ident.to_string()));
        }
        visit::visit_item_impl(self, item);
    }

    fn visit_ident(&mut self, ident: &'ast syn::Ident) {
        self.names_whole |= is_whole(&ident.to_string());
    }
}

fn read(text: &str) -> Found {
    let mut found = Found::default();
    found.visit_file(&syn::parse_file(text).expect("a source file"));
    found
}

/// What is wrong with a file of the folder of that struct.
fn faults(whole: &str, found: &Found) -> Vec<String> {
    let mut faults = Vec::new();
    let is_step = found.implements.iter().any(|name| is_whole(name));
    if found.implements.iter().any(|name| is_whole(name) && name != whole) {
        faults.push(format!("implements another than {whole}"));
    }
    if is_step && !found.structs.is_empty() {
        faults.push(format!("is a step, and owns {:?}", found.structs));
    }
    if !is_step && found.names_whole {
        faults.push(format!("is a part, and names {whole}"));
    }
    faults
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn source(folder: &str) -> Vec<(PathBuf, Found)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder);
    files(&folder).into_iter().map(|file| (file.clone(), read(&fs::read_to_string(file).expect("a file")))).collect()
}

/// Each file is a part or a step.
#[test]
fn files_are_parts_or_steps() {
    for (folder, whole) in [("ftl", "Ftl"), ("ssd", "Ssd")] {
        let parts = source(folder).into_iter().filter(|(file, _)| !file.ends_with(format!("{folder}/mod.rs")));
        let wrong: Vec<_> = parts.map(|(file, found)| (file, faults(whole, &found))).collect();
        let wrong: Vec<_> = wrong.iter().filter(|(_, faults)| !faults.is_empty()).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}

/// Nobody else implements the two.
#[test]
fn no_other_folder_implements_them() {
    for folder in ["block.rs", "config", "hdd", "nand", "profile.rs", "sim"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder);
        for file in if path.is_dir() { files(&path) } else { vec![path] } {
            let found = read(&fs::read_to_string(&file).expect("a file"));
            assert!(!found.implements.iter().any(|name| is_whole(name)), "{}", file.display());
        }
    }
}

/// A struct is small enough to be seen whole.
#[test]
fn structs_have_few_fields() {
    for (file, found) in ["ftl", "ssd", "nand"].into_iter().flat_map(source) {
        for (name, fields) in found.structs.iter().filter(|(name, _)| !LISTS.contains(&name.as_str())) {
            assert!(*fields <= MOST_FIELDS, "{}: {name} has {fields} fields", file.display());
        }
    }
}

/// The rules find what breaks them.
#[test]
fn wrong_files_are_found() {
    let wrong = |text: &str| faults("Ftl", &read(text)).len();
    assert_eq!(wrong("pub struct Map { a: u32 } impl Map { fn get(&self) {} }"), 0);
    assert_eq!(wrong("impl<C: Contents> Ftl<C> { fn write(&mut self) {} }"), 0);
    assert_eq!(wrong("pub struct Map { a: u32 } impl Map { fn of(ftl: &Ftl) {} }"), 1);
    assert_eq!(wrong("pub struct Map { a: u32 } impl Ftl { fn write(&mut self) {} }"), 1);
    assert_eq!(wrong("impl Ssd { fn write(&mut self) {} }"), 1);
    assert_eq!(wrong("pub struct Map; mod test { fn of(ftl: &Ftl) {} }"), 0);
}
