//! A drive that lies in a folder, so that it outlives the process: bytes, checkpoint, and what happened since.
//!
//! | file | what | when |
//! |---|---|---|
//! | `data.img` | the bytes, the one truth about data | as [`crate::image`] says |
//! | `drive.ssd` | the checkpoint: what the drive was like, as bytes of a drive file, which nothing here looks into | [`Folder::keep`] |
//! | `since` | what the drive did since ([`crate::account`]) | unsynced, for it is about the model |
//! | `bad-sectors` | sectors that cannot be read, as ranges | synced when they change; not there where there are none |
//! | `nvme-logs.json` | what hosts did to it over NVMe ([`ssdlab_device::ssd::past`]) | synced before a host is told of it |
//! | `lock` | held while the drive is open; the number of the process | |
//!
//! `since` names the checkpoint that it follows, so that a checkpoint and its account are changed as one: the new account is written and synced as `since.new`, the checkpoint is renamed into its place, then
//! the account is. A process that ends between the two leaves `since.new`, which fits the checkpoint that is there.
//!
//! Left out: a checksum of `data.img`. It is a plain disk that others may change while the drive is closed.

use crate::account::{self, Account};
use crate::bad::{from_text, to_text};
use crate::copying::{copy, copy_image};
use crate::file::ImageFile;
use crate::image::Sizes;
use crate::medium::{Medium, Note};
use crate::nvme_logs;
use crate::since::{Mark, Since};
use crate::storage::{PUT_BACK, open_for_writing, opened, read, remove, replace, storage, sync_folder, write_whole};
use rangemap::RangeSet;
use rustix::fs::{FlockOperation, flock};
use ssdlab_device::counters::Counters;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

pub use crate::storage::FolderError;

pub(crate) const DATA: &str = "data.img";
pub(crate) const CHECKPOINT: &str = "drive.ssd";
pub(crate) const SINCE: &str = "since";
pub(crate) const NEXT_SINCE: &str = "since.new";
pub(crate) const BAD: &str = "bad-sectors";
pub(crate) const LOCK: &str = "lock";
pub(crate) const SNAPSHOTS: &str = "snapshots";
/// What makes a drive.
const COPIED: [&str; 5] = [DATA, CHECKPOINT, SINCE, BAD, nvme_logs::FILE];

/// More ranges than anybody has.
const MOST_BAD_BYTES: u64 = 64 << 20;

/// A folder that this process alone has open.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// Held until it is dropped.
    _lock: File,
}

/// What is in a folder beside the checkpoint.
#[derive(Debug)]
pub struct Life<M = FolderMedium> {
    /// The bytes.
    pub medium: M,
    /// What was written and trimmed since the checkpoint.
    pub since: Since,
    /// What the drive has counted, where it counted since the checkpoint.
    pub counters: Option<Counters>,
    /// Sectors that cannot be read.
    pub bad: RangeSet<u64>,
    /// The drive was put away before it was closed.
    pub was_put_away: bool,
}

/// What a new drive's bytes come from.
#[derive(Debug, Default)]
pub struct Source {
    /// A raw image as long as the drive; zeroes without one.
    pub image: Option<PathBuf>,
}

impl Folder {
    /// Makes a folder for a drive with its checkpoint, and opens it. It is there whole, or not at all.
    ///
    /// # Errors
    /// Something is there already; an image whose length is not the drive's; the host's storage.
    pub fn create(path: &Path, checkpoint: &[u8], sizes: Sizes, source: &Source) -> Result<Folder, FolderError> {
        if !is_free(path)? {
            return Err(FolderError::Exists(path.to_path_buf()));
        }
        let beside = beside(path);
        fs::create_dir(&beside).map_err(storage(path, "cannot be made"))?;
        let made = Folder::fill(&beside, checkpoint, sizes, source)
            .and_then(|lock| fs::rename(&beside, path).map_err(storage(path, "cannot be made")).map(|()| lock));
        match made {
            Ok(lock) => Ok(Folder { path: path.to_path_buf(), _lock: lock }),
            Err(error) => {
                // What cannot be taken away is left beside, and named by the error.
                let _ = fs::remove_dir_all(&beside);
                Err(error)
            }
        }
    }

    fn fill(path: &Path, checkpoint: &[u8], sizes: Sizes, source: &Source) -> Result<File, FolderError> {
        let lock = locked(path)?;
        let mut since = Since::new(sizes.units());
        let data = path.join(DATA);
        let file = File::create_new(&data).map_err(storage(&data, "cannot be made"))?;
        file.set_len(sizes.capacity_bytes).map_err(storage(&data, "has no room"))?;
        if let Some(image) = &source.image {
            for bytes in copy_image(image, &file, sizes)? {
                let units = bytes.start / sizes.unit_bytes()..bytes.end.div_ceil(sizes.unit_bytes());
                since.mark(units.start as u32..units.end as u32, Mark::Written);
            }
        }
        file.sync_all().map_err(storage(&data, "cannot be kept"))?;
        write_whole(&path.join(SINCE), &account::to_bytes(checkpoint, &since, true))?;
        write_whole(&path.join(CHECKPOINT), checkpoint)?;
        Ok(lock)
    }

    /// Opens a folder, which stays as it is.
    ///
    /// # Errors
    /// It is no folder of a drive; another process has it open; the host's storage.
    pub fn open(path: &Path) -> Result<Folder, FolderError> {
        check(path)?;
        Ok(Folder { path: path.to_path_buf(), _lock: locked(path)? })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The checkpoint.
    ///
    /// # Errors
    /// The host's storage.
    pub fn checkpoint(&self) -> Result<Vec<u8>, FolderError> {
        read(&self.path.join(CHECKPOINT), u64::MAX)
    }

    /// The drive lives on: what is kept since the checkpoint is read, and the account says from now on that it is open.
    ///
    /// # Errors
    /// A file is missing, too short or too long, or damaged; the host's storage.
    pub fn resume(&self, checkpoint: &[u8], sizes: Sizes) -> Result<Life, FolderError> {
        let (account, file) = account_of(&self.path, checkpoint)?;
        check_units(&account, &file, sizes)?;
        let data = open_for_writing(&self.path.join(DATA))?;
        check_length(&self.path, sizes)?;
        let data = ImageFile::new(data);
        let bad = bad_of(&self.path)?;
        check_bad(&bad, &self.path, sizes)?;
        nvme_logs::past_of(&self.path)?;
        let since = self.path.join(SINCE);
        let file_of_since = open_for_writing(&file)?;
        let head = account::head(checkpoint, sizes.units(), false);
        file_of_since.write_all_at(&head, 0).map_err(storage(&since, "cannot be written"))?;
        if file != since {
            fs::rename(&file, &since).map_err(storage(&since, "cannot be written"))?;
        } else {
            remove(&self.path.join(NEXT_SINCE))?;
        }
        let medium = FolderMedium {
            data,
            since: file_of_since,
            path: self.path.clone(),
            notes: account.notes,
            has_bad: !bad.is_empty(),
        };
        let Account { since, counters, was_put_away, .. } = account;
        Ok(Life { medium, since, counters, bad, was_put_away })
    }

    /// Keeps a checkpoint, which holds all that happened: the account begins anew. The drive of `medium` must have nothing
    /// under way, and its bytes must be stored.
    ///
    /// # Errors
    /// The host's storage; the checkpoint of before and its account are there then, or the new ones.
    pub fn keep(
        &self,
        checkpoint: &[u8],
        medium: &mut FolderMedium,
        units: u32,
        is_put_away: bool,
    ) -> Result<(), FolderError> {
        let data = self.path.join(DATA);
        medium.sync().map_err(storage(&data, "cannot be kept"))?;
        let (next, since) = (self.path.join(NEXT_SINCE), self.path.join(SINCE));
        remove(&next)?;
        write_whole(&next, &account::to_bytes(checkpoint, &Since::new(units), is_put_away))?;
        let beside = self.path.join("drive.ssd.new");
        remove(&beside)?;
        write_whole(&beside, checkpoint)?;
        let kept = self.path.join(CHECKPOINT);
        fs::rename(&beside, &kept).map_err(storage(&kept, "cannot be kept"))?;
        sync_folder(&self.path)?;
        fs::rename(&next, &since).map_err(storage(&since, "cannot be kept"))?;
        sync_folder(&self.path)?;
        medium.since = open_for_writing(&since)?;
        medium.notes = 0;
        Ok(())
    }

    /// Keeps a copy of the folder as it is, under a name. The drive must have just been kept.
    ///
    /// # Errors
    /// There is one of that name; the host's storage.
    pub fn snapshot(&self, name: &str) -> Result<(), FolderError> {
        let (all, to) = (self.path.join(SNAPSHOTS), self.path.join(SNAPSHOTS).join(name));
        if to.exists() {
            return Err(FolderError::Exists(to));
        }
        let beside = beside(&to);
        fs::create_dir_all(&beside).map_err(storage(&beside, "cannot be made"))?;
        let copied = COPIED.iter().try_for_each(|name| copy(&self.path.join(name), &beside.join(name)));
        let made = copied.and_then(|()| fs::rename(&beside, &to).map_err(storage(&to, "cannot be made")));
        made.and_then(|()| sync_folder(&all)).inspect_err(|_| {
            // What cannot be taken away is left beside.
            let _ = fs::remove_dir_all(&beside);
        })
    }

    /// Goes back to a copy; the drive has to be opened again. A process that ends meanwhile may leave the copy's bytes
    /// with the checkpoint of before.
    ///
    /// # Errors
    /// There is none of that name; the host's storage.
    pub fn restore(&self, name: &str) -> Result<(), FolderError> {
        let from = self.path.join(SNAPSHOTS).join(name);
        if !from.is_dir() {
            let names = snapshots(&self.path).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
            let what = format!("there is no such snapshot; there are: {}", names.join(", "));
            return Err(FolderError::Damaged {
                file: from,
                what,
                remedy: "make one with `ssdlab ctl FOLDER snapshot NAME`",
            });
        }
        remove(&self.path.join(BAD))?;
        remove(&self.path.join(nvme_logs::FILE))?;
        let in_order = [
            (DATA, DATA),
            (SINCE, NEXT_SINCE),
            (CHECKPOINT, CHECKPOINT),
            (SINCE, SINCE),
            (BAD, BAD),
            (nvme_logs::FILE, nvme_logs::FILE),
        ];
        for (name, as_name) in in_order {
            let beside = self.path.join("restored.new");
            remove(&beside)?;
            copy(&from.join(name), &beside)?;
            if beside.exists() {
                let to = self.path.join(as_name);
                fs::rename(&beside, &to).map_err(storage(&to, "cannot be put back"))?;
            }
        }
        sync_folder(&self.path)
    }
}

/// The snapshots of a folder, by name; copies that were not made to their end are none.
pub fn snapshots(path: &Path) -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(path.join(SNAPSHOTS)).into_iter().flatten().flatten();
    let named = entries.map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()));
    let mut snapshots: Vec<_> = named.filter(|(name, path)| path.is_dir() && !name.contains(BESIDE)).collect();
    snapshots.sort();
    snapshots
}

/// The account is one of a drive of that size.
pub(crate) fn check_units(account: &Account, file: &Path, sizes: Sizes) -> Result<(), FolderError> {
    let (units, wanted) = (account.since.units(), sizes.units());
    let what = format!("has {units} units; the drive has {wanted}");
    let error = || FolderError::Damaged { file: file.to_path_buf(), what, remedy: PUT_BACK };
    (units == wanted).then_some(()).ok_or_else(error)
}

/// How long the file of bytes is.
pub(crate) fn length_of_data(path: &Path) -> Result<u64, FolderError> {
    let path = path.join(DATA);
    let metadata = opened(&path, OpenOptions::new().read(true))?.metadata();
    Ok(metadata.map_err(storage(&path, "cannot be read"))?.len())
}

/// The file of bytes is as long as the drive.
pub(crate) fn check_length(path: &Path, sizes: Sizes) -> Result<(), FolderError> {
    let (length, wanted) = (length_of_data(path)?, sizes.capacity_bytes);
    let what = format!("has {length} bytes; the drive has {wanted}");
    let error = || FolderError::Damaged { file: path.join(DATA), what, remedy: PUT_BACK };
    (length == wanted).then_some(()).ok_or_else(error)
}

const WITHOUT_BAD: &str = "remove it, and these sectors can be read again; or restore it from a copy";

/// Sectors that cannot be read.
pub(crate) fn bad_of(path: &Path) -> Result<RangeSet<u64>, FolderError> {
    let file = path.join(BAD);
    if !file.exists() {
        return Ok(RangeSet::new());
    }
    let bytes = read(&file, MOST_BAD_BYTES)?;
    let remedy = WITHOUT_BAD;
    from_text(&String::from_utf8_lossy(&bytes)).map_err(|what| FolderError::Damaged { file, what, remedy })
}

/// Sectors that cannot be read are some of the drive.
pub(crate) fn check_bad(bad: &RangeSet<u64>, path: &Path, sizes: Sizes) -> Result<(), FolderError> {
    let sectors = sizes.capacity_bytes / u64::from(sizes.sector_bytes);
    match bad.last().filter(|last| last.end > sectors) {
        None => Ok(()),
        Some(last) => {
            let what = format!("names sector {}; the drive has {sectors}", last.end - 1);
            Err(FolderError::Damaged { file: path.join(BAD), what, remedy: WITHOUT_BAD })
        }
    }
}

/// What a drive in a folder is like, whoever has it open.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The checkpoint.
    pub checkpoint: Vec<u8>,
    /// What was written and trimmed since.
    pub since: Since,
    /// What the drive has counted, where it counted since.
    pub counters: Option<Counters>,
    /// It was put away.
    pub was_put_away: bool,
}

impl Seen {
    /// Looks at a folder, and changes nothing.
    ///
    /// # Errors
    /// It is no folder of a drive; a file is missing or damaged; the host's storage.
    pub fn at(path: &Path) -> Result<Seen, FolderError> {
        check(path)?;
        let look = || {
            let checkpoint = read(&path.join(CHECKPOINT), u64::MAX)?;
            let (Account { since, counters, was_put_away, .. }, _) = account_of(path, &checkpoint)?;
            Ok(Seen { checkpoint, since, counters, was_put_away })
        };
        // Whoever has it open may just have kept a checkpoint.
        look().or_else(|_| look())
    }
}

fn check(path: &Path) -> Result<(), FolderError> {
    if path.join(CHECKPOINT).is_file() { Ok(()) } else { Err(FolderError::Foreign(path.to_path_buf())) }
}

/// The account that follows the checkpoint, and the file that it lies in.
pub(crate) fn account_of(path: &Path, checkpoint: &[u8]) -> Result<(Account, PathBuf), FolderError> {
    let (since, next) = (path.join(SINCE), path.join(NEXT_SINCE));
    let of = |file: &Path| -> Result<Account, String> {
        let bytes = read(file, account::MOST_BYTES).map_err(|error| match error {
            FolderError::Storage { what, error, .. } => format!("{what}: {error}"),
            FolderError::Damaged { what, .. } => what,
            other => other.to_string(),
        })?;
        Account::read(&bytes, checkpoint)
    };
    match (of(&since), of(&next)) {
        (Ok(account), _) => Ok((account, since)),
        (Err(_), Ok(account)) => Ok((account, next)),
        (Err(what), Err(_)) => Err(FolderError::Damaged { file: since, what, remedy: PUT_BACK }),
    }
}

/// The bytes of a drive and what is kept beside them, in files.
#[derive(Debug)]
pub struct FolderMedium {
    data: ImageFile,
    since: File,
    path: PathBuf,
    notes: u64,
    has_bad: bool,
}

impl FolderMedium {
    fn keep_bad(&mut self, bad: &RangeSet<u64>) -> io::Result<()> {
        let path = self.path.join(BAD);
        if bad.is_empty() {
            return if std::mem::take(&mut self.has_bad) { fs::remove_file(&path) } else { Ok(()) };
        }
        self.has_bad = true;
        replace(&path, to_text(bad).as_bytes())
    }

    fn keep_counters(&mut self, counters: &Counters) -> io::Result<()> {
        self.notes += 1;
        let (at, place) = account::counters_place(self.notes, counters);
        self.since.write_all_at(&place, at)
    }
}

impl Medium for FolderMedium {
    fn read(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.data.read(offset, into)
    }

    fn write(&mut self, offset: u64, from: &[u8]) -> io::Result<()> {
        self.data.write(offset, from)
    }

    fn zero(&mut self, offset: u64, length: u64) -> io::Result<()> {
        self.data.zero(offset, length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.data.sync()
    }

    fn note(&mut self, note: Note<'_>) -> io::Result<()> {
        match note {
            Note::Marks(from, marks) => self.since.write_all_at(marks, account::MARKS_AT + from as u64),
            Note::Bad(bad) => self.keep_bad(bad),
            Note::Counters(counters) => self.keep_counters(counters),
        }
    }
}

/// Nothing is there, or an empty folder.
fn is_free(path: &Path) -> Result<bool, FolderError> {
    match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(storage(path, "cannot be made")(error)),
        Ok(found) => Ok(found.is_dir() && fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())),
    }
}

const BESIDE: &str = ".new-";

/// A name beside a folder that nobody else uses.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!("{BESIDE}{}", std::process::id()));
    path.with_file_name(name)
}

fn locked(path: &Path) -> Result<File, FolderError> {
    let place = path.join(LOCK);
    let file = opened(&place, OpenOptions::new().read(true).write(true).create(true).truncate(false))?;
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        let mut process = String::new();
        // Who has it is told where it is known.
        let _ = file.take(32).read_to_string(&mut process);
        return Err(FolderError::InUse { folder: path.to_path_buf(), process: process.trim().to_string() });
    }
    let text = format!("{}\n", std::process::id());
    let written = file.set_len(0).and_then(|()| file.write_all_at(text.as_bytes(), 0));
    written.map_err(storage(&place, "cannot be written"))?;
    Ok(file)
}
