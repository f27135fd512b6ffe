// Folders that become longer or shorter: by a writer, by dictionaries, in shards.
#include "core/append/grow.h"

#include "core/append/growing_writer.h"
#include "core/memmap/memmap.h"
#include "core/tree/non_tensor_values.h"

#include <chrono>
#include <thread>

namespace td {

namespace {

using files::FolderLock;

constexpr int most_attempts = 2000;  // a millisecond each

void wait_a_little() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

// The folder and the lock on it; made when it is not there.
FolderLock open_or_make(const std::string& dir, const TensorDict* like, bool durable) {
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    if (holds_dictionary(dir)) return FolderLock(dir);
    if (like == nullptr) fail_no_dictionary(dir);
    std::optional<FolderLock> lock = make_grow_folder(dir, *like, durable);
    if (lock) return std::move(*lock);
    wait_a_little();  // somebody else is making it
  }
  fail(Code::busy, "another writer is at work in \"", dir, "\"");
}

void check_like(const GrowFolder& folder, const TensorDict& like) {
  for (const auto& [at, value] : match(folder, like).values) {
    const GrowNode& node = folder.nodes()[at];
    const NodePtr there =
        c10::make_intrusive<NonTensorNode>(node.text.data, value->batch(), std::nullopt);
    if (same_non_tensor(*there, *value)) continue;
    fail(Code::wrong_entry, quote(node.path.back()), " in \"", folder.dir(),
         "\" has a value that differs from the sample");
  }
}

std::unique_ptr<Writer> open_one(const std::string& dir, FolderLock lock, const TensorDict* like,
                                 const AppendOptions& options) {
  auto growth = std::make_unique<Growth>(dir, std::move(lock), options);
  if (like != nullptr) check_like(growth->folder(), *like);
  return std::make_unique<GrowingWriter>(std::move(growth));
}

// The folder that shards lie in. Several processes may make it at once.
void make_root(const std::string& root, bool durable) {
  for (int attempt = 0; !holds_dictionary(root); ++attempt) {
    try {
      make_stack_folder(root, durable);
    } catch (const Error& error) {
      if (error.code() != Code::busy || attempt == most_attempts) throw;
      wait_a_little();
    }
  }
}

std::unique_ptr<Writer> open_shard(const std::string& root, const TensorDict* like,
                                   const AppendOptions& options) {
  if (!holds_dictionary(root)) {
    if (like == nullptr) fail_no_dictionary(root);
    make_root(root, options.durable);
  }
  const GrowFolder stack = GrowFolder::glance(root);
  if (!stack.is_stack()) {
    fail(Code::unsupported, "\"", root, "\" is not a lazy stack along the rows and has no shards");
  }
  // Elements of one stack are alike.
  const std::string first = files::join(root, "0");
  TensorDict sample;
  if (like == nullptr) {
    LoadOptions load;
    load.private_mapping = true;
    sample = load_memmap(first, load);
    like = &sample;
  } else if (holds_dictionary(first)) {
    check_like(GrowFolder::glance(first), *like);
  }
  int waited = 0;
  for (std::int64_t k = 0;;) {
    const std::string dir = files::join(root, std::to_string(k));
    if (holds_dictionary(dir)) {
      ++k;
      if (options.shard != Shard::any) continue;
      try {
        return open_one(dir, FolderLock(dir), like, options);
      } catch (const Error& error) {
        if (error.code() != Code::busy) throw;
      }
      continue;
    }
    // Nobody takes a number before the one below it is there: no reader meets a gap.
    std::optional<FolderLock> lock = make_grow_folder(dir, *like, options.durable);
    if (lock) return open_one(dir, std::move(*lock), like, options);
    if (++waited == most_attempts) fail(Code::busy, "another writer is at work in \"", dir, "\"");
    wait_a_little();
  }
}

}  // namespace

std::unique_ptr<Writer> open_append(const std::string& dir, const TensorDict* like,
                                    const AppendOptions& options) {
  const std::string path = named_folder(dir);
  if (options.shard != Shard::none) return open_shard(path, like, options);
  return open_one(path, open_or_make(path, like, options.durable), like, options);
}

}  // namespace td
