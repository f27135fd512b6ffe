// The tables of episodes of a ring that grows, against tables that are made anew after each step.
#include "core/replay/draw_list.h"
#include "core/replay/episodes.h"

#include "random_tree.h"

#include <ATen/ATen.h>

#include <cmath>

namespace td {
namespace {

using test::dict;

// A ring of rows that tell episodes apart by a number, by flags, or both.
struct Ring {
  Ring(std::int64_t steps, std::int64_t columns_of_row, c10::ScalarType dtype)
      : columns(columns_of_row) {
    const std::int64_t places = steps * columns;
    TensorDict td = dict({places});
    td.set({"number"}, at::zeros({places, 2}, dtype));
    td.set({"end"}, at::zeros({places, 1}, at::kBool));
    numbers = td.get({"number"});
    ends = td.get({"end"});
    rows = std::make_unique<RingRows>(td, columns);
    counts.capacity = places;
  }

  void add(test::Random& random, std::int64_t steps) {
    for (std::int64_t step = 0; step < steps; ++step) {
      for (std::int64_t column = 0; column < columns; ++column) {
        const std::int64_t place = counts.cursor + column;
        const bool changes = random.below(4) == 0;
        const double next = changes ? static_cast<double>(random.below(5)) : last;
        // NaN differs from itself: each such row is an episode.
        const bool no_number = numbers.is_floating_point() && random.below(9) == 0;
        numbers[place].fill_(no_number ? std::nan("") : next);
        ends[place].fill_(random.below(5) == 0);
        last = next;
      }
      counts = counts.after(columns);
    }
  }

  std::int64_t columns;
  at::Tensor numbers, ends;
  std::unique_ptr<RingRows> rows;
  RingCounts counts;
  double last = 0;
};

ReplayOptions told_by(bool by_number, bool by_flag) {
  ReplayOptions options;
  if (by_number) options.slices.episode = {"number"};
  if (by_flag) options.slices.ends = {{"end"}};
  return options;
}

std::vector<std::vector<std::int64_t>> listed(const RingEpisodes& episodes,
                                              const EpisodeTable& table) {
  std::vector<std::vector<std::int64_t>> list;
  for (std::int64_t i = 0; i < table.size(); ++i) {
    const RingEpisode& one = table[i];
    list.push_back({episodes.place(one, 0), one.length, one.column});
  }
  return list;
}

void expect_alike(RingEpisodes& grown, RingEpisodes& made, const RingCounts& ring) {
  EXPECT_EQ(listed(grown, grown.all()), listed(made, made.all()));
  for (const std::int64_t least : {1, 3})
    EXPECT_EQ(listed(grown, grown.at_least(least)), listed(made, made.at_least(least)));
  for (std::int64_t i = 0; i < made.all().size(); ++i)
    EXPECT_EQ(grown.place(grown.by_place(i), 0), made.place(made.by_place(i), 0));
  std::int64_t before = -1, column = 0;
  for (std::int64_t i = 0; i < made.all().size(); ++i) {
    const RingEpisode& one = made.by_place(i);
    const std::int64_t last = made.place(one, one.length - 1);
    if (one.column == column) {
      EXPECT_GT(last, before);
    }
    before = last;
    column = one.column;
  }
  for (std::int64_t place = 0; place < ring.length; ++place)
    EXPECT_EQ(grown.place(grown.of(place), 0), made.place(made.of(place), 0));
}

}  // namespace

TEST(RingEpisodes, GrowAsTheyWouldBeFound) {
  const c10::ScalarType dtypes[] = {at::kLong, at::kFloat, at::kBFloat16, at::kByte, at::kDouble};
  int followed = 0;
  for (unsigned seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    test::Random random(seed);
    Ring ring(1 + random.below(20), 1 + random.below(3), dtypes[random.below(5)]);
    const ReplayOptions options = told_by(seed % 3 != 0, seed % 3 != 1);
    RingEpisodes grown(options);
    grown.at_least(3);
    for (int round = 0; round < 25; ++round) {
      ring.add(random, 1 + random.below(random.below(6) == 0 ? 30 : 4));
      RingEpisodes made(options);
      EXPECT_TRUE(made.follow(ring.counts, *ring.rows));
      followed += grown.follow(ring.counts, *ring.rows) ? 0 : 1;
      EXPECT_FALSE(grown.follow(ring.counts, *ring.rows));
      expect_alike(grown, made, ring.counts);
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(followed, 1500) << "most calls should take up new rows alone";
}

TEST(RingEpisodes, RowsElsewhereThanAtTheCursorAreFoundAnew) {
  test::Random random(1);
  Ring ring(8, 1, at::kLong);
  RingEpisodes episodes(told_by(true, true));
  ring.add(random, 8);
  EXPECT_TRUE(episodes.follow(ring.counts, *ring.rows));
  RingCounts moved = ring.counts;
  ++moved.written;  // a row that took another's place
  EXPECT_TRUE(episodes.follow(moved, *ring.rows));
  moved = moved.after(8);  // as many as there are places
  EXPECT_TRUE(episodes.follow(moved, *ring.rows));
  moved.gap = 2;
  EXPECT_TRUE(episodes.follow(moved, *ring.rows));
  const Ring other(8, 1, at::kLong);
  EXPECT_TRUE(episodes.follow(moved.after(1), *other.rows));
}

// A sampler that has seen the ring grow draws what a new one draws.
TEST(RingEpisodes, SlicesByPriorityBeginWhereTheyMay) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    test::Random random(seed);
    Ring ring(6 + random.below(20), 1 + random.below(2), at::kLong);
    ReplayOptions options = told_by(true, seed % 2 == 0);
    options.sampling = ReplaySampling::prioritized_slices;
    options.capacity = ring.counts.capacity;
    options.slices.length = 1 + random.below(4);
    options.slices.short_ones = random.below(2) == 0;
    options.span_end = options.slices.length > 1 ? random.below(options.slices.length) : 0;
    options.alpha = 0;
    const auto grown = make_prioritized_slices(options);
    for (int round = 0; round < 20; ++round) {
      ring.add(random, 1 + random.below(4));
      const auto made = make_prioritized_slices(options);
      Drawn here, there;
      std::string failed_here, failed_there;
      for (const bool is_grown : {true, false}) {
        ReplaySampler& sampler = is_grown ? *grown : *made;
        sampler.follow(ring.counts, ring.rows.get());
        RandomNumbers numbers{seed, 0};
        try {
          sampler.draw(ring.counts, *ring.rows, 6 * options.slices.length, numbers,
                       is_grown ? here : there);
        } catch (const Error& error) {
          (is_grown ? failed_here : failed_there) = error.what();
        }
      }
      EXPECT_EQ(failed_here, failed_there);
      EXPECT_EQ(here.places, there.places);
      EXPECT_EQ(here.lengths, there.lengths);
      if (HasFailure()) return;
    }
  }
}

TEST(DrawList, EachNumberOnceWhateverTheLength) {
  for (const std::int64_t n : {1, 2, 1000, 1024, 1025, 5000}) {
    DrawList list(/*shuffle=*/true, /*drop_last=*/false);
    RandomNumbers random{7, 0};
    std::vector<std::int64_t> numbers;
    list.begin_draw();
    for (std::int64_t taken = 0; taken < n; taken += 100)
      list.take(n, std::min<std::int64_t>(100, n - taken), "rows", random, numbers);
    list.commit();
    std::sort(numbers.begin(), numbers.end());
    ASSERT_EQ(static_cast<std::int64_t>(numbers.size()), n);
    for (std::int64_t i = 0; i < n; ++i) EXPECT_EQ(numbers[static_cast<std::size_t>(i)], i);
  }
}

}  // namespace td
