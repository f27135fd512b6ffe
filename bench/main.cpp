// td_bench: every figure as a pair of Google benchmarks, NAME/LEAVES/GOAL/ours and …/theirs. Run it
// through bench/run, which puts the pairs side by side.
#include "fixture.h"

#include <ATen/Parallel.h>

#include <unistd.h>
#include <cstring>

#ifdef __GLIBC__
#include <malloc.h>
#endif

int main(int argc, char** argv) {
  at::set_num_threads(1);
  const at::NoGradGuard no_grad;
#ifdef __GLIBC__
  // Whether large results come from fresh pages depends on what was freed before: on neither side here.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_ARENA_MAX, 1);
#endif
#ifdef TD_BENCH_GROUP
  if (bench::serve_as_rank(argc, argv)) return 0;
#endif
  // --large=DIR also measures the figure that needs a folder of 1.2 GB.
  std::string large;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--large=", 8) != 0) continue;
    large = argv[i] + 8;
    for (int k = i; k + 1 < argc; ++k) argv[k] = argv[k + 1];
    --argc;
    break;
  }
  bench::register_arrow();
  bench::register_call();
  bench::register_cuda();
  bench::register_disk_archive();
  bench::register_disk();
  bench::register_disk_grow();
  bench::register_disk_hdf5();
  bench::register_disk_episodes();
  bench::register_disk_load();
  bench::register_disk_publish();
  bench::register_entries();
  bench::register_floors();
#ifdef TD_BENCH_GROUP
  bench::register_group();
#endif
  bench::register_lazy();
  bench::register_loader();
  bench::register_replay();
  bench::register_map();
  bench::register_math();
  bench::register_modules();
  bench::register_optimizer();
  bench::register_small();
#ifdef TD_BENCH_STORE
  bench::register_store();
#endif
  bench::register_keys_and_writer();
  bench::register_threads();
  if (!large.empty()) bench::register_large(large);
  sync();  // the kernel would write back what is on the disk now beside the first figures
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::
      ClearRegisteredBenchmarks();  // what they hold on a GPU has to go before the end of the program
  return 0;
}
