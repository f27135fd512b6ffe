//! Minibatches: orders and borders are tested in C; here the way into the language.

use tensordict::{keys, DType, ErrorKind, Generator, Result, Tensor, TensorDict, TensorDictModule};

fn line(n: i64) -> TensorDict {
    let a = Tensor::from_vec((0..n).collect(), [n]).unwrap();
    let episode = Tensor::from_vec((0..n).map(|i| i / 4).collect(), [n]).unwrap();
    TensorDict::from_pairs([n], [("a", a), ("episode", episode)]).unwrap()
}

fn rows(batch: &TensorDict) -> Vec<i64> {
    batch.tensor("a").unwrap().to_vec().unwrap()
}

#[test]
fn a_loop_is_one_epoch() {
    let td = line(10);
    let sizes: Vec<_> = td.batches(4).into_iter().map(|batch| rows(&batch.unwrap())).collect();
    assert_eq!(sizes, [vec![0, 1, 2, 3], vec![4, 5, 6, 7], vec![8, 9]]);
    let order = |workers| -> Vec<i64> {
        let batches = td.batches(4).shuffle(7).num_workers(workers).epochs(2);
        batches.into_iter().flat_map(|batch| rows(&batch.unwrap())).collect()
    };
    let mut once = order(0);
    assert_eq!(once, order(2));
    assert_ne!(once[..10], once[10..]);
    once[..10].sort_unstable();
    assert_eq!(once[..10], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

#[test]
fn a_loader_goes_on_where_another_was() {
    let td = line(10);
    let new = || td.batches(3).shuffle(1).drop_last().num_workers(1).loader().unwrap();
    let (mut one, mut other) = (new(), new());
    assert_eq!(one.num_batches(), 3);
    one.next_batch().unwrap().unwrap();
    one.next_batch().unwrap().unwrap();
    other.load_state(&one.state().unwrap()).unwrap();
    assert_eq!((other.epoch(), other.batch()), (0, 2));
    assert_eq!(
        rows(&one.next_batch().unwrap().unwrap()),
        rows(&other.next_batch().unwrap().unwrap())
    );
    assert!(one.next_batch().unwrap().is_none());
    assert_eq!((&mut one).into_iter().count(), 3);
    let error = other.load_state(&TensorDict::new(()).unwrap()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Key);
}

#[test]
fn slices_weights_ranks_and_keys() {
    let td = line(10);
    let slices = td.batches(2).slices(3).slice_step(1).episode("episode").keys(keys!["a"]);
    let batch = slices.into_iter().next().unwrap().unwrap();
    assert_eq!(batch.batch_size(), [2, 3]);
    assert_eq!(rows(&batch), [0, 1, 2, 1, 2, 3]);
    assert!(batch.tensor("episode").is_err());
    let short = td.batches(10).slices(3).episode("episode").short_slices();
    assert_eq!(rows(&short.into_iter().next().unwrap().unwrap()), (0..10).collect::<Vec<i64>>());
    let weights = Tensor::from_vec((0..10).map(|i| f64::from(i == 6)).collect(), [10]).unwrap();
    for batch in td.batches(4).weights(&weights, 8).seed(3) {
        assert_eq!(rows(&batch.unwrap()), [6, 6, 6, 6]);
    }
    let drawn: usize =
        td.batches(4).with_replacement(30).into_iter().map(|b| rows(&b.unwrap()).len()).sum();
    assert_eq!(drawn, 30);
    let mut all: Vec<i64> = (0..3)
        .flat_map(|rank| td.batches(2).shuffle(5).rank(rank, 3))
        .flat_map(|batch| rows(&batch.unwrap()))
        .collect();
    all.sort_unstable();
    assert_eq!(all, (0..10).collect::<Vec<i64>>());
    let flat = td.view([2, 5]).unwrap();
    assert_eq!(rows(&flat.batches(7).flat().into_iter().next().unwrap().unwrap()).len(), 7);
}

#[test]
fn a_module_works_on_each_batch() {
    let td = line(6);
    let copy = |mut td: TensorDict| -> Result<TensorDict> {
        let a = td.tensor("a")?;
        td.set("b", a)?;
        Ok(td)
    };
    let module = TensorDictModule::new(["a"], ["b"], copy).unwrap();
    for batch in td.batches(2).num_workers(2).transform(&module) {
        let batch = batch.unwrap();
        assert_eq!(batch.tensor("b").unwrap().to_vec::<i64>().unwrap(), rows(&batch));
    }
}

#[test]
fn what_fails_is_the_first_item() {
    let td = line(3);
    let mut batches = td.batches(0).into_iter();
    let error = batches.next().unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.to_string().contains("rows is 0"), "{error}");
    assert!(batches.next().is_none());
    assert_eq!(
        td.batches(1).ends(["nope"]).slices(2).loader().err().unwrap().kind(),
        ErrorKind::Key
    );
}

#[test]
fn random_numbers_have_generators() {
    let mut one = Generator::new(42).unwrap();
    let mut other = Generator::new(1).unwrap();
    let order = |generator: &mut Generator| -> Vec<i64> {
        Tensor::randperm(50, Some(generator)).unwrap().to_vec().unwrap()
    };
    order(&mut one);
    other.load_state(&one.state().unwrap()).unwrap();
    assert_eq!(order(&mut one), order(&mut other));
    let drawn = Tensor::randint(3, 5, [20], DType::I32, None).unwrap().to_vec::<i32>().unwrap();
    assert!(drawn.iter().all(|number| (3..5).contains(number)));
    let numbers = Tensor::arange(4, 0, -2, DType::F32).unwrap();
    assert_eq!(numbers.to_vec::<f32>().unwrap(), [4.0, 2.0]);
    assert!(Tensor::randperm(-1, None).is_err());
}
