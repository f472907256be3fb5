// How do the threads of a C++ program that I have agree: on changes that each may refuse, on an order, on how far all are?
#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <corecast.h>

namespace {

constexpr std::uint32_t members = 4;
constexpr std::uint32_t proposals = 9;
constexpr int events = 100;
constexpr int entries = 1000;
constexpr std::uint64_t minute_ns = 60'000'000'000;

// Throws the error as an exception. Never out of a function that the library calls.
void check(corecast_status status) {
  if (status != CORECAST_OK) {
    std::array<char, 200> why{};
    corecast_error_message(why.data(), why.size());
    throw std::runtime_error(std::string(corecast_status_name(status)) + ": " + why.data());
  }
}

// False at the end, which for these calls is CORECAST_CLOSED.
bool goes_on(corecast_status status) {
  if (status == CORECAST_CLOSED) {
    return false;
  }
  check(status);
  return true;
}

struct end {
  void operator()(corecast_group *group) const { corecast_group_destroy(group); }
  void operator()(corecast_member *member) const { corecast_member_leave(member); }
  void operator()(corecast_commit_coordinator *object) const { corecast_commit_coordinator_close(object); }
  void operator()(corecast_commit_participant *object) const { corecast_commit_participant_close(object); }
  void operator()(corecast_atomic_stream *object) const { corecast_atomic_stream_close(object); }
  void operator()(corecast_ack_root *object) const { corecast_ack_root_close(object); }
  void operator()(corecast_ack_follower *object) const { corecast_ack_follower_close(object); }
};

template <typename T>
using owned = std::unique_ptr<T, end>;

// The object that `open` makes, closed when it goes out of scope.
template <typename T, typename Open>
owned<T> opened(Open open) {
  T *made;
  check(open(&made));
  return owned<T>(made);
}

// The results of one member.
struct seen {
  std::uint32_t rank;
  std::uint32_t applied = 0;
  std::vector<std::uint32_t> order;
  std::uint64_t processed = 0;

  bool operator==(const seen &other) const {
    return applied == other.applied && order == other.order && processed == other.processed;
  }
};

// Two-phase commit: a proposal is applied by all or by none. The last member refuses every third one.
void decide(corecast_member *me, seen &own) {
  if (own.rank == 0) {
    const auto coordinator = opened<corecast_commit_coordinator>(
        [&](auto to) { return corecast_commit_coordinator_open(me, sizeof(std::uint32_t), to); });
    for (std::uint32_t number = 1; number <= proposals; number++) {
      bool is_committed;
      check(corecast_commit_coordinator_commit(coordinator.get(), &number, sizeof number, minute_ns, &is_committed));
      own.applied += is_committed;
    }
    return;
  }
  const auto participant = opened<corecast_commit_participant>(
      [&](auto to) { return corecast_commit_participant_open(me, 0, sizeof(std::uint32_t), to); });
  const auto vote = [](void *context, const void *proposal, std::size_t) {
    std::uint32_t number;
    std::memcpy(&number, proposal, sizeof number);
    return static_cast<seen *>(context)->rank != members - 1 || number % 3 != 0;
  };
  const auto apply = [](void *context, const void *, std::size_t, bool is_committed) {
    static_cast<seen *>(context)->applied += is_committed;
  };
  while (goes_on(corecast_commit_participant_serve(participant.get(), vote, apply, &own))) {
  }
}

// An atomic stream: events of all members, in one order for all.
void order(corecast_member *me, seen &own) {
  const auto stream =
      opened<corecast_atomic_stream>([&](auto to) { return corecast_atomic_stream_open(me, to); });
  own.order.reserve(events * members);
  const auto deliver = [](void *context, std::uint64_t, std::uint32_t origin, const void *, std::size_t) {
    static_cast<seen *>(context)->order.push_back(origin);
  };
  for (int i = 0; i < events; i++) {
    check(corecast_atomic_stream_publish(stream.get(), &i, sizeof i, deliver, &own));
  }
  check(corecast_atomic_stream_finish(stream.get(), deliver, &own));
}

// An acknowledged broadcast: a log that is known to be processed by all.
void replicate(corecast_member *me, seen &own) {
  corecast_ack_config config{};
  config.size = sizeof config;
  if (own.rank == config.root) {
    const auto root = opened<corecast_ack_root>([&](auto to) { return corecast_ack_root_open(me, &config, to); });
    for (int i = 0; i < entries; i++) {
      check(corecast_ack_root_publish(root.get(), "entry", 5, &own.processed));
    }
    check(corecast_ack_root_wait(root.get(), own.processed));
    check(corecast_ack_root_finish(root.get()));
    return;
  }
  const auto follower =
      opened<corecast_ack_follower>([&](auto to) { return corecast_ack_follower_open(me, &config, to); });
  const auto process = [](void *context, std::uint64_t number, const void *, std::size_t) {
    static_cast<seen *>(context)->processed = number;
  };
  std::size_t count;
  while (goes_on(corecast_ack_follower_drain(follower.get(), process, &own, &count))) {
  }
}

void work(owned<corecast_member> me, seen &own) {
  decide(me.get(), own);
  order(me.get(), own);
  replicate(me.get(), own);
}

}  // namespace

int main() try {
  corecast_group_config config{};
  config.size = sizeof config;
  config.members = members;
  const auto group = opened<corecast_group>([&](auto to) { return corecast_group_create(&config, to); });
  std::vector<owned<corecast_member>> joined;
  for (std::uint32_t rank = 0; rank < members; rank++) {
    joined.push_back(
        opened<corecast_member>([&](auto to) { return corecast_group_join(group.get(), rank, to); }));
  }
  std::vector<seen> all(members);
  std::vector<std::exception_ptr> failures(members);
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < members; rank++) {
    all[rank].rank = rank;
    threads.emplace_back([&failure = failures[rank], &mine = all[rank], me = std::move(joined[rank])]() mutable {
      try {
        work(std::move(me), mine);
      } catch (...) {
        failure = std::current_exception();
      }
    });
  }
  for (auto &thread : threads) {
    thread.join();
  }
  for (const auto &failure : failures) {
    if (failure) {
      std::rethrow_exception(failure);
    }
  }
  for (const seen &other : all) {
    if (!(other == all[0])) {
      throw std::runtime_error("a member does not agree with member 0");
    }
  }
  std::printf("all applied %" PRIu32 " of %" PRIu32 " proposals, saw %zu events in one order, and processed %" PRIu64
              " entries\n",
              all[0].applied, proposals, all[0].order.size(), all[0].processed);
  return 0;
} catch (const std::exception &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
