// The second unit of a program: links only when the headers define nothing.
#include <cstdio>

#include "tensordict/td.h"

extern "C" const char *sugar_first_name(void);
extern "C" int sugar_kinds(void);

int main() {
  td_load_options load = TD_LOAD_OPTIONS_INIT;
  bool good = sugar_kinds() == 10 && sugar_first_name()[0] == 'a' && load.device_index == -1;
  std::puts(good ? "linked: both units agree" : "linked: the units do not agree");
  return good ? 0 : 1;
}
