#include "core/base/error.h"

#include <locale>
#include <sstream>

namespace td::detail {

void TextPart::write_text(std::ostream& to, const void* text) {
  to << static_cast<const char*>(text);
}

std::string joined(std::initializer_list<TextPart> parts) {
  std::ostringstream text;
  text.imbue(std::locale::classic());  // the program's may group digits
  for (const TextPart& part : parts) part.write(text);
  return std::move(text).str();
}

void fail(Code code, std::initializer_list<TextPart> parts) { throw Error(code, joined(parts)); }

}  // namespace td::detail
