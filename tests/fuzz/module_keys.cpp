// The keys of a module: the text "tensordict.json" in an archive.
#include "core/nn/script.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string text(reinterpret_cast<const char *>(data), size);
  td::ScriptKeys keys;
  try {
    keys = td::read_script_keys(text, "keys");
  } catch (const td::Error &error) {
    FUZZ_CHECK(error.code() == td::Code::format || error.code() == td::Code::unsupported ||
               error.code() == td::Code::key_invalid);
    return 0;
  }
  if (!keys.in_keys || !keys.out_keys) return 0;
  const std::string written = td::script_keys_json(*keys.in_keys, *keys.out_keys);
  const td::ScriptKeys again = td::read_script_keys(written, "again");
  FUZZ_CHECK(again.in_keys == keys.in_keys && again.out_keys == keys.out_keys);
  return 0;
}
