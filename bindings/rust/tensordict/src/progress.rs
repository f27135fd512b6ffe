//! How far work has come, on a terminal.

use std::io::{stderr, IsTerminal, Write};
use std::time::{Duration, Instant};

use tensordict_sys as sys;

use crate::error::{read_text, Result};

/// A line on the terminal that fills up, for [`Dict::map_with`](crate::Dict::map_with). It writes to
/// the standard error, and only where that is a terminal.
///
/// ```
/// use tensordict::{MapOptions, ProgressBar, Result, Tensor, TensorDict};
///
/// let td = TensorDict::from_pairs([4], [("x", Tensor::from_slice(&[1i64, 2, 3, 4], [4])?)])?;
/// let mut bar = ProgressBar::new();
/// td.map_with(MapOptions::new(), |done, total| Ok(bar.show(done, total)), |_, part| -> Result<_> {
///     Ok(Some(part))
/// })?;
/// assert!(bar.text(1, 2)?.starts_with(" 50%|"));
/// # Ok::<(), tensordict::Error>(())
/// ```
#[derive(Debug)]
pub struct ProgressBar {
    begun: Instant,
    shown: Option<Instant>,
    on: bool,
}

impl ProgressBar {
    /// A bar whose time begins now.
    #[allow(clippy::new_without_default)] // it looks at the clock
    pub fn new() -> Self {
        Self { begun: Instant::now(), shown: None, on: stderr().is_terminal() }
    }

    /// Writes the line, ten times a second at most, and at the end in any case.
    pub fn show(&mut self, done: usize, total: usize) {
        let recent = self.shown.is_some_and(|at| at.elapsed() < Duration::from_millis(100));
        if !self.on || (recent && done < total) {
            return;
        }
        self.shown = Some(Instant::now());
        let Ok(text) = self.text(done, total) else { return };
        let end = if done < total { "" } else { "\n" };
        // Nothing depends on whether it can be read.
        let _ = write!(stderr(), "\r{text}\x1b[K{end}");
    }

    /// The line, for other places than the terminal.
    #[track_caller]
    pub fn text(&self, done: usize, total: usize) -> Result<String> {
        let seconds = self.begun.elapsed().as_secs_f64();
        // SAFETY: the text is as long as it is said to be.
        read_text(|text, cap, length| unsafe {
            sys::td_progress_text(done, total, seconds, 40, text, cap, length)
        })
    }
}
