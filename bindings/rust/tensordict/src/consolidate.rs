//! All tensors of a dictionary in one buffer, in memory or in one file.

use std::path::Path;

use tensordict_sys as sys;

use crate::device::Device;
use crate::dict::{Dict, TensorDict};
use crate::error::{check, sound, Result};
use crate::library;
use crate::memmap::{Folder, LoadOptions};

/// Where the buffer of a consolidated dictionary lies.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConsolidateOptions {
    raw: sys::td_consolidate_options,
}

impl ConsolidateOptions {
    /// The defaults: on the device of the dictionary, or the CPU if it has none.
    pub fn new() -> Self {
        Self::default()
    }

    /// The device of the buffer.
    pub fn device(mut self, device: Device) -> Self {
        (self.raw.device_type, self.raw.device_index) = device.raw();
        self
    }

    setters! {
        /// Whether it is memory that an accelerator copies from without waiting.
        pin_memory(pin: bool) => raw.pin_memory;
        /// How many threads copy; 0 and 1 mean the calling one.
        num_threads(threads: u16) => raw.num_threads;
        /// Whether a file is on the disk when it is there.
        durable(durable: bool) => raw.durable;
    }
}

impl Dict {
    /// The same content with all tensors in one buffer, one after the other. The result is locked, and
    /// moves to another device in one piece.
    #[track_caller]
    pub fn consolidate(&self) -> Result<TensorDict> {
        self.consolidate_with(ConsolidateOptions::new())
    }

    /// As [`consolidate`](Self::consolidate), with options.
    #[track_caller]
    pub fn consolidate_with(&self, options: ConsolidateOptions) -> Result<TensorDict> {
        // SAFETY: the handle is alive; the options live for the call.
        self.derive(|result| unsafe {
            sys::td_consolidate(self.raw(), std::ptr::null(), &options.raw, result)
        })
    }

    /// Puts the tensors of this dictionary itself into one buffer.
    #[track_caller]
    pub fn consolidate_inplace(&mut self, options: ConsolidateOptions) -> Result<()> {
        // SAFETY: the handle is alive and ours alone; the options live for the call.
        check(unsafe { sys::td_consolidate_inplace(self.raw_mut(), &options.raw) })
    }

    /// Writes one file, in the format of Python's `consolidate`, and maps it: what is written to the tensors
    /// of the result does not reach the file.
    ///
    /// ```
    /// use tensordict::{Tensor, TensorDict};
    ///
    /// # let file = std::env::temp_dir().join(format!("td-doc-consolidate-{}", std::process::id()));
    /// let mut td = TensorDict::new([2])?;
    /// td.set("x", Tensor::from_slice(&[1.0f32, 2.0], [2])?)?;
    /// assert!(td.consolidate_to(&file)?.is_consolidated());
    /// assert!(TensorDict::load_consolidated(&file)?.equal(&td)?);
    /// # std::fs::remove_file(file).unwrap();
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn consolidate_to(&self, file: impl AsRef<Path>) -> Result<TensorDict> {
        self.consolidate_to_with(file, ConsolidateOptions::new())
    }

    /// As [`consolidate_to`](Self::consolidate_to), with options: no device, and no pinned memory.
    #[track_caller]
    pub fn consolidate_to_with(
        &self,
        file: impl AsRef<Path>,
        options: ConsolidateOptions,
    ) -> Result<TensorDict> {
        let file = Folder::new(Some(file.as_ref()))?;
        // SAFETY: the handle is alive; path and options live for the call.
        TensorDict::receive(|result| unsafe {
            sys::td_consolidate(self.raw(), file.text(), &options.raw, result)
        })
    }

    /// Whether it is locked and all its tensors lie in one buffer as [`consolidate`](Self::consolidate) puts
    /// them there.
    pub fn is_consolidated(&self) -> bool {
        let mut answer = 0;
        // SAFETY: the handle is alive.
        sound(check(unsafe { sys::td_is_consolidated(self.raw(), &mut answer) }));
        answer != 0
    }
}

impl TensorDict {
    /// Maps a file that [`consolidate_to`](Dict::consolidate_to) or Python's `consolidate` has written.
    #[track_caller]
    pub fn load_consolidated(file: impl AsRef<Path>) -> Result<Self> {
        Self::load_consolidated_with(file, LoadOptions::new())
    }

    /// As [`load_consolidated`](Self::load_consolidated), with options.
    #[track_caller]
    pub fn load_consolidated_with(file: impl AsRef<Path>, options: LoadOptions) -> Result<Self> {
        library::ready()?;
        let file = Folder::new(Some(file.as_ref()))?;
        // SAFETY: path and options live for the call.
        Self::receive(|result| unsafe {
            sys::td_consolidated_load(file.text(), &options.raw, result)
        })
    }
}
