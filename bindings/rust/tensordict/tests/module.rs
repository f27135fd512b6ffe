//! Networks that Python wrote, closures, sequences and distributions over dictionaries.

mod common;

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use common::{counting, Scratch};
use tensordict::{
    CloseOptions, Distribution, DistributionKind, Error, ErrorKind, Interaction, LoadModuleOptions,
    Module, ModuleCall, ProbabilisticOptions, Result, Tensor, TensorDict, TensorDictModule,
};

fn archive(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/golden2/data/modules").join(name)
}

fn network() -> TensorDictModule {
    TensorDictModule::load(archive("mlp.pt"), &LoadModuleOptions::new()).unwrap()
}

fn observations(n: i64) -> TensorDict {
    let values: Vec<f32> = (0..n * 4).map(|i| i as f32 / 4.0 - 1.0).collect();
    let observation = Tensor::from_vec(values, [n, 4]).unwrap();
    TensorDict::from_pairs([n], [("observation", observation)]).unwrap()
}

fn near(a: &[f32], b: &[f32]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5)
}

fn actions(td: &TensorDict) -> Vec<f32> {
    td.tensor("action").unwrap().to_vec().unwrap()
}

#[test]
fn a_network_computes_what_it_computed_in_python() {
    let module = network();
    assert_eq!(module.in_keys(), ["observation"]);
    assert_eq!(module.out_keys(), ["action"]);
    assert_eq!(
        module.to_string(),
        "ScriptModule(in_keys=[\"observation\"], out_keys=[\"action\"])"
    );
    let data = TensorDict::load_memmap(archive("mlp_data")).unwrap();
    let want = actions(&TensorDict::load_memmap(archive("mlp_expected")).unwrap());
    let mut td = data.shallow_copy().unwrap();
    for _ in 0..3 {
        module.call_inplace(&mut td).unwrap();
        assert!(near(&actions(&td), &want));
    }
    let frozen =
        TensorDictModule::load(archive("mlp.pt"), &LoadModuleOptions::new().freeze()).unwrap();
    assert!(near(&actions(&frozen.call(&data).unwrap()), &want));
    assert!(frozen.params().unwrap().is_empty());
}

/// A folder below tests/data.
fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/data").join(name)
}

#[test]
fn the_gallery_acts_as_in_python() {
    for name in ["feed_forward", "recurrent", "masked", "image", "multi_agent"] {
        let file = data(&format!("gallery/{name}.pt"));
        let module = TensorDictModule::load(file, &LoadModuleOptions::new()).unwrap();
        let given = TensorDict::load_memmap(data(&format!("gallery/{name}_data"))).unwrap();
        let want = TensorDict::load_memmap(data(&format!("gallery/{name}_expected"))).unwrap();
        let mut td = given.shallow_copy().unwrap();
        module.call_inplace(&mut td).unwrap();
        let close = CloseOptions::new().tolerance(1e-5, 1e-5);
        assert_eq!(td.difference(&want, close).unwrap(), None, "{name}");
    }
}

#[test]
fn statistics_change_in_training() {
    let file = data("trained/in_training.pt");
    let given = TensorDict::load_memmap(data("trained/in_training_data")).unwrap();
    let want = TensorDict::load_memmap(data("trained/in_training_trained_params")).unwrap();
    let module = TensorDictModule::load(&file, &LoadModuleOptions::new().train()).unwrap();
    for _ in 0..2 {
        module.call(&given).unwrap();
    }
    let close = CloseOptions::new().tolerance(1e-5, 1e-5);
    assert_eq!(module.params().unwrap().difference(&want, close).unwrap(), None);
    let frozen = LoadModuleOptions::new().train().freeze();
    assert_eq!(
        TensorDictModule::load(&file, &frozen).unwrap_err().kind(),
        ErrorKind::InvalidArgument
    );
}

#[test]
fn what_is_refused() {
    let wrong = |options: LoadModuleOptions| {
        TensorDictModule::load(archive("mlp.pt"), &options).unwrap_err().kind()
    };
    assert_eq!(wrong(LoadModuleOptions::new().sha256("00")), ErrorKind::InvalidArgument);
    assert_eq!(wrong(LoadModuleOptions::new().sha256("0".repeat(64))), ErrorKind::Format);
    assert_eq!(wrong(LoadModuleOptions::new().in_keys(["a", "b"])), ErrorKind::InvalidArgument);
    let none = TensorDict::new([2]).unwrap();
    assert_eq!(network().call(&none).unwrap_err().kind(), ErrorKind::Key);
    assert!(TensorDictModule::load("/no/such/file.pt", &LoadModuleOptions::new()).is_err());
}

#[test]
fn parameters_are_dictionaries() {
    let (module, td) = (network(), observations(3));
    let sets = TensorDict::load_memmap(archive("mlp_ensemble_params")).unwrap();
    let one = sets.at(1).unwrap();
    let call = ModuleCall::new().params(&one);
    let swapped = actions(&module.call_with(&td, call).unwrap());
    let all = module.call_with(&td, ModuleCall::new().params(&sets)).unwrap();
    assert_eq!(all.batch_size(), [3, 3]);
    assert!(near(&actions(&all.at(1).unwrap().shallow_copy().unwrap()), &swapped));
    let before = actions(&module.call(&td).unwrap());
    assert!(!near(&before, &swapped));
    module.set_params(&one).unwrap();
    assert!(near(&actions(&module.call(&td).unwrap()), &swapped));
    let other = sets.at(0).unwrap();
    module.set_params_of("0", &other.dict("0").unwrap()).unwrap();
    assert!(module.set_params(&other.dict("0").unwrap()).is_err());
    let inputs = TensorDict::stack([&td, &td, &td], 0).unwrap();
    let call = ModuleCall::new().params(&sets).map_input();
    assert_eq!(module.call_with(&inputs, call).unwrap().batch_size(), [3, 3]);
}

#[test]
fn closures_are_modules() {
    let offset = 10;
    let add = TensorDictModule::new(["x"], ["y"], move |mut td: TensorDict| -> Result<_> {
        let y = td.tensor("x")?.to_vec::<i64>()?.iter().map(|x| x + offset).collect::<Vec<_>>();
        td.set("y", Tensor::from_vec(y, [2])?)?;
        Ok(td)
    })
    .unwrap();
    let mut td = TensorDict::from_pairs([2], [("x", counting(&[2]))]).unwrap();
    assert_eq!(add.call(&td).unwrap().tensor("y").unwrap().to_vec::<i64>().unwrap(), [10, 11]);
    let rename = TensorDictModule::new(["y"], ["z"], |mut td: TensorDict| -> Result<_> {
        let y = td.tensor("y")?;
        td.set("z", y)?;
        Ok(td)
    })
    .unwrap();
    let row = TensorDictModule::sequence(&[&add, &rename]).unwrap();
    assert_eq!(row.in_keys(), ["x"]);
    assert_eq!(row.out_keys(), ["y", "z"]);
    row.select_out_keys(["z"]).unwrap().call_inplace(&mut td).unwrap();
    assert!(td.contains("z") && !td.contains("y"));
    let first = row.select_subsequence(None, Some(&["y"])).unwrap();
    assert_eq!(first.out_keys(), ["y"]);
    assert!(row.select_subsequence(Some(&["q"]), None).is_err());
    let empty = TensorDict::new([2]).unwrap();
    let tolerant = TensorDictModule::partial_sequence(&[&add]).unwrap();
    assert!(tolerant.call(&empty).unwrap().is_empty());
}

struct Constant(i64);

impl Module for Constant {
    fn forward(&self, mut td: TensorDict) -> Result<TensorDict> {
        let batch = td.batch_size();
        td.set("c", Tensor::from_vec(vec![self.0; batch[0] as usize], batch)?)?;
        Ok(td)
    }
}

#[test]
fn types_are_modules_and_are_dropped() {
    struct Counted(Arc<()>);
    impl Module for Counted {
        fn forward(&self, td: TensorDict) -> Result<TensorDict> {
            Constant(Arc::strong_count(&self.0) as i64).forward(td)
        }
    }
    let count = Arc::new(());
    let none: [&str; 0] = [];
    let module = TensorDictModule::new(none, none, Counted(count.clone())).unwrap();
    let row = TensorDictModule::sequence(&[&module]).unwrap();
    drop(module);
    let td = TensorDict::from_pairs([1], [("x", counting(&[1]))]).unwrap();
    let result = row.forward(td).unwrap();
    assert_eq!(result.tensor("c").unwrap().item::<i64>().unwrap(), 2);
    drop(row);
    assert_eq!(Arc::strong_count(&count), 1);
}

#[test]
fn errors_and_panics_of_closures_come_back() {
    let td = TensorDict::from_pairs([2], [("x", counting(&[2]))]).unwrap();
    let fails = TensorDictModule::new(["x"], ["y"], |td: TensorDict| -> Result<TensorDict> {
        td.tensor("missing").map(|_| td)
    })
    .unwrap();
    let error: Error = fails.call(&td).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Key);
    let panics = TensorDictModule::new(["x"], ["y"], |_: TensorDict| -> Result<TensorDict> {
        panic!("no way")
    })
    .unwrap();
    let caught = catch_unwind(AssertUnwindSafe(|| panics.call(&td).map(drop))).unwrap_err();
    assert_eq!(caught.downcast_ref::<&str>(), Some(&"no way"));
    let lacks = TensorDictModule::new(["x"], ["y"], Ok).unwrap();
    assert_eq!(lacks.call(&td).unwrap_err().kind(), ErrorKind::Key);
}

#[test]
fn several_threads_call_one_module() {
    let module = network();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut td = observations(2);
                for _ in 0..50 {
                    module.call_inplace(&mut td).unwrap();
                }
            });
        }
    });
}

#[test]
fn distributions() {
    let module = TensorDictModule::load(archive("sequence.pt"), &LoadModuleOptions::new()).unwrap();
    let act = TensorDictModule::probabilistic(
        &[Distribution::new(
            DistributionKind::IndependentNormal,
            [("loc", "loc"), ("scale", "scale")],
            "action",
        )],
        &ProbabilisticOptions::new().return_log_prob().seed(3),
    )
    .unwrap();
    let row = TensorDictModule::sequence(&[&module, &act]).unwrap();
    let td = observations(4);
    let sure = row.call(&td).unwrap();
    assert_eq!(actions(&sure), sure.tensor("loc").unwrap().to_vec::<f32>().unwrap());
    let random = ModuleCall::new().interaction(Interaction::Random);
    let drawn = row.call_with(&td, random).unwrap();
    assert!(!near(&actions(&drawn), &actions(&sure)));
    let mut stored = td.shallow_copy().unwrap();
    stored.set("action", drawn.tensor("action").unwrap()).unwrap();
    let log_prob = row.log_prob(&stored).unwrap().tensor("action_log_prob").unwrap();
    let want = drawn.tensor("action_log_prob").unwrap();
    assert!(near(&log_prob.to_vec::<f32>().unwrap(), &want.to_vec::<f32>().unwrap()));
    let own = row.params().unwrap();
    let again = row.log_prob_with(&stored, ModuleCall::new().params(&own)).unwrap();
    assert!(again.equal(&row.log_prob(&stored).unwrap()).unwrap());
    let wrong = Distribution::new(DistributionKind::Delta, [("logits", "loc")], "x");
    assert!(TensorDictModule::probabilistic(&[wrong], &ProbabilisticOptions::new()).is_err());
    let halves = TensorDictModule::normal_params("h", "exp").unwrap();
    let h = TensorDict::from_pairs([1], [("h", Tensor::from_slice(&[7f32, 0.0], [1, 2]).unwrap())])
        .unwrap();
    assert_eq!(halves.call(&h).unwrap().tensor("scale").unwrap().to_vec::<f32>().unwrap(), [1.0]);
    let bounded =
        Distribution::new(DistributionKind::TanhNormal, [("loc", "loc"), ("scale", "scale")], "a")
            .between(0.0, 2.0)
            .tanh_loc(5.0)
            .log_prob_key(("lp", "a"));
    let options = ProbabilisticOptions::new().num_samples(3).return_log_prob();
    let sampled =
        TensorDictModule::probabilistic(&[bounded], &options.interaction(Interaction::Random))
            .unwrap()
            .call(&sure)
            .unwrap();
    assert_eq!(sampled.batch_size(), [3, 4]);
    assert!(sampled.contains(("lp", "a")));
    let laplace =
        Distribution::new(DistributionKind::Laplace, [("loc", "loc"), ("scale", "scale")], "a")
            .event();
    let scored = ProbabilisticOptions::new().return_log_prob();
    let one = TensorDictModule::probabilistic(&[laplace], &scored).unwrap().call(&sure).unwrap();
    assert_eq!(one.tensor("a").unwrap().shape().len(), 2);
    assert_eq!(one.tensor("a_log_prob").unwrap().shape(), [4]);
    let joints = Distribution::new(
        DistributionKind::TanhNormal,
        [("loc", "loc"), ("scale", "scale")],
        "a",
    );
    let joints = joints.between_each([(-1.0, 1.0), (2.0, 6.0)]);
    let one = TensorDictModule::probabilistic(&[joints], &scored).unwrap().call(&sure).unwrap();
    let values = one.tensor("a").unwrap().to_vec::<f32>().unwrap();
    assert!(values.chunks(2).all(|row| row[0] < 1.0 && (2.0..6.0).contains(&row[1])));
    let shares = Distribution::new(DistributionKind::Dirichlet, [("concentration", "scale")], "a");
    let one = TensorDictModule::probabilistic(&[shares], &scored).unwrap().call(&sure).unwrap();
    assert_eq!(one.tensor("a_log_prob").unwrap().shape(), [4]);
    let weighed = [("probs", "scale"), ("loc", "loc"), ("scale", "scale")];
    let mixed = Distribution::new(DistributionKind::Normal, weighed, "a").mixture();
    let one = TensorDictModule::probabilistic(&[mixed], &scored).unwrap().call(&sure).unwrap();
    let read = |name: &str| sure.tensor(name).unwrap().to_vec::<f32>().unwrap();
    let mean = |(loc, weight): (&[f32], &[f32])| {
        (loc[0] * weight[0] + loc[1] * weight[1]) / (weight[0] + weight[1])
    };
    let (loc, scale) = (read("loc"), read("scale"));
    let want: Vec<f32> = loc.chunks(2).zip(scale.chunks(2)).map(mean).collect();
    assert!(near(&one.tensor("a").unwrap().to_vec::<f32>().unwrap(), &want));
}

#[test]
fn saved_as_it_is_now() {
    let (module, scratch) = (network(), Scratch::new());
    let sets = TensorDict::load_memmap(archive("mlp_ensemble_params")).unwrap();
    module.set_params(&sets.at(2).unwrap()).unwrap();
    module.save(scratch.path("again.pt")).unwrap();
    let again =
        TensorDictModule::load(scratch.path("again.pt"), &LoadModuleOptions::new()).unwrap();
    let td = observations(2);
    assert_eq!(actions(&module.call(&td).unwrap()), actions(&again.call(&td).unwrap()));
}
