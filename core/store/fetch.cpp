#include "core/store/fetch.h"

#include "core/tensor/assign.h"

namespace td::store {

namespace {

constexpr std::size_t max_entries = 1'000'000;

std::vector<std::string> paths_below(const Guess& guess, std::string_view below) {
  std::vector<std::string> result;
  for (const auto& entry : guess.entries) {
    if (lies_below(entry.first, below)) result.push_back(entry.first);
  }
  return result;
}

// Makes the guess hold exactly these paths. Returns whether it already did.
bool take_paths(decltype(Guess::entries)& guess, const std::vector<Answer>& names,
                const std::string& where) {
  if (names.size() > max_entries) {
    fail(Code::format, where, ": ", names.size(), " entries, more than ", max_entries);
  }
  decltype(Guess::entries) found;
  bool same = names.size() == guess.size();
  for (const Answer& name : names) {
    const std::string_view path = name.text("the name of an entry");
    check_stored_path(path, where);
    const auto known = guess.find(path);
    if (known == guess.end()) {
      same = false;
      found.emplace(path, std::nullopt);
    } else {
      found.emplace(path, known->second);
    }
  }
  if (!same || found.size() != guess.size()) {
    guess = std::move(found);
    return false;
  }
  return true;
}

}  // namespace

bool lies_below(std::string_view path, std::string_view below) {
  if (below.empty()) return true;
  return path.size() > below.size() && path.substr(0, below.size()) == below &&
         path[below.size()] == '.';
}

std::string shown_entry(const std::string& where, std::string_view path) {
  const std::vector<std::string> names = split(path);
  return where + ": " + show_path(std::vector<std::string_view>(names.begin(), names.end()));
}

void fail_gone(const std::string& where) {
  fail(Code::key_not_found, where, ": there is no dictionary of this id");
}

Fetched fetch(Connection& connection, const ServerKeys& keys, Guess& guess, std::string_view below,
              Wanted wanted, c10::ArrayRef<IndexItem> items) {
  const std::string& where = connection.where();
  for (int attempt = 0; attempt < max_attempts; ++attempt) {
    const std::vector<std::string> paths = paths_below(guess, below);
    PickedRows picked;
    if (wanted == Wanted::rows) picked = split_rows(items, guess.form.batch).rows;
    Transaction transaction;
    Request& commands = transaction.commands();
    ask_form(commands, keys);
    commands.add({"SMEMBERS", keys.paths()});
    // Commands for each entry: its metadata; then its bytes, or its length and a range.
    const std::size_t each = wanted == Wanted::metadata ? 1 : wanted == Wanted::values ? 2 : 3;
    const std::size_t first = 2;
    std::vector<RowsToRead> reads(paths.size());
    std::vector<bool> guessed(paths.size(), wanted == Wanted::metadata);
    for (std::size_t i = 0; i < paths.size(); ++i) {
      ask_meta(commands, keys, paths[i], guess.form);
      if (wanted == Wanted::metadata) continue;
      const std::optional<Meta>& meta = guess.entries.at(paths[i]);
      const bool by_rows = wanted == Wanted::rows && meta && meta->is_tensor;
      if (by_rows && (!meta->shapes.empty() || begins_with(meta->sizes, guess.form.batch))) {
        guessed[i] = true;
        reads[i] = rows_to_read(*meta, picked, shown_entry(where, paths[i]));
        ask_rows(commands, keys.data(paths[i]), reads[i]);
        continue;
      }
      if (wanted == Wanted::rows) commands.add({"STRLEN", keys.data(paths[i])});
      guessed[i] = wanted == Wanted::values || (meta && !meta->is_tensor);
      commands.add({guessed[i] ? "GET" : "STRLEN", keys.data(paths[i])});
    }
    Fetched result;
    result.held = transaction.run(connection);
    const Transaction::Answers& answers = result.held;
    std::optional<Form> form = read_form(answers[0], where);
    if (!form) fail_gone(where);
    if (form->stack_dim.has_value() != guess.form.stack_dim.has_value()) {
      // Other metadata must be asked for.
      guess.form = std::move(*form);
      guess.entries.clear();
      continue;
    }
    const Sizes& batch = form->batch;
    bool right = take_paths(guess.entries, answers[1].list("the names of the entries"), where);
    if (wanted == Wanted::rows) right = right && batch == guess.form.batch;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      const auto known = guess.entries.find(paths[i]);
      if (known == guess.entries.end()) continue;  // removed meanwhile: `right` is false
      const std::string entry = shown_entry(where, paths[i]);
      Leaf leaf{paths[i], read_meta(answers[first + i * each], *form, entry), {}, {}};
      const Meta& meta = leaf.meta;
      if (meta.is_tensor && meta.shapes.empty() && !begins_with(meta.sizes, batch)) {
        fail(Code::format, entry, " has sizes ", show_sizes(meta.sizes),
             ", which do not begin with the batch size ", show_sizes(batch));
      }
      const bool same_meta = known->second && *known->second == meta;
      const bool as_guessed = guessed[i] && (wanted != Wanted::rows || same_meta);
      known->second = meta;
      right = right && as_guessed;
      if (wanted != Wanted::metadata && as_guessed) {
        const Answer& length = answers[first + i * each + 1];
        const Answer& value = answers[first + i * each + each - 1];
        if (wanted == Wanted::rows && meta.is_tensor) {
          leaf.rows = rows_of(length, value, meta, picked, reads[i], entry);
        } else {
          leaf.bytes = value_bytes(value, meta, entry);
        }
      }
      if (right) result.leaves.push_back(std::move(leaf));
    }
    guess.form = std::move(*form);
    if (right) return result;
  }
  fail(Code::busy, where, ": others kept changing the dictionary while it was read");
}

}  // namespace td::store
