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

fn options(format: TableFormat, separator: &Folder) -> sys::td_table_options {
    let (format, separator) = (format.raw(), separator.text());
    sys::td_table_options { format, separator, ..Default::default() }
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
        library::ready()?;
        let file = Folder::new(Some(file.as_ref()))?;
        let separator = Folder::new(separator.map(Path::new))?;
        // SAFETY: the texts end with a NUL or are NULL.
        Self::receive(|result| unsafe {
            sys::td_table_load(file.text(), &options(format, &separator), result)
        })
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
        let file = Folder::new(Some(file.as_ref()))?;
        let separator = Folder::new(separator.map(Path::new))?;
        // SAFETY: the handle is alive, the texts end with a NUL or are NULL.
        check(unsafe {
            sys::td_table_save(self.raw(), file.text(), &options(format, &separator))
        })
    }
}
