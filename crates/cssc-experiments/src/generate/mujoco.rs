//! The MuJoCo physics library, opened at run time.
//!
//! Nothing is linked: the library is found where `CSSC_MUJOCO` points, or in `target/mujoco` where
//! `scripts/get-mujoco` puts it, and only functions that pass states as plain arrays are called. So
//! no struct layout is assumed, and the same program runs with many versions of the library
//! (pinned for our results: 3.17.0; others differ by up to 1e-5 after 200 frames).
//!
//! | call | used for |
//! |---|---|
//! | `mj_loadXML`, `mj_makeData`, `mj_deleteModel`, `mj_deleteData` | model and state |
//! | `mj_resetData`, `mj_setState`, `mj_getState`, `mj_stateSize` | positions and velocities |
//! | `mj_step` | one step of the physics |
use std::ffi::{CStr, CString, OsString, c_char, c_int, c_uint, c_void};
use std::path::{Path, PathBuf};

use libloading::Library;
use thiserror::Error;

/// Environment variable with the directory of the library and the models.
pub const DIRECTORY_VARIABLE: &str = "CSSC_MUJOCO";
/// Where `scripts/get-mujoco` puts them, seen from the root of the repository.
pub const DEFAULT_DIRECTORY: &str = "target/mujoco";

/// Bits of `mjtState`.
const POSITIONS: c_uint = 1 << 1;
const VELOCITIES: c_uint = 1 << 2;

/// Why the physics cannot run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MujocoError {
    /// There is no library.
    #[error(
        "no MuJoCo library (libmujoco.so*) in {}; run `scripts/get-mujoco`, or set \
         {DIRECTORY_VARIABLE} to a directory that has one",
        directory.display()
    )]
    Missing {
        /// Where it was looked for.
        directory: PathBuf,
    },
    /// The library does not open, or lacks a function.
    #[error("{} is no MuJoCo library of version 3: {source}", path.display())]
    Library {
        /// The library.
        path: PathBuf,
        /// Why it failed.
        source: libloading::Error,
    },
    /// The model does not load.
    #[error("MuJoCo cannot load {}: {problem}", path.display())]
    Model {
        /// The model file.
        path: PathBuf,
        /// MuJoCo's message.
        problem: String,
    },
}

type Model = *mut c_void;
type Data = *mut c_void;

/// The functions we call, as the header of version 3 declares them.
struct Functions {
    load_xml: unsafe extern "C" fn(*const c_char, *const c_void, *mut c_char, c_int) -> Model,
    make_data: unsafe extern "C" fn(Model) -> Data,
    reset_data: unsafe extern "C" fn(Model, Data),
    step: unsafe extern "C" fn(Model, Data),
    state_size: unsafe extern "C" fn(Model, c_uint) -> c_int,
    get_state: unsafe extern "C" fn(Model, Data, *mut f64, c_uint),
    set_state: unsafe extern "C" fn(Model, Data, *const f64, c_uint),
    delete_data: unsafe extern "C" fn(Data),
    delete_model: unsafe extern "C" fn(Model),
}

impl Functions {
    fn find(library: &Library) -> Result<Self, libloading::Error> {
        // SAFETY: every type is the C declaration of that function in mujoco.h (version 3, with
        // mjtNum = double); the pointers are used only while `library` is open, since
        // `Mujoco` owns both.
        unsafe {
            Ok(Self {
                load_xml: *library.get(c"mj_loadXML")?,
                make_data: *library.get(c"mj_makeData")?,
                reset_data: *library.get(c"mj_resetData")?,
                step: *library.get(c"mj_step")?,
                state_size: *library.get(c"mj_stateSize")?,
                get_state: *library.get(c"mj_getState")?,
                set_state: *library.get(c"mj_setState")?,
                delete_data: *library.get(c"mj_deleteData")?,
                delete_model: *library.get(c"mj_deleteModel")?,
            })
        }
    }
}

/// A model and its state.
pub struct Mujoco {
    functions: Functions,
    model: Model,
    data: Data,
    positions: usize,
    velocities: usize,
    /// Dropped last: the functions live in it.
    _library: Library,
}

/// The directory to use: the environment variable, or the default.
pub fn directory() -> PathBuf {
    std::env::var_os(DIRECTORY_VARIABLE)
        .unwrap_or_else(|| OsString::from(DEFAULT_DIRECTORY))
        .into()
}

impl Mujoco {
    /// Opens the library in `directory` and loads the model file `model` (relative to it).
    ///
    /// # Errors
    /// If the library is not there, is no MuJoCo, or cannot load the model.
    pub fn open(directory: &Path, model: &str) -> Result<Self, MujocoError> {
        let path = library_in(directory).ok_or_else(|| MujocoError::Missing {
            directory: directory.to_owned(),
        })?;
        let failed = |source| MujocoError::Library {
            path: path.clone(),
            source,
        };
        // SAFETY: the user names this directory as that of MuJoCo, whose initialisers have no
        // requirements of their own.
        let library = unsafe { Library::new(&path) }.map_err(failed)?;
        let functions = Functions::find(&library).map_err(failed)?;
        let model = load(&functions, &directory.join(model))?;
        // SAFETY: `model` was just loaded and is not null.
        let (data, positions, velocities) = unsafe {
            let size = |part| usize::try_from((functions.state_size)(model, part)).unwrap_or(0);
            (
                (functions.make_data)(model),
                size(POSITIONS),
                size(VELOCITIES),
            )
        };
        let machine = Self {
            functions,
            model,
            data,
            positions,
            velocities,
            _library: library,
        };
        if machine.data.is_null() {
            let problem = "no memory for its state".to_owned();
            return Err(MujocoError::Model {
                path: directory.to_owned(),
                problem,
            });
        }
        Ok(machine)
    }

    /// Number of positions.
    pub fn positions(&self) -> usize {
        self.positions
    }

    /// Number of velocities.
    pub fn velocities(&self) -> usize {
        self.velocities
    }

    /// Resets everything, then sets positions and velocities (in that order in `state`).
    ///
    /// # Panics
    /// When `state` does not hold all positions and velocities.
    pub fn start(&mut self, state: &[f64]) {
        assert_eq!(
            state.len(),
            self.positions + self.velocities,
            "positions and velocities"
        );
        // SAFETY: model and data are alive and belong together; `state` holds as many numbers as
        // mj_stateSize gave for these two parts.
        unsafe {
            (self.functions.reset_data)(self.model, self.data);
            let parts = POSITIONS | VELOCITIES;
            (self.functions.set_state)(self.model, self.data, state.as_ptr(), parts);
        }
    }

    /// Advances by one step of the physics.
    pub fn step(&mut self) {
        // SAFETY: model and data are alive and belong together.
        unsafe { (self.functions.step)(self.model, self.data) }
    }

    /// Writes the positions into `into`.
    ///
    /// # Panics
    /// When `into` does not hold all positions.
    pub fn read_positions(&self, into: &mut [f64]) {
        assert_eq!(into.len(), self.positions, "one place per position");
        // SAFETY: as in `start`; `into` has room for all positions.
        unsafe {
            (self.functions.get_state)(self.model, self.data, into.as_mut_ptr(), POSITIONS);
        }
    }
}

impl Drop for Mujoco {
    fn drop(&mut self) {
        // SAFETY: both were made by this library and are freed once; both accept null.
        unsafe {
            (self.functions.delete_data)(self.data);
            (self.functions.delete_model)(self.model);
        }
    }
}

/// The library in a directory: a file `libmujoco.so*`, `libmujoco*.dylib` or `mujoco.dll`.
fn library_in(directory: &Path) -> Option<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(directory)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("libmujoco") || name == "mujoco.dll"
        })
        .collect();
    found.sort();
    found.pop()
}

fn load(functions: &Functions, path: &Path) -> Result<Model, MujocoError> {
    let failed = |problem: String| MujocoError::Model {
        path: path.to_owned(),
        problem,
    };
    let name =
        CString::new(path.to_string_lossy().as_bytes()).map_err(|e| failed(e.to_string()))?;
    let mut message = [0; 1000];
    // SAFETY: `name` ends with a zero byte; no virtual file system is a null pointer; `message`
    // has the length that is passed.
    let model = unsafe {
        let (room, size) = (message.as_mut_ptr(), message.len() as c_int);
        (functions.load_xml)(name.as_ptr(), std::ptr::null(), room, size)
    };
    if model.is_null() {
        // SAFETY: MuJoCo ends its message with a zero byte inside the room given; without a
        // message it is all zeros.
        let text = unsafe { CStr::from_ptr(message.as_ptr()) };
        return Err(failed(text.to_string_lossy().into_owned()));
    }
    Ok(model)
}
