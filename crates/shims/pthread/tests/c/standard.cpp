// The parts of C++ that are built on pthread.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

static void check(bool is_so, int line) {
    if (is_so) return;
    std::fprintf(stderr, "standard.cpp:%d\n", line);
    std::_Exit(1);
}
#define CHECK(what) check(what, __LINE__)

static std::mutex mutex;
static std::timed_mutex timed;
static std::recursive_mutex recursive;
static std::shared_mutex shared;
static std::condition_variable changed;
static std::condition_variable_any changed_any;
static std::once_flag once;
static int count, made, turn;

static void adds(int rounds) {
    for (int round = 0; round < rounds; round++) {
        std::call_once(once, [] { made++; });
        { std::lock_guard<std::mutex> held(mutex); count++; }
        {
            std::unique_lock<std::timed_mutex> held(timed, std::chrono::seconds(60));
            CHECK(held.owns_lock());
            std::lock_guard<std::recursive_mutex> outer(recursive), inner(recursive);
            count++;
        }
        if (round % 4 == 0) { std::unique_lock<std::shared_mutex> held(shared); count++; }
        else { std::shared_lock<std::shared_mutex> held(shared); CHECK(count >= 0); }
    }
}

static void plays(int mine, int rounds) {
    for (int round = 0; round < rounds; round++) {
        std::unique_lock<std::mutex> held(mutex);
        changed.wait(held, [&] { return turn % 2 == mine; });
        turn++;
        changed.notify_all();
    }
}

int main() {
    {
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; i++) threads.emplace_back(adds, 400);
        for (auto &thread : threads) thread.join();
    }
    CHECK(made == 1);
    std::thread other(plays, 1, 1000);
    plays(0, 1000);
    other.join();
    CHECK(turn == 2000);
    std::unique_lock<std::mutex> held(mutex);
    CHECK(changed.wait_for(held, std::chrono::milliseconds(5)) == std::cv_status::timeout);
    held.unlock();
    std::unique_lock<std::shared_mutex> any(shared);
    CHECK(changed_any.wait_for(any, std::chrono::milliseconds(5)) == std::cv_status::timeout);
    auto result = std::async(std::launch::async, [] { return 7; });
    CHECK(result.get() == 7);
}
