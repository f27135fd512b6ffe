//! What the pages of docs/guide quote.

mod common;

use common::Scratch;
use tensordict::{
    i, keys, AppendOptions, DType, Dataset, DatasetKind, DatasetOptions, DatasetSaveOptions,
    DatasetWriter, Ellipsis, ErrorKind, MemmapOptions, NewAxis, PackOptions, Replay, ReplayOptions,
    Result, Step as _, Tensor, TensorDict, Writer,
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

#[test]
fn entries() -> Result<()> {
    let mut state = TensorDict::from_pairs([2], [("obs", Tensor::zeros([2], DType::F32)?)])?;
    // [set]
    state.set(("agent", "pos"), Tensor::from_slice(&[0.0f32, 1.0], [2])?)?;
    let pos = state.tensor(("agent", "pos"))?; // the tensor itself, no copy
    let agent = state.dict("agent")?; // the dictionary itself
                                      // [/set]
    assert_eq!(pos.to_vec::<f32>()?, [0.0, 1.0]);
    assert!(agent.contains("pos"));
    let mut step = TensorDict::new([2])?;
    step.set("obs", Tensor::from_slice(&[1.0f32, 1.0], [2])?)?;
    step.set(("agent", "vel"), Tensor::from_slice(&[1.0f32, 1.0], [2])?)?;
    // [update]
    state.update(&step)?; // the tensors of `step` are stored in `state`

    state.lock()?;
    state.update_inplace(&step)?; // their values are written into existing entries
    state.unlock()?;
    // [/update]
    // [select]
    let wanted = keys![("agent", "pos"), "obs"];
    let part = state.select(&wanted)?;
    let rest = state.exclude(&wanted)?;
    // [/select]
    assert!(part.contains(("agent", "pos")) && !part.contains(("agent", "vel")));
    assert!(rest.contains(("agent", "vel")) && !rest.contains("obs"));
    Ok(())
}

/// Steps of which every twentieth ends an episode.
fn played(count: i64) -> Result<TensorDict> {
    let numbers = || 0..count;
    let mut td = TensorDict::new([count])?;
    td.set("observation", Tensor::from_vec(numbers().map(|k| k as f32).collect(), [count])?)?;
    td.set("episode", Tensor::from_vec(numbers().map(|k| k / 20).collect(), [count])?)?;
    let done = numbers().map(|k| k % 20 == 19).collect();
    td.set(("next", "done"), Tensor::from_vec(done, [count, 1])?)?;
    Ok(td)
}

#[test]
fn rows_of_a_buffer() -> Result<()> {
    let steps = played(100)?;
    // [sample]
    let replay = Replay::new(500, ReplayOptions::new())?;
    replay.extend(&steps)?; // steps of batch size [100]: 100 rows
    let batch = replay.sample(64)?; // "index" has their places
                                    // [/sample]
    assert_eq!(batch.batch_size(), [64]);
    Ok(())
}

#[test]
fn recorder_and_learner() -> Result<()> {
    let scratch = Scratch::new();
    let (folder, checkpoint) = (scratch.path("replay"), scratch.path("checkpoint"));
    Replay::new(500, ReplayOptions::new().folder(&folder))?;
    let steps = played(100)?;
    // [record]
    let replay = Replay::open(&folder, ReplayOptions::new())?;
    for step in 0..100 {
        let row = steps.at(step)?; // a row has no batch dimension
        replay.add(&row)?; // from now on the learner may draw it
    }
    // [/record]
    let errors_of = |batch: &TensorDict| batch.tensor("observation");
    // [learn]
    let options = ReplayOptions::new().prioritized(0.7, 0.4); // alpha and beta
    let replay = Replay::open(&folder, options)?;
    for _ in 0..10 {
        let batch = replay.sample(64)?;
        let errors = errors_of(&batch)?; // learn; "priority_weight" says how much each row counts
        replay.update_priority(&batch.tensor("index")?, &errors)?;
    }
    replay.save(&checkpoint)?;
    // [/learn]
    // [slices]
    let options = ReplayOptions::new().slices(16).ends([("next", "done")]).seed(42);
    let replay = Replay::load(&checkpoint, options)?;
    let batch = replay.sample(8 * 16)?; // 8 slices, one behind the other: batch size [128]
                                        // [/slices]
    assert_eq!(batch.batch_size(), [128]);
    Ok(())
}

#[test]
fn recording() -> Result<()> {
    let scratch = Scratch::new();
    let (dir, model) = (scratch.path("recording"), scratch.path("model"));
    // [append]
    for _episode in 0..5 {
        let chunk = played(100)?;
        chunk.memmap_append(&dir, AppendOptions::new())?; // all of it, or nothing
    }
    // [/append]
    let state = played(3)?;
    // [checkpoint]
    let options = MemmapOptions::new()
        .durable(true) // a loss of power leaves the old one or this one, too
        .checksums(true); // for verify_memmap
    state.memmap_with(Some(&model), options)?;
    // [/checkpoint]
    // [verify]
    for damage in TensorDict::verify_memmap(&model, 1)? {
        println!("damaged: {}", damage.path);
    }
    // [/verify]
    assert!(TensorDict::verify_memmap(&model, 1)?.is_empty());
    let file = scratch.path("recording.tdz");
    // [pack]
    TensorDict::pack_memmap(&dir, &file, PackOptions::new())?;
    let all = TensorDict::load_memmap(&file)?; // mapped, not unpacked
                                               // [/pack]
    assert_eq!(all.batch_size(), [500]);
    Ok(())
}

#[test]
fn sets_of_other_libraries() -> Result<()> {
    let scratch = Scratch::new();
    let path = common::golden("../datasets/minari/cartpole");
    match Dataset::open(&path, &DatasetOptions::new()) {
        Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(()), // no HDF5
        other => drop(other?),
    }
    // [dataset]
    let set = Dataset::open(&path, &DatasetOptions::new())?; // what kind it is, is found by looking
    println!("{} episodes, {} steps", set.episodes()?, set.steps()?);
    println!("{}", set.structure()?); // no rows; the keys, dtypes and sizes of a step
                                      // [/dataset]
                                      // [dataset-read]
    let episode = set.episode(4)?; // reads nothing else
    let rows = set.rows(20, 32)?; // steps 20 to 51 of all episodes
                                  // [/dataset-read]
    assert_eq!(episode.batch_size(), [set.lengths()?[4]]);
    assert_eq!(rows.batch_size(), [32]);
    let mut steps = 0;
    // [dataset-batches]
    for batch in set.batches(32).shuffle(42).num_workers(2) {
        let batch = batch?; // learn from it
        steps += batch.batch_size()[0];
    }
    // [/dataset-batches]
    assert_eq!(steps, set.steps()?);
    let file = scratch.path("demos.hdf5");
    // [dataset-convert]
    let options = DatasetSaveOptions::new().deflate(4);
    set.convert(DatasetKind::Robomimic, &file, &options)?;
    // [/dataset-convert]
    assert_eq!(Dataset::open(&file, &DatasetOptions::new())?.steps()?, steps);
    let folder = scratch.path("mine-v0");
    // [dataset-record]
    let options = DatasetSaveOptions::new().resume(); // goes on with the set, if there is one
    let mut writer = DatasetWriter::open(&folder, DatasetKind::Minari, None, &options)?;
    for i in 0..3 {
        let steps = set.episode(i)?; // or what your program has played
        writer.add(&steps, None)?; // whatever happens now, it is in the set
    }
    writer.close()?;
    // [/dataset-record]
    assert_eq!(Dataset::open(&folder, &DatasetOptions::new())?.episodes()?, 3);
    Ok(())
}
