// The C interface in C++, without libtorch.
#include <tensordict/td.h>

int main() {
  if (td_supports_abi(TD_ABI_VERSION) == 0) return 1;
  td_tensordict *td = nullptr;
  const int64_t batch[] = {3, 4};
  if (td_create(batch, 2, TD_DEVICE_NONE, -1, &td) != TD_OK) return 2;
  int32_t archive = 0;
  if (td_memmap_is_archive("nothing", &archive) == TD_OK && archive != 0) return 3;
  td_free(td);
  return static_cast<int>(td_debug_live_handles());
}
