//! A policy with memory: its state goes from step to step, and ends where an episode begins.

use std::path::{Path, PathBuf};

use tensordict::{DType, LoadModuleOptions, Result, Tensor, TensorDict, TensorDictModule};

const ENVIRONMENTS: i64 = 4;
const SEEN: i64 = 8;
const HIDDEN: i64 = 32;

fn gallery(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/data/gallery").join(name)
}

// [begin]
/// A memory without anything in it.
fn begin() -> Result<TensorDict> {
    let state = || Tensor::zeros([ENVIRONMENTS, 1, HIDDEN], DType::F32);
    TensorDict::from_pairs(
        [ENVIRONMENTS],
        [("recurrent_state_h", state()?), ("recurrent_state_c", state()?)],
    )
}
// [/begin]

// [act]
/// One step of all environments. The new state takes the place of the old one; nothing is copied.
fn act(
    td: &mut TensorDict,
    policy: &TensorDictModule,
    seen: &[f32],
    is_init: &[bool],
) -> Result<Vec<f32>> {
    td.set("observation", Tensor::from_slice(seen, [ENVIRONMENTS, SEEN])?)?;
    td.set("is_init", Tensor::from_slice(is_init, [ENVIRONMENTS, 1])?)?; // true: forget
    policy.call_inplace(td)?; // sets "action" and "next"
    for name in ["recurrent_state_h", "recurrent_state_c"] {
        td.rename_key(("next", name), name)?;
    }
    td.tensor("action")?.to_vec()
}
// [/act]

/// Python has taken the same steps, environment by environment with other beginnings.
#[test]
fn each_step_is_that_of_python() {
    let policy =
        TensorDictModule::load(gallery("recurrent.pt"), &LoadModuleOptions::new()).unwrap();
    let steps = TensorDict::load_memmap(gallery("recurrent_steps")).unwrap();
    let mut td = begin().unwrap();
    for i in 0..steps.batch_size()[0] {
        let step = steps.at(i).unwrap();
        let seen: Vec<f32> = step.tensor("observation").unwrap().to_vec().unwrap();
        let is_init: Vec<bool> = step.tensor("is_init").unwrap().to_vec().unwrap();
        let want: Vec<f32> = step.tensor("action").unwrap().to_vec().unwrap();
        let have = act(&mut td, &policy, &seen, &is_init).unwrap();
        assert_eq!(have.len(), want.len());
        let off = have.iter().zip(&want).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(off < 1e-5, "step {i} is off by {off}");
    }
}

/// Without the resets the same steps give other actions.
#[test]
fn a_memory_that_is_not_reset_acts_otherwise() {
    let policy =
        TensorDictModule::load(gallery("recurrent.pt"), &LoadModuleOptions::new()).unwrap();
    let seen = [0.5; (ENVIRONMENTS * SEEN) as usize];
    let mut td = begin().unwrap();
    let first = act(&mut td, &policy, &seen, &[false; 4]).unwrap();
    let second = act(&mut td, &policy, &seen, &[true, false, true, false]).unwrap();
    for row in 0..4 {
        let same = first[2 * row..][..2] == second[2 * row..][..2];
        assert_eq!(same, row % 2 == 0, "row {row}");
    }
}
