//! What several suites need.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use tensordict::{DType, Tensor, TensorDict};

/// A folder that is gone after the test.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("tensordict-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        Self(dir)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Folders that Python has written.
pub fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/data/golden").join(name)
}

/// 0, 1, 2 … in a tensor.
pub fn counting(sizes: &[i64]) -> Tensor {
    let count: i64 = sizes.iter().product();
    Tensor::from_vec((0..count).collect::<Vec<i64>>(), sizes).unwrap()
}

/// Batch [2, 3] with "a" [2, 3] of i64, ("deep", "b") [2, 3, 2] of i64, ("deep", "c") of f32 zeros.
pub fn sample() -> TensorDict {
    let mut td = TensorDict::new([2, 3]).unwrap();
    td.set("a", counting(&[2, 3])).unwrap();
    td.set(("deep", "b"), counting(&[2, 3, 2])).unwrap();
    td.set(("deep", "c"), Tensor::zeros([2, 3], DType::F32).unwrap()).unwrap();
    td
}

/// The values of an i64 tensor.
pub fn ints(td: &tensordict::Dict, key: impl tensordict::Key) -> Vec<i64> {
    td.tensor(key).unwrap().to_vec().unwrap()
}
