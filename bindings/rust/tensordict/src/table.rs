//! Dictionaries as tables in text files, one row for each element of the batch.

use std::path::Path;

use tensordict_sys as sys;

use crate::dict::{Dict, TensorDict};
use crate::error::{check, Result};
use crate::library;
use crate::memmap::Folder;

/// How a table is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// Names in the first line, commas, quotes where needed.
    Csv,
    /// A list of objects, one for each row.
    Json,
}

impl TableFormat {
    fn raw(self) -> sys::td_table_format {
        match self {
            Self::Csv => sys::TD_TABLE_CSV,
            Self::Json => sys::TD_TABLE_JSON,
        }
    }
}

fn options(
    format: TableFormat,
    separator: &Folder,
    flags: sys::td_table_flags,
) -> sys::td_table_options {
    let (format, separator) = (format.raw(), separator.text());
    sys::td_table_options { format, separator, flags, ..Default::default() }
}

fn load(
    file: &Path,
    format: TableFormat,
    separator: Option<&str>,
    flags: sys::td_table_flags,
) -> Result<TensorDict> {
    library::ready()?;
    let file = Folder::new(Some(file))?;
    let separator = Folder::new(separator.map(Path::new))?;
    // SAFETY: the texts end with a NUL or are NULL.
    TensorDict::receive(|result| unsafe {
        sys::td_table_load(file.text(), &options(format, &separator, flags), result)
    })
}

fn save(
    dict: &Dict,
    file: &Path,
    format: TableFormat,
    separator: Option<&str>,
    flags: sys::td_table_flags,
) -> Result<()> {
    let file = Folder::new(Some(file))?;
    let separator = Folder::new(separator.map(Path::new))?;
    // SAFETY: the handle is alive, the texts end with a NUL or are NULL.
    check(unsafe {
        sys::td_table_save(dict.raw(), file.text(), &options(format, &separator, flags))
    })
}

impl TensorDict {
    /// Reads a table: whole numbers become `i64`, numbers with missing ones `f64`, truths `bool`, all
    /// other columns non-tensor values. A separator splits names of columns into nested keys.
    ///
    /// ```
    /// use tensordict::{TableFormat, TensorDict};
    ///
    /// let file = std::env::temp_dir().join(format!("td-doc-{}.csv", std::process::id()));
    /// std::fs::write(&file, "n.x,n.y\n1,0.5\n2,\n").unwrap();
    /// let td = TensorDict::load_table(&file, TableFormat::Csv, Some("."))?;
    /// assert_eq!(td.tensor(("n", "x"))?.to_vec::<i64>()?, [1, 2]);
    /// assert!(td.tensor(("n", "y"))?.to_vec::<f64>()?[1].is_nan());
    /// # std::fs::remove_file(&file).unwrap();
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn load_table(
        file: impl AsRef<Path>,
        format: TableFormat,
        separator: Option<&str>,
    ) -> Result<Self> {
        load(file.as_ref(), format, separator, 0)
    }

    /// Like [`load_table`](Self::load_table), and columns `a[0]`, `a[1]` become one tensor. Leading
    /// columns `episode` and `step` become the batch size, or a lazy stack of episodes of different
    /// lengths.
    #[track_caller]
    pub fn load_flat_table(
        file: impl AsRef<Path>,
        format: TableFormat,
        separator: Option<&str>,
    ) -> Result<Self> {
        load(file.as_ref(), format, separator, sys::TD_TABLE_FLATTEN)
    }
}

impl Dict {
    /// Writes a dictionary of one batch dimension as a table. A separator joins nested keys.
    #[track_caller]
    pub fn save_table(
        &self,
        file: impl AsRef<Path>,
        format: TableFormat,
        separator: Option<&str>,
    ) -> Result<()> {
        save(self, file.as_ref(), format, separator, 0)
    }

    /// Writes a dictionary of any batch size but `[]`, with a column for each element of a row, such
    /// as `action[0]`. Two batch dimensions give the first columns `episode` and `step`.
    #[track_caller]
    pub fn save_flat_table(
        &self,
        file: impl AsRef<Path>,
        format: TableFormat,
        separator: Option<&str>,
    ) -> Result<()> {
        save(self, file.as_ref(), format, separator, sys::TD_TABLE_FLATTEN)
    }
}
