//! The table of `docs/fio.md` is made from the option table, so that the two cannot disagree.
//!
//! `RENEW_GOLDEN=1 cargo test -p ssdlab-lab --test fio_options` writes it anew.

use ssdlab_lab::workload::options::table::{Standing, markdown, names, standing};
use std::collections::BTreeSet;
use std::path::Path;

const BEGIN: &str = "<!-- table: made by crates/lab/tests/fio_options.rs -->\n";
const END: &str = "<!-- end of table -->\n";

/// The document holds the table as the code would write it.
#[test]
fn document_and_options_agree() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/fio.md");
    let text = std::fs::read_to_string(&path).expect("docs/fio.md is there");
    let (before, rest) = text.split_once(BEGIN).expect("the table's beginning is marked");
    let (table, after) = rest.split_once(END).expect("the table's end is marked");
    if std::env::var_os("RENEW_GOLDEN").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}\n{}\n{END}{after}", markdown())).expect("it can be written");
    } else {
        assert_eq!(table.trim(), markdown().trim(), "RENEW_GOLDEN=1 writes the table anew");
    }
}

/// Each option of the manual's chapters stands once, is known, and has its reason where it does not work;
/// at most ten are refused.
#[test]
fn every_option_has_a_reason() {
    let mut seen = BTreeSet::new();
    let mut refused = Vec::new();
    for name in names() {
        assert!(seen.insert(name), "{name} stands twice");
        let (standing, text) = standing(name).unwrap_or_else(|| panic!("{name} is not in the table"));
        assert!(standing == Standing::Works || !text.is_empty(), "{name} has no reason");
        if standing == Standing::Refused {
            refused.push(name);
        }
    }
    assert!(seen.len() > 200, "{}", seen.len());
    assert!(refused.len() <= 10, "{refused:?}");
}
