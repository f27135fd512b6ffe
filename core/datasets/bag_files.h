// core/datasets/bag_files.h: which files of bags are which episodes.
#pragma once

#include <string>
#include <vector>

namespace td::datasets {

// The files of each episode. A file is one; so is a folder with metadata.yaml, whose files follow each other. In any other folder
// each bag is an episode, a file or a folder, ordered by their names: "run_2" before "run_10". Empty without any bag.
std::vector<std::vector<std::string>> bag_files(const std::string& path);

}  // namespace td::datasets
