//! Closures over the pieces of a dictionary, on several threads.

mod common;

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use common::{counting, ints, sample};
use tensordict::{DType, Error, ErrorKind, MapOptions, ProgressBar, Result, Tensor, TensorDict};

fn line(n: i64) -> TensorDict {
    TensorDict::from_pairs([n], [("x", counting(&[n]))]).unwrap()
}

fn same(part: TensorDict) -> Result<Option<TensorDict>> {
    Ok(Some(part))
}

#[test]
fn all_cuts_give_all_elements_in_order() {
    let td = sample();
    let options = MapOptions::new();
    for workers in [1, 2, 5, 0] {
        let options = options.num_workers(workers).worker_threads(1);
        for cut in [options, options.chunk_size(2), options.num_chunks(3), options.elements()] {
            for dim in [0, 1, -1] {
                assert!(td.map(cut.dim(dim), same).unwrap().unwrap().equal(&td).unwrap());
            }
        }
    }
    assert_eq!(td.map(options.dim(2), same).unwrap_err().kind(), ErrorKind::Index);
    assert!(td.map(options, |_| Ok::<_, Error>(None)).unwrap().is_none());
}

#[test]
fn pieces_know_what_they_are() {
    let td = line(5);
    let seen = std::sync::Mutex::new(Vec::new());
    let mut told = Vec::new();
    td.map_with(
        MapOptions::new().chunk_size(2).num_workers(2).seed(70),
        |done, total| -> Result<()> {
            told.push((done, total));
            Ok(())
        },
        |piece, part| {
            seen.lock().unwrap().push((
                piece.number,
                piece.first,
                piece.length,
                piece.seed,
                piece.count,
            ));
            assert!(piece.worker < 2);
            same(part)
        },
    )
    .unwrap();
    let mut seen = seen.into_inner().unwrap();
    seen.sort();
    assert_eq!(seen, [(0, 0, 2, 70, 3), (1, 2, 2, 71, 3), (2, 4, 1, 72, 3)]);
    assert_eq!(told, [(0, 3), (1, 3), (2, 3), (3, 3)]);
}

#[test]
fn values_are_written_in_place_and_into_another() {
    let td = line(4);
    let none = td.map(MapOptions::new().elements().num_workers(2), |mut part| -> Result<_> {
        let twice = 2 * part.tensor("x")?.item::<i64>()?;
        part.set_inplace("x", &Tensor::scalar(twice)?)?;
        Ok(None)
    });
    assert!(none.unwrap().is_none());
    assert_eq!(ints(&td, "x"), [0, 2, 4, 6]);

    let mut out =
        TensorDict::from_pairs([4], [("x", Tensor::zeros([4], DType::F64).unwrap())]).unwrap();
    td.map_into(MapOptions::new().chunk_size(3), &mut out, |_, part| same(part)).unwrap();
    assert_eq!(out.tensor("x").unwrap().to_vec::<f64>().unwrap(), [0.0, 2.0, 4.0, 6.0]);
    let mut poor = TensorDict::new([4]).unwrap();
    let missing = td.map_into(MapOptions::new(), &mut poor, |_, part| same(part));
    assert_eq!(missing.unwrap_err().kind(), ErrorKind::Key);
}

#[derive(Debug)]
enum Mine {
    Stop(usize),
    Library(Error),
}

impl From<Error> for Mine {
    fn from(error: Error) -> Self {
        Self::Library(error)
    }
}

#[test]
fn the_first_failure_in_order_comes_back() {
    let td = line(20);
    for workers in [1, 3] {
        let options = MapOptions::new().elements().num_workers(workers);
        let stopped = td.map_with(
            options,
            |_, _| Ok(()),
            |piece, part| {
                if piece.number >= 4 {
                    return Err(Mine::Stop(piece.number));
                }
                Ok(Some(part))
            },
        );
        assert!(matches!(stopped, Err(Mine::Stop(4))));
        let library = td.map(options, |part| part.at(1).map(Some).map_err(Mine::Library));
        assert!(matches!(library, Err(Mine::Library(error)) if error.kind() == ErrorKind::Index));
        let progress = td.map_with(options, |_, _| Err(Mine::Stop(99)), |_, part| Ok(Some(part)));
        assert!(matches!(progress, Err(Mine::Stop(99))));
        let caught = catch_unwind(AssertUnwindSafe(|| {
            td.map(options, |_| -> Result<_> { std::panic::panic_any(42u8) })
        }));
        assert_eq!(*caught.unwrap_err().downcast::<u8>().unwrap(), 42);
    }
}

#[test]
fn results_come_one_by_one() {
    let td = line(9);
    for workers in [1, 2] {
        let options = MapOptions::new().elements().num_workers(workers).ahead(2);
        let values: Vec<i64> = td
            .map_iter(options, |_, part| same(part))
            .unwrap()
            .map(|part| part.unwrap().tensor("x").unwrap().item().unwrap())
            .collect();
        assert_eq!(values, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        let order = |seed| -> Vec<i64> {
            let parts = td.map_iter(options.shuffle().seed(seed), |_, part| same(part)).unwrap();
            parts.map(|part| part.unwrap().tensor("x").unwrap().item().unwrap()).collect()
        };
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));

        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        let mut parts = td
            .map_iter(options, move |_, part| {
                counted.fetch_add(1, Ordering::SeqCst);
                same(part)
            })
            .unwrap();
        parts.next().unwrap().unwrap();
        drop(parts); // waits for those that run, and lets go of the closure
        assert!(calls.load(Ordering::SeqCst) <= 4);
        assert_eq!(Arc::strong_count(&calls), 1);
    }
}

#[test]
fn an_iterator_ends_where_its_piece_fails() {
    let td = line(9);
    for workers in [1, 2] {
        let options = MapOptions::new().elements().num_workers(workers);
        let mut parts = td
            .map_iter(options, |piece, part| {
                if piece.number >= 2 {
                    Err(Mine::Stop(piece.number))
                } else {
                    Ok(Some(part))
                }
            })
            .unwrap();
        assert!(parts.next().unwrap().is_ok() && parts.next().unwrap().is_ok());
        assert!(matches!(parts.next(), Some(Err(Mine::Stop(2)))));
        assert!(parts.next().is_none());
    }
    let refused = td.map_iter(MapOptions::new().chunk_size(0), |_, part| same(part));
    assert_eq!(refused.err().unwrap().kind(), ErrorKind::InvalidArgument);
}

#[test]
fn a_line_for_the_terminal() {
    let mut bar = ProgressBar::new();
    bar.show(0, 4); // nothing where there is no terminal
    assert!(bar.text(3, 4).starts_with(" 75%|##############################          | 3/4 ["));
}
