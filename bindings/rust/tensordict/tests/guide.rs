//! What docs/guide/rust.md quotes.

mod common;

use common::Scratch;
use tensordict::{
    i, DType, Ellipsis, ErrorKind, NewAxis, Result, Step as _, Tensor, TensorDict, Writer,
};

fn recorded() -> Result<TensorDict> {
    // [make]
    let frames = vec![0.5f32; 3 * 4 * 84];
    let mut td = TensorDict::new([3, 4])?;
    td.set("obs", Tensor::from_vec(frames, [3, 4, 84])?)?; // the Vec moves in, no copy
    td.set(("agents", "reward"), Tensor::zeros([3, 4, 1], DType::F32)?)?;
    println!("{td}"); // reads like Python's repr
                      // [/make]
    Ok(td)
}

#[test]
fn parts() -> Result<()> {
    let mut td = recorded()?;
    // [index]
    let first = td.at(0)?; // batch [4], views
    let tail = td.at(i![.., -2..])?; // td[:, -2:]
    let odd = td.at(i![(1..).step(2), Ellipsis, NewAxis])?; // td[1::2, ..., None]
    assert_eq!(first.batch_size(), [4]);
    assert_eq!(tail.batch_size(), [3, 2]);
    assert_eq!(odd.batch_size(), [1, 4, 1]);

    td.set_at(i![0, 1], first.at(3)?)?;
    td.fill_at(i![2], &Tensor::scalar(0.0f32)?)?;
    // [/index]
    assert_eq!(td.tensor("obs")?.at(-1)?.to_vec::<f32>()?, [0.0; 4 * 84]);
    Ok(())
}

#[test]
fn minibatches() -> Result<()> {
    let td = recorded()?;
    let mut rows = 0;
    // [batches]
    for batch in td.batches(256).flat().shuffle(42).num_workers(2) {
        let batch = batch?; // learn from it
        rows += batch.batch_size()[0];
    }
    // [/batches]
    assert_eq!(rows, 12);
    Ok(())
}

#[test]
fn closures() -> Result<()> {
    let td = recorded()?;
    // [apply]
    let halves = td.apply(|t| t.to(DType::F16))?; // a closure over every tensor
    for entry in halves.leaves() {
        let (key, leaf) = entry?;
        println!("{key:?}: {:?} {}", leaf.shape(), leaf.dtype());
    }
    let named = td.map_named(|key, t| {
        if *key == ("agents", "reward") {
            t.to(DType::F64)
        } else {
            t.shallow_clone()
        }
    })?;
    // [/apply]
    assert_eq!(halves.tensor("obs")?.dtype(), DType::F16);
    assert_eq!(named.tensor(("agents", "reward"))?.dtype(), DType::F64);
    Ok(())
}

#[test]
fn failures() -> Result<()> {
    let mut td = recorded()?;
    // [errors]
    match td.get("missing") {
        Err(error) if error.kind() == ErrorKind::Key => println!("{error}"),
        other => drop(other?),
    }
    // [/errors]
    // [nested]
    td.dict_mut("agents")?.set("done", Tensor::zeros([3, 4, 1], DType::Bool)?)?;
    assert!(td.dict("agents")?.contains("done"));
    // [/nested]
    Ok(())
}

#[test]
fn memory() -> Result<()> {
    // [memory]
    let mut t = Tensor::from_vec(vec![1.0f32, 2.0, 3.0], [3])?;
    t.as_mut_slice::<f32>()?[0] = 9.0; // in place: the tensor owns its memory alone
    assert_eq!(t.to_vec::<f32>()?, [9.0, 2.0, 3.0]); // a copy

    let mut frame = [0.0f32; 84]; // memory of the engine, lent for a call
    Tensor::lend(&mut frame, [84], |t| {
        let mut td = TensorDict::from_pairs([84], [("frame", t)])?;
        td.fill_at(i![..10], &Tensor::scalar(1.0f32)?)
    })?;
    assert_eq!(frame.iter().sum::<f32>(), 10.0);
    // [/memory]
    Ok(())
}

#[test]
fn folders() -> Result<()> {
    let scratch = Scratch::new();
    let dir = scratch.path("rollout");
    // [folder]
    let row = TensorDict::from_pairs((), [("reward", Tensor::scalar(0.0f32)?)])?;
    let mut disk = row.expand([100_000])?.memmap_like(&dir)?; // zeros, as large as the disk

    let mut writer = Writer::open(&mut disk)?;
    let reward = writer.bind("reward")?;
    for step in 0..1000 {
        writer.put(reward, &[step as f32])?;
        writer.next_row()?;
    }
    writer.close()?;

    let loaded = TensorDict::load_memmap(&dir)?; // so does Python's TensorDict.load_memmap
    assert_eq!(loaded.at(999)?.tensor("reward")?.item::<f32>()?, 999.0);
    // [/folder]
    Ok(())
}
