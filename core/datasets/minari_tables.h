// core/datasets/minari_tables.h: Minari's data sets in Arrow and Parquet.
#pragma once

#include "core/datasets/source.h"
#include "core/formats/file_formats.h"

namespace td::datasets {

// `data` is the folder with metadata.json, which is `metadata`.
std::unique_ptr<Source> open_minari_tables(const std::string& data, Plain metadata,
                                           FileFormat format, const DatasetOptions& options);

}  // namespace td::datasets
