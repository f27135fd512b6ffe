// core/store/ranges.h: which bytes of a value in a server an index reads or writes.
#pragma once

#include "core/store/entry.h"
#include "core/store/request.h"

#include "core/tensor/picked_rows.h"

#include <cstdint>
#include <string>
#include <vector>

namespace td::store {

struct Span {
  std::int64_t start, bytes;
};

// More than these in one request are refused.
inline constexpr std::size_t max_spans = 250'000;

// How rows are read: one range, or several by a script on the server, which gives them side by side.
struct RowsToRead {
  std::vector<Span> spans;  // none: nothing is read
  Sizes sizes;              // of what is read
  std::int64_t step = 1;    // every so many of the rows that are read are wanted
};
RowsToRead rows_to_read(const Meta& meta, const PickedRows& rows, const std::string& where);

// Adds the command that reads them, and before it one that asks for the length of the whole.
void ask_rows(Request& request, const std::string& key, const RowsToRead& read);

// Their answers, as the rows that were picked, in their order.
at::Tensor rows_of(const Answer& length, const Answer& answer, const Meta& meta,
                   const PickedRows& rows, const RowsToRead& read, const std::string& where);

// The bytes that an index picks for writing, in the order of the values that are written there.
std::vector<Span> spans_to_write(const Meta& meta, c10::ArrayRef<IndexItem> items,
                                 const std::string& where);

// Adds the one command that writes `bytes` to them, which the server does as one, and only where the entry is still
// what `meta` says: then it answers 1, else 0. The bytes must live until the request is sent.
void ask_write(Request& request, const ServerKeys& keys, std::string_view path, const Meta& meta,
               const std::vector<Span>& spans, std::string_view bytes);

}  // namespace td::store
