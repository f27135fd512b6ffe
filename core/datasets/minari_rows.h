// core/datasets/minari_rows.h: rows of a table of Minari as entries.
#pragma once

#include "core/arrow/table_file.h"
#include "core/datasets/minari_meta.h"

#include <optional>

namespace td::datasets {

// Steps of one episode, whose table has a row more. Without steps, the first row tells what they are like.
class MinariRows {
 public:
  MinariRows(const arrow::TableFile& table, const Steps& steps, const MinariMeta& meta,
             const DatasetOptions& options)
      : table_(table), steps_(steps), meta_(meta), options_(options) {}

  // The columns that are wanted. `longer`: those whose last row belongs to "next".
  void add(TensorDict& to, const arrow::Wanted& wanted, bool longer) const;

 private:
  void put(TensorDict& to, const OwnedKey& key, const Value& value, const OwnedKey& column,
           bool longer) const;
  void put_rows(TensorDict& to, const OwnedKey& key, const at::Tensor& rows, bool longer) const;
  void put_values(TensorDict& to, const OwnedKey& key, const std::vector<Plain>& items,
                  bool longer) const;
  at::Tensor shaped(const at::Tensor& values, const OwnedKey& column,
                    const std::string& where) const;
  std::optional<Sizes> marked_shape(const OwnedKey& column, const std::string& where) const;

  const arrow::TableFile& table_;
  const Steps& steps_;
  const MinariMeta& meta_;
  const DatasetOptions& options_;
};

}  // namespace td::datasets
