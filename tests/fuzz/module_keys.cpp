// The keys of a module and what follows it: the text "tensordict.json" in an archive.
#include "core/nn/function.h"
#include "core/nn/script_meta.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string text(reinterpret_cast<const char *>(data), size);
  td::ScriptMeta meta;
  try {
    meta = td::read_script_meta(text, "keys");
    // Modules of any form, over networks that do nothing: those that cannot be made are refused.
    const td::ModulePtr none = td::module_sequence({});
    td::with_followers(
        none, [&](const td::NetworkSpec &) { return none; }, meta, "keys");
  } catch (const td::Error &error) {
    FUZZ_CHECK(error.code() == td::Code::format || error.code() == td::Code::unsupported ||
               error.code() == td::Code::key_invalid);
    FUZZ_CHECK(std::string(error.what()).find('\n') == std::string::npos);
    return 0;
  }
  const std::string written = td::script_meta_json(meta);
  FUZZ_CHECK(td::script_meta_json(td::read_script_meta(written, "again")) == written);
  return 0;
}
