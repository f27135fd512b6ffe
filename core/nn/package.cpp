// Loads and calls packages of AOTInductor. Compiled code does not check its inputs: dtypes, sizes and strides
// are checked here.
#include "core/nn/package.h"
#include "core/nn/script_load.h"

#include "core/formats/json_text.h"
#include "core/io/file_io.h"
#include "core/nn/frame.h"
#include "core/nn/guarded.h"
#include "core/nn/script_meta.h"
#include "core/tensor/dtype.h"

#include <cstdlib>
#include <filesystem>

#if TD_TORCH_HAS_PACKAGES
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include <unistd.h>
#endif

namespace td {

namespace {

constexpr std::string_view code_folder = "data/aotinductor/";

// Whether the entry lies in `place` below the archive's only top-level folder.
bool lies_in(const zip_file::Entry& entry, std::string_view place) {
  const std::string_view name = entry.name;
  return name.substr(0, place.size()) == place ||
         name.substr(name.find('/') + 1).substr(0, place.size()) == place;
}

bool holds(const zip_file::Reader& zip, std::string_view place) {
  for (const zip_file::Entry& one : zip.entries()) {
    if (lies_in(one, place)) return true;
  }
  return false;
}

#if TD_TORCH_HAS_PACKAGES

// A private file with the verified bytes: libtorch takes a path, and other programs must not modify it.
class PrivateFile {
 public:
  explicit PrivateFile(const std::string& bytes) : PrivateFile() {
    files::write_all(file_.get(), bytes.data(), bytes.size(), path_);
    file_.reset();
  }
  ~PrivateFile() { ::unlink(path_.c_str()); }
  PrivateFile(const PrivateFile&) = delete;
  PrivateFile& operator=(const PrivateFile&) = delete;
  const std::string& path() const noexcept { return path_; }

 private:
  // The constructor only creates the file, so that the destructor removes it when writing fails.
  PrivateFile()
      : path_((std::filesystem::temp_directory_path() / "tensordict-XXXXXX.pt2").string()),
        file_(::mkstemps(path_.data(), 4)) {
    if (!file_.is_open()) files::fail_io("cannot create", path_, errno);
  }

  std::string path_;
  files::Descriptor file_;
};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

struct PackageText {
  ScriptMeta meta;
  std::string device;
};

// The content of "aot_inductor.metadata".
PackageText text_of(const zip_file::Reader& zip) {
  PackageText result;
  for (const zip_file::Entry& one : zip.entries()) {
    if (!zip.intact(one)) fail(Code::format, zip.where(), ": ", one.name, " is damaged");
    if (!zip_file::stays_inside(one.name))
      fail(Code::format, zip.where(), ": ", quote(one.name), " leads out of the package");
  }
  for (const zip_file::Entry& one : zip.entries()) {
    if (!lies_in(one, code_folder) || !files::ends_with(one.name, "_metadata.json")) continue;
    const Plain tree = read_json(zip.text(one, 1 << 24), zip.where() + ": " + one.name);
    if (const Plain* device = tree.find("AOTI_DEVICE_KEY", Plain::text))
      result.device = device->characters();
    const Plain* ours = tree.find("tensordict", Plain::text);
    if (ours == nullptr) continue;
    result.meta = read_script_meta(ours->characters(), zip.where() + ": tensordict.json");
    break;
  }
  return result;
}

class PackageModule final : public Module {
 public:
  // One of the package's models.
  PackageModule(const std::string& path, const NetworkSpec& spec, BatchForm form)
      : inputs_(*spec.inputs), form_(std::move(form)), loader_(path, spec.method) {
    in_keys_ = spec.in_keys;
    out_keys_ = spec.out_keys;
  }
  std::string to_string() const override { return show("PackageModule"); }
  SizesView sample_sizes() const noexcept override { return form_.front(); }

  void plan_params(const Node&, std::vector<Swap>&) const override { refuse(); }

  void run(Frame& frame, const Node* params) const override {
    if (params != nullptr || frame.level() != nullptr) refuse();
    if (is_skipped(frame)) return;
    c10::SmallVector<at::Tensor, 4> inputs;
    for (const KeyPath& key : in_keys_) inputs.push_back(frame.wanted(key));
    const BatchFit fit = form_.fit(in_keys_, inputs, frame.input().batch_size().size());
    std::vector<std::int64_t> any;  // sizes shared by the inputs
    for (std::size_t i = 0; i < in_keys_.size(); ++i) {
      check(in_keys_[i], inputs[i], inputs_[i], any);
      inputs[i] = inputs[i].detach().contiguous();
    }
    const std::vector<at::Tensor> results = guarded(
        [&] {
          return loader_.run({inputs.begin(), inputs.end()});
        },
        [](const std::string& text) {
          fail(Code::torch, "the module failed: ", first_line(text));
        });
    require_outputs(results.size());
    if (!form_.front().empty()) frame.expand(form_.front());
    for (std::size_t i = 0; i < results.size(); ++i)
      frame.put(out_keys_[i], form_.restored(out_keys_[i], results[i], fit));
  }

 private:
  [[noreturn]] static void refuse() {
    fail(Code::unsupported,
         "a package of AOTInductor holds its parameters as compiled: no others can be given to it");
  }
  static void check(const KeyPath& key, const at::Tensor& given, const TensorForm& form,
                    std::vector<std::int64_t>& any) {
    bool fits = given.scalar_type() == form.dtype &&
                static_cast<std::size_t>(given.dim()) == form.shape.size();
    for (std::size_t i = 0; fits && i < form.shape.size(); ++i) {
      const std::int64_t size = given.size(static_cast<std::int64_t>(i));
      if (form.shape[i] != -1) {
        fits = size == form.shape[i];
        continue;
      }
      if (any.size() <= i) any.resize(i + 1, -1);
      if (any[i] == -1) any[i] = size;
      fits = size == any[i];
    }
    if (fits) return;
    fail(given.scalar_type() == form.dtype ? Code::shape : Code::dtype, "the input ",
         show_path(key), " is ", dtype_name(given.scalar_type()), " ", show_sizes(given.sizes()),
         "; the package was compiled for ", dtype_name(form.dtype), " ", show_sizes(form.shape),
         any.empty() ? "" : ", where -1 is one size for all inputs");
  }

  std::vector<TensorForm> inputs_;
  BatchForm form_;
  mutable torch::inductor::AOTIModelPackageLoader loader_;  // its own lock makes it safe
};

#endif

}  // namespace

bool is_package(const zip_file::Reader& zip) {
  return holds(zip, code_folder) || holds(zip, "archive_format");
}

#if TD_TORCH_HAS_PACKAGES

ModulePtr load_package(const zip_file::Reader& zip, const std::string& bytes,
                       const ScriptOptions& options) {
  const std::string& path = zip.where();
  if (!holds(zip, code_folder)) {
    fail(Code::unsupported, path,
         " is a program of torch.export, which nothing but Python runs: compile it with "
         "torch._inductor.aoti_compile_and_package");
  }
  PackageText text = text_of(zip);
  ScriptMeta& meta = text.meta;
  NetworkSpec first{"model", chosen_keys(options.in_keys, std::move(meta.in_keys), "in_keys", path),
                    chosen_keys(options.out_keys, std::move(meta.out_keys), "out_keys", path),
                    meta.inputs, meta.batch};
  if (options.dtype)
    fail(Code::unsupported, "the parameters of a package are compiled: their dtype stays");
  if (options.device && !text.device.empty() &&
      c10::Device(text.device).type() != options.device->type()) {
    fail(Code::device, path, " was compiled for ", text.device, ", not for ", *options.device);
  }
  const std::string where = path + ": tensordict.json";
  const PrivateFile file(bytes);
  const AnotherNetwork network = [&](const NetworkSpec& spec) {
    if (!spec.inputs)
      fail(Code::format, path, " does not say the \"inputs\" that it was compiled for");
    if (spec.inputs->size() != spec.in_keys.size()) {
      fail(Code::invalid_argument, "the module takes ", spec.inputs->size(),
           " inputs, but there are ", spec.in_keys.size(), " in_keys: ", show_keys(spec.in_keys));
    }
    BatchForm form = batch_form(spec.inputs, spec.batch, spec.in_keys, where);
    return guarded(
        [&]() -> ModulePtr {
          return std::make_shared<PackageModule>(file.path(), spec, std::move(form));
        },
        [&](const std::string& error) {
          fail(Code::format, "libtorch cannot load ", path, ": ", first_line(error));
        });
  };
  return with_followers(network(first), network, meta, where);
}

#else

ModulePtr load_package(const zip_file::Reader& zip, const std::string&, const ScriptOptions&) {
  fail(Code::unsupported, zip.where(),
       " is a package of AOTInductor, which needs libtorch 2.6 or newer; this library was built "
       "with ",
       TORCH_VERSION_MAJOR, ".", TORCH_VERSION_MINOR);
}

#endif

}  // namespace td
