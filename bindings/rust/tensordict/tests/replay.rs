//! Replay buffers: rings and draws are tested in C; here the way into the language.

use tensordict::{
    ErrorKind, HindsightOptions, HindsightStrategy, Replay, ReplayOptions, Tensor, TensorDict,
    TensorDictModule,
};

fn rows(first: i64, n: i64) -> TensorDict {
    let a = Tensor::from_vec((first..first + n).collect(), [n]).unwrap();
    let episode = Tensor::from_vec((first..first + n).map(|i| i / 4).collect(), [n]).unwrap();
    let done = Tensor::from_vec((first..first + n).map(|i| i % 4 == 3).collect(), [n]).unwrap();
    TensorDict::from_pairs([n], [("a", a), ("episode", episode), ("done", done)]).unwrap()
}

fn drawn(replay: &Replay, rows: i64) -> Vec<i64> {
    replay.sample(rows).unwrap().tensor("a").unwrap().to_vec().unwrap()
}

#[test]
fn rows_go_around_and_threads_share() {
    let replay = Replay::new(10, ReplayOptions::new().random().seed(3).rows(6)).unwrap();
    replay.extend(&rows(0, 8)).unwrap();
    replay.add(&rows(8, 1).at(0).unwrap()).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| replay.extend(&rows(9, 3)).unwrap());
    });
    let where_is = (replay.num_rows(), replay.capacity(), replay.cursor(), replay.written());
    assert_eq!(
        (where_is.0.unwrap(), where_is.1.unwrap(), where_is.2.unwrap(), where_is.3.unwrap()),
        (10, 10, 2, 12)
    );
    let stored = replay.dict().unwrap().tensor("a").unwrap().to_vec::<i64>().unwrap();
    assert_eq!(stored, [10, 11, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert!(drawn(&replay, 0).iter().all(|a| (2..12).contains(a)));
    let error =
        replay.update_priority(&Tensor::scalar(0i64).unwrap(), &Tensor::scalar(1.0f64).unwrap());
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn samplers() {
    let once =
        Replay::new(9, ReplayOptions::new().without_replacement().in_order().drop_last()).unwrap();
    once.extend(&rows(0, 9)).unwrap();
    assert_eq!(drawn(&once, 4), [0, 1, 2, 3]);
    assert_eq!(drawn(&once, 4), [4, 5, 6, 7]);
    for options in [ReplayOptions::new().episode("episode"), ReplayOptions::new().ends(["done"])] {
        let slices = Replay::new(16, options.slices(3).short_slices()).unwrap();
        slices.extend(&rows(0, 16)).unwrap();
        for slice in drawn(&slices, 30).chunks(3) {
            assert_eq!((slice[0] / 4, slice[0] + 2), (slice[2] / 4, slice[2]));
        }
    }
    let options = ReplayOptions::new().episode("episode").slices(3).span_begin().span_end();
    let spanning = Replay::new(16, options).unwrap();
    spanning.extend(&rows(0, 16)).unwrap();
    let found = drawn(&spanning, 300);
    assert!(found.len() < 300 && (0..16).all(|row| found.contains(&row)));
    let options = ReplayOptions::new().prioritized(1.0, 1.0).eps(0.0).batch_weights();
    let replay = Replay::new(4, options).unwrap();
    replay.extend(&rows(0, 4)).unwrap();
    let index = Tensor::from_vec(vec![0i64, 1, 2, 3], [4]).unwrap();
    let priority = Tensor::from_vec(vec![0.0f32, 1.0, 0.0, 4.0], [4]).unwrap();
    replay.update_priority(&index, &priority).unwrap();
    replay.set_beta(0.5).unwrap();
    let batch = replay.sample(64).unwrap();
    let weights = batch.tensor("priority_weight").unwrap().to_vec::<f32>().unwrap();
    let places = batch.tensor("index").unwrap().to_vec::<i64>().unwrap();
    for (place, weight) in places.iter().zip(weights) {
        assert_eq!(weight, if *place == 1 { 1.0 } else { 0.5 });
    }
}

#[test]
fn slices() {
    let once = ReplayOptions::new().ends(["done"]).slices_without_replacement(3);
    let once = Replay::new(16, once).unwrap();
    once.extend(&rows(0, 16)).unwrap();
    let mut episodes: Vec<i64> = drawn(&once, 12).iter().step_by(3).map(|a| a / 4).collect();
    episodes.sort();
    assert_eq!(episodes, [0, 1, 2, 3]);
    let options = ReplayOptions::new().ends(["done"]).num_slices(2).span(1, 0).short_slices();
    let marked = Replay::new(16, options.mark_ends().by_slice()).unwrap();
    marked.extend(&rows(0, 10)).unwrap();
    let batch = marked.sample(6).unwrap();
    assert_eq!(batch.batch_size(), [2, 3]);
    let mask = batch.tensor(("collector", "mask")).unwrap().to_vec::<bool>().unwrap();
    let last = batch.tensor(("next", "truncated")).unwrap().to_vec::<bool>().unwrap();
    for (mask, last) in mask.chunks(3).zip(last.chunks(3)) {
        let length = mask.iter().filter(|real| **real).count();
        assert!((0..3).all(|k| mask[k] == (k < length) && last[k] == (k + 1 == length)));
    }
    let options = ReplayOptions::new().ends(["done"]).prioritized_slices(3, 1.0, 1.0).eps(0.0);
    let replay =
        Replay::new(16, options.priority_key("a").largest_within().batch_weights()).unwrap();
    replay.extend(&rows(0, 16)).unwrap();
    let batch = replay.sample(30).unwrap();
    let first = batch.tensor("index").unwrap().to_vec::<i64>().unwrap();
    assert!(first.chunks(3).all(|s| s[0] % 4 < 2 && s[2] == s[0] + 2));
    let time = Replay::new(16, ReplayOptions::new().dims(2)).unwrap();
    let a = Tensor::from_vec((0..8i64).collect(), [2, 4]).unwrap();
    time.extend(&TensorDict::from_pairs([2, 4], [("a", a)]).unwrap()).unwrap();
    let batch = time.sample(5).unwrap();
    let index = batch.tensor("index").unwrap().to_vec::<i64>().unwrap();
    let a = batch.tensor("a").unwrap().to_vec::<i64>().unwrap();
    assert!(index.chunks(2).zip(a).all(|(at, a)| a == 4 * at[0] + at[1]));
}

// Rows in episodes of four: their reward is their number, and so is the goal that they reach.
fn played(n: i64) -> TensorDict {
    let number = |k: i64| k as f32;
    let column = |values: Vec<f32>| Tensor::from_vec(values, [n]).unwrap();
    let mut td = rows(0, n);
    td.set(("next", "reward"), &column((0..n).map(number).collect())).unwrap();
    td.set("achieved_goal", &column((0..n).map(number).collect())).unwrap();
    td.set("desired_goal", &column(vec![-1.0; n as usize])).unwrap();
    td
}

#[test]
fn returns_of_several_steps() {
    let options = ReplayOptions::new().without_replacement().in_order().ends(["done"]);
    let options = options.n_steps(2, 0.5).rewards([("next", "reward")]).mask("done");
    let replay = Replay::new(8, options).unwrap();
    replay.extend(&played(8)).unwrap();
    let batch = replay.sample(8).unwrap();
    let rewards = batch.tensor(("next", "reward")).unwrap().to_vec::<f32>().unwrap();
    assert_eq!(rewards, [0.5, 2.0, 3.5, 3.0, 6.5, 8.0, 9.5, 7.0]);
    let steps = batch.tensor("steps_to_next_obs").unwrap().to_vec::<i64>().unwrap();
    assert_eq!(steps, [2, 2, 2, 1, 2, 2, 2, 1]);
    let refused = Replay::new(8, ReplayOptions::new().n_steps(2, 0.0));
    assert_eq!(refused.err().unwrap().kind(), ErrorKind::InvalidArgument);
}

#[test]
fn goals_in_hindsight() {
    let replay = Replay::new(8, ReplayOptions::new().ends(["done"])).unwrap();
    replay.extend(&played(8)).unwrap();
    let reward =
        TensorDictModule::new(["desired_goal"], [("next", "reward")], |mut td: TensorDict| {
            let goals = td.tensor("desired_goal")?.to_vec::<f32>()?;
            let doubled: Vec<f32> = goals.iter().map(|goal| 2.0 * goal).collect();
            td.set(("next", "reward"), &Tensor::from_vec(doubled, [goals.len() as i64])?)?;
            Ok(td)
        })
        .unwrap();
    let may: [(HindsightStrategy, fn(i64, i64) -> bool); 4] = [
        (HindsightStrategy::Future, |row, from| from >= row && from / 4 == row / 4),
        (HindsightStrategy::Final, |row, from| from == row / 4 * 4 + 3),
        (HindsightStrategy::Episode, |row, from| from / 4 == row / 4),
        (HindsightStrategy::Random, |_, from| from < 8),
    ];
    for (strategy, may) in may {
        let options = HindsightOptions::new().strategy(strategy).ratio(0.5);
        let options = options.goals("desired_goal", "achieved_goal").reward(("next", "reward"));
        let batch = replay.sample_hindsight(64, &options, Some(&reward)).unwrap();
        let rows = batch.tensor("a").unwrap().to_vec::<i64>().unwrap();
        let goals = batch.tensor("desired_goal").unwrap().to_vec::<f32>().unwrap();
        let rewards = batch.tensor(("next", "reward")).unwrap().to_vec::<f32>().unwrap();
        for i in 0..32 {
            assert!(may(rows[i], goals[i] as i64) && rewards[i] == 2.0 * goals[i]);
        }
        assert!((32..64).all(|i| goals[i] == -1.0 && rewards[i] == rows[i] as f32));
    }
    let fails = |td: TensorDict| td.tensor("none").map(|_| td);
    let fails = TensorDictModule::new(["desired_goal"], [("next", "reward")], fails).unwrap();
    let failed = replay.sample_hindsight(8, &HindsightOptions::new(), Some(&fails));
    assert_eq!(failed.err().unwrap().kind(), ErrorKind::Key);
    let options = HindsightOptions::new().ratio(2.0);
    let refused = replay.sample_hindsight(8, &options, None).err().unwrap();
    assert_eq!(refused.kind(), ErrorKind::InvalidArgument);
}

#[test]
fn folders() {
    let folder = std::env::temp_dir().join(format!("td_replay_{}", std::process::id()));
    let live = folder.join("live");
    let writer = Replay::new(8, ReplayOptions::new().folder(&live)).unwrap();
    let reader = Replay::open(&live, ReplayOptions::new().seed(2)).unwrap();
    writer.extend(&rows(0, 5)).unwrap();
    assert_eq!(reader.num_rows().unwrap(), 5);
    assert!(drawn(&reader, 20).iter().all(|a| *a < 5));
    writer.flush().unwrap();
    reader.save(folder.join("saved")).unwrap();
    let loaded = Replay::load(folder.join("saved"), ReplayOptions::new()).unwrap();
    assert_eq!(drawn(&loaded, 20), drawn(&reader, 20));
    assert_eq!(
        Replay::load(folder.join("none"), ReplayOptions::new()).err().unwrap().kind(),
        ErrorKind::Io
    );
    assert_eq!(
        Replay::new(0, ReplayOptions::new()).err().unwrap().kind(),
        ErrorKind::InvalidArgument
    );
    drop((writer, reader, loaded));
    std::fs::remove_dir_all(folder).unwrap();
}
