//! HDF5 files.

use tensordict::{i, ErrorKind, Hdf5, Hdf5Options, Hdf5SaveOptions, Tensor, TensorDict};

fn rows(n: i64) -> TensorDict {
    let x: Vec<i64> = (0..n).collect();
    TensorDict::from_pairs([n], [("x", Tensor::from_slice(&x, [n]).unwrap())]).unwrap()
}

// Nothing in a build without HDF5.
fn written(name: &str, td: &TensorDict, options: &Hdf5SaveOptions) -> Option<std::path::PathBuf> {
    let path = std::env::temp_dir().join(format!("td-{}-{name}.h5", std::process::id()));
    match td.save_hdf5(&path, options) {
        Err(error) if error.kind() == ErrorKind::Unsupported => None,
        result => result.map(|()| Some(path)).unwrap(),
    }
}

#[test]
fn rows_are_read_without_the_rest() {
    let options = Hdf5SaveOptions::new().deflate(4).chunk_rows(3).durable();
    let Some(path) = written("rows", &rows(10), &options) else { return };
    let whole = TensorDict::load_hdf5(&path, &Hdf5Options::new().keys(["x"])).unwrap();
    assert_eq!(whole.tensor("x").unwrap().to_vec::<i64>().unwrap(), (0..10).collect::<Vec<_>>());
    let file = Hdf5::open(&path, &Hdf5Options::new().max_bytes(1 << 20).limits(10, 10)).unwrap();
    assert_eq!(file.batch_size().unwrap(), [10]);
    assert_eq!(file.keys().unwrap().count(), 1);
    let part = file.read(i![2..4]).unwrap();
    assert_eq!(part.tensor("x").unwrap().to_vec::<i64>().unwrap(), [2, 3]);
    assert_eq!(file.read(i![10]).err().unwrap().kind(), ErrorKind::Index);
    let none = TensorDict::load_hdf5(&path, &Hdf5Options::new().group("none"));
    assert_eq!(none.err().unwrap().kind(), ErrorKind::Key);
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn demonstrations_are_a_lazy_stack() {
    let stack = TensorDict::lazy_stack([rows(2), rows(5)], 0).unwrap();
    let options = Hdf5SaveOptions::new().group("data").stack();
    let Some(path) = written("stack", &stack, &options) else { return };
    let options = Hdf5Options::new().group("data").stack().skip().attributes();
    let again = TensorDict::load_hdf5(&path, &options).unwrap();
    let last = again.at(i![1]).unwrap();
    assert_eq!(last.batch_size(), [5]);
    std::fs::remove_file(&path).unwrap();
}
