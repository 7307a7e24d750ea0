//! Arrows between the modules of a crate: which module names which, and does it look up?
//!
//! A plain reading of the text: every path that begins with `crate::`, and every chain of `super::`
//! that reaches the crate's root, names a module. Comments are left out, and so is `$crate::`, by
//! which a macro names what its caller has in sight. Modules lie on levels, lowest first; a module
//! may use lower levels only, and those of one level do not use each other.

use std::fs;
use std::path::Path;

/// Every use in `source` that points up or sideways, or from or to a module on no level.
///
/// # Panics
/// When the folder cannot be read.
pub fn wrong_arrows(source: &Path, levels: &[&[&str]]) -> Vec<String> {
    let mut wrong = Vec::new();
    visit(source, &mut Vec::new(), &mut |module, text| wrong.extend(wrong_in(module, text, levels)));
    wrong
}

/// Calls `each` with the path and the text of every module below a folder; the crate's root is left out.
fn visit(folder: &Path, path: &mut Vec<String>, each: &mut dyn FnMut(&[String], &str)) {
    let mut entries: Vec<_> =
        fs::read_dir(folder).expect("source folder").map(|entry| entry.expect("entry").path()).collect();
    entries.sort();
    for entry in entries {
        let name = entry.file_stem().and_then(|stem| stem.to_str()).expect("a name in UTF-8").to_string();
        let own_name = name != "mod" && name != "lib";
        path.extend(own_name.then_some(name));
        if entry.is_dir() {
            visit(&entry, path, each);
        } else if entry.extension().is_some_and(|extension| extension == "rs") && !path.is_empty() {
            each(path, &fs::read_to_string(&entry).expect("a source file"));
        }
        if own_name {
            path.pop();
        }
    }
}

/// The wrong arrows of one file.
fn wrong_in(module: &[String], text: &str, levels: &[&[&str]]) -> Vec<String> {
    let level = |name: &str| levels.iter().position(|level| level.contains(&name));
    let from = module[0].as_str();
    let Some(own_level) = level(from) else {
        return vec![format!("{from} is on no level: put it where it belongs in tests/layers.rs")];
    };
    let mut wrong = Vec::new();
    for used in used_modules(text, module.len()) {
        let points_up = level(&used).is_some_and(|level| level >= own_level);
        if used != from && points_up {
            wrong.push(format!("{} uses {used}, which does not lie below {from}", module.join("::")));
        }
    }
    wrong
}

/// First names of all paths that start at the crate's root, in a file of a module that deep.
fn used_modules(text: &str, depth: usize) -> Vec<String> {
    let mut used = Vec::new();
    let mut deeper = 0;
    let code: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    for (number, line) in code.iter().enumerate() {
        // Tests stand last in a file, in a module of their own.
        deeper += usize::from(line.starts_with("mod test {"));
        let rest = || code[number + 1..].join(" ");
        for (at, _) in line.match_indices("crate::").filter(|(at, _)| !line[..*at].ends_with(is_part_of_name)) {
            used.extend(first_names(&(line[at + "crate::".len()..].to_string() + &rest())));
        }
        let root = "super::".repeat(depth + deeper);
        for (at, _) in line.match_indices(&root).filter(|(at, _)| !line[..*at].ends_with(is_part_of_path)) {
            used.extend(first_names(&(line[at + root.len()..].to_string() + &rest())));
        }
    }
    used
}

fn is_part_of_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || character == '$'
}

fn is_part_of_path(character: char) -> bool {
    is_part_of_name(character) || character == ':'
}

/// `a::b` names `a`; `{a, b::{c, d}}` names `a` and `b`.
fn first_names(path: &str) -> Vec<String> {
    let name =
        |text: &str| -> String { text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect() };
    let Some(group) = path.strip_prefix('{') else { return vec![name(path)] };
    let (mut names, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, character) in group.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                names.push(name(&group[start..at]));
                start = at + 1;
                if character == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// An upward use is found in each of its spellings, and a downward one is not blamed.
#[test]
fn upward_uses_are_found() {
    let levels: &[&[&str]] = &[&["units"], &["flash", "link"], &["drive"]];
    let wrong = |module: &[&str], text: &str| {
        let module: Vec<String> = module.iter().map(ToString::to_string).collect();
        wrong_in(&module, text, levels).len()
    };
    assert_eq!(wrong(&["flash"], "use crate::drive::Drive;"), 1);
    assert_eq!(wrong(&["flash"], "use crate::{units::Nanos, drive::{Drive, Port}};"), 1);
    assert_eq!(wrong(&["flash"], "use crate::{\n    drive,\n    link,\n};"), 2);
    assert_eq!(wrong(&["flash"], "let x = super::drive::open();"), 1);
    assert_eq!(wrong(&["flash", "page"], "use super::super::drive::Drive;"), 1);
    assert_eq!(wrong(&["attic"], ""), 1);
    assert_eq!(wrong(&["drive"], "use crate::{units::Nanos, flash};\nuse super::link;"), 0);
    assert_eq!(wrong(&["flash", "page"], "use super::drive; // use crate::drive"), 0);
    assert_eq!(wrong(&["flash"], "$crate::drive!(); use crate::flash::Page; use other_crate::drive;"), 0);
    assert_eq!(wrong(&["flash"], "mod test {\n    use super::drive;\n    use super::super::link;\n"), 1);
}
