// core/store/fetch.h: entries read from a server as they were at one moment.
#pragma once

#include "core/store/connection.h"
#include "core/store/entry.h"
#include "core/store/ranges.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace td::store {

// What a client remembers of a dictionary: the entries that there are, and what it has seen beside their bytes. Others
// may have changed it since, so it is a guess: what is read by it is checked against what stands there by then.
struct Guess {
  Sizes batch;
  std::map<std::string, std::optional<Meta>, std::less<>> entries;
};

struct Leaf {
  std::string path;
  Meta meta;
  std::string_view bytes;  // whole value
  at::Tensor rows;         // of a tensor, if only rows were asked for
};

struct Fetched {
  std::vector<Leaf> leaves;  // sorted by their paths
  Transaction::Answers held;
};

enum class Wanted { metadata, values, rows };

// How often a call that goes by a guess looks again, while others change what it is about.
inline constexpr int max_attempts = 8;

// One transaction if the guess holds, else two or more; the guess is right afterwards. Of entries that are not
// below the path nothing is read. Throws Code::key_not_found when there is no such dictionary, and Code::busy when
// others keep changing it.
Fetched fetch(Connection& connection, const ServerKeys& keys, Guess& guess, std::string_view below,
              Wanted wanted, c10::ArrayRef<IndexItem> items = {});

// The entries of a dictionary: those under "below.".
bool lies_below(std::string_view path, std::string_view below);

// "Redis at localhost:6379, dictionary \"ID\"" and an entry.
std::string shown_entry(const std::string& where, std::string_view path);

}  // namespace td::store
