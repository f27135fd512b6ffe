// What is written to a store: the leaves of dictionaries as a server keeps them.
#include "core/store/redis_store.h"

#include "core/formats/format.h"
#include "core/formats/json_text.h"
#include "core/keys/entries.h"
#include "core/tensor/dtype.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <charconv>

namespace td::store {

namespace {

[[noreturn]] void fail_each(std::string_view path) {
  fail(Code::unsupported, quote(path),
       " has a value for each element of its batch; a store keeps them for its own batch, which "
       "has no dimensions");
}

}  // namespace

void fail_values(std::string_view path) {
  fail(Code::unsupported, quote(path), " is no tensor; a lazy stack in a store keeps only tensors");
}

// Redis keeps values of up to its proto-max-bulk-len. Asks for it before much is sent.
void RedisStore::require_bytes(std::uint64_t bytes, std::string_view path) {
  std::uint64_t most = max_value_bytes;
  if (bytes <= most) return;
  Request request;
  request.add({"CONFIG", "GET", "proto-max-bulk-len"});
  const std::vector<Reply> replies = connection_.run(request);
  // Servers that hide it have the default.
  if (std::holds_alternative<std::vector<Reply>>(replies[0].value)) {
    const std::vector<Answer> pair = Answer(replies[0], connection_.where()).list("a setting");
    const std::string_view text = pair.size() == 2 ? pair[1].text("a setting") : "";
    std::from_chars(text.data(), text.data() + text.size(), most);
  }
  if (bytes <= most) return;
  fail(Code::capacity, quote(path), " has ", bytes, " bytes; the server keeps ", most,
       " at most (its proto-max-bulk-len): store it in several entries");
}

RedisStore::NewEntry RedisStore::tensor_entry(const std::string& path, const at::Tensor& value) {
  // Tensors without sizes or values are refused by plain().
  if (value.defined() && value.layout() == c10::kStrided && !value.is_nested()) {
    require_bytes(value.nbytes(), path);
  }
  NewEntry entry;
  entry.path = path;
  entry.tensor = plain(value, path);
  return entry;
}

// All leaves of a dictionary, in stored form.
std::vector<RedisStore::NewEntry> RedisStore::entries_of(const std::string& below,
                                                         const TensorDict& value) {
  const FlatTree flat = flatten(value, FileOptions());
  const std::string begin = below.empty() ? below : below + '.';
  std::vector<NewEntry> entries;
  for (const FlatLeaf& leaf : flat.leaves)
    entries.push_back(tensor_entry(begin + joined(path_view(leaf.path)), leaf.tensor));
  for (const FlatExtras::NonTensor& data : flat.extras.data) {
    const std::vector<std::string_view> path = path_view(data.path);
    NewEntry entry;
    entry.path = begin + joined(path);
    if (guess_.form.stack_dim) fail_values(entry.path);
    if (data.each && guess_.form.batch.empty()) fail_each(entry.path);
    const Path above = Path(path).slice(0, path.size() - 1);
    const std::size_t dims =
        above.empty() ? value.batch_size().size() : entry_sizes(value, above).size();
    // Python writes lists in lists for several dimensions as one value.
    entry.each = data.each && dims == 1;
    entry.json = python_json(data.value);
    entries.push_back(std::move(entry));
  }
  return entries;
}

// The leaves of a lazy stack of this form; nullopt if some are no tensors.
std::optional<std::vector<RedisStore::NewEntry>> RedisStore::stack_entries(
    const std::string& below, const TensorDict& value) {
  std::map<std::string, std::vector<at::Tensor>> leaves;
  const std::string begin = below.empty() ? below : below + '.';
  const std::vector<NodePtr> elements = elements_or_self(value.node());
  for (const NodePtr& element : elements) {
    const FlatTree flat = flatten(TensorDict(element), FileOptions());
    if (!flat.extras.data.empty()) return std::nullopt;
    for (const FlatLeaf& leaf : flat.leaves) {
      const std::string name = begin + joined(path_view(leaf.path));
      leaves[name].push_back(plain(leaf.tensor, name));
    }
  }
  std::vector<NewEntry> entries;
  for (auto& [name, tensors] : leaves) {
    if (tensors.size() != elements.size()) {
      fail(Code::unsupported, quote(name), " is an entry of ", tensors.size(), " of ",
           elements.size(), " elements of the stack; a store keeps those of all");
    }
    bool even = true;
    std::uint64_t bytes = 0;
    for (const at::Tensor& tensor : tensors) {
      if (tensor.scalar_type() != tensors[0].scalar_type()) {
        fail(Code::dtype, quote(name), " is ", stored_name(tensors[0].scalar_type()),
             " in one element of the stack and ", stored_name(tensor.scalar_type()),
             " in another; a store keeps one dtype");
      }
      even = even && tensor.sizes() == tensors[0].sizes();
      bytes += tensor.nbytes();
    }
    require_bytes(bytes, name);
    NewEntry entry;
    entry.path = name;
    entry.in_front = true;
    if (even) {
      entry.tensor = at::stack(tensors);
    } else {
      for (at::Tensor& tensor : tensors) {
        entry.shapes.emplace_back(tensor.sizes().begin(), tensor.sizes().end());
        tensor = tensor.reshape({-1});
      }
      entry.tensor = at::cat(tensors);
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

Meta RedisStore::meta_of(const NewEntry& entry) const {
  Meta meta;
  meta.is_tensor = entry.tensor.defined();
  if (!meta.is_tensor) {
    meta.encoding = entry.each ? "json_array" : "json";
    return meta;
  }
  const std::optional<std::int64_t>& stack_dim = guess_.form.stack_dim;
  meta.sizes.assign(entry.tensor.sizes().begin(), entry.tensor.sizes().end());
  meta.dtype = entry.tensor.scalar_type();
  meta.dtype_text = stored_name(meta.dtype);
  if (!entry.shapes.empty()) {
    // Python gives the first element's shape for all.
    meta.shapes = entry.shapes;
    meta.sizes = entry.shapes[0];
    meta.sizes.insert(meta.sizes.begin(), static_cast<std::int64_t>(entry.shapes.size()));
    for (const Sizes& shape : entry.shapes)
      meta.shapes_text += (meta.shapes_text.empty() ? "[" : ", ") + show_sizes(shape);
    meta.shapes_text += ']';
  }
  meta.shape_text = show_sizes(meta.sizes);
  if (!stack_dim) return meta;
  meta.layout_text = entry.in_front ? "stack" : "batch";
  if (!entry.in_front) return meta;
  meta.front = *stack_dim;
  if (!meta.shapes.empty()) return meta;
  std::rotate(meta.sizes.begin(), meta.sizes.begin() + 1, meta.sizes.begin() + 1 + meta.front);
  return meta;
}

void RedisStore::add_removal(Request& commands, const std::string& path) const {
  if (guess_.form.stack_dim) {
    commands.add({"DEL", keys_.data(path), keys_.meta(path), keys_.offsets(path)});
  } else {
    commands.add({"DEL", keys_.data(path), keys_.meta(path)});
  }
}

// Adds the commands that store `entries`; `metas` receives their metadata.
void RedisStore::add_entries(Request& commands, const std::vector<NewEntry>& entries, bool zeros,
                             decltype(Guess::entries)& metas) const {
  if (entries.empty()) return;
  for (const NewEntry& entry : entries) {
    const std::string data = keys_.data(entry.path), beside = keys_.meta(entry.path);
    Meta meta = meta_of(entry);
    // Remove the entry that this one replaces, with its metadata.
    add_removal(commands, entry.path);
    if (!meta.is_tensor) {
      commands.add({"SET", data, entry.json});
      commands.add({"HSET", beside, "is_non_tensor", "1", "encoding", meta.encoding});
      metas.emplace(entry.path, std::move(meta));
      continue;
    }
    if (zeros && entry.tensor.nbytes() != 0) {
      // The server fills the bytes before the last one with zeros.
      commands.add({"SETRANGE", data, std::to_string(entry.tensor.nbytes() - 1), {"\0", 1}});
    } else if (!entry.sent_as.empty()) {
      commands.add({"RENAME", entry.sent_as, data});
      commands.add({"PERSIST", data});
    } else {
      commands.begin(3);
      commands.part("SET");
      commands.part(data);
      commands.value(bytes_view(entry.tensor));
    }
    commands.add({"HSET", beside, "shape", meta.shape_text, "dtype", meta.dtype_text});
    if (guess_.form.stack_dim) {
      const bool even = meta.shapes.empty();
      commands.add({"HSET", beside, "homogeneous", even ? "1" : "0", "layout", meta.layout_text});
      if (!even) {
        std::string offsets;
        std::int64_t at = 0;
        for (std::size_t i = 0; i <= meta.shapes.size(); ++i) {
          offsets.append(reinterpret_cast<const char*>(&at), sizeof at);
          if (i != meta.shapes.size()) at += meta.element(static_cast<std::int64_t>(i)).bytes();
        }
        commands.add({"SET", keys_.offsets(entry.path), offsets});
        commands.add({"HSET", beside, "shapes", meta.shapes_text});
      }
    }
    metas.emplace(entry.path, std::move(meta));
  }
  commands.begin(2 + entries.size());
  commands.part("SADD");
  commands.part(keys_.paths());
  for (const NewEntry& entry : entries) commands.part(entry.path);
}

}  // namespace td::store
