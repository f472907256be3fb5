/* Locks of Concurrency Kit, as functions that the benchmark finds by name: corecast_bench_ck_<lock>_{init,lock,unlock}. */
#include <ck_spinlock.h>
#include <stdlib.h>

#define PLAIN(name)                                                                              \
    void corecast_bench_ck_##name##_init(void *lock) { ck_spinlock_##name##_init(lock); }        \
    void corecast_bench_ck_##name##_lock(void *lock) { ck_spinlock_##name##_lock(lock); }        \
    void corecast_bench_ck_##name##_unlock(void *lock) { ck_spinlock_##name##_unlock(lock); }

PLAIN(fas)
PLAIN(ticket)

/* Each thread holds one lock at a time, so one node serves all. */
static __thread ck_spinlock_mcs_context_t mcs_node;

void corecast_bench_ck_mcs_init(void *lock) { ck_spinlock_mcs_init(lock); }
void corecast_bench_ck_mcs_lock(void *lock) { ck_spinlock_mcs_lock(lock, &mcs_node); }
void corecast_bench_ck_mcs_unlock(void *lock) { ck_spinlock_mcs_unlock(lock, &mcs_node); }

/* A thread's node, which is another one after each unlock. Nodes lie on lines of their own and are never freed. */
static __thread ck_spinlock_clh_t *clh_node;

static ck_spinlock_clh_t *new_node(void) {
    ck_spinlock_clh_t *node = aligned_alloc(128, 128);
    if (node == NULL)
        abort();
    return node;
}

void corecast_bench_ck_clh_init(void *lock) { ck_spinlock_clh_init(lock, new_node()); }
void corecast_bench_ck_clh_lock(void *lock) {
    if (clh_node == NULL)
        clh_node = new_node();
    ck_spinlock_clh_lock(lock, clh_node);
}
void corecast_bench_ck_clh_unlock(void *lock) {
    (void)lock;
    ck_spinlock_clh_unlock(&clh_node);
}
