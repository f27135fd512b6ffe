//! Values go to other threads; errors and the log stay where they belong.

mod common;

use std::sync::{Arc, Mutex};

use common::{counting, ints, sample};
use tensordict::{
    clear_log, set_grad_enabled, set_log, DictMut, ErrorKind, Keys, Tensor, TensorDict, Writer,
};

fn goes_to_threads<T: Send>() {}

#[test]
fn everything_that_owns_can_be_sent() {
    goes_to_threads::<Tensor>();
    goes_to_threads::<TensorDict>();
    goes_to_threads::<DictMut<'static>>();
    goes_to_threads::<Keys>();
    goes_to_threads::<Writer<'static>>();
    goes_to_threads::<tensordict::Error>();
}

#[test]
fn dictionaries_are_made_on_one_thread_and_used_on_another() {
    let workers: Vec<_> = (0..4i64)
        .map(|number| {
            let mut td = sample();
            std::thread::spawn(move || {
                td.fill_at(0, &Tensor::scalar(number).unwrap()).unwrap();
                td
            })
        })
        .collect();
    for (number, worker) in workers.into_iter().enumerate() {
        assert_eq!(ints(&worker.join().unwrap(), "a")[0], number as i64);
    }
}

#[test]
fn errors_and_gradients_belong_to_a_thread() {
    assert!(!set_grad_enabled(true));
    let other = std::thread::spawn(|| {
        let error = counting(&[2]).at(7).unwrap_err();
        (error.kind(), set_grad_enabled(false))
    });
    assert_eq!(other.join().unwrap(), (ErrorKind::Index, false));
    assert!(set_grad_enabled(false));
}

#[test]
fn a_logger_is_dropped_when_replaced() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&lines);
    set_log(move |level, line| kept.lock().unwrap().push((level, line.to_owned())));
    assert_eq!(Arc::strong_count(&lines), 2);
    let _ = counting(&[2]).at(7);
    clear_log();
    assert_eq!(Arc::strong_count(&lines), 1);
}
