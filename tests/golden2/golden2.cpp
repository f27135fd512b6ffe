// Modules that Python wrote, called on data that Python wrote, held against what Python computed; replay
// buffers that TorchRL dumped; HDF5 files.
//
//   golden2 DIR
//
// Each case of DIR/manifest.json is checked; kinds that are about none of these are skipped. Ends with
// "N passed, N failed, N skipped".
#include "tensordict/td.h"

#include <unistd.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Path = std::vector<std::string>;

struct Free {
  void operator()(td_tensordict *td) const { td_free(td); }
  void operator()(td_tensor *tensor) const { td_tensor_free(tensor); }
  void operator()(td_module *module) const { td_module_free(module); }
  void operator()(td_keys *keys) const { td_keys_free(keys); }
  void operator()(td_replay *replay) const { td_replay_free(replay); }
  void operator()(td_hdf5 *file) const { td_hdf5_free(file); }
};
template <class T>
using Handle = std::unique_ptr<T, Free>;
using Dict = Handle<td_tensordict>;
using Tensor = Handle<td_tensor>;
using Module = Handle<td_module>;
using Keys = Handle<td_keys>;
using Replay = Handle<td_replay>;
using Hdf5 = Handle<td_hdf5>;

void check(td_status status) {
  if (status != TD_OK)
    throw std::runtime_error(std::string(td_last_error_function()) + ": " +
                             td_last_error_message());
}

[[noreturn]] void fail(const std::string &what) { throw std::runtime_error(what); }

// Calls a function whose last argument is a new handle.
template <class T, class Call>
Handle<T> made(Call call) {
  T *result = nullptr;
  check(call(&result));
  return Handle<T>(result);
}

std::string show(const Path &path) { return Json(path).dump(); }

struct Names {
  explicit Names(const Path &path) {
    for (const std::string &name : path) names.push_back(name.c_str());
  }
  std::vector<const char *> names;
};

Dict load(const std::string &dir) {
  return made<td_tensordict>([&](auto out) { return td_memmap_load(dir.c_str(), nullptr, out); });
}

Module load_module(const std::string &file) {
  return made<td_module>([&](auto out) { return td_module_load(file.c_str(), nullptr, out); });
}

Dict call(const td_tensordict *data, const td_module *module,
          const td_module_call_options *options = nullptr) {
  return made<td_tensordict>([&](auto out) { return td_module_call(data, module, options, out); });
}

std::vector<Path> paths_of(const td_keys *keys) {
  std::vector<Path> paths;
  for (size_t i = 0; i < td_keys_len(keys); i++) {
    const char *const *names = nullptr;
    size_t n = 0;
    check(td_keys_at(keys, i, &names, &n));
    paths.emplace_back(names, names + n);
  }
  return paths;
}

std::vector<Path> leaves_of(const td_tensordict *td) {
  td_keys_options options = TD_KEYS_OPTIONS_INIT;
  options.include_nested = options.leaves_only = 1;
  return paths_of(made<td_keys>([&](auto out) { return td_keys_of(td, &options, out); }).get());
}

Tensor get(const td_tensordict *td, const Path &path) {
  const Names names(path);
  return made<td_tensor>(
      [&](auto out) { return td_get(td, names.names.data(), names.names.size(), out); });
}

struct Values {
  std::vector<int64_t> sizes;
  td_dtype dtype = TD_DTYPE_OTHER;
  std::vector<double> numbers;
};

Values values_of(const td_tensor *tensor) {
  Values result;
  size_t dims = 0;
  check(td_tensor_sizes(tensor, nullptr, 0, &dims));
  result.sizes.resize(dims);
  if (dims != 0) check(td_tensor_sizes(tensor, result.sizes.data(), dims, &dims));
  check(td_tensor_dtype(tensor, &result.dtype));
  Tensor real = made<td_tensor>(
      [&](auto out) { return td_tensor_to(tensor, TD_DTYPE_FLOAT64, TD_DEVICE_NONE, -1, out); });
  size_t count = 1;
  for (const int64_t size : result.sizes) count *= static_cast<size_t>(size);
  result.numbers.resize(count);
  check(td_tensor_copy_to(real.get(), result.numbers.data(), count * sizeof(double)));
  return result;
}

void compare(const td_tensor *want_tensor, const td_tensor *have_tensor, const std::string &name,
             double tolerance) {
  const Values want = values_of(want_tensor), have = values_of(have_tensor);
  if (want.sizes != have.sizes)
    fail(name + " has shape " + Json(have.sizes).dump() + ", not " + Json(want.sizes).dump());
  if (want.dtype != have.dtype) fail(name + " has another dtype");
  for (size_t i = 0; i < want.numbers.size(); i++) {
    const double off = std::abs(want.numbers[i] - have.numbers[i]);
    if (want.numbers[i] == have.numbers[i]) continue;  // infinities too
    if (off <= tolerance * (1 + std::abs(want.numbers[i]))) continue;
    fail(name + "[" + std::to_string(i) + "] is " + std::to_string(have.numbers[i]) + ", not " +
         std::to_string(want.numbers[i]));
  }
}

void compare(const td_tensordict *want, const td_tensordict *have, double tolerance) {
  const std::vector<Path> paths = leaves_of(want);
  if (paths.size() != leaves_of(have).size())
    fail("other entries: " + Json(leaves_of(have)).dump() + ", not " + Json(paths).dump());
  for (const Path &path : paths)
    compare(get(want, path).get(), get(have, path).get(), show(path), tolerance);
}

void check_keys(const Json &want, td_keys *raw, const char *what) {
  const Keys keys(raw);
  if (Json(paths_of(raw)) != want)
    fail(std::string(what) + " are " + Json(paths_of(raw)).dump() + ", not " + want.dump());
}

struct Case {
  const Json &json;
  std::string dir;
  std::string file(const char *field) const {
    return dir + "/" + json.at(field).get<std::string>();
  }
  double tolerance() const { return json.value("tolerance", 1e-5); }
};

// The outputs beside the inputs; in place twice, when libtorch has learnt the sizes.
void check_module(const Case &one) {
  const Module module = load_module(one.file("file"));
  const Dict expected = load(one.file("expected"));
  td_keys *keys = nullptr;
  check(td_module_in_keys(module.get(), &keys));
  check_keys(one.json.at("in_keys"), keys, "in_keys");
  check(td_module_out_keys(module.get(), &keys));
  check_keys(one.json.at("out_keys"), keys, "out_keys");
  const Dict loaded = load(one.file("data"));
  const Dict data =
      made<td_tensordict>([&](auto out) { return td_clone(loaded.get(), TD_CLONE_SHALLOW, out); });
  for (int times = 0; times < 3; times++) {
    check(td_module_call_inplace(data.get(), module.get(), nullptr));
    compare(expected.get(), data.get(), one.tolerance());
  }
}

// The outputs in a new dictionary.
void check_called(const Case &one) {
  const Module module = load_module(one.file("file"));
  const Dict data = load(one.file("data")), expected = load(one.file("expected"));
  for (int times = 0; times < 3; times++)
    compare(expected.get(), call(data.get(), module.get()).get(), one.tolerance());
}

void want_status(td_status want, td_status have, const char *what) {
  if (want == have) return;
  fail(std::string(what) + " gives " + std::to_string(have) + ", not " + std::to_string(want));
}

std::int64_t batch_dims(const td_tensordict *td) {
  std::size_t dims = 0;
  check(td_batch_size(td, nullptr, 0, &dims));
  return static_cast<std::int64_t>(dims);
}

// A package of AOTInductor takes the inputs that it was compiled for, and no parameters.
void check_package(const Case &one) {
  const bool called = one.json.value("called", false);
  called ? check_called(one) : check_module(one);
  const Module module = load_module(one.file("file"));
  const Dict data = load(one.file("data"));
  const Dict params =
      made<td_tensordict>([&](auto out) { return td_module_params(module.get(), out); });
  if (!leaves_of(params.get()).empty()) fail("a package has parameters");
  want_status(TD_ERR_UNSUPPORTED, td_module_set_params(module.get(), nullptr, params.get()),
              "set_params");
  td_module_call_options options = TD_MODULE_CALL_OPTIONS_INIT;
  options.params = params.get();
  td_tensordict *result = nullptr;
  want_status(TD_ERR_UNSUPPORTED, td_module_call(data.get(), module.get(), &options, &result),
              "a call with parameters");
  const Dict wide = made<td_tensordict>([&](auto out) {
    return td_to(data.get(), nullptr, TD_DTYPE_FLOAT64, TD_DEVICE_NONE, -1, nullptr, out);
  });
  want_status(TD_ERR_DTYPE, td_module_call(wide.get(), module.get(), nullptr, &result),
              "another dtype");
  const Dict deep = made<td_tensordict>([&](auto out) { return td_unsqueeze(data.get(), 0, out); });
  if (one.json.value("deep", false)) {  // it says that it takes another batch dimension
    const Dict loaded = load(one.file("expected"));
    // Samples stand before the batch.
    const std::int64_t samples = batch_dims(loaded.get()) - batch_dims(data.get());
    const Dict expected =
        made<td_tensordict>([&](auto out) { return td_unsqueeze(loaded.get(), samples, out); });
    if (!called) check(td_module_call_inplace(deep.get(), module.get(), nullptr));
    compare(expected.get(), called ? call(deep.get(), module.get()).get() : deep.get(),
            one.tolerance());
  } else {
    want_status(TD_ERR_SHAPE, td_module_call(deep.get(), module.get(), nullptr, &result),
                "another shape");
  }
  want_status(TD_ERR_UNSUPPORTED, td_module_save(module.get(), (one.dir + "/saved.pt2").c_str()),
              "saving");
}

// A batch of which the file does not hold what Python computes.
void check_refused(const Case &one) {
  const Module module = load_module(one.file("file"));
  td_tensordict *result = nullptr;
  want_status(TD_ERR_SHAPE,
              td_module_call(load(one.file("data")).get(), module.get(), nullptr, &result),
              "another number of batch dimensions");
}

// Two steps in training change the statistics as in Python; a second load has the old ones.
void check_train(const Case &one) {
  td_module_load_options options = TD_MODULE_LOAD_OPTIONS_INIT;
  options.flags = TD_MODULE_LOAD_TRAIN;
  const Module module = made<td_module>(
      [&](auto out) { return td_module_load(one.file("file").c_str(), &options, out); });
  const Dict data = load(one.file("data")), expected = load(one.file("expected"));
  const Dict given =
      made<td_tensordict>([&](auto out) { return td_clone(data.get(), TD_CLONE_SHALLOW, out); });
  for (int times = 0; times < 2; times++)
    check(td_module_call_inplace(given.get(), module.get(), nullptr));
  compare(expected.get(), given.get(), one.tolerance());
  const Dict params =
      made<td_tensordict>([&](auto out) { return td_module_params(module.get(), out); });
  compare(load(one.file("params")).get(), params.get(), one.tolerance());
}

// Log-probabilities of what the data holds.
void check_log_prob(const Case &one) {
  const Module module = load_module(one.file("file"));
  const Dict data = load(one.file("data")), expected = load(one.file("expected"));
  const Dict found = made<td_tensordict>(
      [&](auto out) { return td_module_log_prob(data.get(), module.get(), nullptr, out); });
  compare(expected.get(), found.get(), one.tolerance());
}

void check_ensemble(const Case &one) {
  const Module module = load_module(one.file("file"));
  const Dict data = load(one.file("data")), params = load(one.file("params")),
             expected = load(one.file("expected"));
  td_module_call_options options = TD_MODULE_CALL_OPTIONS_INIT;
  options.params = params.get();
  for (int times = 0; times < 3; times++)
    compare(expected.get(), call(data.get(), module.get(), &options).get(), one.tolerance());
}

void check_functional(const Case &one) {
  const Module module = load_module(one.file("file"));
  const Dict loaded = load(one.file("data")), stack = load(one.file("params")),
             expected = load(one.file("expected"));
  const td_index_item at = TD_I_INT(one.json.value("params_index", 0));
  const Dict params =
      made<td_tensordict>([&](auto out) { return td_index(stack.get(), &at, 1, out); });
  const Dict data =
      made<td_tensordict>([&](auto out) { return td_clone(loaded.get(), TD_CLONE_SHALLOW, out); });
  td_module_call_options options = TD_MODULE_CALL_OPTIONS_INIT;
  options.params = params.get();
  check(td_module_call_inplace(data.get(), module.get(), &options));
  compare(expected.get(), data.get(), one.tolerance());
  check(td_module_set_params(module.get(), nullptr, params.get()));
  check(td_module_call_inplace(data.get(), module.get(), nullptr));
  compare(expected.get(), data.get(), one.tolerance());
}

// The log-probability of an entry under a distribution of others, and the most likely value.
void check_distribution(const td_tensordict *data, td_distribution_kind kind,
                        const std::vector<const char *> &params, const char *action,
                        const char *want, double tolerance) {
  std::vector<td_key> in_keys;
  for (const char *const &name : params) in_keys.push_back({&name, 1});
  const td_key out_key = {&action, 1};
  td_distribution part{};
  part.kind = kind;
  part.in_keys = in_keys.data();
  part.in_keys_len = in_keys.size();
  part.out_key = &out_key;
  const Module module =
      made<td_module>([&](auto out) { return td_module_probabilistic(&part, 1, nullptr, out); });
  const Dict result = made<td_tensordict>(
      [&](auto out) { return td_module_log_prob(data, module.get(), NULL, out); });
  compare(get(data, {want}).get(), get(result.get(), {std::string(action) + "_log_prob"}).get(),
          want, tolerance);
  if (kind != TD_DISTRIBUTION_CATEGORICAL) return;
  compare(get(data, {"categorical_mode"}).get(),
          get(call(data, module.get()).get(), {action}).get(), "categorical_mode", 0);
}

void check_distributions(const Case &one) {
  const double tolerance = one.tolerance();
  const Dict loaded = load(one.file("data"));
  const Dict data =
      made<td_tensordict>([&](auto out) { return td_clone(loaded.get(), TD_CLONE_SHALLOW, out); });
  const std::vector<const char *> normal = {"loc", "scale"}, classes = {"logits"};
  check_distribution(data.get(), TD_DISTRIBUTION_INDEPENDENT_NORMAL, normal, "action",
                     "normal_log_prob", tolerance);
  check_distribution(data.get(), TD_DISTRIBUTION_NORMAL, normal, "action", "normal_elementwise",
                     tolerance);
  check_distribution(data.get(), TD_DISTRIBUTION_CATEGORICAL, classes, "index",
                     "categorical_log_prob", tolerance);
  // What was drawn is not stored: 1 where the logits are above 0.3.
  td_call_argument above[] = {{TD_ARGUMENT_DOUBLE,
                               0,
                               nullptr,
                               0,
                               0.3,
                               nullptr,
                               nullptr,
                               nullptr,
                               nullptr,
                               nullptr,
                               0,
                               {0, 0}}};
  const char *const names[] = {"logits"};
  const td_key wanted = {names, 1};
  const Dict logits = made<td_tensordict>(
      [&](auto out) { return td_select(data.get(), &wanted, 1, nullptr, out); });
  td_tensordict *raw = nullptr;
  size_t count = 0;
  check(td_call(logits.get(), "aten::gt.Scalar", above, 1, nullptr, &raw, 1, &count));
  const Dict drawn(raw);
  const char *const draw[] = {"draw"};
  check(td_set(data.get(), draw, 1, get(drawn.get(), {"logits"}).get()));
  check_distribution(data.get(), TD_DISTRIBUTION_BERNOULLI, classes, "draw", "bernoulli_log_prob",
                     tolerance);
}

// A folder for a while.
struct Scratch {
  Scratch() {
    std::string name = (fs::temp_directory_path() / "golden2-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) fail("no temporary folder");
    path = name;
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;
  fs::path path;
};

std::map<std::string, std::string> files_in(const fs::path &root) {
  std::map<std::string, std::string> found;
  for (const fs::directory_entry &entry : fs::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file() || entry.path().filename() == "prefetch.pkl") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    found[entry.path().lexically_relative(root).string()] = text.str();
  }
  return found;
}

// A dictionary that was loaded has its tensors first, as with Python, whatever the order in the file was.
bool same_entries(const std::string &name, const std::string &have, const std::string &want) {
  return fs::path(name).filename() == "meta.json" && have.size() == want.size() &&
         nlohmann::json::parse(have) == nlohmann::json::parse(want);
}

void compare_folders(const fs::path &want_root, const fs::path &have_root) {
  const auto want = files_in(want_root), have = files_in(have_root);
  for (const auto &[name, bytes] : want) {
    const auto found = have.find(name);
    if (found == have.end()) fail(name + " is missing in what was saved");
    if (found->second != bytes && !same_entries(name, found->second, bytes))
      fail(name + " differs in what was saved");
  }
  for (const auto &[name, bytes] : have)
    if (want.count(name) == 0) fail(name + " is more than Python wrote");
}

struct Where {
  explicit Where(const td_replay *replay) {
    check(td_replay_where(replay, &len, &capacity, &cursor, &written));
  }
  int64_t len = -1, capacity = -1, cursor = -1, written = -1;
};

// The rows that are there, by way of the storage alone; the folder that we write; what we read of that.
void check_replay(const Case &one) {
  const std::string folder = one.file("folder");
  const Replay replay =
      made<td_replay>([&](auto out) { return td_replay_load(folder.c_str(), nullptr, out); });
  const Where where(replay.get());
  const auto want = [&](const char *field, int64_t have) {
    if (one.json.contains(field) && one.json.at(field) != have)
      fail(std::string(field) + " is " + std::to_string(have) + ", not " +
           one.json.at(field).dump());
  };
  want("length", where.len);
  want("written", where.written);
  want("cursor", where.cursor);
  want("capacity", where.capacity);
  const Dict storage = load(folder + "/storage");
  const td_index_item filled = TD_I_SLICE(0, where.len);
  const Dict rows =
      made<td_tensordict>([&](auto out) { return td_index(storage.get(), &filled, 1, out); });
  const Dict held =
      made<td_tensordict>([&](auto out) { return td_replay_dict(replay.get(), out); });
  compare(rows.get(), held.get(), 0);
  const Scratch scratch;
  const std::string saved = (scratch.path / "saved").string();
  check(td_replay_save(replay.get(), saved.c_str(), 0));
  compare_folders(folder, saved);
  // A batch holds the rows that it names.
  const Dict batch =
      made<td_tensordict>([&](auto out) { return td_replay_sample(replay.get(), 16, out); });
  const Tensor index = get(batch.get(), {"index"});
  const td_index_item drawn = TD_I_TENSOR(index.get());
  const Dict named =
      made<td_tensordict>([&](auto out) { return td_index(rows.get(), &drawn, 1, out); });
  for (const Path &path : leaves_of(named.get()))
    if (path != Path{"index"})
      compare(get(named.get(), path).get(), get(batch.get(), path).get(), show(path), 0);
  // What is written next lies where the cursor is, in what we wrote, too.
  check(td_replay_extend(replay.get(), named.get()));
  check(td_replay_save(replay.get(), saved.c_str(), 0));
  const Replay again =
      made<td_replay>([&](auto out) { return td_replay_open(saved.c_str(), nullptr, out); });
  const Where after(again.get());
  const Values places = values_of(index.get());
  const auto count = static_cast<int64_t>(places.numbers.size());
  if (after.written != where.written + count ||
      after.cursor != (where.cursor + count) % where.capacity)
    fail("rows that were written are not counted");
}

Json batch_of(const td_tensordict *td) {
  size_t dims = 0;
  check(td_batch_size(td, nullptr, 0, &dims));
  std::vector<int64_t> sizes(dims);
  if (dims != 0) check(td_batch_size(td, sizes.data(), dims, &dims));
  return Json(sizes);
}

Dict load_hdf5(const std::string &file, td_hdf5_flags flags, const char *group = nullptr) {
  td_hdf5_options options = TD_HDF5_OPTIONS_INIT;
  options.flags = flags;
  options.group = group;
  return made<td_tensordict>([&](auto out) { return td_hdf5_load(file.c_str(), &options, out); });
}

Dict part(const td_tensordict *td, const td_index_item &item) {
  return made<td_tensordict>([&](auto out) { return td_index(td, &item, 1, out); });
}

// Rows read from the file are those of the whole; what we write reads as the same.
void check_h5_forms(const std::string &file, td_hdf5_flags flags, const td_tensordict *whole) {
  td_hdf5_options options = TD_HDF5_OPTIONS_INIT;
  options.flags = flags;
  const Hdf5 open =
      made<td_hdf5>([&](auto out) { return td_hdf5_open(file.c_str(), &options, out); });
  const Json batch = batch_of(whole);
  if (!batch.empty() && batch[0] > 0) {
    const int64_t rows = batch[0];
    const int64_t wanted[] = {rows - 1, 0, rows / 2, 0};
    const int64_t four = 4;
    const Tensor places = made<td_tensor>([&](auto out) {
      return td_tensor_from_data(wanted, sizeof wanted, &four, 1, TD_DTYPE_INT64, out);
    });
    for (const td_index_item &item :
         {td_index_item TD_I_INT(rows - 1), td_index_item TD_I_SLICE(rows / 3, rows),
          td_index_item TD_I_TENSOR(places.get())}) {
      const Dict read =
          made<td_tensordict>([&](auto out) { return td_hdf5_read(open.get(), &item, 1, out); });
      compare(part(whole, item).get(), read.get(), 0);
    }
  }
  const Scratch scratch;
  td_hdf5_save_options saving = TD_HDF5_SAVE_OPTIONS_INIT;
  for (saving.deflate = 0; saving.deflate < 8; saving.deflate += 4) {
    const std::string copy = (scratch.path / "copy.h5").string();
    check(td_hdf5_save(whole, copy.c_str(), &saving));
    const Dict again = load_hdf5(copy, 0);
    compare(whole, again.get(), 0);
    if (batch_of(again.get()) != batch) fail("the copy has another batch size");
  }
}

// Not in every build: a file that is not there is no question of the build.
bool has_hdf5() {
  td_hdf5 *none = nullptr;
  return td_hdf5_open("", nullptr, &none) != TD_ERR_UNSUPPORTED;
}

void check_h5(const Case &one) {
  const Dict expected = load(one.file("expected")), have = load_hdf5(one.file("file"), 0);
  compare(expected.get(), have.get(), 0);
  if (one.json.contains("batch_size") && batch_of(have.get()) != one.json.at("batch_size"))
    fail("batch_size is " + batch_of(have.get()).dump());
  const Dict plain = made<td_tensordict>(
      [&](auto out) { return td_file_load(one.file("file").c_str(), nullptr, out); });
  compare(expected.get(), plain.get(), 0);
  check_h5_forms(one.file("file"), 0, have.get());
}

// Demonstrations of different lengths: a lazy stack.
void check_h5_episodes(const Case &one) {
  const std::string group = one.json.value("group", "/");
  const Dict expected = load(one.file("expected")),
             have = load_hdf5(one.file("file"), TD_HDF5_STACK, group.c_str());
  const Json batch = batch_of(have.get());
  if (batch != batch_of(expected.get())) fail("batch_size is " + batch.dump());
  td_hdf5_options options = TD_HDF5_OPTIONS_INIT;
  options.flags = TD_HDF5_STACK;
  options.group = group.c_str();
  const Hdf5 open = made<td_hdf5>(
      [&](auto out) { return td_hdf5_open(one.file("file").c_str(), &options, out); });
  for (int64_t i = 0; i < batch[0]; i++) {
    const td_index_item at = TD_I_INT(i);
    const Dict want = part(expected.get(), at), whole = part(have.get(), at),
               alone = made<td_tensordict>(
                   [&](auto out) { return td_hdf5_read(open.get(), &at, 1, out); });
    compare(want.get(), whole.get(), 0);
    compare(want.get(), alone.get(), 0);
    if (batch_of(whole.get()) != batch_of(want.get())) fail("an element has another batch size");
  }
}

// Nobody computed what is in it: what can be read is read, links that leave the file are not followed.
void check_h5_odd(const Case &one) {
  const std::string file = one.file("file");
  td_tensordict *whole = nullptr;
  const td_status status = td_hdf5_load(file.c_str(), nullptr, &whole);
  td_free(whole);
  if (status != TD_OK) want_status(TD_ERR_UNSUPPORTED, status, "reading all");
  const Dict have = load_hdf5(file, TD_HDF5_SKIP);
  const std::map<std::string, td_dtype> dtypes = {
      {"big_endian", TD_DTYPE_FLOAT64}, {"bool", TD_DTYPE_BOOL},
      {"complex", TD_DTYPE_COMPLEX64},  {"empty", TD_DTYPE_FLOAT32},
      {"scalar", TD_DTYPE_FLOAT64},     {"unlimited", TD_DTYPE_INT16}};
  for (const Path &path : leaves_of(have.get())) {
    if (path[0].find("external") == 0) fail(show(path) + " is from another file");
    const auto found = dtypes.find(path[0]);
    if (found == dtypes.end() || path.size() != 1) continue;
    td_dtype dtype = TD_DTYPE_OTHER;
    check(td_tensor_dtype(get(have.get(), path).get(), &dtype));
    if (dtype != found->second) fail(show(path) + " has another dtype");
  }
  check_h5_forms(file, TD_HDF5_SKIP, have.get());
}

bool run(const Case &one) {
  const std::string kind = one.json.at("kind").get<std::string>();
  if (kind == "module") {
    check_module(one);
  } else if (kind == "called") {
    check_called(one);
  } else if (kind == "refused") {
    check_refused(one);
  } else if (kind == "train") {
    check_train(one);
  } else if (kind == "log_prob") {
    check_log_prob(one);
  } else if (kind == "package") {
    check_package(one);
  } else if (kind == "ensemble") {
    check_ensemble(one);
  } else if (kind == "functional") {
    check_functional(one);
  } else if (kind == "distributions") {
    check_distributions(one);
  } else if (kind == "replay") {
    check_replay(one);
  } else if (kind.rfind("h5", 0) == 0 && !has_hdf5()) {
    return false;
  } else if (kind == "h5") {
    check_h5(one);
  } else if (kind == "h5-episodes") {
    check_h5_episodes(one);
  } else if (kind == "h5-odd") {
    check_h5_odd(one);
  } else {
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: golden2 DIR\n");
    return 2;
  }
  std::ifstream file(std::string(argv[1]) + "/manifest.json");
  std::stringstream text;
  text << file.rdbuf();
  const Json manifest = Json::parse(text.str(), nullptr, false);
  if (!manifest.is_object() || !manifest.contains("cases")) {
    std::fprintf(stderr, "golden2: %s/manifest.json lists no cases\n", argv[1]);
    return 2;
  }
  int passed = 0, failed = 0, skipped = 0;
  for (const Json &json : manifest.at("cases")) {
    const std::string name = json.value("kind", "?") + " " +
                             json.value("file", json.value("data", json.value("folder", "")));
    try {
      if (run({json, argv[1]})) {
        passed++;
      } else {
        skipped++;
      }
    } catch (const std::exception &error) {
      failed++;
      std::printf("failed: %s: %s\n", name.c_str(), error.what());
    }
  }
  if (td_debug_live_handles() != 0) {
    failed++;
    std::printf("failed: %d handles were left open\n", static_cast<int>(td_debug_live_handles()));
  }
  std::printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
  return failed == 0 ? 0 : 1;
}
