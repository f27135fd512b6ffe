// Numbers are read and written with a point, whatever the locale of the program is: windows of GTK and Qt set one.
#include "core/base/error.h"
#include "core/formats/json_text.h"
#include "core/nn/distribution.h"
#include "core/tensor/scalar.h"
#include "folders.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <clocale>
#include <cstdlib>
#include <locale>
#include <sstream>
#include <string>

namespace td {
namespace {

// What C++ prints with: 1.234.567,5. Made here, as newlocale(), which std::locale("de_DE") calls, leaks.
struct CommaNumbers : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

// A locale with a comma in numbers, made by localedef; back to "C" at the end.
class Comma {
 public:
  Comma() {
    const std::string make =
        "localedef -i de_DE -f UTF-8 " + folder_("de_DE.UTF-8") + " >/dev/null 2>&1";
    if (std::system(make.c_str()) != 0) return;
    ::setenv("LOCPATH", folder_("").c_str(), 1);
    std::locale::global(std::locale(std::locale::classic(), new CommaNumbers));
    is_set = std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr;
  }
  ~Comma() {
    std::locale::global(std::locale::classic());
    std::setlocale(LC_ALL, "C");
    ::unsetenv("LOCPATH");
  }
  Comma(const Comma&) = delete;
  Comma& operator=(const Comma&) = delete;

  bool is_set = false;

 private:
  test::TempFolder folder_;
};

TEST(Locale, NumbersHaveAPoint) {
  const Comma comma;
  if (!comma.is_set)
    GTEST_SKIP()
        << "localedef cannot make a locale with a comma: Debian has its sources in locales";
  EXPECT_STREQ(std::localeconv()->decimal_point, ",");
  std::ostringstream printed;
  printed << 1234567;
  EXPECT_EQ(printed.str(), "1.234.567");
  EXPECT_EQ(json_text(read_value("[1.5, -2.5e-3, NaN, 1e999]", "values")),
            "[1.5,-2.5e-3,NaN,1e999]");
  EXPECT_EQ(read_value("1.5e-3", "a number").number(), 1.5e-3);
  EXPECT_EQ(read_value("1.5e-400", "a number").number(), 0);
  EXPECT_EQ(read_value("-12345678.5", "a number").number(), -12345678.5);
  EXPECT_EQ(show_number(1.5), "1.5");
  EXPECT_EQ(text_of("row ", 1234567), "row 1234567");
  EXPECT_NEAR(ScaleMapping("biased_softplus_1.5")(at::zeros({})).item<double>(), 1.5, 1e-6);
}

}  // namespace
}  // namespace td
