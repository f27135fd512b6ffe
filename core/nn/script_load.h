// core/nn/script_load.h: what all loaded networks share.
#pragma once

#include "core/nn/script.h"

#include <optional>
#include <string>

namespace td {

// The keys of the options, else those of the file. Throws Code::key_not_found if both lack them.
KeyPaths chosen_keys(const std::optional<KeyPaths>& wanted, std::optional<KeyPaths> found,
                     const char* what, const std::string& path);

}  // namespace td
