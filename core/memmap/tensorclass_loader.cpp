#include "core/memmap/tensorclass_loader.h"

#include "core/pickle/pickled.h"
#include "core/tensorclass/found_type.h"
#include "core/tree/paths.h"
#include "core/tree/traverse.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <unordered_set>

namespace td {

namespace {

// Limits for all pickles kept in memory, for one that is parsed, and for its values.
constexpr std::size_t max_kept_bytes = std::size_t{1} << 28;
constexpr std::size_t max_read_bytes = std::size_t{1} << 24;
constexpr std::size_t max_objects = 1000000;
constexpr std::size_t max_named = 8;

bool is_key(const std::string& name) {
  try {
    const std::string_view view = name;
    check_path(view);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// The fields of a pickle: their values if all are plain, else only their names. A pickle is a program: it is
// not run.
void look_into(PickledFields& fields, const std::string& where) {
  using namespace pickled;
  const Pickle pickle = read_foreign(*fields.file, where, max_objects);
  const Object& root = pickle.objects[pickle.root];
  if (root.kind != Kind::dict) return;
  std::unordered_set<std::string> seen;
  for (std::size_t i = 0; i < root.items.size(); i += 2) {
    const Object& key = pickle.objects[root.items[i]];
    // The pickle holds something other than a dictionary of fields.
    if (key.kind != Kind::text || !is_key(key.text)) return fields.unread.clear();
    if (seen.insert(key.text).second) fields.unread.push_back(key.text);
  }
  const bool foreign = std::any_of(pickle.objects.begin(), pickle.objects.end(), [](const auto& o) {
    return o.kind == Kind::foreign || o.kind == Kind::bytes;
  });
  if (foreign || seen.size() * 2 != root.items.size()) return;
  std::vector<format::Field> values;
  std::size_t left = std::min(pickle.most_text, max_read_bytes);
  for (std::size_t i = 0; i < root.items.size(); i += 2) {
    // The limit for saving.
    values.push_back(
        {pickle.objects[root.items[i]].text, plain_of(pickle, root.items[i + 1], left, where)});
  }
  fields.values = std::move(values);
  fields.unread.clear();
}

// Puts a field into the dictionary, or into each element of a lazy stack.
void put_field(const NodePtr& root, const format::Field& field, const std::string& where) {
  visit_nodes(root, [&](Node& node) -> Go {
    if (!holds_entries(node)) return Go::on;
    DenseNode& dict = entries_of(retain(node));
    if (dict.find(field.name) != nullptr) {
      fail(Code::format, where, ": ", quote(field.name),
           " is a field beside the dictionary of the tensorclass, and an entry of it");
    }
    dict.put(field.name,
             NodePtr(c10::make_intrusive<NonTensorNode>(field.value, dict.batch(), dict.device())));
    return Go::past;
  });
}

}  // namespace

void TensorclassLoader::finish(const NodePtr& node, const Opened& opened) {
  for (const format::Field& field : opened.fields) put_field(node, field, opened.where);
  PickledPtr pickled = read_pickled(node, opened);
  if (pickled) {
    for (const format::Field& field : pickled->values) {
      reader_.count_entry(opened);
      put_field(node, field, opened.where);
    }
  }
  node->set_tensorclass(
      found_type(opened.tensorclass, node, opened.empty_fields, std::move(pickled), opened.where));
}

PickledPtr TensorclassLoader::read_pickled(const NodePtr& node, const Opened& opened) {
  const std::string name(format::pickle_file);
  const std::string path = opened.outer->path_of(name);
  const files::Look look = opened.outer->look(name);
  if (look.found == files::Found::nothing) return nullptr;
  auto result = std::make_shared<PickledFields>();
  if (look.bytes > max_kept_bytes - kept_bytes_) {
    note(path, *result);
    return result;
  }
  std::optional<std::string> text = opened.outer->read(name, max_kept_bytes - kept_bytes_);
  if (!text) return nullptr;
  kept_bytes_ += text->size();
  result->file = std::make_shared<const std::string>(std::move(*text));
  if (result->file->size() <= max_read_bytes) {
    try {
      look_into(*result, '"' + path + '"');
    } catch (const Error& error) {
      if (error.code() != Code::format && error.code() != Code::unsupported) throw;
    }
  }
  const auto taken = [&](const std::string& name) {
    return kind_below(node, name) != EntryKind::none;
  };
  const bool any_taken = std::any_of(result->values.begin(), result->values.end(),
                                     [&](const format::Field& field) { return taken(field.name); });
  // In a lazy stack the values would be repeated in each element.
  if (is_lazy_stack(*node) || any_taken || result->values.size() > reader_.entries_left()) {
    for (const format::Field& field : result->values) result->unread.push_back(field.name);
    result->values.clear();
  }
  // Fields that are also entries are saved as entries.
  auto& unread = result->unread;
  unread.erase(std::remove_if(unread.begin(), unread.end(), taken), unread.end());
  if (!result->unread.empty() || result->values.empty()) note(path, *result);
  return result;
}

void TensorclassLoader::note(const std::string& path, const PickledFields& pickled) {
  if (unread_files_++ != 0) return;
  std::string names;
  for (std::size_t i = 0; i < std::min(pickled.unread.size(), max_named); ++i) {
    names += (i == 0 ? "" : ", ") + quote(pickled.unread[i]);
  }
  if (pickled.unread.size() > max_named) names += ", …";
  first_ = '"' + path + '"' + (names.empty() ? "" : ": " + names) +
           (pickled.file ? "" : " (too long: it cannot be saved again)");
}

void TensorclassLoader::warn() const {
  if (unread_files_ == 0) return;
  const std::string more =
      unread_files_ == 1 ? "" : ", and " + std::to_string(unread_files_ - 1) + " more files";
  TORCH_WARN(
      first_, more,
      ": fields that Python has pickled cannot be read here; they are kept for the next save");
}

}  // namespace td
