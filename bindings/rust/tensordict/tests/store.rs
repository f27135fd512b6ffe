//! Stores: what lies in the server is tested in C; here the way into the language.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tensordict::{i, ErrorKind, StoreOptions, Tensor, TensorDict, TensorDictStore};

struct Server {
    child: Child,
    folder: std::path::PathBuf,
}

impl Server {
    // None where there is no server to start, or the library has no client.
    fn start() -> Option<Self> {
        let folder = std::env::temp_dir().join(format!("td-store-rs-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let mut command = Command::new("redis-server");
        command.args(["--port", "0", "--save", "", "--appendonly", "no", "--unixsocket"]);
        command.arg(folder.join("s")).arg("--dir").arg(&folder).stdout(Stdio::null());
        let server = Self { child: command.spawn().ok()?, folder };
        for _ in 0..1000 {
            match TensorDictStore::new([1], &server.options()) {
                Ok(store) => {
                    store.delete().unwrap();
                    return Some(server);
                }
                Err(error) if error.kind() == ErrorKind::Unsupported => return None,
                Err(_) => std::thread::sleep(Duration::from_millis(10)),
            }
        }
        panic!("redis-server does not answer");
    }

    fn options(&self) -> StoreOptions {
        StoreOptions::new().unix_socket(self.folder.join("s").to_str().unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn numbers(tensor: tensordict::Result<Tensor>) -> Vec<i64> {
    tensor.unwrap().to_vec().unwrap()
}

#[test]
fn one_writes_and_another_reads() {
    let Some(server) = Server::start() else { return };
    let x = Tensor::from_vec((0..12).collect::<Vec<i64>>(), [4, 3]).unwrap();
    let mut td = TensorDict::from_pairs([4], [("x", x)]).unwrap();
    td.set(("n", "y"), Tensor::from_slice(&[1i64, 2, 3, 4], [4]).unwrap()).unwrap();
    let options = server.options().prefix("p").id("one").timeout(Duration::from_secs(20));
    let store = TensorDictStore::from(&td, &options).unwrap();
    let other = TensorDictStore::open(&options.clone().max_bytes(1 << 20)).unwrap();
    assert_eq!(other.id().unwrap(), "one");
    assert_eq!(other.batch_size().unwrap(), [4]);
    assert_eq!(other.keys().unwrap().count(), 2);
    assert!(other.load().unwrap().equal(&td).unwrap());
    assert_eq!(numbers(other.get_dict("n").unwrap().tensor("y")), [1, 2, 3, 4]);

    store.set_at("x", i![1.., 0], &Tensor::scalar(9i64).unwrap()).unwrap();
    store.set_inplace(("n", "y"), &Tensor::scalar(5i64).unwrap()).unwrap();
    store.set("z", &Tensor::from_slice(&[1i64, 2, 3, 4], [4]).unwrap()).unwrap();
    store.set_json("note", r#"{"a": 1}"#).unwrap();
    store.update(&td.at(..).unwrap().select(["x"]).unwrap()).unwrap();
    store.set_dict("m", &td.select([("n", "y")]).unwrap()).unwrap();
    assert_eq!(numbers(other.get_at("x", 2)), [6, 7, 8]);
    assert_eq!(numbers(other.at(1).unwrap().tensor("z")), [2]);
    assert_eq!(numbers(other.get(("m", "n", "y"))), [1, 2, 3, 4]);
    assert_eq!(other.non_tensor_json("note").unwrap(), r#"{"a":1}"#);

    store.lock().unwrap();
    assert!(store.is_locked().unwrap());
    assert_eq!(store.remove("z").unwrap_err().kind(), ErrorKind::Locked);
    store.unlock().unwrap();
    store.remove("z").unwrap();
    assert_eq!(other.get("z").unwrap_err().kind(), ErrorKind::Key);
    std::thread::scope(|scope| {
        scope.spawn(|| store.delete().unwrap());
    });
    assert_eq!(TensorDictStore::open(&options).err().unwrap().kind(), ErrorKind::Key);

    // The server is one without TLS; a file that is none is found before that.
    let tls = options.clone().tls_ca("/nowhere/ca.pem").tls_server_name("here");
    let error = TensorDictStore::new([1], &tls).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.to_string().contains("\"/nowhere/ca.pem\""), "{error}");
    let error = TensorDictStore::new([1], &options.clone().tls_cert("", "/nowhere")).err().unwrap();
    assert!(error.to_string().contains("key without its certificate"), "{error}");

    let zeros = TensorDictStore::from_schema(&td.schema().unwrap(), &options.db(1)).unwrap();
    assert_eq!(numbers(zeros.get(("n", "y"))), [0; 4]);
}
