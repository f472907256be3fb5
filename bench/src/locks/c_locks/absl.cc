// abseil's mutex, as functions that the benchmark finds by name.
#include <absl/synchronization/mutex.h>

#include <new>

extern "C" {
void corecast_bench_absl_init(void *lock) { new (lock) absl::Mutex; }
void corecast_bench_absl_lock(void *lock) { static_cast<absl::Mutex *>(lock)->Lock(); }
void corecast_bench_absl_unlock(void *lock) { static_cast<absl::Mutex *>(lock)->Unlock(); }
}
