//! Feeds a reader with inputs made from a corpus, and watches what it does: panics, memory, time.

use cssc::data::Random;
use cssc::data::table::panics_are_errors;
use std::alloc::{GlobalAlloc, Layout, System};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

// ---- memory --------------------------------------------------------------------------------------------------------

/// Counts what is taken, so that a small file that takes gigabytes is found.
struct Counting;

static TAKEN: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);
/// Most memory for one input of at most 64 KiB.
const ALLOWED: usize = 600 << 20;
/// Seconds after which an input is given up, with the process.
const HANGS: u64 = 120;
/// More than this at once is refused, as a small machine would.
const AT_ONCE: usize = 4 << 30;

// SAFETY: everything is passed on to the system's allocator as it came; a refusal is a null pointer, as allowed.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() > AT_ONCE {
            return std::ptr::null_mut();
        }
        MOST.fetch_max(
            TAKEN.fetch_add(layout.size(), Relaxed) + layout.size(),
            Relaxed,
        );
        // SAFETY: the caller's promises are the system's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        TAKEN.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// ---- one target after the other ------------------------------------------------------------------------------------

static TURN: Mutex<()> = Mutex::new(());

/// How often readers of other people panicked behind the library's guard.
static GUARDED: AtomicUsize = AtomicUsize::new(0);

/// Makes an input of one from the corpus, and pieces of another.
pub(crate) type Change = dyn Fn(&[u8], &[u8], &mut Random) -> Vec<u8>;

pub(crate) struct Target<'a> {
    pub(crate) name: &'static str,
    /// What messages and formats go by.
    pub(crate) ending: &'static str,
    pub(crate) corpus: Vec<Vec<u8>>,
    /// Makes a new input of one from the corpus; the default changes bytes.
    pub(crate) wrap: &'a Change,
    /// Whether the input was good.
    pub(crate) read: &'a dyn Fn(&Path) -> bool,
    /// Inputs of a short run.
    pub(crate) short: usize,
}

pub(crate) fn corpus(directory: &str) -> Vec<(String, Vec<u8>)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/corpus")
        .join(directory);
    let entries = std::fs::read_dir(&directory)
        .expect("a corpus")
        .map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> = entries.collect();
    files.sort();
    let name = |path: &Path| {
        path.file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    files
        .iter()
        .map(|path| (name(path), std::fs::read(path).expect("a file")))
        .collect()
}

pub(crate) fn bytes_of(directory: &str) -> Vec<Vec<u8>> {
    corpus(directory)
        .into_iter()
        .map(|(_, bytes)| bytes)
        .collect()
}

/// Feeds a target.
pub(crate) fn feed(target: &Target<'_>) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    quiet_panics();
    let seconds: Option<f64> = variable("CSSC_FUZZ_SECONDS");
    let seed = variable("CSSC_FUZZ_SEED").unwrap_or(0x6675_7a7a);
    let place = tempfile::Builder::new()
        .prefix("cssc-fuzz-")
        .tempdir_in(quick_place())
        .expect("a directory");
    let path = place
        .path()
        .join(format!("{}{}", target.name, target.ending));
    let (began, guarded) = (Instant::now(), GUARDED.load(Relaxed));
    let (mut tried, mut good) = (0_usize, 0_usize);
    let going = |tried: usize| match seconds {
        Some(seconds) => began.elapsed().as_secs_f64() < seconds,
        None => tried < target.short,
    };
    let watched = watch(target.name, place.path());
    while going(tried) {
        watched.store(began.elapsed().as_secs(), Relaxed);
        let random = &mut Random::stream(seed, tried as u64);
        let pick = |random: &mut Random| &target.corpus[random.below(target.corpus.len())];
        // The corpus itself first.
        let input = match target.corpus.get(tried) {
            Some(whole) => whole.clone(),
            None => (target.wrap)(pick(random), pick(random), random),
        };
        tried += 1;
        std::fs::write(&path, &input).expect("written");
        good += usize::from(one(target, &path, &input));
    }
    let guarded = GUARDED.load(Relaxed) - guarded;
    println!(
        "{}: {tried} inputs in {:.1} s, {good} read, {} refused, {guarded} panics of other readers caught",
        target.name,
        began.elapsed().as_secs_f64(),
        tried - good
    );
    assert!(good > 0, "no input was good, so nothing was tried");
}

/// Ends the process where one input takes minutes, which would otherwise be noticed only when it is over. What is given
/// back is the second at which the input began; the watch ends with it.
fn watch(name: &'static str, place: &Path) -> Arc<AtomicU64> {
    let began = Instant::now();
    let current = Arc::new(AtomicU64::new(0));
    let (seen, place) = (Arc::downgrade(&current), place.to_owned());
    std::thread::spawn(move || {
        while let Some(since) = seen.upgrade() {
            if began.elapsed().as_secs() > since.load(Relaxed) + HANGS {
                eprintln!(
                    "{name}: an input takes more than {HANGS} s; see {}",
                    place.display()
                );
                std::process::abort();
            }
            drop(since);
            std::thread::sleep(Duration::from_secs(1));
        }
    });
    current
}

fn variable<T: std::str::FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name} is `{text}`, expected a number")),
    )
}

/// Whether one input was good; fails the test where a reader does what it may not.
fn one(target: &Target<'_>, path: &Path, input: &[u8]) -> bool {
    let before = TAKEN.load(Relaxed);
    MOST.store(before, Relaxed);
    let began = Instant::now();
    let result = catch_unwind(AssertUnwindSafe(|| (target.read)(path)));
    let (taken, time) = (MOST.load(Relaxed).saturating_sub(before), began.elapsed());
    let problem = match &result {
        Err(_) => "panics".to_owned(),
        Ok(_) if taken > ALLOWED => format!("takes {} MB", taken >> 20),
        Ok(_) if time > Duration::from_secs(20) => format!("takes {time:?}"),
        Ok(_) => return result.unwrap_or(false),
    };
    let kept =
        std::env::temp_dir().join(format!("cssc-fuzz-failed-{}{}", target.name, target.ending));
    std::fs::write(&kept, input).expect("kept");
    panic!(
        "{} with {} bytes {problem}; it is kept as {}",
        target.name,
        input.len(),
        kept.display()
    );
}

/// In memory where there is such a place: thousands of small files are written.
fn quick_place() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    if memory.is_dir() {
        memory
    } else {
        std::env::temp_dir()
    }
}

fn quiet_panics() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| match panics_are_errors() {
            true => drop(GUARDED.fetch_add(1, Relaxed)),
            false => usual(panic),
        }));
    });
}
