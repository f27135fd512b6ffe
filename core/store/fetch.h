// core/store/fetch.h: reads entries of a dictionary in one consistent snapshot.
#pragma once

#include "core/store/connection.h"
#include "core/store/entry.h"
#include "core/store/ranges.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace td::store {

// What this client last saw of a dictionary: its entries and their metadata. Other clients may have
// changed it since, so every read verifies it.
struct Guess {
  Form form;
  std::map<std::string, std::optional<Meta>, std::less<>> entries;
};

struct Leaf {
  std::string path;
  Meta meta;
  std::string_view bytes;  // whole value
  at::Tensor rows;         // of a tensor, if only rows were requested
};

struct Fetched {
  std::vector<Leaf> leaves;  // sorted by path
  Transaction::Answers held;
};

enum class Wanted { metadata, values, rows };

// How often a call retries while other clients change the dictionary.
inline constexpr int max_attempts = 8;

// Reads the entries at or below a path: in one transaction if the guess is right, else in several.
// Updates the guess. Throws Code::key_not_found if the dictionary does not exist, and Code::busy if
// other clients keep changing it.
Fetched fetch(Connection& connection, const ServerKeys& keys, Guess& guess, std::string_view below,
              Wanted wanted, c10::ArrayRef<IndexItem> items = {});

// Code::key_not_found: the dictionary was removed, or its server was emptied.
[[noreturn]] void fail_gone(const std::string& where);

// Whether the path starts with "below.".
bool lies_below(std::string_view path, std::string_view below);

// An entry's name in messages: "Redis at localhost:6379, dictionary \"ID\"" and the path.
std::string shown_entry(const std::string& where, std::string_view path);

}  // namespace td::store
