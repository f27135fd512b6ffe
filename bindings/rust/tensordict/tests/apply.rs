//! Closures over every tensor; what they fail with comes back as it is.

mod common;

use std::panic::{catch_unwind, AssertUnwindSafe};

use common::{counting, ints, sample};
use tensordict::{
    ApplyEntry, ApplyOptions, DType, Device, DeviceKind, Error, ErrorKind, FilterEmpty, Result,
    Tensor, TensorDict,
};

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
    let only = |name: &str, filter| -> Result<Option<TensorDict>> {
        let options = ApplyOptions::new().filter_empty(filter);
        td.apply_with(options, |key, t| -> Result<_> {
            Ok(if *key == name { Some(t.shallow_clone()?) } else { None })
        })
    };
    assert!(!only("a", FilterEmpty::Emptied).unwrap().unwrap().contains("deep"));
    assert!(!only("a", FilterEmpty::Always).unwrap().unwrap().contains("deep"));
    assert!(only("a", FilterEmpty::Never).unwrap().unwrap().contains("deep"));
    assert!(only("none", FilterEmpty::Emptied).unwrap().is_none());
    assert!(only("none", FilterEmpty::Always).unwrap().is_none());
    assert!(only("none", FilterEmpty::Never).unwrap().unwrap().is_empty());
}

#[test]
fn results_look_as_the_options_say() {
    let td = sample();
    let copy =
        |options| td.apply_with(options, |_, t| t.shallow_clone().map(Some)).unwrap().unwrap();
    let flat = copy(ApplyOptions::new().batch_size([2]));
    assert_eq!((flat.batch_size(), flat.dict("deep").unwrap().batch_size()), (vec![2], vec![2]));
    let meta = copy(
        ApplyOptions::new().device(Device::new(DeviceKind::Meta, None)).names([Some("time"), None]),
    );
    assert_eq!(meta.tensor("a").unwrap().device(), Device::new(DeviceKind::Meta, None));
    let refused = td
        .apply_with(ApplyOptions::new().names([Some("time")]), |_, t| t.shallow_clone().map(Some));
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::InvalidArgument);

    let mut out = TensorDict::new([2, 3]).unwrap();
    out.set("kept", counting(&[2, 3])).unwrap();
    td.apply_into(&mut out, |_, t| t.shallow_clone().map(Some)).unwrap();
    assert_eq!(out.keys().collect::<Vec<_>>(), ["kept", "a", "deep"]);
}

#[test]
fn other_dictionaries_stand_beside() {
    let (td, mut other) = (sample(), sample());
    other.remove(("deep", "b")).unwrap();
    let count = |options| {
        let mut seen = Vec::new();
        td.apply_entries(&[&other, &td], options, |key, entries| -> Result<_> {
            let there = entries.iter().filter(|entry| entry.as_tensor().is_some()).count();
            seen.push((key.to_string(), there));
            Ok(entries.into_iter().next())
        })
        .map(|result| (result.unwrap(), seen))
    };
    assert_eq!(count(ApplyOptions::new()).unwrap_err().kind(), ErrorKind::Key);
    let (result, seen) = count(ApplyOptions::new().allow_missing()).unwrap();
    let expected = [("a", 3), ("deep.b", 2), ("deep.c", 3)];
    assert_eq!(seen, expected.map(|(key, there)| (key.to_owned(), there)));
    assert!(result.equal(&td).unwrap());
    let zero = Tensor::scalar(0i64).unwrap();
    let (_, seen) = count(ApplyOptions::new().default_value(zero)).unwrap();
    assert!(seen.iter().all(|(_, there)| *there == 3));
    let (_, seen) = count(ApplyOptions::new().allow_missing().call_on_nested(true)).unwrap();
    assert_eq!(seen, [("a".to_owned(), 3), ("deep".to_owned(), 0)]);
}

#[test]
fn entries_change_kind_and_are_written_in_place() {
    let mut td = sample();
    let swapped = td
        .apply_entries(&[], ApplyOptions::new().call_on_nested(true), |_, entries| {
            Ok::<_, Error>(Some(match &entries[0] {
                ApplyEntry::Tensor(_) => TensorDict::new([2, 3])?.into(),
                _ => counting(&[2, 3]).into(),
            }))
        })
        .unwrap()
        .unwrap();
    assert_eq!(ints(&swapped, "deep"), [0, 1, 2, 3, 4, 5]);
    assert!(swapped.dict("a").unwrap().is_empty());

    let other = sample();
    let a = td.tensor("a").unwrap();
    let zeros = |entry: &ApplyEntry| -> Result<_> {
        let tensor = entry.as_tensor().unwrap();
        Ok(Some(Tensor::zeros(tensor.shape(), tensor.dtype())?.into()))
    };
    td.apply_entries_inplace(&[&other], ApplyOptions::new(), |_, entries| zeros(&entries[1]))
        .unwrap();
    assert_eq!(a.to_vec::<i64>().unwrap(), [0; 6]);
    let stopped = td.apply_entries(&[], ApplyOptions::new(), |_, _| Err(Mine::Stop(3)));
    assert!(matches!(stopped, Err(Mine::Stop(3))));
}

#[test]
fn the_lock_is_kept_if_asked() {
    let mut td = sample();
    td.lock().unwrap();
    let copy =
        |options| td.apply_with(options, |_, t| t.shallow_clone().map(Some)).unwrap().unwrap();
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
