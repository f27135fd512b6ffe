// memmap_options.h: how the options of folders stand in the core; for all that saves or loads.
#pragma once

#include "arguments.h"

#include "core/memmap/memmap.h"

#include <string>

namespace capi {

td::MemmapOptions memmap_options_in(const td_memmap_options* options);
td::LoadOptions load_options_in(const td_load_options* options);
std::string dir_in(const char* dir);  // empty for NULL

}  // namespace capi
