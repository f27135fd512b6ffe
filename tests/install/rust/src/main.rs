//! A program of its own, against the library that pkg-config finds.
use tensordict::{DType, Tensor, TensorDict};

fn main() -> tensordict::Result<()> {
    let mut td = TensorDict::new([3, 4])?;
    td.set("reward", Tensor::zeros([3, 4, 1], DType::F32)?)?;
    assert_eq!(td.at(0)?.batch_size(), [4]);
    println!("{td}");
    Ok(())
}
