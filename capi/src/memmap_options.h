// memmap_options.h: converts options of saving and loading to those of the core.
#pragma once

#include "arguments.h"

#include "core/memmap/memmap.h"

#include <string>

namespace capi {

td::MemmapOptions memmap_options_in(const td_memmap_options* options);
td::LoadOptions load_options_in(const td_load_options* options);
std::string dir_in(const char* dir);  // empty for NULL

}  // namespace capi
