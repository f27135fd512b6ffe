// Replays cases recorded from Python's tensordict through the C interface: parity FILE.jsonl
// The last line is "N passed, N failed"; README.md says what a file looks like.
#include <cstdio>
#include <fstream>
#include <map>
#include <string>

#include "differences.h"
#include "ops.h"

using parity::Json;

namespace {

constexpr int kFailuresShown = 20;

struct Totals {
  int passed = 0, failed = 0;
};

struct Answer {
  bool refused = false;
  std::string text;  // one line that says in what it differs from Python's; "" when it does not
};

// What is beside the dictionaries: keys in order, a packed tensor, a layout.
std::string difference_beside(const Json &expect, const Json &found) {
  for (const auto &[key, value] : found.items()) {
    if (!expect.contains(key)) continue;
    const std::string text = parity::difference(expect[key], value, key);
    if (!text.empty()) return text;
  }
  return "";
}

Answer replay(const parity::Operation &operation, const parity::Request &request,
              const Json &expect) {
  const bool raises = expect.contains("error");
  std::string text;
  try {
    const parity::Result found = operation(request);
    if (raises)
      return {false, "Python raises " + expect["error"].dump() + ", the library does not"};
    const Json one = expect.contains("td") ? Json::array({expect["td"]}) : Json::array();
    const Json expected = expect.value("tds", one);
    if (expected.size() != found.tds.size()) {
      return {false, "expected " + std::to_string(expected.size()) + " dictionaries, found " +
                         std::to_string(found.tds.size())};
    }
    for (size_t i = 0; text.empty() && i < expected.size(); ++i) {
      text = parity::difference_of(expected[i], found.tds[i].get());
      if (!text.empty()) text = "[" + std::to_string(i) + "] " + text;
    }
    if (text.empty()) text = difference_beside(expect, found.more);
  } catch (const parity::Refused &error) {  // where Python raises too, that is the right answer
    return {true, raises ? "" : error.what()};
  } catch (const std::exception &error) {
    return {false, std::string("cannot be replayed: ") + error.what()};
  }
  return {false, text};
}

Answer replay_case(const Json &bases, const Json &item, const char **on_purpose) {
  const auto op = item.at("op").get<std::string>();
  const parity::Operation operation = parity::find_operation(op);
  if (!operation) return {false, "a name this program does not know"};
  const Json &base = item.at("base");
  const parity::Request request{base.is_null() ? base : bases.at(base.get<std::string>()),
                                item.at("args")};
  Answer answer = replay(operation, request, item.at("expect"));
  const parity::Difference *difference = parity::find_difference(op, request);
  if (!answer.text.empty() && difference && answer.refused == difference->refused) {
    *on_purpose = difference->name;
  }
  return answer;
}

Totals replay_file(std::istream &file) {
  std::string line;
  std::getline(file, line);
  const Json bases = Json::parse(line).at("bases");
  Totals totals;
  std::map<std::string, int> differences;
  while (std::getline(file, line)) {
    if (line.empty()) continue;
    const Json item = Json::parse(line);
    const char *on_purpose = nullptr;
    const Answer answer = replay_case(bases, item, &on_purpose);
    if (answer.text.empty() || on_purpose) {
      ++totals.passed;
      if (on_purpose) ++differences[on_purpose];
    } else if (++totals.failed <= kFailuresShown) {
      std::printf("%s: %s.%s %.200s: %s\n", item["id"].dump().c_str(), item["base"].dump().c_str(),
                  item["op"].get<std::string>().c_str(), item["args"].dump().c_str(),
                  answer.text.c_str());
    }
  }
  if (totals.failed > kFailuresShown) {
    std::printf("… and %d more failures\n", totals.failed - kFailuresShown);
  }
  for (const auto &[what, count] : differences) {
    std::printf("passed as the README says, otherwise than in Python: %d × %s\n", count,
                what.c_str());
  }
  return totals;
}

}  // namespace

int main(int argc, char **argv) {
  std::ifstream file(argc == 2 ? argv[1] : "");
  if (!file) {
    std::fprintf(stderr, argc == 2 ? "parity: %s cannot be read\n" : "usage: parity FILE.jsonl\n",
                 argv[argc - 1]);
    return 2;
  }
  try {
    const Totals totals = replay_file(file);
    std::printf("%d passed, %d failed\n", totals.passed, totals.failed);
    return totals.failed == 0 && totals.passed > 0 ? 0 : 1;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "parity: %s: %s\n", argv[1], error.what());
    return 2;
  }
}
