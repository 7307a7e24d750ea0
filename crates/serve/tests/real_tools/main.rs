//! Strangers' programs are answered: libnbd's, QEMU's and fio's, over a unix socket. In `drives` by the server, with a
//! drive; here by the machines of the protocol alone, with a vector as the drive and all that a drive may lack.
//!
//! What a machine lacks is skipped by name. Judged is what the drive was asked, what it holds, how the program ended, and
//! what nbdinfo understood.

mod drives;
#[path = "../../../device/tests/stand/kinds.rs"]
mod kinds;
mod server;

use server::{Drive, Server, export};
use ssdlab_serve::nbd::export::Export;
use ssdlab_serve::request::{Command, Request};
use std::io::{self, Write};
use std::path::Path;
use std::process;

/// Runs a program and gives what it prints, as an error where it fails; nothing where it is not installed.
fn run(program: &str, package: &str, arguments: &[&str]) -> Option<Result<String, String>> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    if !std::env::split_paths(&folders).any(|folder| folder.join(program).is_file()) {
        // Past the harness, which keeps what a test prints.
        let _ = writeln!(io::stderr(), "skipped: {program} is not installed: apt-get install {package}");
        return None;
    }
    // A client that waits for an answer that never comes fails the test, and does not hold it up.
    let output = process::Command::new("timeout").arg("60").arg(program).args(arguments).output().expect("coreutils");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let printed = text(&output.stdout) + &text(&output.stderr);
    Some(if output.status.success() { Ok(printed) } else { Err(printed) })
}

/// As [`run`], of a program that must not fail.
fn succeeds(program: &str, package: &str, arguments: &[&str]) -> Option<String> {
    run(program, package, arguments).map(|ended| ended.unwrap_or_else(|printed| panic!("{program} failed: {printed}")))
}

/// What the drive was asked that changes it or makes it durable, as command, offset and length.
fn changes(drive: &Drive) -> Vec<(Command, u64, u32)> {
    let changes = drive.asked.iter().filter(|request| request.command.writes() || request.command == Command::Flush);
    changes.map(|&Request { command, offset, length, .. }| (command, offset, length)).collect()
}

/// Bytes that repeat nowhere near, with a hole of 256 KiB in the middle.
fn image(length: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..length as u32).map(|at| (at.wrapping_mul(0x9e37_79b9) >> 24) as u8).collect();
    bytes[length / 2..length / 2 + (256 << 10)].fill(0);
    bytes
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

/// nbdinfo understands all that the handshake tells of a drive, and lists the other one beside it.
#[test]
fn nbdinfo_reads_the_handshake() {
    let shown = Export { name: "shown".into(), read_only: true, description: "for the eyes".into(), ..export() };
    let server = Server::start("handshake", &[export(), shown], vec![0; 1 << 20]);
    let Some(told) = succeeds("nbdinfo", "libnbd-bin", &["--json", &server.uri("drive")]) else { return };
    for expected in [
        "\"protocol\": \"newstyle-fixed\"",
        "\"structured\": true",
        "\"export-name\": \"drive\"",
        "\"export-size\": 1048576",
        "\"is_read_only\": false",
        "\"can_cache\": true",
        "\"can_df\": true",
        "\"can_fast_zero\": true",
        "\"can_flush\": true",
        "\"can_fua\": true",
        "\"can_multi_conn\": true",
        "\"can_trim\": true",
        "\"can_zero\": true",
        "\"base:allocation\"",
        "\"block_size_minimum\": 4096",
        "\"block_size_preferred\": 16384",
        "\"block_size_maximum\": 33554432",
    ] {
        assert!(told.contains(expected), "{expected} is not in {told}");
    }
    let list = succeeds("nbdinfo", "libnbd-bin", &["--list", &server.uri("")]).expect("it is installed");
    for expected in ["export=\"drive\"", "export=\"shown\"", "for the eyes", "is_read_only: true"] {
        assert!(list.contains(expected), "{expected} is not in {list}");
    }
    let none = run("nbdinfo", "libnbd-bin", &[&server.uri("none")]).expect("it is installed");
    assert!(none.expect_err("no such export").contains("No such file or directory"));
}

/// A drive that is read-only refuses to be written, and is read.
#[test]
fn read_only_is_obeyed() {
    let server = Server::start("read-only", &[Export { read_only: true, ..export() }], image(1 << 20));
    let (there, back) = (server.path("there.img"), server.path("back.img"));
    std::fs::write(&there, vec![7; 1 << 20]).expect("a file");
    let uri = server.uri("drive");
    let Some(ended) = run("nbdcopy", "libnbd-bin", &[text(&there), &uri]) else { return };
    ended.expect_err("nothing can be written");
    succeeds("nbdcopy", "libnbd-bin", &[&uri, text(&back)]);
    assert!(std::fs::read(&back).expect("a copy") == image(1 << 20), "what was read is something else");
    assert_eq!(changes(&server.drive()), []);
}

/// qemu-io's commands arrive as they were meant, with their flags, and what it reads is what it wrote.
#[test]
fn qemu_io_asks_for_each_command() {
    let server = Server::start("commands", &[export()], vec![7; 1 << 20]);
    let orders = [
        "write -P 170 4k 8k",
        "read -P 170 4k 8k",
        "write -f -P 85 64k 4k",
        "read -P 85 64k 4k",
        "discard 128k 64k",
        "write -z 256k 16k",
        "read -P 0 256k 16k",
        "write -z -u 320k 16k",
        "read -P 0 320k 16k",
        "flush",
    ];
    let uri = server.uri("drive");
    let orders = orders.iter().flat_map(|order| ["-c", order]);
    let arguments: Vec<&str> = ["-f", "raw", "-t", "none"].into_iter().chain(orders).chain([&uri[..]]).collect();
    let Some(printed) = succeeds("qemu-io", "qemu-utils", &arguments) else { return };
    assert!(!printed.contains("failed"), "{printed}");
    let zeroes = |no_hole| Command::WriteZeroes { fua: false, no_hole };
    let expected = [
        (Command::Write { fua: false }, 4 << 10, 8 << 10),
        (Command::Write { fua: true }, 64 << 10, 4 << 10),
        (Command::Trim { fua: false }, 128 << 10, 64 << 10),
        (zeroes(true), 256 << 10, 16 << 10),
        (zeroes(false), 320 << 10, 16 << 10),
        (Command::Flush, 0, 0),
    ];
    // What it does as it closes the drive may be one more flush.
    assert_eq!(changes(&server.drive())[..6], expected);
}
