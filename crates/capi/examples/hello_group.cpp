// How do the processes of a C++ program that I have meet, and what does each notice when one of them is killed?
//
// Start it with: corecast run -n 4 -- hello_group [SECONDS]
#include <array>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

#include <corecast.h>

namespace {

constexpr std::uint64_t minute_ns = 60'000'000'000;
constexpr int rounds = 100;

// A member is lost: the group has failed.
struct lost : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void check(corecast_status status) {
  if (status == CORECAST_OK) {
    return;
  }
  std::array<char, 200> why{};
  corecast_error_message(why.data(), why.size());
  if (status == CORECAST_LOST) {
    throw lost(why.data());
  }
  throw std::runtime_error(std::string(corecast_status_name(status)) + ": " + why.data());
}

struct leave {
  void operator()(corecast_member *member) const { corecast_member_leave(member); }
};
using member = std::unique_ptr<corecast_member, leave>;

member join() {
  corecast_member *joined;
  check(corecast_member_of_run(minute_ns, &joined));
  return member(joined);
}

void meet(corecast_member *me, std::chrono::duration<double> longest) {
  const std::uint32_t rank = corecast_member_rank(me);
  std::uint64_t sum = rank == 0 ? 42 : 0;
  check(corecast_member_broadcast(me, 0, &sum, sizeof sum));
  sum += rank;
  check(corecast_member_allreduce(me, &sum, 1, CORECAST_NUMBER_UINT64, CORECAST_OP_SUM));
  std::printf("rank %" PRIu32 " of %" PRIu32 ": the sum is %" PRIu64 "\n", rank, corecast_member_members(me), sum);
  std::fflush(stdout);

  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    // All have to stop after the same round, so they agree on it.
    std::int32_t goes_on = std::chrono::steady_clock::now() - begin < longest;
    check(corecast_member_allreduce(me, &goes_on, 1, CORECAST_NUMBER_INT32, CORECAST_OP_MIN));
    if (!goes_on) {
      return;
    }
    for (int i = 0; i < rounds; i++) {
      check(corecast_member_barrier(me));
    }
  }
}

}  // namespace

int main(int count, char **arguments) try {
  const double seconds = count > 1 ? std::stod(arguments[1]) : 1;
  const member me = join();
  try {
    meet(me.get(), std::chrono::duration<double>(seconds));
  } catch (const lost &error) {
    std::fprintf(stderr, "%s, says rank %" PRIu32 "\n", error.what(), corecast_member_rank(me.get()));
    return 3;
  }
  return 0;
} catch (const std::exception &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
