// core/datasets/verify_lerobot.h: the files of a data set of LeRobot.
#pragma once

#include "core/datasets/lerobot.h"
#include "core/datasets/set_folder.h"
#include "core/datasets/verify_problems.h"
#include "core/formats/plain.h"

namespace td::datasets {

// What info.json tells; null if it cannot be read.
Plain check_info(Problems& problems, const SetFolder& folder);
void check_features(Problems& problems, const Plain& info);
// Tables that are whole, tasks with their index, videos that are there.
void check_tables(Problems& problems, const SetFolder& folder, const Plain& info);

}  // namespace td::datasets
