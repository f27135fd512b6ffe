//! Opens what rollout has recorded, takes a random minibatch and adds up the rewards.
//!
//!   read_rollout DIR [DIGITS_DIR]
//!
//! The same program exists in C, Julia and C#; the lines "returns" and "digits" must be the same.

use std::process::ExitCode;

use tensordict::{Result, TensorDict};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (rollout, digits) = match arguments.as_slice() {
        [dir] if !dir.starts_with('-') => (dir, None),
        [dir, digits] if !dir.starts_with('-') => (dir, Some(digits)),
        _ => {
            eprintln!("usage: read_rollout DIR [DIGITS_DIR]");
            return ExitCode::from(2);
        }
    };
    match read_episodes(rollout).and_then(|()| digits.map_or(Ok(()), |dir| read_digits(dir))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("read_rollout: {error}");
            ExitCode::FAILURE
        }
    }
}

fn read_episodes(dir: &str) -> Result<()> {
    let td = TensorDict::load_memmap(dir)?;
    println!("{td}");
    let steps = match td.batch_size().as_slice() {
        [_, steps] => (*steps).max(1) as usize,
        sizes => panic!("{dir} has the batch size {sizes:?}, not [episodes, steps]"),
    };

    let batch = minibatch(&td, 16)?;
    println!("minibatch of batch size {:?}", batch.batch_size());
    let position = batch.tensor(("observation", "position"))?.contiguous()?.to_bytes()?;

    let rewards = td.tensor(("next", "reward"))?;
    let returns: Vec<f64> = rewards
        .to_vec::<f32>()?
        .chunks(steps)
        .map(|episode| episode.iter().fold(0.0, |sum, reward| sum + f64::from(*reward)))
        .collect();
    let mean = returns.iter().fold(0.0, |sum, value| sum + value) / returns.len() as f64;
    let bytes: Vec<u8> = returns.iter().flat_map(|value| value.to_le_bytes()).collect();
    println!("returns {:016x} mean {mean:.6} minibatch {:016x}", hash(&bytes), hash(&position));
    Ok(())
}

/// Counts the classes in a minibatch of the digits that Python has saved.
fn read_digits(dir: &str) -> Result<()> {
    let batch = minibatch(&TensorDict::load_memmap(dir)?, 256)?;
    let mut counts = [0; 10];
    for label in batch.tensor("label")?.to_vec::<i64>()? {
        if let Some(count) = counts.get_mut(label as usize) {
            *count += 1;
        }
    }
    let counts: Vec<String> =
        counts.iter().enumerate().map(|(digit, count)| format!("{digit}:{count}")).collect();
    println!("digits {}", counts.join(" "));
    Ok(())
}

// [minibatch]
/// Rows of a dictionary at random, whatever its batch size.
fn minibatch(td: &TensorDict, count: usize) -> Result<TensorDict> {
    td.batches(count).flat().shuffle(42).into_iter().next().expect("there are rows")
}
// [/minibatch]

/// FNV-1a, 64 bit.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |value, byte| {
        (value ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    })
}
