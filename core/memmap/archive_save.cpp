// Saves to an archive: the files of a folder, one after the other in a zip file.
#include "core/formats/file_formats.h"
#include "core/formats/format.h"
#include "core/formats/zip_file.h"
#include "core/io/file_io.h"
#include "core/memmap/archive.h"
#include "core/memmap/archive_target.h"
#include "core/memmap/memmap_loader.h"
#include "core/memmap/memmap_plan.h"
#include "core/tensor/foreign.h"
#include "core/tensor/parallel.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td {

namespace {

using zip_file::Form;
using zip_file::Writer;

struct File {
  std::string_view name;  // name in the archive; for a meta.json, its folder and '/'
  const std::string* text = nullptr;
  const SavePlan::Leaf* leaf = nullptr;
  bool is_meta = false;
};

// Orders each folder's meta.json first, then other files by name, then folders by name.
bool goes_before(const File& a, const File& b) noexcept {
  const std::size_t shorter = std::min(a.name.size(), b.name.size());
  const auto differs = std::mismatch(a.name.begin(), a.name.begin() + shorter, b.name.begin());
  const auto at = static_cast<std::size_t>(differs.first - a.name.begin());
  // After their last common '/', both are entries of one folder.
  const std::size_t slash = a.name.substr(0, at).rfind('/');
  const std::size_t begin = slash == std::string_view::npos ? 0 : slash + 1;
  const auto part = [begin](const File& file) {
    return file.name.substr(begin, file.name.find('/', begin) - begin);
  };
  const auto rank = [begin](const File& file) {
    if (file.name.find('/', begin) != std::string_view::npos) return 2;
    return file.is_meta ? 0 : 1;
  };
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  return part(a) < part(b);
}

std::vector<File> files_of(const SavePlan& plan) {
  std::vector<File> files;
  for (const SavePlan::Folder& folder : plan.folders) {
    files.push_back({std::string_view(folder.path).substr(1), &folder.meta, nullptr, true});
  }
  for (const SavePlan::File& file : plan.files) {
    files.push_back({std::string_view(file.path).substr(1), file.content.get()});
  }
  for (const SavePlan::Leaf& leaf : plan.leaves) {
    if (leaf.action == SavePlan::Action::empty) continue;
    files.push_back({std::string_view(leaf.path).substr(1), nullptr, &leaf});
  }
  return files;
}

class Packer {
 public:
  Packer(const std::string& target, const MemmapOptions& options, bool zeros)
      : writer_(target), options_(options), zeros_(zeros) {}

  void run(const SavePlan& plan) {
    std::vector<std::string> names;  // names of the meta.json files in the archive
    names.reserve(plan.folders.size());
    std::vector<File> files = files_of(plan);
    for (File& file : files) {
      if (!file.is_meta) continue;
      const std::string folder = file.name.empty() ? "" : std::string(file.name) + '/';
      names.push_back(folder + std::string(format::meta_file));
      file.name = names.back();
    }
    std::sort(files.begin(), files.end(), goes_before);
    for (const File& file : files) {
      if (file.leaf != nullptr && options_.compression != Compression::stored) {
        later_.push_back(&file);
        if (later_.size() >= static_cast<std::size_t>(std::max(options_.num_threads, 1))) deflate();
        continue;
      }
      deflate();
      if (file.leaf == nullptr) {
        writer_.add(file.name, Form::stored, file.text->data(), file.text->size());
      } else if (zeros_ && !file.leaf->is_table) {
        add_zeros(file);
      } else {
        const at::Tensor values = plain_values(file.leaf->source);
        writer_.add(file.name, Form::aligned, static_cast<const char*>(values.data_ptr()),
                    file.leaf->bytes);
      }
    }
    deflate();
    writer_.close();
  }

  const std::string& path() const noexcept { return writer_.path(); }
  void commit() { writer_.commit(options_.durable); }

 private:
  // Compresses several leaves at a time, on threads.
  void deflate() {
    std::vector<Writer::Packed> packed(later_.size());
    for_each_tensor(later_.size(), later_.size(), [&](std::size_t i) {
      const c10::NoGradGuard no_grad;
      const SavePlan::Leaf& leaf = *later_[i]->leaf;
      const at::Tensor values = zeros_ && !leaf.is_table
                                    ? at::zeros(leaf.source.sizes(), leaf.source.scalar_type())
                                    : plain_values(leaf.source);
      packed[i] = Writer::pack(static_cast<const char*>(values.data_ptr()), leaf.bytes);
    });
    for (std::size_t i = 0; i < packed.size(); ++i) writer_.add(later_[i]->name, packed[i]);
    later_.clear();
  }

  // Writes the zeros, so that the disk has room for later values.
  void add_zeros(const File& file) {
    const std::vector<char> zeros(std::size_t{1} << 18);
    const std::size_t bytes = file.leaf->bytes;
    writer_.begin(file.name, Form::aligned, bytes);
    for (std::size_t done = 0; done < bytes; done += zeros.size()) {
      writer_.append(zeros.data(), std::min(bytes - done, zeros.size()));
    }
    writer_.end();
  }

  Writer writer_;
  const MemmapOptions& options_;
  bool zeros_;
  std::vector<const File*> later_;
};

}  // namespace

void check_folder(const MemmapOptions& options) {
  if (options.archive == Archive::yes) {
    fail(Code::invalid_argument,
         "the tensors of a dictionary can be those of a folder, not of an archive");
  }
  if (options.compression != Compression::stored)
    fail(Code::invalid_argument, "only an archive can be compressed");
}

bool makes_archive(const std::string& path, const MemmapOptions& options) {
  const bool archive = options.archive == Archive::by_name
                           ? format_of_name(path) == FileFormat::archive
                           : options.archive == Archive::yes;
  if (!archive && options.compression != Compression::stored) check_folder(options);
  return archive;
}

TensorDict save_archive(const TensorDict& td, const std::string& path, const MemmapOptions& options,
                        bool zeros) {
  if (path.empty()) fail(Code::invalid_argument, "an archive needs a path");
  if (zeros && options.compression != Compression::stored) {
    fail(Code::invalid_argument, "an archive that is written to cannot be compressed");
  }
  const std::string target = files::absolute(path);
  MemmapOptions how = options;
  how.copy_existing = true;  // the archive never shares files with mapped tensors
  const SavePlan plan = plan_archive(td.node(), how, zeros ? Content::zeros : Content::values);
  files::NewFolders folders;
  prepare_archive(target, options.fail_if_exists, folders);
  Packer packer(target, how, zeros);
  {
    const c10::NoGradGuard no_grad;
    packer.run(plan);
  }
  LoadOptions open;
  open.device = c10::Device(c10::DeviceType::CPU);
  open.verbatim_names = options.verbatim_names;
  open.quiet = true;
  open.max_depth = open.max_entries = std::numeric_limits<std::uint32_t>::max() / 2;
  // Open the archive before it takes its place: opening can fail.
  TensorDict result(load_nodes(open_archive(packer.path(), zeros, target), open));
  if (options.durable) folders.sync();
  packer.commit();
  folders.keep();
  return result;
}

}  // namespace td
