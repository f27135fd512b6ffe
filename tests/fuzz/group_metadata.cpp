// Metadata that a rank of a process group sends before the bytes, as a pickle: read, and built over as many bytes as it says.
#include "fuzz.h"

#include "core/base/error.h"
#include "core/distributed/c10d_message.h"
#include "core/tensor/buffer.h"

#include <cstring>

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  td::ReceiveOptions limits;
  limits.max_bytes = 1 << 16;
  limits.max_entries = 1000;
  limits.max_depth = 50;
  try {
    const td::distributed::Unpacked unpacked({reinterpret_cast<const char *>(data), size}, limits);
    FUZZ_CHECK(unpacked.bytes() <= unpacked.most_bytes() &&
               unpacked.most_bytes() <= limits.max_bytes);
    const c10::Storage storage =
        td::Buffer::make(unpacked.bytes(), c10::Device(c10::DeviceType::CPU));
    if (unpacked.bytes() != 0) std::memset(storage.data_ptr().get(), 1, unpacked.bytes());
    const td::TensorDict td = unpacked.build(storage);
    FUZZ_CHECK(td.equal(td.clone()));
  } catch (const td::Error &error) {
    FUZZ_CHECK(error.what()[0] != '\0' && std::strchr(error.what(), '\n') == nullptr);
  }
  return 0;
}
