extern "C" {
#include "td_sha256.h"
}

#include "core/base/sha256.h"

#include <cstring>

void td_sha256(const void *bytes, size_t size, char digits[65]) {
  std::strcpy(digits, td::sha256({static_cast<const char *>(bytes), size}).c_str());
}
