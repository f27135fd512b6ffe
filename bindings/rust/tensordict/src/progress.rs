//! How far work has come, on a terminal.

use std::io::{stderr, IsTerminal, Write};
use std::time::{Duration, Instant};

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
/// assert!(bar.text(1, 2).starts_with(" 50%|"));
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
        let text = self.text(done, total);
        let end = if done < total { "" } else { "\n" };
        // Nothing depends on whether it can be read.
        let _ = write!(stderr(), "\r{text}\x1b[K{end}");
    }

    /// The line, for other places than the terminal.
    pub fn text(&self, done: usize, total: usize) -> String {
        line(done, total, self.begun.elapsed().as_secs_f64(), 40)
    }
}

/// " 40%|####      | 4/10 [00:02<00:03, 2.0/s]".
fn line(done: usize, total: usize, seconds: f64, width: usize) -> String {
    let part = if total == 0 { 1.0 } else { (done as f64 / total as f64).min(1.0) };
    let percent = (part * 100.0) as usize;
    let full = (part * width as f64) as usize;
    let rate = if seconds > 0.0 { done as f64 / seconds } else { f64::NAN };
    let left = total.saturating_sub(done) as f64 / rate;
    let rate = if rate.is_nan() { "?".into() } else { format!("{rate:.1}") };
    let (begun, left) = (clock(seconds), clock(left));
    format!("{percent:3}%|{:width$}| {done}/{total} [{begun}<{left}, {rate}/s]", "#".repeat(full))
}

/// "02:05", "1:02:05"; "?" for what cannot be known.
fn clock(seconds: f64) -> String {
    if !(0.0..=3.6e8).contains(&seconds) {
        return "?".into();
    }
    let whole = seconds as u64;
    let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60);
    if hours == 0 {
        format!("{minutes:02}:{seconds:02}")
    } else {
        format!("{hours}:{minutes:02}:{seconds:02}")
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn lines_for_a_terminal() {
        for (done, total, seconds, width, text) in [
            (4, 10, 2.0, 10, " 40%|####      | 4/10 [00:02<00:03, 2.0/s]"),
            (0, 10, 0.0, 4, "  0%|    | 0/10 [00:00<?, ?/s]"),
            (10, 10, 7325.0, 2, "100%|##| 10/10 [2:02:05<00:00, 0.0/s]"),
            (0, 0, 1.0, 1, "100%|#| 0/0 [00:01<?, 0.0/s]"),
            (5, 3, -1.0, 2, "100%|##| 5/3 [?<?, ?/s]"),
        ] {
            assert_eq!(super::line(done, total, seconds, width), text);
        }
    }
}
