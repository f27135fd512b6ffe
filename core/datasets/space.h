// core/datasets/space.h: spaces of Gymnasium, as Minari writes them.
#pragma once

#include "core/datasets/group_source.h"
#include "core/datasets/source.h"

#include <optional>

namespace td::datasets {

// A space of Gymnasium as Minari writes it. Without one, nothing is known of the values.
class Space {
 public:
  explicit Space(const Plain* space = nullptr) : space_(space) {}

  bool is(std::string_view type) const {
    const Plain* found = space_ == nullptr ? nullptr : space_->find("type", Plain::text);
    return found != nullptr && found->characters() == type;
  }
  bool is_known() const noexcept { return space_ != nullptr; }

  // Minari calls the members of a tuple _index_0, _index_1, ...; here their names are 0, 1, ...
  static constexpr std::string_view tuple_mark = "_index_";
  std::string name_in_file(const std::string& member) const {
    return is("Tuple") ? std::string(tuple_mark) + member : member;
  }
  std::string name_of_member(const std::string& in_file) const {
    const bool counts = !is("Dict") && in_file.size() > tuple_mark.size() &&
                        in_file.compare(0, tuple_mark.size(), tuple_mark) == 0 &&
                        number_of(in_file) >= 0;
    return counts ? in_file.substr(tuple_mark.size()) : in_file;
  }

  Space below(const std::string& name) const {
    const Plain* parts = space_ == nullptr ? nullptr : space_->find("subspaces");
    if (parts == nullptr) return Space();
    if (is("Dict") && parts->is(Plain::object)) return Space(parts->find(name));
    const std::int64_t i = number_of(name);
    const bool there = is("Tuple") && parts->is(Plain::list) && i >= 0 &&
                       static_cast<std::size_t>(i) < parts->items().size();
    return there ? Space(&parts->items()[static_cast<std::size_t>(i)]) : Space();
  }

  // The shape of a value; none if it is not known, as of texts.
  std::optional<Sizes> shape() const {
    if (is("Discrete")) return Sizes();
    const Plain* sizes = space_ == nullptr     ? nullptr
                         : is("Box")           ? space_->find("shape")
                         : is("MultiBinary")   ? space_->find("n")
                         : is("MultiDiscrete") ? space_->find("nvec")
                                               : nullptr;
    if (sizes == nullptr) return std::nullopt;
    if (sizes->is(Plain::integer)) return Sizes{sizes->integral()};
    Sizes shape;
    if (is("MultiDiscrete")) {
      for (; sizes->is(Plain::list); sizes = &sizes->items()[0]) {
        shape.push_back(static_cast<std::int64_t>(sizes->items().size()));
        if (sizes->items().empty()) break;
      }
      return shape;
    }
    for (const Plain& size : sizes->items()) shape.push_back(size.integral());
    return shape;
  }

  // The number of dimensions of a Box; -1 for other spaces.
  std::int64_t dims() const {
    const Plain* shape = is("Box") ? space_->find("shape", Plain::list) : nullptr;
    return shape == nullptr ? -1 : static_cast<std::int64_t>(shape->items().size());
  }

 private:
  const Plain* space_;
};

}  // namespace td::datasets
