//! Data sets of other libraries.

use std::path::PathBuf;

use tensordict::{
    Dataset, DatasetKind, DatasetOptions, DatasetSaveOptions, DatasetVideo, DatasetWriter, EntryKind, ErrorKind, Replay, ReplayOptions, TensorDict,
};

fn path(name: &str) -> PathBuf {
    let tests = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../tests/data/datasets");
    PathBuf::from(tests).join(name)
}

// Nothing in a build without HDF5.
fn opened(name: &str, options: &DatasetOptions) -> Option<Dataset> {
    match Dataset::open(path(name), options) {
        Err(error) if error.kind() == ErrorKind::Unsupported => None,
        result => Some(result.unwrap()),
    }
}

#[test]
fn episodes_and_rows_are_read_alone() {
    let Some(set) = opened("minari/mixed", &DatasetOptions::new()) else { return };
    assert_eq!(set.kind().unwrap(), DatasetKind::Minari);
    assert_eq!(set.version().unwrap(), "0.5.4");
    assert_eq!((set.episodes().unwrap(), set.steps().unwrap()), (3, 15));
    assert_eq!(set.lengths().unwrap(), [3, 7, 5]);
    assert_eq!(set.structure().unwrap().batch_size(), [0]);
    let first = set.episode(0).unwrap();
    let rewards = first.tensor(["next", "reward"]).unwrap().to_vec::<f64>().unwrap();
    assert_eq!(rewards, [0.25, 0.5, 0.75]);
    let rows = set.rows(2, 2).unwrap();
    assert_eq!(rows.tensor("episode").unwrap().to_vec::<i64>().unwrap(), [0, 1]);
    assert_eq!(set.flat().unwrap().batch_size(), [15]);
    assert_eq!(set.episode_stack(1, 2).unwrap().batch_size(), [2, -1]);
    assert_eq!(set.episode(3).err().unwrap().kind(), ErrorKind::Index);
    let id = set.metadata().unwrap().text("dataset_id").unwrap();
    assert_eq!(id, "toy/mixed-hdf5-v0");
    assert!(set.episode_metadata(1).unwrap().contains("options"));
}

// FNV-1a of 64 bits.
fn hash(bytes: &[u8], hash: u64) -> u64 {
    bytes.iter().fold(hash, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn hash_of(flat: &TensorDict, key: &str) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325;
    if flat.kind([key]).unwrap() == Some(EntryKind::Tensor) {
        return hash(&flat.tensor([key]).unwrap().to_bytes().unwrap(), start);
    }
    (0..flat.batch_size()[0]).fold(start, |so_far, row| {
        let text = flat.row_text([key], row).unwrap();
        hash(&[text.as_bytes(), &[0]].concat(), so_far)
    })
}

/// The list of tests/conformance, which every language reads; the README there describes it.
#[test]
fn all_sets_have_the_hashes_of_the_list() {
    let data = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../tests"));
    let list = std::fs::read_to_string(data.join("conformance/datasets.txt")).unwrap();
    let (mut flat, mut entries) = (None, 0);
    for line in list.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [key, want] = words[..] {
            let Some(flat) = &flat else { continue };
            assert_eq!(format!("{:016x}", hash_of(flat, key)), want, "{key}");
            entries += 1;
            continue;
        }
        let opened = Dataset::open(data.join("data").join(words[0]), &DatasetOptions::new()).and_then(|set| {
            let about = [format!("{:?}", set.kind()?).to_lowercase(), set.episodes()?.to_string(), set.steps()?.to_string()];
            assert_eq!(about[..], words[1..], "{}", words[0]);
            set.flat()?.flatten_keys("/")
        });
        flat = match opened {
            Err(error) if error.kind() == ErrorKind::Unsupported => None,
            result => Some(result.unwrap()),
        };
    }
    assert!(entries > 30);
}

#[test]
fn pictures_are_decoded() {
    let Some(set) = opened("minari/mixed", &DatasetOptions::new().decode()) else { return };
    let flat = match set.flat() {
        Err(error) if error.kind() == ErrorKind::Unsupported => return,
        result => result.unwrap(),
    };
    let camera = flat.tensor(["observation", "camera"]).unwrap();
    assert_eq!(camera.shape(), [15, 32, 36, 3]);
    let sum: i64 = camera.to_vec::<u8>().unwrap().iter().map(|&pixel| i64::from(pixel)).sum();
    assert_eq!(sum, 4_640_391);
}

#[test]
fn batches_are_read_from_the_set() {
    let Some(set) = opened("minari/cartpole", &DatasetOptions::new()) else { return };
    let flat = set.flat().unwrap();
    let pairs = set.batches(16).shuffle(3).num_workers(2).into_iter().zip(flat.batches(16).shuffle(3));
    let mut rows = 0;
    for (read, wanted) in pairs {
        let (read, wanted) = (read.unwrap(), wanted.unwrap());
        assert!(read.equal(&wanted).unwrap());
        rows += read.batch_size()[0];
    }
    assert_eq!(rows, 113);
}

#[test]
fn a_buffer_draws_from_the_set() {
    let Some(set) = opened("minari/cartpole", &DatasetOptions::new()) else { return };
    let options = ReplayOptions::new().slices(4).seed(3);
    let replay = Replay::from_dataset(&set, options.clone()).unwrap();
    let held = Replay::new(113, options.episode("episode")).unwrap();
    let flat = set.flat().unwrap();
    held.extend(&flat).unwrap();
    assert!(replay.sample(16).unwrap().equal(&held.sample(16).unwrap()).unwrap());
    assert_eq!(replay.extend(&flat).unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn videos_are_entries() {
    for (set, found) in [(DatasetOptions::new().videos(), true), (DatasetOptions::new(), false)] {
        let rows = Dataset::open(path("lerobot/cams_v21"), &set).unwrap().structure().unwrap();
        let top = ["observation", "image", "top"];
        assert_eq!(rows.contains(top), found);
        assert!(!found || rows.tensor(top).unwrap().shape() == [0, 32, 48, 3]);
    }
}

#[test]
fn bags_have_a_row_for_each_message_or_at_a_rate() {
    let bag = path("../bags/robot_plain.mcap");
    let set = Dataset::open(&bag, &DatasetOptions::new().clock("/cmd_vel").unwrap()).unwrap();
    assert_eq!(set.kind().unwrap(), DatasetKind::Ros);
    let speed = set.flat().unwrap().tensor(["cmd_vel", "linear", "x"]).unwrap();
    assert_eq!(speed.to_vec::<f64>().unwrap(), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    let set = Dataset::open(&bag, &DatasetOptions::new().rate(10.0)).unwrap();
    assert_eq!(set.steps().unwrap(), 10);
}

#[test]
fn a_kind_is_told_and_episodes_are_cut() {
    let options =
        DatasetOptions::new().kind(DatasetKind::D4rl).max_episode_steps(12).limits(1 << 20, 100);
    let Some(set) = opened("d4rl/chunks.hdf5", &options) else { return };
    assert_eq!(set.lengths().unwrap(), [12, 12, 1, 5]);
    let wrong = Dataset::open(
        path("d4rl/chunks.hdf5"),
        &DatasetOptions::new().kind(DatasetKind::Robomimic),
    );
    assert_eq!(wrong.err().unwrap().kind(), ErrorKind::Format);
}

#[test]
fn lerobot_is_written_in_version_2_1() {
    let Some(set) = opened("lerobot/arm", &DatasetOptions::new()) else { return };
    let folder = std::env::temp_dir().join(format!("td-{}-arm", std::process::id()));
    let options = DatasetSaveOptions::new().lerobot_v21().lossy();
    set.convert(DatasetKind::LeRobot, &folder, &options).unwrap();
    let again = Dataset::open(&folder, &DatasetOptions::new()).unwrap();
    assert_eq!(again.version().unwrap(), "v2.1");
    assert_eq!(again.lengths().unwrap(), set.lengths().unwrap());
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn pictures_of_lerobot_become_videos() {
    let Some(set) = opened("lerobot/arm", &DatasetOptions::new()) else { return };
    let folder = std::env::temp_dir().join(format!("td-{}-videos", std::process::id()));
    for (video, is_good) in [(DatasetVideo::H264, false), (DatasetVideo::Av1, true)] {
        let options = DatasetSaveOptions::new().video(video).video_quality(60);
        let done = set.convert(DatasetKind::LeRobot, &folder, &options);
        if matches!(&done, Err(error) if error.kind() == ErrorKind::Unsupported) {
            return; // no module for videos, or no encoder
        }
        assert_eq!(done.is_ok(), is_good); // H.264 ends at 51
    }
    let again = Dataset::open(&folder, &DatasetOptions::new()).unwrap();
    let front = ["observation", "image", "front"];
    assert!(!again.structure().unwrap().contains(front));
    let again = Dataset::open(&folder, &DatasetOptions::new().videos()).unwrap();
    assert_eq!(again.flat().unwrap().tensor(front).unwrap().shape(), [14, 24, 32, 3]);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_set_is_written_as_another_kind() {
    let Some(set) = opened("minari/cartpole", &DatasetOptions::new()) else { return };
    let file = std::env::temp_dir().join(format!("td-{}-demos.hdf5", std::process::id()));
    let options = DatasetSaveOptions::new().deflate(1).durable();
    set.convert(DatasetKind::Robomimic, &file, &options).unwrap();
    let again = Dataset::open(&file, &DatasetOptions::new()).unwrap();
    assert_eq!(again.kind().unwrap(), DatasetKind::Robomimic);
    assert_eq!(again.lengths().unwrap(), set.lengths().unwrap());
    let refused = set.convert(DatasetKind::D4rl, &file, &options);
    assert_eq!(refused.err().unwrap().kind(), ErrorKind::Unsupported);
    let (flat, metadata) = (set.flat().unwrap(), set.metadata().unwrap());
    let lossy = DatasetSaveOptions::new().lossy();
    flat.save_dataset(DatasetKind::D4rl, &file, Some(&metadata), &lossy).unwrap();
    flat.save_dataset(DatasetKind::D4rl, &file, None, &lossy).unwrap();
    let again = Dataset::open(&file, &DatasetOptions::new()).unwrap();
    assert_eq!(again.steps().unwrap(), 113);
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn a_set_is_written_by_episodes() {
    let Some(set) = opened("minari/cartpole", &DatasetOptions::new()) else { return };
    let file = std::env::temp_dir().join(format!("td_rust_writer_{}.hdf5", std::process::id()));
    let kind = DatasetKind::Robomimic;
    let metadata = set.metadata().unwrap();
    for i in 0..2 {
        let options = DatasetSaveOptions::new().resume();
        let mut writer = DatasetWriter::open(&file, kind, Some(&metadata), &options).unwrap();
        assert_eq!(writer.episodes().unwrap(), i);
        let about = set.episode_metadata(i).unwrap();
        writer.add(&set.episode(i).unwrap(), Some(&about)).unwrap();
        assert_eq!(format!("{writer:?}"), format!("DatasetWriter({} episodes)", i + 1));
        writer.close().unwrap();
        let late = writer.add(&set.episode(i).unwrap(), None).err().unwrap();
        assert_eq!(late.kind(), ErrorKind::InvalidArgument);
    }
    let again = Dataset::open(&file, &DatasetOptions::new()).unwrap();
    assert_eq!(again.lengths().unwrap(), set.lengths().unwrap()[..2]);
    assert_eq!(format!("{again:?}"), "Dataset(Robomimic, 2 episodes)");
    let rate = DatasetSaveOptions::new().fps(10.0);
    let refused = DatasetWriter::open(&file, kind, None, &rate).err().unwrap();
    assert!(refused.to_string().contains("fps is of LeRobot alone"), "{refused}");
    std::fs::remove_file(&file).unwrap();
}
