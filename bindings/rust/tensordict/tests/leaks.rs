//! No handle stays open. One test only, as the count is that of the process.

mod common;

use common::{counting, sample, Scratch};
use tensordict::{
    abi_version, i, live_handles, torch_version, version, IndexList, Result, Tensor, TensorDict,
    Writer,
};

#[test]
fn every_handle_is_given_back() {
    assert_eq!(live_handles(), 0);
    let td = sample();
    assert_eq!(live_handles(), 1);
    let a = td.tensor("a").unwrap();
    assert_eq!(live_handles(), 2);
    drop((td, a));
    assert_eq!(live_handles(), 0);

    use_everything().unwrap();
    assert_eq!(live_handles(), 0);

    assert_eq!(version(), env!("CARGO_PKG_VERSION"));
    assert_eq!(abi_version(), 2);
    assert!(torch_version().split('.').count() >= 3, "{}", torch_version());
}

fn use_everything() -> Result<()> {
    let scratch = Scratch::new();
    let mut td = sample();
    let parts = td.unbind(0)?;
    TensorDict::stack(&parts, 0)?;
    td.set("again", counting(&[2, 3]))?;
    td.set("nested", &parts[0].unsqueeze(0)?.expand([2, 3])?)?;
    td.dict_mut("deep")?.set("d", counting(&[2, 3]))?;
    for entry in &td {
        drop(entry?);
    }
    td.leaves().next().unwrap().unwrap();
    let keys = td.keys();
    td.apply(Tensor::deep_clone)?;
    assert!(td.apply(|t| t.at(9)).is_err());
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        td.apply(|t| -> Result<Tensor> {
            let _kept = t.shallow_clone()?;
            panic!("on purpose")
        })
    }));
    assert!(panicked.is_err());
    let index: IndexList = "0".parse()?;
    td.set_at(i![1], &td.at(&index)?.deep_clone()?)?;
    // SAFETY: the structure is taken back at once.
    unsafe { Tensor::from_dlpack(counting(&[2]).to_dlpack()?.into_raw())? };
    drop(counting(&[2]).to_dlpack_legacy()?);
    let mut disk = td.memmap(scratch.path("td"))?;
    let mut writer = Writer::open(&mut disk)?;
    writer.bind("a")?;
    drop(writer);
    assert!(td.get("missing").is_err() && TensorDict::load_memmap(scratch.path("x")).is_err());
    drop(keys);
    Ok(())
}
