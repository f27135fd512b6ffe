// Reads and writes TorchScript archives.
#include "core/nn/script_load.h"

#include "core/base/sha256.h"
#include "core/formats/json_text.h"
#include "core/formats/zip_file.h"
#include "core/io/file_io.h"
#include "core/io/new_file.h"
#include "core/nn/guarded.h"
#include "core/nn/package.h"
#include "core/nn/script.h"
#include "core/nn/script_meta.h"
#include "core/nn/script_module.h"
#include "core/pickle/pickled.h"
#include "core/tensor/dtype.h"

#include <ATen/ATen.h>
#include <caffe2/serialize/read_adapter_interface.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <sstream>

namespace td {

namespace {

constexpr std::size_t max_bytes = std::size_t{1} << 36;
constexpr std::size_t max_pickle = std::size_t{1} << 28;
constexpr const char* keys_file = "tensordict.json";

// Passes libtorch the verified bytes: the file may change meanwhile.
class MemoryReader final : public caffe2::serialize::ReadAdapterInterface {
 public:
  explicit MemoryReader(std::string bytes) : bytes_(std::move(bytes)) {}
  std::size_t size() const override { return bytes_.size(); }
  std::size_t read(std::uint64_t pos, void* to, std::size_t n, const char*) const override {
    if (pos >= bytes_.size()) return 0;
    const std::size_t count = std::min<std::size_t>(n, bytes_.size() - pos);
    std::memcpy(to, bytes_.data() + pos, count);
    return count;
  }

 private:
  std::string bytes_;
};

// libtorch trusts the storage lengths in a pickle and would read beyond their records. Pickles with content
// that our reader does not know are left to libtorch.
void check_storages(const zip_file::Reader& zip, const std::string& folder, const char* name) {
  const zip_file::Entry* const entry = zip.find(folder + name + ".pkl");
  if (entry == nullptr) return;
  pickled::Pickle pickle;
  try {
    pickle = pickled::read(zip.text(*entry, max_pickle), zip.where(), max_pickle);
  } catch (const Error&) {
    return;
  }
  for (const pickled::Object& one : pickle.objects) {
    if (one.kind != pickled::Kind::storage) continue;
    const zip_file::Entry* const record = zip.find(folder + name + "/" + one.text);
    const std::uint64_t bytes = record == nullptr ? 0 : record->bytes;
    if (static_cast<std::uint64_t>(one.number) <= bytes / c10::elementSize(one.dtype)) continue;
    fail(Code::format, zip.where(), ": the storage ", quote(one.text), " of ", one.number, " ",
         dtype_name(one.dtype), " has ", bytes, " bytes");
  }
}

// The archive's metadata. Checks the archive's structure before libtorch reads it.
ScriptMeta meta_in(const zip_file::Reader& zip) {
  const std::string folder = zip.folder_of("constants.pkl");
  if (folder.empty()) {
    fail(Code::format, zip.where(),
         " is no TorchScript archive: it has no constants.pkl (files of torch.save are read by "
         "td_file_load)");
  }
  if (zip.find(folder + "data.pkl") == nullptr)
    fail(Code::format, zip.where(), " is no TorchScript archive: it has no data.pkl");
  for (const zip_file::Entry& one : zip.entries()) {
    if (!zip.intact(one)) fail(Code::format, zip.where(), ": ", one.name, " is damaged");
  }
  check_storages(zip, folder, "data");
  check_storages(zip, folder, "constants");
  const zip_file::Entry* text = zip.find(folder + "extra/" + keys_file);
  if (text == nullptr) return {};
  return read_script_meta(zip.text(*text, 1 << 20), zip.where() + ": " + keys_file);
}

// The first line with text in libtorch's error.
[[noreturn]] void fail_parse(const std::string& path, const std::string& text) {
  std::size_t begin = text.find_first_not_of(" \n");
  if (begin == std::string::npos) begin = 0;
  const std::string line = text.substr(begin, text.find('\n', begin) - begin);
  // Its reader of zip archives says so.
  if (files::ends_with(line, "allocation failed"))
    fail(Code::out_of_memory, "no memory to read ", path);
  const bool newer = text.find("maximum supported version") != std::string::npos ||
                     text.find("Unknown builtin op") != std::string::npos;
  fail(newer ? Code::unsupported : Code::format, "libtorch cannot read ", path, ": ", line);
}

torch::jit::Module parse(std::string bytes, const std::string& path, const ScriptOptions& options) {
  return guarded(
      [&] {
        torch::jit::ExtraFilesMap none;
        return torch::jit::load(std::make_shared<MemoryReader>(std::move(bytes)),
                                options.device.value_or(c10::Device(c10::kCPU)), none);
      },
      [&](const std::string& text) { fail_parse(path, text); });
}

// Restores what an archive does not record: tensors that share memory become one tensor again. Converts
// floating-point ones to the requested dtype.
torch::jit::Module with_tensors(const torch::jit::Module& module, const ScriptOptions& options) {
  using Place = std::pair<const void*, std::int64_t>;
  std::map<Place, std::vector<at::Tensor>> known;
  const ScriptParams::Wrap change = [&](const at::Tensor& tensor) {
    std::vector<at::Tensor>& beside =
        known[{tensor.storage().unsafeGetStorageImpl(), tensor.storage_offset()}];
    for (std::size_t i = 0; i < beside.size(); i += 2) {
      if (beside[i].sizes() == tensor.sizes() && beside[i].strides() == tensor.strides() &&
          beside[i].scalar_type() == tensor.scalar_type())
        return beside[i + 1];
    }
    const bool cast = options.dtype && c10::isFloatingType(tensor.scalar_type());
    at::Tensor result = tensor;
    if (cast && tensor.scalar_type() != *options.dtype) {
      result = tensor.detach().to(*options.dtype);
      result.set_requires_grad(tensor.requires_grad());
    }
    beside.push_back(tensor);
    beside.push_back(result);
    return result;
  };
  return torch::jit::Module(ScriptParams(module._ivalue()).changed(change));
}

// `methods`: those of other networks.
torch::jit::Module prepared(torch::jit::Module module, const ScriptOptions& options,
                            const std::vector<std::string>& methods) {
  module = with_tensors(module, options);
  if (!options.freeze && !options.optimize) return module;
  module.eval();
  // It freezes by itself, but then forgets the other methods.
  if (!options.optimize || !methods.empty()) module = torch::jit::freeze(module, methods);
  return options.optimize ? torch::jit::optimize_for_inference(module, methods) : module;
}

std::vector<std::string> methods_of(const ScriptMeta& meta) {
  std::vector<std::string> names;
  for (const FollowerSpec& one : meta.then)
    if (const auto* network = std::get_if<NetworkSpec>(&one)) names.push_back(network->method);
  return names;
}

void check_sum(const std::string& bytes, const std::string& wanted, const std::string& path) {
  if (wanted.empty()) return;
  std::string lower = wanted;
  for (char& one : lower) one = static_cast<char>(std::tolower(static_cast<unsigned char>(one)));
  if (lower.size() != 64 || lower.find_first_not_of("0123456789abcdef") != std::string::npos)
    fail(Code::invalid_argument, "sha256 is \"", wanted, "\"; it must be 64 hexadecimal digits");
  const std::string found = sha256(bytes);
  if (found != lower)
    fail(Code::format, path, " has the SHA-256 checksum ", found, ", not ", lower);
}

}  // namespace

KeyPaths chosen_keys(const std::optional<KeyPaths>& wanted, std::optional<KeyPaths> found,
                     const char* what, const std::string& path) {
  if (wanted) return *wanted;
  if (found) return std::move(*found);
  fail(Code::key_not_found, path, " does not say its ", what, " (it has no ", keys_file,
       "): give them in the options");
}

ModulePtr load_script(const std::string& path, const ScriptOptions& options) {
  if (options.dtype && !c10::isFloatingType(*options.dtype))
    fail(Code::dtype, "parameters cannot become ", dtype_name(*options.dtype));
  std::string bytes = files::read(path, max_bytes);
  check_sum(bytes, options.sha256, path);
  const zip_file::Reader zip(bytes.data(), bytes.size(), path);
  if (options.train && (options.freeze || options.optimize))
    fail(Code::invalid_argument, "a module that trains cannot be frozen");
  if (is_package(zip)) {
    if (options.train) fail(Code::unsupported, path, " is a package, which has no training mode");
    return load_package(zip, bytes, options);
  }
  ScriptMeta meta = meta_in(zip);  // before libtorch takes the bytes
  KeyPaths in_keys = chosen_keys(options.in_keys, std::move(meta.in_keys), "in_keys", path);
  KeyPaths out_keys = chosen_keys(options.out_keys, std::move(meta.out_keys), "out_keys", path);
  if (options.dtype) convert_inputs(meta, *options.dtype);
  BatchForm form = batch_form(meta.inputs, meta.batch, in_keys, path + ": " + keys_file);
  const auto mode = options.train                        ? ScriptModule::Mode::train
                    : options.freeze || options.optimize ? ScriptModule::Mode::frozen
                                                         : ScriptModule::Mode::plain;
  const auto network = std::make_shared<ScriptModule>(
      prepared(parse(std::move(bytes), path, options), options, methods_of(meta)),
      std::move(in_keys), std::move(out_keys), mode, std::move(form));
  const std::string where = path + ": " + keys_file;
  // The others are methods of the same object, whose parameters all share.
  const AnotherNetwork another = [&](const NetworkSpec& spec) {
    return network->beside(spec, batch_form(spec.inputs, spec.batch, spec.in_keys, where));
  };
  return with_followers(network, another, meta, where);
}

void save_script(const Module& module, const std::string& path) {
  ScriptMeta meta;
  const auto* script = dynamic_cast<const ScriptModule*>(&network_of(module, meta));
  if (script == nullptr)
    fail(Code::unsupported, "only modules that were loaded from a TorchScript archive are saved");
  if (script->method() != "forward")
    fail(Code::unsupported, "a network that followed others in its archive is not saved alone");
  meta.in_keys = script->in_keys();
  meta.out_keys = script->out_keys();
  meta.batch = script->form().spec();
  if (meta.batch) meta.inputs = script->form().inputs();
  std::ostringstream text;
  torch::jit::Module(script->current()).save(text, {{keys_file, script_meta_json(meta)}});
  const std::string bytes = text.str();
  files::NewFile file(files::absolute(path));
  file.write(bytes.data(), bytes.size());
  file.commit();
}

}  // namespace td
