// How do the threads of a C++ program that I have meet, share and add up?
#include <array>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <corecast.h>

namespace {

constexpr std::uint32_t members = 4;
constexpr int rounds = 1000;

// Throws the error as an exception. Never out of a function that the library calls.
void check(corecast_status status) {
  if (status != CORECAST_OK) {
    std::array<char, 200> why{};
    corecast_error_message(why.data(), why.size());
    throw std::runtime_error(std::string(corecast_status_name(status)) + ": " + why.data());
  }
}

struct end {
  void operator()(corecast_group *group) const { corecast_group_destroy(group); }
  void operator()(corecast_member *member) const { corecast_member_leave(member); }
};

// Leaves the group when it goes out of scope.
class member {
 public:
  member(const corecast_group *group, std::uint32_t rank) {
    corecast_member *joined;
    check(corecast_group_join(group, rank, &joined));
    handle.reset(joined);
  }

  std::uint32_t rank() const { return corecast_member_rank(handle.get()); }

  void barrier() { check(corecast_member_barrier(handle.get())); }

  template <typename T>
  void broadcast(std::uint32_t root, T &value) {
    check(corecast_member_broadcast(handle.get(), root, &value, sizeof value));
  }

  template <std::size_t count>
  void sum(std::array<double, count> &numbers) {
    check(corecast_member_allreduce(handle.get(), numbers.data(), count, CORECAST_NUMBER_DOUBLE, CORECAST_OP_SUM));
  }

  // Combines the values of all, in any order. An exception of `combine` is thrown here again when the operation is over.
  template <typename T, typename Combine>
  void allreduce(T &value, Combine combine) {
    static_assert(std::is_trivially_copyable_v<T>, "members may be processes");
    struct calling {
      Combine combine;
      std::exception_ptr thrown;
    } context{std::move(combine), nullptr};
    corecast_combination combination{};
    combination.size = sizeof combination;
    combination.value_bytes = sizeof value;
    combination.commutes = 1;
    combination.context = &context;
    // Nothing may be thrown through the library.
    combination.combine = [](void *context, void *accumulator, const void *operand) {
      auto &own = *static_cast<calling *>(context);
      try {
        own.combine(*static_cast<T *>(accumulator), *static_cast<const T *>(operand));
      } catch (...) {
        own.thrown = std::current_exception();
      }
    };
    check(corecast_member_allreduce_with(handle.get(), &value, 1, &combination));
    if (context.thrown) {
      std::rethrow_exception(context.thrown);
    }
  }

  template <typename T>
  std::vector<T> gather(std::uint32_t root, const T &value) {
    std::vector<T> all(rank() == root ? corecast_member_members(handle.get()) : 0);
    check(corecast_member_gather(handle.get(), root, &value, sizeof value, all.data()));
    return all;
  }

 private:
  std::unique_ptr<corecast_member, end> handle;
};

// Numbers that were seen: how many, their mean, and the sum of the squares of their distances from it.
struct sample {
  double count;
  double mean;
  double squares;

  // Makes two samples one. No operation of corecast_op does.
  void merge(const sample &their) {
    const double both = count + their.count;
    const double apart = their.mean - mean;
    squares += their.squares + apart * apart * count * their.count / both;
    mean += apart * their.count / both;
    count = both;
  }
};

void work(member me) {
  std::array<char, 16> word{};
  if (me.rank() == 0) {
    std::strcpy(word.data(), "begin");
  }
  me.broadcast(0, word);
  for (int i = 0; i < rounds; i++) {
    me.barrier();
  }
  std::array<double, 2> sums{static_cast<double>(me.rank()), 0.5};
  me.sum(sums);
  sample all{1, static_cast<double>(me.rank()), 0};
  me.allreduce(all, [](sample &own, const sample &their) { own.merge(their); });
  const auto ranks = me.gather(0, me.rank());
  for (std::uint32_t i = 0; i < ranks.size(); i++) {
    if (ranks[i] != i) {
      throw std::runtime_error("a member has another rank");
    }
  }
  if (me.rank() == 0) {
    std::printf("%u members met %d times; their sums are %g and %g, the variance of their ranks %g\n", members, rounds,
                sums[0], sums[1], all.squares / all.count);
  }
}

}  // namespace

int main() try {
  corecast_group_config config{};
  config.size = sizeof config;
  config.members = members;
  corecast_group *made;
  check(corecast_group_create(&config, &made));
  const std::unique_ptr<corecast_group, end> group(made);
  std::vector<member> all;
  for (std::uint32_t rank = 0; rank < members; rank++) {
    all.emplace_back(group.get(), rank);
  }
  std::vector<std::exception_ptr> failures(members);
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < members; rank++) {
    threads.emplace_back([&failure = failures[rank], me = std::move(all[rank])]() mutable {
      try {
        work(std::move(me));
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
  return 0;
} catch (const std::exception &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
