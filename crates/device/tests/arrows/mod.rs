//! Arrows between the files of a crate: which module names which, does it look up, and does the way lead
//! back?
//!
//! Read by `syn`: every path that begins with `crate::`, `super::` or `self::`, in `use` and elsewhere. An arrow
//! leads to the deepest module with a file of its own. Left out is what macros are given.
//! Modules of the crate's root, or of a folder, lie on levels, lowest first: one may use lower levels only, and
//! those of one level do not use each other. Between files anywhere there is no circle; what a file shares
//! with the folder that it lies in is no arrow, since a folder's file holds its parts together.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use syn::visit::{self, Visit};

/// The path of a module from the crate's root, which is empty.
type Module = Vec<String>;

/// The modules of a crate that have files, and the paths that each names: outside of tests, and in them.
#[derive(Default)]
pub struct Crate {
    named: BTreeMap<Module, Names>,
}

#[derive(Default)]
struct Names {
    outside_tests: BTreeSet<Module>,
    in_tests: BTreeSet<Module>,
}

impl Crate {
    /// Reads all files below a crate's `src`.
    ///
    /// # Panics
    /// When a file cannot be read.
    pub fn read(source: &Path) -> Crate {
        let mut found = Crate::default();
        found.visit_folder(source, &mut Vec::new());
        found
    }

    fn visit_folder(&mut self, folder: &Path, module: &mut Module) {
        for entry in fs::read_dir(folder).expect("source folder").map(|entry| entry.expect("entry").path()) {
            let name = entry.file_stem().and_then(|stem| stem.to_str()).expect("a name in UTF-8").to_string();
            let own_name = name != "mod" && name != "lib";
            module.extend(own_name.then_some(name));
            if entry.is_dir() {
                self.visit_folder(&entry, module);
            } else if entry.extension().is_some_and(|extension| extension == "rs") {
                self.add(module, &fs::read_to_string(&entry).expect("a source file"));
            }
            if own_name {
                module.pop();
            }
        }
    }

    fn add(&mut self, module: &Module, text: &str) {
        let file = syn::parse_file(text).unwrap_or_else(|error| panic!("{}: {error}", module.join("::")));
        let mut reader =
            Reader { module: module.clone(), tests: usize::from(is_test(module)), names: Names::default() };
        reader.visit_file(&file);
        self.named.insert(module.clone(), reader.names);
    }

    /// Every use that points up or sideways, or from a module on no level.
    pub fn wrong_arrows(&self, levels: &[&[&str]]) -> Vec<String> {
        self.wrong_arrows_in(&[], levels)
    }

    /// As [`Crate::wrong_arrows`], between the modules of a folder.
    pub fn wrong_arrows_in(&self, folder: &[&str], levels: &[&[&str]]) -> Vec<String> {
        let level = |name: &String| levels.iter().position(|level| level.contains(&name.as_str()));
        let inside = |path: &Module| path.len() > folder.len() && path.iter().zip(folder).all(|(a, b)| a == b);
        let mut wrong = Vec::new();
        for (module, names) in self.named.iter().filter(|(module, _)| inside(module)) {
            let from = &module[folder.len()];
            let Some(own_level) = level(from) else {
                wrong.push(format!("{from} is on no level: put it where it belongs in tests/layers.rs"));
                continue;
            };
            let named = names.outside_tests.iter().chain(&names.in_tests).filter(|name| inside(name));
            let named = named.map(|name| &name[folder.len()]);
            for used in named.filter(|used| *used != from).collect::<BTreeSet<_>>() {
                if level(used).is_some_and(|level| level >= own_level) {
                    wrong.push(format!("{} uses {used}, which does not lie below {from}", module.join("::")));
                }
            }
        }
        wrong
    }

    /// Every lot of files whose arrows lead in a circle, tests left out.
    pub fn circles(&self) -> Vec<String> {
        let arrows: BTreeMap<&Module, BTreeSet<&Module>> =
            self.named.keys().map(|module| (module, self.files_used(module))).collect();
        let reached: BTreeMap<&Module, BTreeSet<&Module>> =
            arrows.keys().map(|module| (*module, reached_from(module, &arrows))).collect();
        let in_circles = reached.keys().filter(|module| reached[*module].contains(**module));
        let lots = in_circles.map(|module| {
            let back = reached[*module].iter().filter(|other| reached[**other].contains(*module));
            back.map(|other| other.join("::")).collect::<Vec<_>>().join(", ")
        });
        lots.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The other files that a file names, but for those whose folder it lies in and those in its own.
    fn files_used(&self, module: &Module) -> BTreeSet<&Module> {
        let names = self.named[module].outside_tests.iter();
        let files = names.filter_map(|name| {
            let homes = (0..=name.len()).rev().map(|length| &name[..length]);
            homes.filter_map(|home| self.named.get_key_value(home)).map(|(file, _)| file).next()
        });
        files.filter(|file| !module.starts_with(file) && !file.starts_with(module)).collect()
    }
}

fn is_test(module: &[String]) -> bool {
    module.iter().any(|name| name == "test")
}

/// All that can be reached, the start itself only by a way back.
fn reached_from<'a>(start: &Module, arrows: &BTreeMap<&Module, BTreeSet<&'a Module>>) -> BTreeSet<&'a Module> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&Module> = arrows[start].iter().copied().collect();
    while let Some(module) = next.pop() {
        if reached.insert(module) {
            next.extend(&arrows[module]);
        }
    }
    reached
}

/// Collects the paths of one file.
struct Reader {
    /// Where the reading is: the file's module, or one written out in it.
    module: Module,
    /// How many modules of tests lie around.
    tests: usize,
    names: Names,
}

impl Reader {
    /// Keeps a path that begins in this crate, from its root on.
    fn keep(&mut self, path: &[String]) {
        let mut from = match path.first().map(String::as_str) {
            Some("crate") => Module::new(),
            Some("self" | "super") => self.module.clone(),
            _ => return,
        };
        for name in path {
            match name.as_str() {
                "crate" | "self" => {}
                "super" => drop(from.pop()),
                _ => from.push(name.clone()),
            }
        }
        let names = if self.tests > 0 { &mut self.names.in_tests } else { &mut self.names.outside_tests };
        names.insert(from);
    }

    fn keep_tree(&mut self, tree: &syn::UseTree, before: &mut Vec<String>) {
        match tree {
            syn::UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.keep_tree(&path.tree, before);
                before.pop();
            }
            syn::UseTree::Group(group) => group.items.iter().for_each(|item| self.keep_tree(item, before)),
            syn::UseTree::Name(name) => self.keep(&[&before[..], &[name.ident.to_string()]].concat()),
            syn::UseTree::Rename(name) => self.keep(&[&before[..], &[name.ident.to_string()]].concat()),
            syn::UseTree::Glob(_) => self.keep(before),
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.keep_tree(&item.tree, &mut Vec::new());
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.keep(&path.segments.iter().map(|segment| segment.ident.to_string()).collect::<Vec<_>>());
        visit::visit_path(self, path);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let is_test = usize::from(item.ident == "test");
        self.module.push(item.ident.to_string());
        self.tests += is_test;
        visit::visit_item_mod(self, item);
        self.tests -= is_test;
        self.module.pop();
    }
}

/// A crate of texts by paths with `/`.
#[cfg(test)]
fn crate_of(files: &[(&str, &str)]) -> Crate {
    let mut made = Crate::default();
    for (path, text) in files {
        made.add(&path.split('/').filter(|name| !name.is_empty()).map(String::from).collect(), text);
    }
    made
}

/// An upward use is found in each of its spellings, and a downward one is not blamed.
#[test]
fn upward_uses_are_found() {
    let levels: &[&[&str]] = &[&["units"], &["flash", "link"], &["drive"]];
    let wrong = |module: &str, text: &str| crate_of(&[(module, text)]).wrong_arrows(levels).len();
    assert_eq!(wrong("flash", "use crate::drive::Drive;"), 1);
    assert_eq!(wrong("flash", "use crate::{units::Nanos, drive::{Drive, Port}};"), 1);
    assert_eq!(wrong("flash", "use crate::{\n    drive,\n    link,\n};"), 2);
    assert_eq!(wrong("flash", "fn f() { let x = super::drive::open(); }"), 1);
    assert_eq!(wrong("flash/page", "use super::super::drive::Drive;"), 1);
    assert_eq!(wrong("attic", ""), 1);
    assert_eq!(wrong("drive", "use crate::{units::Nanos, flash};\nuse super::link;"), 0);
    assert_eq!(wrong("flash/page", "use super::drive; // use crate::drive"), 0);
    assert_eq!(wrong("flash", "use crate::flash::Page; use other_crate::drive;"), 0);
    assert_eq!(wrong("flash", "mod test {\n    use super::super::drive;\n    use super::super::link;\n}"), 2);
}

/// A way back is found however long it is; a folder and its parts, and tests, are no circle.
#[test]
fn circles_are_found() {
    let circles = |files: &[(&str, &str)]| crate_of(files).circles();
    assert_eq!(circles(&[("a", "use crate::b::B;"), ("b", "use super::a::{self, A};")]), ["a, b"]);
    let long = [("a/x", "use crate::b;"), ("b", "fn f(_: crate::c::C) {}"), ("c", "use crate::a::x::X;")];
    assert_eq!(circles(&long), ["a::x, b, c"]);
    assert!(circles(&[("a", "use self::x::X;"), ("a/x", "use super::A;")]).is_empty());
    assert!(circles(&[("a", "use crate::b::B;"), ("b", "mod test { use crate::a::A; }")]).is_empty());
}
