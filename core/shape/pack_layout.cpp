// A layout of packed tensors as JSON.
#include "core/formats/events.h"
#include "core/formats/json_text.h"
#include "core/shape/pack.h"
#include "core/tree/paths.h"

#include <set>

namespace td {

namespace {

void tell(const PackLayout::Names& path, Events& to) {
  to.open(false);
  for (const std::string& name : path) to.add(Plain::of_text(name));
  to.close(false);
}

void tell(SizesView sizes, Events& to) {
  to.open(false);
  for (const std::int64_t size : sizes) to.add(Plain::of_integer(size));
  to.close(false);
}

Plain text_or_null(const std::string& text) {
  return text.empty() ? Plain() : Plain::of_text(text);
}

[[noreturn]] void fail_layout(const std::string& what) {
  fail(Code::invalid_argument, "a layout ", what);
}

// The list under a name; without it an empty one if it may be missing.
Span<Plain> list_in(const Plain& layout, const char* name, bool required) {
  const Plain* found = layout.find(name);
  if (found == nullptr && !required) return {};
  if (found == nullptr || !found->is(Plain::list))
    fail_layout("has no list " + quote(name) + ": found " +
                (found ? json_text(*found) : "nothing"));
  return found->items();
}

PackLayout::Names path_in(const Plain& text) {
  PackLayout::Names path;
  if (text.is(Plain::text)) path.emplace_back(text.characters());
  for (const Plain& name : text.items()) {
    if (!text.is(Plain::list) || !name.is(Plain::text))
      fail_layout("has the key " + json_text(text));
    path.emplace_back(name.characters());
  }
  check_path(std::vector<std::string_view>(path.begin(), path.end()));
  return path;
}

Sizes sizes_in(const Plain& text) {
  Sizes sizes;
  for (const Plain& size : text.items()) {
    if (!size.is(Plain::integer) || size.integral() < 0 || sizes.size() == max_dims) break;
    sizes.push_back(size.integral());
  }
  if (!text.is(Plain::list) || sizes.size() != text.items().size())
    fail_layout("has the shape " + json_text(text));
  return sizes;
}

std::string text_in(const Plain& layout, const char* name) {
  const Plain* found = layout.find(name);
  if (found == nullptr || found->is(Plain::null)) return {};
  if (!found->is(Plain::text)) fail_layout("has " + quote(name) + " " + json_text(*found));
  return std::string(found->characters());
}

}  // namespace

std::string layout_text(const PackLayout& layout) {
  JsonEvents to;
  const std::vector<std::int64_t> offsets = layout.offsets();
  to.open(true);
  to.name("keys");
  to.open(false);
  for (const PackLayout::Names& key : layout.keys) tell(key, to);
  to.close(false);
  to.name("shapes");
  to.open(false);
  for (const Sizes& shape : layout.shapes) tell(SizesView(shape), to);
  to.close(false);
  to.name("dim");
  to.add(Plain::of_integer(layout.dim));
  to.name("nested");
  to.open(false);
  for (const PackLayout::Nested& node : layout.nested) {
    to.open(true);
    to.name("key");
    tell(node.path, to);
    to.name("batch");
    tell(SizesView(node.batch), to);
    to.name("type");
    to.add(text_or_null(node.type));
    to.close(true);
  }
  to.close(false);
  to.name("device");
  to.add(text_or_null(layout.device));
  to.name("type");
  to.add(text_or_null(layout.type));
  to.name("offsets");
  tell(SizesView(offsets).slice(0, layout.keys.size()), to);
  to.name("numel");
  to.add(Plain::of_integer(offsets.back()));
  to.close(true);
  return to.take();
}

PackLayout read_layout(std::string_view text) {
  const Plain read = read_json(text, "a layout");
  if (!read.is(Plain::object)) fail_layout("is an object, found " + json_text(read));
  PackLayout layout;
  std::set<PackLayout::Names> seen;
  for (const Plain& key : list_in(read, "keys", true)) {
    layout.keys.push_back(path_in(key));
    if (!seen.insert(layout.keys.back()).second) fail_layout("has " + json_text(key) + " twice");
  }
  for (const Plain& shape : list_in(read, "shapes", true)) layout.shapes.push_back(sizes_in(shape));
  if (layout.keys.size() != layout.shapes.size()) {
    fail_layout("has " + std::to_string(layout.keys.size()) + " keys and " +
                std::to_string(layout.shapes.size()) + " shapes");
  }
  if (const Plain* dim = read.find("dim"); dim != nullptr) {
    if (!dim->is(Plain::integer)) fail_layout("has the dim " + json_text(*dim));
    layout.dim = dim->integral();
  }
  for (const Plain& node : list_in(read, "nested", false)) {
    const Plain *key = node.find("key"), *batch = node.find("batch");
    if (key == nullptr || batch == nullptr) fail_layout("has the dictionary " + json_text(node));
    layout.nested.push_back({path_in(*key), sizes_in(*batch), text_in(node, "type")});
  }
  layout.device = text_in(read, "device");
  layout.type = text_in(read, "type");
  layout.offsets();  // refuses too many columns
  return layout;
}

}  // namespace td
