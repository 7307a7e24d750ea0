//! A drive in a folder: what is kept outlives its process, and what is not right is named, never served.

use crate::kinds::config;
use crate::kinds::named;
use ssdlab_device::counters::Counters;
use ssdlab_device::ssd::past::Past;
use ssdlab_disk::disk::{Disk, image, sizes};
use ssdlab_disk::folder::{Folder, FolderError, FolderMedium, Life, Source};
use ssdlab_disk::image::Sizes;
use ssdlab_disk::medium::{Medium, Note};
use ssdlab_disk::nvme_logs::keep_past;
use ssdlab_disk::since::{Mark, Since};
use ssdlab_disk::{Lba, Operation, Request};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

const CHECKPOINT: &[u8] = b"what the drive was like";
const SIZES: Sizes = Sizes { sector_bytes: 512, unit_sectors: 8, capacity_bytes: 1 << 20 };

/// A folder in an empty one, which goes when it is dropped.
fn made() -> (tempfile::TempDir, PathBuf) {
    let around = tempfile::tempdir().unwrap();
    let path = around.path().join("drive");
    drop(Folder::create(&path, CHECKPOINT, SIZES, &Source::default()).unwrap());
    (around, path)
}

fn resumed(path: &Path) -> Result<(Folder, Life), FolderError> {
    let folder = Folder::open(path)?;
    let checkpoint = folder.checkpoint()?;
    let life = folder.resume(&checkpoint, SIZES)?;
    Ok((folder, life))
}

fn files(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = entries.collect();
    names.sort();
    names
}

/// A new folder is a drive that was put away; once open, it is not until it is put away again.
#[test]
fn a_folder_says_whether_its_drive_was_put_away() {
    let (_around, path) = made();
    assert_eq!(files(&path), ["data.img", "drive.ssd", "lock", "since"]);
    assert_eq!(fs::metadata(path.join("data.img")).unwrap().len(), SIZES.capacity_bytes);
    let (folder, life) = resumed(&path).unwrap();
    assert!(life.was_put_away);
    drop((folder, life));
    let (folder, mut life) = resumed(&path).unwrap();
    assert!(!life.was_put_away, "it was open when it was dropped");
    folder.keep(b"later", &mut life.medium, SIZES.units(), true).unwrap();
    drop((folder, life));
    let (folder, life) = resumed(&path).unwrap();
    assert!(life.was_put_away);
    assert_eq!(folder.checkpoint().unwrap(), b"later");
    assert_eq!(files(&path), ["data.img", "drive.ssd", "lock", "since"], "nothing is left over");
}

/// Marks, counters and bad sectors are there in the next life.
#[test]
fn what_is_noted_is_kept() {
    let (_around, path) = made();
    let (folder, mut life) = resumed(&path).unwrap();
    let mut since = Since::new(SIZES.units());
    since.mark(40..43, Mark::Written);
    since.mark(200..201, Mark::Trimmed);
    since.tell_changed(|from, marks| life.medium.note(Note::Marks(from, marks))).unwrap();
    for host_writes in 1..4 {
        life.medium.note(Note::Counters(&Counters { host_writes, ..Counters::default() })).unwrap();
    }
    life.medium.note(Note::Bad(&[7..9, 99..100].into())).unwrap();
    life.medium.write(4096, &[5; 512]).unwrap();
    drop((folder, life));

    let (folder, mut life) = resumed(&path).unwrap();
    assert_eq!(life.since, since);
    assert_eq!(life.counters.map(|counters| counters.host_writes), Some(3));
    assert_eq!(life.bad, [7..9, 99..100].into());
    let mut read = [0; 512];
    life.medium.read(4096, &mut read).unwrap();
    assert_eq!(read, [5; 512]);

    life.medium.note(Note::Bad(&[].into())).unwrap();
    life.medium.note(Note::Counters(&Counters { host_writes: 9, ..Counters::default() })).unwrap();
    drop((folder, life));
    let (_folder, life) = resumed(&path).unwrap();
    assert_eq!((life.bad.len(), life.counters.map(|counters| counters.host_writes)), (0, Some(9)));
}

/// Wherever a process ends while a checkpoint is kept, one that fits its account is there.
#[test]
fn a_checkpoint_and_its_account_are_changed_as_one() {
    let (_around, path) = made();
    let (folder, mut life) = resumed(&path).unwrap();
    life.medium.note(Note::Marks(0, &[1])).unwrap();
    let of = |name: &str| fs::read(path.join(name)).unwrap();
    let (old_since, old_drive) = (of("since"), of("drive.ssd"));
    folder.keep(b"later", &mut life.medium, SIZES.units(), false).unwrap();
    drop((folder, life));
    let (new_since, new_drive) = (of("since"), of("drive.ssd"));
    type Step<'a> = (&'a [u8], &'a [u8], Option<&'a [u8]>, bool);
    let steps: [Step<'_>; 3] = [
        (&old_drive, &old_since, Some(&new_since), true),
        (&new_drive, &old_since, Some(&new_since), false),
        (&new_drive, &new_since, None, false),
    ];
    for (drive, since, next, is_old) in steps {
        fs::write(path.join("drive.ssd"), drive).unwrap();
        fs::write(path.join("since"), since).unwrap();
        match next {
            Some(bytes) => fs::write(path.join("since.new"), bytes).unwrap(),
            None => drop(fs::remove_file(path.join("since.new"))),
        }
        for _ in 0..2 {
            let (folder, life) = resumed(&path).unwrap();
            assert_eq!(folder.checkpoint().unwrap() == old_drive, is_old);
            assert_eq!(life.since.of(0) == Mark::Written, is_old, "the account of the checkpoint");
        }
        assert!(!path.join("since.new").exists());
    }
}

/// An account that began anew is empty: what is noted afterwards is in it, what was noted before is not.
#[test]
fn an_account_begins_anew() {
    let (_around, path) = made();
    let (folder, mut life) = resumed(&path).unwrap();
    life.medium.note(Note::Marks(0, &[1])).unwrap();
    folder.keep(b"later", &mut life.medium, SIZES.units(), false).unwrap();
    life.medium.note(Note::Marks(1, &[2])).unwrap();
    drop((folder, life));
    let (_folder, life) = resumed(&path).unwrap();
    assert_eq!([0, 4].map(|unit| life.since.of(unit)), [Mark::Untouched, Mark::Trimmed]);
}

/// A folder is taken by one process; what is no folder of a drive is named, and so is what is there already.
#[test]
fn one_at_a_time_and_no_other_folder() {
    let (around, path) = made();
    let folder = Folder::open(&path).unwrap();
    assert!(
        matches!(Folder::open(&path), Err(FolderError::InUse { process, .. }) if process == std::process::id().to_string())
    );
    drop(folder);
    drop(Folder::open(&path).unwrap());
    let create = |place: &Path| Folder::create(place, CHECKPOINT, SIZES, &Source::default());
    assert!(matches!(create(&path), Err(FolderError::Exists(_))));
    assert!(matches!(Folder::open(around.path()), Err(FolderError::Foreign(_))));
    assert!(matches!(create(&path.join("data.img/under-a-file")), Err(FolderError::Storage { .. })));
    let empty = around.path().join("empty");
    fs::create_dir(&empty).unwrap();
    drop(create(&empty).unwrap());
    assert_eq!(files(around.path()), ["drive", "empty"], "nothing is left beside");
}

/// A copy is the drive as it was, and the drive goes back to it.
#[test]
fn a_snapshot_is_the_drive_as_it_was() {
    let (_around, path) = made();
    let (folder, mut life) = resumed(&path).unwrap();
    life.medium.write(4096, &[1; 512]).unwrap();
    life.medium.note(Note::Bad(&[7..8, 9..10].into())).unwrap();
    folder.keep(b"then", &mut life.medium, SIZES.units(), true).unwrap();
    folder.snapshot("then").unwrap();
    assert!(matches!(folder.snapshot("then"), Err(FolderError::Exists(_))));
    life.medium.write(4096, &[2; 512]).unwrap();
    life.medium.note(Note::Bad(&[].into())).unwrap();
    folder.keep(b"now", &mut life.medium, SIZES.units(), true).unwrap();
    assert!(folder.restore("never").unwrap_err().to_string().contains("there are: then"));
    folder.restore("then").unwrap();
    drop((folder, life));

    let (folder, mut life) = resumed(&path).unwrap();
    let mut read = [0; 512];
    life.medium.read(4096, &mut read).unwrap();
    assert_eq!((read, life.bad, life.was_put_away), ([1; 512], [7..8, 9..10].into(), true));
    assert_eq!(folder.checkpoint().unwrap(), b"then");
}

/// A raw image becomes a drive: its data is written, its holes are not.
#[test]
fn an_image_becomes_a_drive() {
    let around = tempfile::tempdir().unwrap();
    let (image, path) = (around.path().join("image.raw"), around.path().join("drive"));
    let file = fs::File::create(&image).unwrap();
    file.set_len(SIZES.capacity_bytes).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, &[3; 100], 512 << 10).unwrap();
    let source = Source { image: Some(image.clone()) };
    drop(Folder::create(&path, CHECKPOINT, SIZES, &source).unwrap());
    let (_folder, mut life) = resumed(&path).unwrap();
    let written: Vec<u32> = life.since.marked(Mark::Written).collect();
    assert!(written.contains(&128) && written.len() < 20, "{written:?}: a block of the host's file system");
    let mut read = [0; 512];
    life.medium.read(512 << 10, &mut read).unwrap();
    assert_eq!(read[..101], [[3; 100].as_slice(), &[0]].concat());

    file.set_len(SIZES.capacity_bytes + 512).unwrap();
    let other = around.path().join("other");
    let error = Folder::create(&other, CHECKPOINT, SIZES, &source).unwrap_err().to_string();
    assert!(error.contains("image.raw: has 1049088 bytes; the drive has 1048576"), "{error}");
    assert!(!other.exists());
}

/// Each file, missing, short, long, foreign, no file: the error names it, and the folder stays as it was.
#[test]
fn a_damaged_folder_is_named() {
    type Damage = fn(&Path);
    let damages: [(&str, Damage); 5] = [
        ("missing", |file| fs::remove_file(file).unwrap()),
        ("short", |file| fs::OpenOptions::new().write(true).open(file).unwrap().set_len(1000).unwrap()),
        ("long", |file| fs::OpenOptions::new().write(true).open(file).unwrap().set_len(2 << 20).unwrap()),
        ("foreign", |file| fs::write(file, vec![b'x'; 20_000]).unwrap()),
        ("a folder", |file| {
            fs::remove_file(file).unwrap();
            fs::create_dir(file).unwrap();
        }),
    ];
    for name in ["data.img", "since", "bad-sectors", "nvme-logs.json", "drive.ssd"] {
        for (how, damage) in damages {
            let (_around, path) = made();
            fs::write(path.join("bad-sectors"), "3-5\nend\n").unwrap();
            keep_past(&path, &Past::default()).unwrap();
            damage(&path.join(name));
            match (name, how) {
                // A drive without bad sectors has no such file, nor one that hosts have done nothing to.
                ("bad-sectors" | "nvme-logs.json", "missing") => drop(resumed(&path).unwrap()),
                _ => {
                    let error = resumed(&path).unwrap_err().to_string();
                    // Another checkpoint is not what the account follows.
                    let named = if name == "drive.ssd" { ["drive.ssd", "since"] } else { [name, name] };
                    assert!(named.iter().any(|name| error.contains(name)), "{name} {how}: {error}");
                    assert!(error.contains('\n'), "{error}: a remedy");
                }
            }
        }
    }
}

/// A drive that its process left open: its promises are kept, on fresh flash, too, and its counters do not go back.
#[test]
fn a_drive_outlives_its_process() {
    let config = config(&named("buffered"));
    let around = tempfile::tempdir().unwrap();
    let path = around.path().join("drive");
    let sizes = sizes(&config);
    drop(Folder::create(&path, CHECKPOINT, sizes, &Source::default()).unwrap());
    let disk = |path: &Path| -> (Folder, Disk<FolderMedium>, bool) {
        let folder = Folder::open(path).unwrap();
        let Life { medium, since, counters, bad, was_put_away } = folder.resume(CHECKPOINT, sizes).unwrap();
        let fresh = ssdlab_device::ssd::Ssd::new(&config, 1, image(&config, medium)).unwrap();
        let disk = Disk::of(fresh).recovered(1, since).not_readable(bad);
        let disk = if was_put_away { disk } else { disk.not_put_away(counters.as_ref()) };
        (folder, disk, was_put_away)
    };
    let write = |disk: &mut Disk<FolderMedium>, lba, value| {
        disk.perform(Request::new(Operation::Write, Lba(lba), 8), vec![value; 4096]).unwrap();
    };
    let read =
        |disk: &mut Disk<FolderMedium>, lba| disk.perform(Request::new(Operation::Read, Lba(lba), 8), vec![9; 4096]);
    let flush = |disk: &mut Disk<FolderMedium>| {
        disk.perform(Request::new(Operation::Flush, Lba(0), 0), Vec::new()).unwrap();
    };
    let (folder, mut first, _) = disk(&path);
    (0..20).for_each(|unit| write(&mut first, 8 * unit, unit as u8 + 1));
    first.perform(Request::new(Operation::Trim, Lba(16), 8), Vec::new()).unwrap();
    flush(&mut first);
    first.spoil(24..25);
    write(&mut first, 0, 77);
    let counted = first.counters().host_writes;
    first.spoil(26..27);
    drop((folder, first));

    // Held open, so that no other file gets its number.
    let bad = fs::File::open(path.join("bad-sectors")).unwrap();
    let (_folder, mut second, was_put_away) = disk(&path);
    assert!(!was_put_away);
    assert_eq!(read(&mut second, 8).unwrap(), vec![2; 4096]);
    assert_eq!(read(&mut second, 16).unwrap(), vec![0; 4096], "trimmed");
    read(&mut second, 24).unwrap_err();
    let number = |metadata: fs::Metadata| metadata.ino();
    let same = number(fs::metadata(path.join("bad-sectors")).unwrap()) == number(bad.metadata().unwrap());
    assert!(same, "an opening that is cut short forgets no bad sector: it does not write them anew");
    let unflushed = read(&mut second, 0).unwrap();
    assert!(unflushed == vec![77; 4096] || unflushed == vec![1; 4096]);
    let counters = second.counters();
    assert!(
        counters.host_writes >= counted - 1,
        "{} after {counted}: all but the one that no flush covers",
        counters.host_writes
    );
    assert_eq!(counters.unsafe_shutdowns, 1);
}
