// Opens growing writers, into the folder itself or a shard of it.
#include "core/append/append.h"
#include "core/append/match.h"
#include "core/memmap/memmap.h"
#include "core/memmap/memmap_plan.h"
#include "core/record/new_folder.h"
#include "core/record/recorder.h"
#include "core/tree/non_tensor_values.h"

namespace td {

namespace {

using files::FolderLock;

// The files of a dictionary without rows.
record::FolderTexts texts_of(const TensorDict& like, const std::string& dir) {
  if (like.batch_size().empty()) {
    fail(Code::shape, "rows are needed: the dictionary has no batch dimension");
  }
  const IndexItem none = IndexItem::range(0, 0);
  const TensorDict empty = like.index(none);
  const bool exists = files::look(files::join(dir, ".")).found == files::Found::folder;
  const SavePlan plan = plan_save(empty.node(), dir, exists, {}, Content::zeros);
  record::FolderTexts result;
  for (const SavePlan::Folder& folder : plan.folders) {
    const std::string meta = files::join(folder.path, format::meta_file);
    result.files.emplace_back(meta.substr(dir.size() + 1), folder.meta);
  }
  for (const SavePlan::File& file : plan.files) {
    result.files.emplace_back(file.path.substr(dir.size() + 1), *file.content);
  }
  return result;
}

void check_like(const record::Layout& folder, const TensorDict& like) {
  for (const auto& [at, value] : match(folder, like).values) {
    const record::LayoutNode& node = folder.nodes()[at];
    if (node.by_row()) continue;
    const NodePtr there = c10::make_intrusive<NonTensorNode>(
        read_value(node.text.data, "\"" + folder.dir() + "\""), value->batch(), std::nullopt);
    if (same_non_tensor(*there, *value)) continue;
    fail(Code::wrong_entry, quote(node.path.back()), " in \"", folder.dir(),
         "\" has a value that differs from the sample");
  }
}

std::unique_ptr<record::Writer> open_one(const std::string& dir, FolderLock lock,
                                         const TensorDict* like, const AppendOptions& options) {
  if (!options.resume_at.empty()) {
    record::Layout folder(dir, lock);
    if (like != nullptr) check_like(folder, *like);
    const std::vector<std::string_view> path(options.resume_at.begin(), options.resume_at.end());
    if (!folder.is_stack()) record::keep_episodes(folder, lock, path, options);
  }
  auto recording = std::make_unique<record::Recording>(dir, std::move(lock), options);
  if (like != nullptr) check_like(recording->folder(), *like);
  return std::make_unique<record::Recorder>(std::move(recording));
}

// Creates the folder of the shards. Several processes may do so at once.
void make_root(const std::string& root, bool durable) {
  const record::FolderTexts texts{{{std::string(format::meta_file), format::lazy_text(0)}}};
  record::try_again(root, [&] {
    return record::holds_dictionary(root) || record::make_folder(root, texts, durable).has_value();
  });
}

std::unique_ptr<record::Writer> open_shard(const std::string& root, const TensorDict* like,
                                           const AppendOptions& options) {
  if (!record::holds_dictionary(root)) {
    if (like == nullptr) record::fail_no_dictionary(root);
    make_root(root, options.durable);
  }
  const record::Layout stack = record::Layout::glance(root);
  if (!stack.is_stack()) {
    fail(Code::unsupported, "\"", root, "\" is not a lazy stack along the rows and has no shards");
  }
  // All elements of a stack have the same entries.
  const std::string first = files::join(root, "0");
  TensorDict sample;
  if (like == nullptr) {
    LoadOptions load;
    load.private_mapping = true;
    sample = load_memmap(first, load);
    like = &sample;
  } else if (record::holds_dictionary(first)) {
    check_like(record::Layout::glance(first), *like);
  }
  std::int64_t k = 0;
  std::unique_ptr<record::Writer> result;
  record::try_again(root, [&] {
    for (;; ++k) {
      const std::string dir = files::join(root, std::to_string(k));
      // Create shards in numerical order, so that readers meet no gap.
      if (!record::holds_dictionary(dir)) {
        std::optional<FolderLock> lock =
            record::make_folder(dir, texts_of(*like, dir), options.durable);
        if (lock) result = open_one(dir, std::move(*lock), like, options);
        return result != nullptr;
      }
      if (options.shard != Shard::any) continue;
      try {
        result = open_one(dir, FolderLock(dir), like, options);
        return true;
      } catch (const Error& error) {
        if (error.code() != Code::busy) throw;
      }
    }
  });
  return result;
}

}  // namespace

std::unique_ptr<record::Writer> open_append(const std::string& dir, const TensorDict* like,
                                            const AppendOptions& options) {
  const std::string path = record::named_folder(dir);
  if (options.shard != Shard::none) return open_shard(path, like, options);
  std::function<record::FolderTexts()> texts;
  if (like != nullptr) texts = [&] { return texts_of(*like, path); };
  return open_one(path, record::open_or_make(path, texts, options.durable), like, options);
}

}  // namespace td
