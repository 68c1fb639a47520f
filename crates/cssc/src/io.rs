//! Files that are either whole or not there: one writer for tables, models, reports and pictures.
//!
//! ```text
//! create: temporary file beside the target -> write ... -> finish: flush, to the disk, rename
//! ```
//!
//! So a reader, a full disk, a stopped program or a power cut sees the old file or the new one and
//! nothing between, and a file can be written over the one it is made from.
//!
//! | what is there already | what happens |
//! |---|---|
//! | nothing | an ordinary new file |
//! | a file | replaced; mode, owner and group are kept as far as the system allows |
//! | a file that may not be written | refused |
//! | a link | its target is written, the link stays |
//! | a device, a named pipe | written directly: they cannot be replaced |
//!
//! `-` and `/dev/stdout` are standard output. Access lists and extended attributes are not kept, and
//! another hard link to a file that is replaced keeps the old content.
//!
//! A program that was killed leaves its temporary file behind. Every one is locked while somebody
//! writes to it, so whoever writes next in the directory can tell, and removes those nobody holds.
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::{NamedTempFile, TempPath};

/// The temporary files of this program. Whoever makes, renames or removes one holds the list meanwhile, so that
/// [`exit`] finds all of them.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Temporary files are called `.cssc-RANDOM.tmp`.
const PREFIX: &str = ".cssc-";
const SUFFIX: &str = ".tmp";
/// Links followed before they are taken for a circle, as Linux does it.
const MOST_LINKS: usize = 40;
/// Bytes gathered before they are written.
const BUFFER: usize = 1 << 16;

/// A file being written; it has its name only after [`WholeFile::finish`].
#[derive(Debug)]
pub struct WholeFile {
    target: BufWriter<Target>,
    /// The temporary file, removed when dropped, and the name it gets.
    replaces: Option<(Temporary, PathBuf)>,
}

/// A temporary file that is removed when dropped, and listed until then.
#[derive(Debug)]
struct Temporary(Option<TempPath>);

impl Temporary {
    fn create_in(directory: &Path, replaces: Option<&Metadata>) -> io::Result<(File, Self)> {
        let mut list = unfinished();
        let (file, path) = temporary_in(directory, replaces)?.into_parts();
        list.push(path.to_path_buf());
        Ok((file, Self(Some(path))))
    }

    /// Gives it its name.
    fn persist(mut self, path: &Path) -> io::Result<()> {
        self.end(|temporary| temporary.persist(path).map_err(|error| error.error))
    }

    /// Lets `last` rename or remove it, unless that was done, and takes it off the list.
    fn end(&mut self, last: impl FnOnce(TempPath) -> io::Result<()>) -> io::Result<()> {
        let mut list = unfinished();
        let Some(temporary) = self.0.take() else {
            return Ok(());
        };
        list.retain(|other| other != &*temporary);
        last(temporary)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // If it cannot be removed, the next program that writes here does.
        let _ = self.end(TempPath::close);
    }
}

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    // A list of names is never half-changed.
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the program at once, for example after a signal, and removes the temporary files of all files that are being
/// written. The list of them is held to the end, so that no other thread begins another one meanwhile.
pub fn exit(code: i32) -> ! {
    let list = unfinished();
    for path in list.iter() {
        let _ = std::fs::remove_file(path);
    }
    std::process::exit(code)
}

#[derive(Debug)]
enum Target {
    File(File),
    Stdout(io::Stdout),
}

impl WholeFile {
    /// Opens `path` for writing; nothing is seen there yet.
    ///
    /// # Errors
    /// If the place cannot be written: no such directory, a directory itself, a file that is
    /// write-protected.
    pub fn create(path: &Path) -> io::Result<Self> {
        if path == Path::new("-") || path == Path::new("/dev/stdout") {
            return Ok(Self::direct(Target::Stdout(io::stdout())));
        }
        let path = follow_links(path)?;
        let there = match std::fs::metadata(&path) {
            Ok(there) => Some(there),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if let Some(there) = &there {
            if there.is_dir() {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            if there.is_file() && there.permissions().readonly() {
                let problem = "the file is write-protected";
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, problem));
            }
            // Whoever may not write a file may not replace it either, whatever the directory says.
            let opened = OpenOptions::new().write(true).open(&path)?;
            if !there.is_file() {
                return Ok(Self::direct(Target::File(opened)));
            }
        }
        let directory = directory_of(&path);
        remove_stale(directory);
        let (file, temporary) = Temporary::create_in(directory, there.as_ref())?;
        Ok(Self {
            target: BufWriter::with_capacity(BUFFER, Target::File(file)),
            replaces: Some((temporary, path)),
        })
    }

    fn direct(target: Target) -> Self {
        Self {
            target: BufWriter::with_capacity(BUFFER, target),
            replaces: None,
        }
    }

    /// Brings everything to the disk and gives the file its name.
    ///
    /// # Errors
    /// If the last bytes cannot be written; then what was there before is left as it was.
    pub fn finish(mut self) -> io::Result<()> {
        self.target.flush()?;
        let Some((temporary, path)) = self.replaces else {
            return Ok(());
        };
        if let Target::File(file) = self.target.get_ref() {
            file.sync_all()?;
        }
        temporary.persist(&path)?;
        // The new name reaches the disk with the directory; not every system can do this.
        if let Ok(directory) = File::open(directory_of(&path)) {
            let _ = directory.sync_all();
        }
        Ok(())
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.target.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.target.flush()
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.write(bytes),
            Self::Stdout(stdout) => stdout.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.flush(),
            Self::Stdout(stdout) => stdout.flush(),
        }
    }
}

/// Writes what `produce` gives to `path`, whole or not at all.
///
/// # Errors
/// Those of [`WholeFile::create`], [`WholeFile::finish`] and of `produce` itself.
///
/// ```
/// use std::io::Write;
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("answer.txt");
/// cssc::io::write_whole(&path, |out| writeln!(out, "42"))?;
/// assert_eq!(std::fs::read_to_string(&path)?, "42\n");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write_whole(
    path: &Path,
    produce: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = WholeFile::create(path)?;
    produce(&mut file)?;
    file.finish()
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// The place a link leads to, which need not be there yet.
fn follow_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match std::fs::read_link(&path) {
            // Names below /proc, such as /dev/fd/63, lead to what has no name of its own.
            Ok(_) if std::fs::metadata(&path).is_ok_and(|there| !there.is_file()) => {
                return Ok(path);
            }
            Ok(target) => path = directory_of(&path).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("its links lead round in a circle"))
}

/// A temporary file that nobody takes for a stale one, with mode and owner of what it replaces.
fn temporary_in(directory: &Path, replaces: Option<&Metadata>) -> io::Result<NamedTempFile> {
    loop {
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).suffix(SUFFIX);
        #[cfg(unix)]
        if replaces.is_none() {
            use std::os::unix::fs::PermissionsExt;
            // What an ordinary new file gets: the user's mask is taken off.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let temporary = builder.tempfile_in(directory)?;
        // Somebody who was just looking for stale files may have been quicker.
        if matches!(
            temporary.as_file().try_lock(),
            Err(std::fs::TryLockError::WouldBlock)
        ) || !temporary.path().exists()
        {
            continue;
        }
        if let Some(replaces) = replaces {
            keep_owner_and_mode(temporary.as_file(), replaces)?;
        }
        return Ok(temporary);
    }
}

#[cfg(unix)]
fn keep_owner_and_mode(file: &File, replaces: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let (user, group) = (replaces.uid(), replaces.gid());
    let ours = file.metadata()?;
    let mut mode = replaces.mode() & 0o7777;
    let owned = (ours.uid(), ours.gid()) == (user, group)
        || fchown(file, Some(user), Some(group)).is_ok()
        || fchown(file, None, Some(group)).is_ok();
    if !owned {
        // Rights that were meant for another group are not given to ours.
        mode &= !0o070 | (mode & 0o007) << 3;
    }
    file.set_permissions(std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn keep_owner_and_mode(file: &File, replaces: &Metadata) -> io::Result<()> {
    file.set_permissions(replaces.permissions())
}

/// Removes temporary files of programs that are gone. What cannot be looked at is left alone.
fn remove_stale(directory: &Path) {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let ours = |name: &str| name.starts_with(PREFIX) && name.ends_with(SUFFIX);
    for entry in entries.filter(|entry| entry.file_name().to_str().is_some_and(ours)) {
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        let free = || File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok());
        if is_file && free() {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// `table.csv` as `table-3.csv`: a file that is one of several.
#[must_use]
pub fn numbered(path: &Path, number: usize) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let (stem, ending) = match name.find('.').filter(|&dot| dot > 0) {
        Some(dot) => name.split_at(dot),
        None => (&name[..], ""),
    };
    path.with_file_name(format!("{stem}-{number}{ending}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(directory).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_number_goes_before_the_endings_of_a_name() {
        let named = |path: &str| numbered(Path::new(path), 3).to_string_lossy().into_owned();
        assert_eq!(named("some/table.csv.gz"), "some/table-3.csv.gz");
        assert_eq!([named("table"), named(".hidden")], ["table-3", ".hidden-3"]);
    }

    #[test]
    fn a_file_appears_when_it_is_finished_and_leaves_no_trace_when_it_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.txt");
        let mut file = WholeFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        assert!(!path.exists());
        file.finish().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        let failed = write_whole(&path, |out| {
            out.write_all(b"half")?;
            Err(io::Error::other("stopped"))
        });
        assert_eq!(failed.unwrap_err().to_string(), "stopped");
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(names(directory.path()), ["a.txt"]);
    }

    #[test]
    fn stale_temporary_files_are_removed_and_those_in_use_are_not() {
        let directory = tempfile::tempdir().unwrap();
        let stale = directory.path().join(".cssc-dead.tmp");
        std::fs::write(&stale, "half of a table").unwrap();
        std::fs::write(directory.path().join(".cssc-notes"), "mine").unwrap();
        let first = WholeFile::create(&directory.path().join("a")).unwrap();
        assert!(!stale.exists());
        let second = WholeFile::create(&directory.path().join("b")).unwrap();
        first.finish().unwrap();
        second.finish().unwrap();
        assert_eq!(names(directory.path()), [".cssc-notes", "a", "b"]);
    }

    #[cfg(unix)]
    mod on_unix {
        use super::*;
        use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

        fn mode(path: &Path) -> u32 {
            std::fs::metadata(path).unwrap().mode() & 0o7777
        }

        fn set_mode(path: &Path, mode: u32) {
            std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
        }

        #[test]
        fn the_mode_of_the_old_file_is_kept_also_while_the_new_one_is_written() {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("secret");
            std::fs::write(&path, "old").unwrap();
            for wanted in [0o600, 0o640, 0o755] {
                set_mode(&path, wanted);
                let file = WholeFile::create(&path).unwrap();
                let temporary = file
                    .replaces
                    .as_ref()
                    .unwrap()
                    .0
                    .0
                    .as_ref()
                    .unwrap()
                    .to_path_buf();
                assert_eq!(mode(&temporary), wanted);
                file.finish().unwrap();
                assert_eq!(mode(&path), wanted);
            }
        }

        #[test]
        fn a_write_protected_file_and_a_directory_are_refused() {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("protected");
            std::fs::write(&path, "old").unwrap();
            set_mode(&path, 0o444);
            let refused = WholeFile::create(&path).unwrap_err();
            assert_eq!(refused.to_string(), "the file is write-protected");
            let refused = WholeFile::create(directory.path()).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::IsADirectory);
            assert_eq!(names(directory.path()), ["protected"]);
        }

        #[test]
        fn links_stay_and_their_targets_are_written_even_when_not_there_yet() {
            let directory = tempfile::tempdir().unwrap();
            let [link, target] = ["link", "target"].map(|name| directory.path().join(name));
            symlink("target", &link).unwrap();
            for content in [b"one", b"two"] {
                write_whole(&link, |out| out.write_all(content)).unwrap();
                assert!(link.is_symlink() && !target.is_symlink());
                assert_eq!(std::fs::read(&target).unwrap(), content);
            }
            let circle = directory.path().join("circle");
            symlink("circle", &circle).unwrap();
            assert!(WholeFile::create(&circle).is_err());
        }
    }
}
