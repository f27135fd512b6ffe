#include "core/base/progress.h"

#include "core/base/error.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace td {

namespace {

// "02:05", "1:02:05"; "?" for what cannot be known.
std::string clock_text(double seconds) {
  if (!(seconds >= 0) || seconds > 3.6e8) return "?";
  const auto whole = static_cast<long>(std::floor(seconds));
  char text[32];
  if (whole < 3600) {
    std::snprintf(text, sizeof text, "%02ld:%02ld", whole / 60, whole % 60);
  } else {
    std::snprintf(text, sizeof text, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
  }
  return text;
}

// One digit behind a point, whatever the locale.
std::string decimal_text(double number) {
  if (!(number >= 0) || number > 1e12) return "?";
  const auto tenths = static_cast<long long>(std::llround(number * 10));
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
}

}  // namespace

std::string progress_text(std::size_t done, std::size_t total, double seconds, std::size_t width) {
  constexpr std::size_t widest = 1000;
  if (width > widest) {
    fail(Code::invalid_argument, "a bar of ", width, " characters; at most ", widest,
         " are supported");
  }
  const double part =
      total == 0 ? 1.0 : std::min(static_cast<double>(done) / static_cast<double>(total), 1.0);
  const std::string percent = std::to_string(static_cast<int>(part * 100));
  std::string text =
      std::string(3 - std::min<std::size_t>(percent.size(), 3), ' ') + percent + "%|";
  if (width != 0) {
    const auto full = static_cast<std::size_t>(part * static_cast<double>(width));
    text += std::string(full, '#') + std::string(width - full, ' ') + "|";
  }
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : -1;
  const double left = rate > 0 ? static_cast<double>(total - std::min(done, total)) / rate : -1;
  return text + " " + std::to_string(done) + "/" + std::to_string(total) + " [" +
         clock_text(seconds) + "<" + clock_text(left) + ", " + decimal_text(rate) + "/s]";
}

}  // namespace td
