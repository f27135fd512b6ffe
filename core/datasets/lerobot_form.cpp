#include "core/datasets/lerobot.h"
#include "core/formats/json_text.h"
#include "core/tensor/dtype.h"

#include <algorithm>
#include <set>

namespace td::datasets {

namespace {

constexpr std::string_view images = images_prefix;

Sizes shape_of(const Plain& feature, const std::string& where) {
  const Plain* shape = feature.find("shape");
  const auto bad = [&] {
    fail(Code::format, where, " has the shape ", shape == nullptr ? "null" : json_text(*shape),
         "; it is a list of sizes");
  };
  if (shape == nullptr || !shape->is(Plain::list)) bad();
  Sizes sizes;
  std::int64_t elements = 1;
  for (const Plain& size : shape->items()) {
    const bool good = size.is(Plain::integer) && size.integral() > 0 && sizes.size() < 16 &&
                      !__builtin_mul_overflow(elements, size.integral(), &elements);
    if (!good) bad();
    sizes.push_back(size.integral());
  }
  return sizes;
}

// Height, width and channels in this order, in which a frame is read; their names tell another one.
Sizes frame_shape(const Plain& feature, Sizes shape, const std::string& where) {
  const Plain* names = feature.find("names", Plain::list);
  const std::string_view first = names == nullptr || names->items().size() != 3
                                     ? std::string_view()
                                     : names->items()[0].characters();
  if (shape.size() == 3 && first.substr(0, 7) == "channel") shape = {shape[1], shape[2], shape[0]};
  if (shape.size() != 3 || shape[0] > UINT16_MAX || shape[1] > UINT16_MAX) {
    fail(Code::format, where, " has the shape ", show_sizes(shape),
         "; that of a video is height, width, channels");
  }
  shape[2] = 3;
  return shape;
}

c10::ScalarType dtype_named(std::string_view name, const std::string& where) {
  try {
    return parse_dtype("torch." + std::string(name), where);
  } catch (const Error& failure) {
    if (failure.code() == Code::dtype) return c10::ScalarType::Undefined;
    fail(Code::unsupported, where, " is of dtype ", quote(name), ", which is not known");
  }
}

}  // namespace

OwnedKey key_of_column(std::string_view column) {
  if (column == "episode_index") return {"episode"};
  if (column == "frame_index") return {"frame"};
  if (column.size() > images.size() && column.substr(0, images.size()) == images)
    return {"observation", "image", std::string(column.substr(images.size()))};
  OwnedKey key;
  for (std::size_t at = 0; at <= column.size();) {
    const std::size_t end = std::min(column.find('.', at), column.size());
    key.emplace_back(column.substr(at, end - at));
    at = end + 1;
  }
  return key;
}

std::string column_of_key(const OwnedKey& key) {
  if (key == OwnedKey{"episode"}) return "episode_index";
  if (key == OwnedKey{"frame"}) return "frame_index";
  if (key.size() == 3 && key[0] == "observation" && key[1] == "image")
    return images_prefix + key[2];
  std::string column;
  for (const std::string& name : key) column += (&name == &key[0] ? "" : ".") + name;
  return column;
}

std::vector<Feature> features_of(const Plain& info, const std::string& where) {
  const Plain* all = info.find("features", Plain::object);
  if (all == nullptr) fail(Code::format, where, " has no object \"features\"");
  std::set<std::string_view> alone;
  if (const Plain* marked = info.find(scalars_mark, Plain::list)) {
    for (const Plain& one : marked->items()) alone.insert(one.characters());
  }
  std::vector<Feature> features;
  std::set<OwnedKey> keys;
  for (std::size_t i = 0; i < all->items().size(); ++i) {
    const Plain& one = all->items()[i];
    Feature feature;
    feature.column = std::string(all->name(i));
    const std::string here = where + ": feature " + quote(feature.column);
    const Plain* dtype = one.find("dtype", Plain::text);
    if (dtype == nullptr) fail(Code::format, here, " has no dtype");
    feature.shape = shape_of(one, here);
    const std::string_view name = dtype->characters();
    feature.holds = name == "string"  ? Feature::text
                    : name == "image" ? Feature::image
                    : name == "video" ? Feature::video
                                      : Feature::tensor;
    if (feature.holds == Feature::tensor) feature.dtype = dtype_named(name, here);
    if (feature.holds == Feature::video) feature.shape = frame_shape(one, feature.shape, here);
    const bool one_number = feature.shape == Sizes{1};
    if (one_number && (feature.column == "episode_index" || alone.count(feature.column) != 0))
      feature.shape.clear();
    feature.key = key_of_column(feature.column);
    keys.insert(feature.key);
    features.push_back(std::move(feature));
  }
  for (Feature& feature : features) {
    for (std::size_t n = 1; n < feature.key.size(); ++n) {
      const auto end = feature.key.begin() + static_cast<std::ptrdiff_t>(n);
      if (keys.count(OwnedKey(feature.key.begin(), end)) == 0) continue;
      feature.key = {feature.column};
      break;
    }
  }
  return features;
}

}  // namespace td::datasets
