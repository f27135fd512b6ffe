//! Whether a folder holds what was saved to it, and what is damaged.

use std::ffi::{c_void, CStr};
use std::path::Path;

use tensordict_sys as sys;

use crate::callback::{run, settle, Failure};
use crate::dict::TensorDict;
use crate::error::{check, Error, Result};
use crate::library;
use crate::memmap::Folder;

/// What is wrong with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DamageKind {
    /// A file or folder is missing.
    Missing,
    /// A file holds fewer bytes than it must.
    Short,
    /// The bytes are not those that the checksum was taken of.
    Changed,
    /// There are checksums, and none of all of this file.
    NotCovered,
    /// It says what cannot be.
    Format,
    /// A link, a pipe or the like in the place of a file or folder.
    Refused,
    /// The system cannot read it.
    Unreadable,
    /// Something that this version does not know.
    Other(i32),
}

impl DamageKind {
    fn from_raw(kind: sys::td_damage_kind) -> Self {
        match kind {
            sys::TD_DAMAGE_MISSING => Self::Missing,
            sys::TD_DAMAGE_SHORT => Self::Short,
            sys::TD_DAMAGE_CHANGED => Self::Changed,
            sys::TD_DAMAGE_NOT_COVERED => Self::NotCovered,
            sys::TD_DAMAGE_FORMAT => Self::Format,
            sys::TD_DAMAGE_REFUSED => Self::Refused,
            sys::TD_DAMAGE_UNREADABLE => Self::Unreadable,
            other => Self::Other(other),
        }
    }
}

/// One file of a folder that is damaged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// What is wrong.
    pub kind: DamageKind,
    /// Relative to the folder.
    pub path: String,
    /// One line for people.
    pub message: String,
    /// Bytes that it must hold, or that must be covered; 0 when that is not known.
    pub expected: u64,
    /// Bytes that it holds, or that are covered; 0 when that is not known.
    pub found: u64,
}

impl TensorDict {
    /// Checks a folder: all that [`load_memmap`](Self::load_memmap) would check, and, where it was saved
    /// with checksums, every byte that they cover. Gives what is damaged, sorted by path; nothing when all
    /// is well.
    ///
    /// ```
    /// use tensordict::{MemmapOptions, Tensor, TensorDict};
    ///
    /// # let dir = std::env::temp_dir().join(format!("td-doc-verify-{}", std::process::id()));
    /// let mut td = TensorDict::new([2])?;
    /// td.set("x", Tensor::from_slice(&[1.0f32, 2.0], [2])?)?;
    /// td.memmap_with(Some(&dir), MemmapOptions::new().checksums(true))?;
    /// assert!(TensorDict::verify_memmap(&dir, 2)?.is_empty());
    /// std::fs::write(dir.join("x.memmap"), [0; 8]).unwrap();
    /// assert_eq!(TensorDict::verify_memmap(&dir, 2)?[0].path, "x.memmap");
    /// # std::fs::remove_dir_all(dir).unwrap();
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn verify_memmap(dir: impl AsRef<Path>, num_threads: u16) -> Result<Vec<Damage>> {
        Self::verify_memmap_with(dir, num_threads, |_, _| Ok::<(), Error>(()))
    }

    /// As [`verify_memmap`](Self::verify_memmap), with a closure that is told on this thread how many bytes
    /// of how many have been read: see [`ProgressBar`](crate::ProgressBar).
    #[track_caller]
    pub fn verify_memmap_with<E: From<Error>>(
        dir: impl AsRef<Path>,
        num_threads: u16,
        progress: impl FnMut(usize, usize) -> Result<(), E>,
    ) -> Result<Vec<Damage>, E> {
        library::ready()?;
        let dir = Folder::new(Some(dir.as_ref()))?;
        let mut work = Work { progress, found: Vec::new(), failure: None };
        let mut options = work.options(num_threads);
        options.damage = Some(work.take());
        let mut damaged = 0;
        // SAFETY: the callbacks are called during this call only, on this thread.
        let answer = check(unsafe { sys::td_memmap_verify(dir.text(), &options, &mut damaged) });
        settle(work.failure, answer)?;
        Ok(work.found)
    }

    /// Gives a folder checksums of what it holds now, for [`verify_memmap`](Self::verify_memmap).
    #[track_caller]
    pub fn checksum_memmap(dir: impl AsRef<Path>, num_threads: u16) -> Result<()> {
        Self::checksum_memmap_with(dir, num_threads, |_, _| Ok::<(), Error>(()))
    }

    /// As [`checksum_memmap`](Self::checksum_memmap), with a closure that is told on this thread how many
    /// bytes of how many have been read.
    #[track_caller]
    pub fn checksum_memmap_with<E: From<Error>>(
        dir: impl AsRef<Path>,
        num_threads: u16,
        progress: impl FnMut(usize, usize) -> Result<(), E>,
    ) -> Result<(), E> {
        library::ready()?;
        let dir = Folder::new(Some(dir.as_ref()))?;
        let mut work = Work { progress, found: Vec::new(), failure: None };
        let options = work.options(num_threads);
        // SAFETY: the callback is called during this call only, on this thread.
        let answer = check(unsafe { sys::td_memmap_write_checksums(dir.text(), &options) });
        settle(work.failure, answer)
    }
}

struct Work<P, E> {
    progress: P,
    found: Vec<Damage>,
    failure: Option<Failure<E>>,
}

impl<P: FnMut(usize, usize) -> Result<(), E>, E> Work<P, E> {
    fn options(&mut self, num_threads: u16) -> sys::td_verify_options {
        let user: *mut Self = self;
        sys::td_verify_options {
            num_threads: num_threads.into(),
            user: user.cast(),
            progress: Some(tell::<P, E>),
            progress_user: user.cast(),
            ..Default::default()
        }
    }

    fn take(&self) -> unsafe extern "C" fn(*mut c_void, *const sys::td_damage) -> sys::td_status {
        take::<P, E>
    }
}

unsafe extern "C" fn tell<P, E>(user: *mut c_void, done: usize, total: usize) -> sys::td_status
where
    P: FnMut(usize, usize) -> Result<(), E>,
{
    // SAFETY: `user` is the Work of the call that is under way, on the thread that made it.
    let work = unsafe { &mut *user.cast::<Work<P, E>>() };
    match run(|| (work.progress)(done, total)) {
        Ok(()) => sys::TD_OK,
        Err(failure) => {
            let status = failure.tell();
            work.failure = Some(failure);
            status
        }
    }
}

unsafe extern "C" fn take<P, E>(
    user: *mut c_void,
    damage: *const sys::td_damage,
) -> sys::td_status {
    // SAFETY: as above; the library lends what it shows until this function returns.
    unsafe {
        let work = &mut *user.cast::<Work<P, E>>();
        let text = |text| CStr::from_ptr(text).to_string_lossy().into_owned();
        let damage = &*damage;
        work.found.push(Damage {
            kind: DamageKind::from_raw(damage.kind),
            path: text(damage.path),
            message: text(damage.message),
            expected: damage.expected,
            found: damage.found,
        });
    }
    sys::TD_OK
}
