// core/inspect/print_parts.h: what the two forms of a printed dictionary share. Internal.
#pragma once

#include "core/inspect/print.h"

#include <string>
#include <utility>
#include <vector>

namespace td {

// The compact form of a dictionary; throws where dtypes of a lazy stack have no common one.
std::string print_compact(const NodePtr& node, const PrintOptions& options);

// The name under which a dictionary is printed; that of a part of another one.
std::string printed_class(const Node& node);
inline constexpr const char* part_class = "_SubTensorDict";

// The elements of a lazy stack with keys that not all elements have.
struct Exclusive {
  std::size_t place;
  NodePtr element;
  std::vector<std::string> names;
};
std::vector<Exclusive> exclusive_names(const Node& lazy);

// The fields of a tensorclass that are not among its entries, in the order of declaration, each with the text that
// stands for its value.
std::vector<std::pair<std::string, const char*>> fields_without_entry(
    const TensorclassType& type, const std::vector<std::string>& entries);

std::string joined_by(const std::vector<std::string>& parts, const char* separator);

// Printing goes no deeper, and no further: a dictionary may occur in many places, and the text grows with the square
// of the depth.
constexpr std::size_t max_printed_depth = 64;
constexpr std::size_t max_printed_dicts = 10000;

}  // namespace td
