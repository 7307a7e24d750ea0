//! The table of `docs/reference/fio.md` and the list for completion are made from the option table, so that they cannot
//! disagree.
//!
//! `RENEW_GOLDEN=1 cargo test -p ssdlab-lab --test all fio_options` writes both anew.

use ssdlab_lab::workload::options::reference::{Standing, markdown, names, standing};
use ssdlab_lab::workload::options::{Class, all};
use ssdlab_lab::workload::parse::parse_flags;
use std::collections::BTreeSet;
use std::path::Path;

const BEGIN: &str = "<!-- table: made by crates/lab/tests/fio_options.rs -->\n";
const END: &str = "<!-- end of table -->\n";

/// The document holds the table as the code would write it.
#[test]
fn document_and_options_agree() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/fio.md");
    let text = std::fs::read_to_string(&path).expect("docs/reference/fio.md is there");
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

/// The words that options take; of any other option the value is a number, a size, a time or a name. A word
/// that ends in a colon goes on.
const WORDS: &[(&str, &str)] = &[
    ("continue_on_error", "none read write io verify all"),
    ("exit_what", "group stonewall all"),
    ("file_service_type", "random roundrobin sequential zipf: pareto: normal:"),
    ("ioengine", "libaio io_uring psync sync pvsync2 mmap"),
    ("kb_base", "1000 1024"),
    ("random_distribution", "random zipf: pareto: normal: zoned:"),
    ("random_generator", "tausworthe tausworthe64 lfsr"),
    ("rate_process", "linear poisson"),
    ("rw", "read write randread randwrite rw randrw trim randtrim trimwrite randtrimwrite"),
    ("rw_sequencer", "sequential identical"),
    ("sync", "none sync dsync"),
    ("thinktime_blocks_type", "complete issue"),
    ("verify", "crc32c md5 xxhash sha256"),
    ("zonemode", "none strided"),
];

/// What completion offers: every option that is taken, with `=` where it needs a value, and its words.
fn offered() -> String {
    let mut lines = Vec::new();
    for option in all().filter(|option| matches!(option.class, Class::Supported(_) | Class::Ignored(_))) {
        let words = WORDS.iter().find(|(name, _)| *name == option.name).map_or("", |(_, words)| words);
        let needed = if option.bare { "" } else { "=" };
        for name in std::iter::once(&option.name).chain(option.aliases) {
            lines.push(format!("{name}{needed} {words}").trim_end().to_string());
        }
    }
    lines.sort();
    lines.join("\n") + "\n"
}

/// The list for completion is as the options would write it.
#[test]
fn completion_and_options_agree() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/ssdlab/data/fio_options.txt");
    if std::env::var_os("RENEW_GOLDEN").is_some() {
        std::fs::write(&path, offered()).expect("it can be written");
    } else {
        let text = std::fs::read_to_string(&path).expect("data/fio_options.txt is there");
        assert_eq!(text, offered(), "RENEW_GOLDEN=1 writes the list anew");
    }
}

/// Every word that is offered is taken, and one that is not is refused.
#[test]
fn words_are_those_that_options_take() {
    let read = |name: &str, word: &str| {
        // Strides need a length, and nothing else takes one.
        let zone = if word == "strided" { "--zonesize=64k" } else { "--zoneskip=64k" };
        let given = ["--rw=randwrite", "--size=1m", zone, "--rate_iops=10", &format!("--{name}={word}")];
        parse_flags(&given.map(String::from)).map(drop)
    };
    for (name, words) in WORDS {
        for word in words.split_whitespace() {
            let goes_on = if word.ends_with(':') { "1.2" } else { "" };
            let goes_on = if word.starts_with("zoned") { "50/50:50/50" } else { goes_on };
            let goes_on = if word == "pareto:" { "0.2" } else { goes_on };
            read(name, &format!("{word}{goes_on}")).unwrap_or_else(|error| panic!("{name}={word}: {error:?}"));
        }
        assert!(read(name, "no-such-word").is_err(), "{name}");
    }
}
