#include "core/math/call_fused.h"

#include <map>

namespace td {

const Fused* fused_form(const c10::OperatorName& name) {
  using Table = std::map<std::string, Fused>;
  static const Table* const table = [] {
    auto* made = new Table;  // never destroyed: nothing runs at exit
    const auto add = [&](const std::string& from, const std::string& to, const char* overload,
                         std::size_t carried) {
      made->emplace("aten::" + from, Fused{"aten::_foreach_" + to, overload, carried});
    };
    for (const char* bare :
         {"abs",   "acos", "asin",  "atan",       "ceil",  "cos",     "cosh", "erf",
          "erfc",  "exp",  "expm1", "floor",      "frac",  "lgamma",  "log",  "log10",
          "log1p", "log2", "neg",   "reciprocal", "round", "sigmoid", "sign", "sin",
          "sinh",  "sqrt", "tan",   "tanh",       "trunc"}) {
      for (const char* end : {"", "_"})
        add(std::string(bare) + end, std::string(bare) + end, "", 1);
    }
    for (const char* bare : {"add", "sub", "mul", "div"}) {
      const bool alpha = bare[0] == 'a' || bare[0] == 's';
      for (const char* end : {"", "_"}) {
        const std::string name = std::string(bare) + end;
        add(name + ".Scalar", name, "Scalar", 2);
        add(name + ".Tensor", name, "List", alpha ? 3 : 2);
      }
    }
    for (const char* bare : {"addcmul", "addcdiv"}) {
      for (const char* end : {"", "_"}) {
        add(std::string(bare) + end, std::string(bare) + end, "Scalar", 4);
      }
    }
    add("maximum", "maximum", "List", 2);
    add("minimum", "minimum", "List", 2);
    return made;
  }();
  const auto found =
      table->find(name.overload_name.empty() ? name.name : name.name + "." + name.overload_name);
  return found == table->end() ? nullptr : &found->second;
}

}  // namespace td
