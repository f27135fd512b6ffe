//! Closures over every tensor; what they fail with comes back as it is.

mod common;

use std::panic::{catch_unwind, AssertUnwindSafe};

use common::{counting, ints, sample};
use tensordict::{ApplyOptions, DType, Error, ErrorKind, FilterEmpty, Result, Tensor, TensorDict};

#[test]
fn every_tensor_is_visited_with_its_key() {
    let td = sample();
    let mut seen = Vec::new();
    let floats = td
        .map_named(|key, t| {
            seen.push((key.to_string(), t.shape()));
            t.to(DType::F64)
        })
        .unwrap();
    let expected = [("a", vec![2, 3]), ("deep.b", vec![2, 3, 2]), ("deep.c", vec![2, 3])];
    assert_eq!(seen, expected.map(|(key, shape)| (key.to_owned(), shape)));
    assert_eq!(floats.tensor("a").unwrap().to_vec::<f64>().unwrap()[4], 4.0);
    assert_eq!(td.tensor("a").unwrap().dtype(), DType::I64);
}

#[test]
fn results_may_be_the_sources() {
    let td = sample();
    let same = td.apply(Tensor::shallow_clone).unwrap();
    assert_eq!(
        same.tensor("a").unwrap().data_ptr().unwrap(),
        td.tensor("a").unwrap().data_ptr().unwrap()
    );
}

#[test]
fn values_are_written_in_place() {
    let mut td = sample();
    let a = td.tensor("a").unwrap();
    td.lock().unwrap();
    td.apply_inplace(|t| Tensor::zeros(t.shape(), t.dtype())).unwrap();
    assert_eq!(a.to_vec::<i64>().unwrap(), [0; 6]);
    assert!(td.is_locked());
}

#[test]
fn entries_are_dropped_and_empty_dictionaries_with_them() {
    let td = sample();
    let only_a = |options| -> Result<TensorDict> {
        td.apply_with(options, |key, t| -> Result<_> {
            Ok(if *key == "a" { Some(t.shallow_clone()?) } else { None })
        })
    };
    let options = ApplyOptions::new();
    assert!(!only_a(options).unwrap().contains("deep"));
    assert!(!only_a(options.filter_empty(FilterEmpty::Always)).unwrap().contains("deep"));
    assert!(only_a(options.filter_empty(FilterEmpty::Never)).unwrap().contains("deep"));
    assert!(only_a(options.filter_empty(FilterEmpty::Emptied)).unwrap().contains("a"));
}

#[test]
fn the_lock_is_kept_if_asked() {
    let mut td = sample();
    td.lock().unwrap();
    let copy = |options| td.apply_with(options, |_, t| t.shallow_clone().map(Some)).unwrap();
    assert!(!copy(ApplyOptions::new()).is_locked());
    assert!(copy(ApplyOptions::new().propagate_lock(true)).is_locked());
}

#[derive(Debug)]
enum Mine {
    Stop(u32),
    Library(Error),
}

impl From<Error> for Mine {
    fn from(error: Error) -> Self {
        Self::Library(error)
    }
}

#[test]
fn an_error_of_any_type_comes_back() {
    let td = sample();
    let mut calls = 0;
    let stopped = td.apply(|_| {
        calls += 1;
        Err(Mine::Stop(17))
    });
    assert!(matches!(stopped, Err(Mine::Stop(17))));
    assert_eq!(calls, 1);

    let refused = td.apply(|_| Ok::<_, Mine>(counting(&[5])));
    assert!(matches!(refused, Err(Mine::Library(error)) if error.kind() == ErrorKind::Shape));
    let inner = td.apply(|t| t.at(99)).unwrap_err();
    assert_eq!((inner.kind(), inner.location().line()), (ErrorKind::Index, line!() - 1));
}

#[test]
fn a_panic_comes_back_with_its_payload() {
    let td = sample();
    let caught = catch_unwind(AssertUnwindSafe(|| {
        td.apply(|_| -> Result<Tensor> { std::panic::panic_any(42u8) })
    }));
    assert_eq!(*caught.unwrap_err().downcast::<u8>().unwrap(), 42);
    assert_eq!(ints(&td, "a"), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn closures_may_use_the_dictionary_and_walk_again() {
    let td = sample();
    let sum = td
        .map_named(|key, t| {
            assert!(td.contains(key));
            td.dict("deep")?.apply(Tensor::shallow_clone)?;
            t.deep_clone()
        })
        .unwrap();
    assert!(sum.equal(&td).unwrap());
}
