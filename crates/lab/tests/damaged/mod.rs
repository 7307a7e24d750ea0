//! Folders of a drive with damage made up from bytes: for the tests, and for fuzzing.
//!
//! The bytes are read as edits, eight bytes each: which file, what is done to it, where, how much, and a value.

use ssdlab_disk::{Lba, Operation, Request};
use ssdlab_lab::folder_check::check;
use ssdlab_lab::in_folder::InFolder;
use ssdlab_lab::session::{DriveSource, Session};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::sync::OnceLock;

/// What is in a folder, but for the bytes of the drive, which are all zero.
type Files = BTreeMap<&'static str, Vec<u8>>;

const NAMES: [&str; 6] = ["drive.ssd", "since", "bad-sectors", "since.new", "data.img", "lock"];
/// No file of a damaged folder is longer, and the small drive's are not.
const MOST_BYTES: usize = 1 << 20;
const EDIT_BYTES: usize = 8;

/// A sound folder of a small drive that was killed after it was written.
fn sound() -> &'static (Files, u64) {
    static SOUND: OnceLock<(Files, u64)> = OnceLock::new();
    SOUND.get_or_init(|| {
        let around = tempfile::tempdir().expect("there is room");
        let path = around.path().join("drive");
        let text = ssdlab_device::profile::built_in("theory").expect("it comes along").to_string();
        let source = DriveSource::Profile { name: "theory".into(), file: "theory".into(), text, scale: None };
        let settings = [
            ("capacity_bytes", "16MiB"),
            ("nand.channels", "2"),
            ("nand.dies_per_channel", "2"),
            ("nand.pages_per_block", "32"),
            ("buffer.bytes", "1MiB"),
        ];
        let settings = settings.map(|(key, value)| (key.to_string(), value.to_string()));
        let mut session = Session::open(&source, &settings, 1).expect("the drive is small");
        session.to_folder(&path, &Default::default()).expect("there is room");
        let (_, mut disk) = InFolder::open(&path).expect("it is sound");
        for unit in 0..100 {
            disk.perform(Request::new(Operation::Write, Lba(8 * unit), 8), vec![1; 4096]).expect("it is sound");
        }
        disk.perform(Request::new(Operation::Trim, Lba(80), 80), Vec::new()).expect("it is sound");
        disk.perform(Request::new(Operation::Flush, Lba(0), 0), Vec::new()).expect("it is sound");
        disk.spoil(3..6);
        drop(disk);
        let of = |name: &'static str| (name, fs::read(path.join(name)).expect("it was made"));
        let length = fs::metadata(path.join("data.img")).expect("it was made").len();
        (["drive.ssd", "since", "bad-sectors"].map(of).into(), length)
    })
}

/// Makes the folder that the edits lead to.
fn make(path: &Path, edits: &[u8]) {
    let (sound, length) = sound();
    let (mut files, mut length) = (sound.clone(), Some(*length));
    files.insert("lock", Vec::new());
    for edit in edits.chunks_exact(EDIT_BYTES) {
        let [file, how, at0, at1, at2, many, value, more] = *edit else { continue };
        let name = NAMES[usize::from(file) % NAMES.len()];
        let place = u32::from_le_bytes([at0, at1, at2, 0]) as usize;
        if name == "data.img" {
            length = (how % 4 != 0).then_some(u64::from(place as u32) * 16);
            continue;
        }
        let Some(bytes) = files.get_mut(name) else {
            files.insert(name, sound["since"].clone());
            continue;
        };
        let place = place % (bytes.len() + 1);
        let end = (place + usize::from(many)).min(bytes.len());
        match how % 8 {
            0 => drop(files.remove(name)),
            1 => bytes.truncate(place),
            2 => bytes[place..end].fill(value),
            3 => bytes[place..end].iter_mut().for_each(|byte| *byte ^= value),
            4 => drop(bytes.drain(place..end)),
            5 => drop(bytes.splice(place..place, [value, more].repeat(usize::from(many)))),
            6 => *bytes = format!("{}-{}\nend\n", place, u64::from(value) << (more % 64)).into_bytes(),
            _ => follow(&mut files),
        }
    }
    fs::create_dir(path).expect("there is room");
    for (name, bytes) in files {
        fs::write(path.join(name), &bytes[..bytes.len().min(MOST_BYTES)]).expect("there is room");
    }
    if let Some(length) = length {
        File::create(path.join("data.img")).and_then(|file| file.set_len(length)).expect("it is sparse");
    }
}

/// The account names the checkpoint that is there, as if it had been kept with it.
fn follow(files: &mut Files) {
    if let (Some(checkpoint), Some(bytes)) = (files.get("drive.ssd").cloned(), files.get_mut("since")) {
        let head = ssdlab_disk::account::head(&checkpoint, 4096, false);
        let length = bytes.len().min(head.len());
        bytes[..length].copy_from_slice(&head[..length]);
    }
}

fn contents(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(path).expect("it is there").map(|entry| entry.expect("it is there"));
    let of = |entry: fs::DirEntry| {
        let mut bytes = Vec::new();
        let file = File::open(entry.path()).expect("it is there");
        file.take(MOST_BYTES as u64).read_to_end(&mut bytes).expect("it can be read");
        (entry.file_name().to_string_lossy().into_owned(), bytes)
    };
    entries.map(of).collect()
}

/// Whatever is done to a folder: looking at it changes nothing and says whether its drive opens; a drive that opens can
/// be written, read and put away, and opens again.
pub fn assert_damage_is_told(edits: &[u8]) {
    let around = tempfile::tempdir().expect("there is room");
    let path = around.path().join("drive");
    make(&path, edits);
    let before = contents(&path);
    let told = check(&path);
    assert_eq!(contents(&path), before, "looking changed the folder");
    let opened = InFolder::open(&path);
    match (&told, &opened) {
        (Ok(told), Ok(_)) => assert_eq!(told["opens"], true, "it opens: {told}"),
        (Ok(told), Err(error)) => assert_eq!(told["opens"], false, "it does not open: {error}"),
        (Err(error), Ok(_)) => panic!("it opens, and is said to be none: {error}"),
        (Err(_), Err(_)) => {}
    }
    let Ok((kept, mut disk)) = opened else { return };
    disk.perform(Request::new(Operation::Write, Lba(0), 16), vec![7; 8192]).expect("a drive that opens takes writes");
    let read = disk.perform(Request::new(Operation::Read, Lba(0), 16), vec![0; 8192]);
    assert_eq!(read.expect("it was just written"), vec![7; 8192]);
    kept.close(&mut disk).expect("it can be put away");
    drop(disk);
    InFolder::open(&path).expect("what was put away opens");
}
