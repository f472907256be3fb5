// Objects in memory that two processes share, of which one may run under the object and the other one not.
#include "check.h"

enum { ROUNDS = 2000 };

struct shared_by_both {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    long turn;
    pthread_rwlock_t rw_lock;
    long written;
    pthread_spinlock_t spin;
    long spun;
    pthread_barrier_t barrier;
    long met[2];
};

static void make(struct shared_by_both *both) {
    pthread_mutexattr_t of_mutex;
    OK(pthread_mutexattr_init(&of_mutex));
    OK(pthread_mutexattr_setpshared(&of_mutex, PTHREAD_PROCESS_SHARED));
    OK(pthread_mutex_init(&both->mutex, &of_mutex));
    pthread_condattr_t of_cond;
    OK(pthread_condattr_init(&of_cond));
    OK(pthread_condattr_setpshared(&of_cond, PTHREAD_PROCESS_SHARED));
    OK(pthread_cond_init(&both->changed, &of_cond));
    pthread_rwlockattr_t of_rw_lock;
    OK(pthread_rwlockattr_init(&of_rw_lock));
    OK(pthread_rwlockattr_setpshared(&of_rw_lock, PTHREAD_PROCESS_SHARED));
    OK(pthread_rwlock_init(&both->rw_lock, &of_rw_lock));
    OK(pthread_spin_init(&both->spin, PTHREAD_PROCESS_SHARED));
    pthread_barrierattr_t of_barrier;
    OK(pthread_barrierattr_init(&of_barrier));
    OK(pthread_barrierattr_setpshared(&of_barrier, PTHREAD_PROCESS_SHARED));
    OK(pthread_barrier_init(&both->barrier, &of_barrier, 2));
}

// One of the two processes, `me` 0 or 1.
static void use(struct shared_by_both *both, int me) {
    alarm(60);
    for (int round = 0; round < ROUNDS; round++) {
        OK(pthread_mutex_lock(&both->mutex));
        while (both->turn % 2 != me) OK(pthread_cond_wait(&both->changed, &both->mutex));
        both->turn++;
        OK(pthread_cond_signal(&both->changed));
        OK(pthread_mutex_unlock(&both->mutex));
    }
    for (int round = 0; round < ROUNDS; round++) {
        OK(pthread_rwlock_wrlock(&both->rw_lock));
        both->written++;
        OK(pthread_rwlock_unlock(&both->rw_lock));
        OK(pthread_rwlock_rdlock(&both->rw_lock));
        CHECK(both->written > round);
        OK(pthread_rwlock_unlock(&both->rw_lock));
        OK(pthread_spin_lock(&both->spin));
        both->spun++;
        OK(pthread_spin_unlock(&both->spin));
    }
    for (int round = 1; round <= ROUNDS / 10; round++) {
        both->met[me] = round;
        int result = pthread_barrier_wait(&both->barrier);
        CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
        CHECK(both->met[!me] == round);
        result = pthread_barrier_wait(&both->barrier);
        CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
    }
}

// peer [OBJECT]: the other process is this program again, with this object preloaded, or with none.
int main(int argc, char **argv) {
    const char *fd = getenv("PEER_FD");
    int memory = fd ? atoi(fd) : memfd_create("peer", 0);
    CHECK(memory >= 0);
    if (!fd) CHECK(ftruncate(memory, sizeof(struct shared_by_both)) == 0);
    struct shared_by_both *both = mmap(NULL, sizeof *both, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    CHECK(both != MAP_FAILED);
    if (fd) {
        use(both, 1);
        return 0;
    }
    make(both);
    pid_t child = fork();
    if (child == 0) {
        char number[16];
        snprintf(number, sizeof number, "%d", memory);
        CHECK(setenv("PEER_FD", number, 1) == 0);
        CHECK((argc > 1 ? setenv("LD_PRELOAD", argv[1], 1) : unsetenv("LD_PRELOAD")) == 0);
        execv("/proc/self/exe", argv);
        _exit(127);
    }
    use(both, 0);
    reap(child);
    CHECK(both->turn == 2 * ROUNDS && both->written == 2 * ROUNDS && both->spun == 2 * ROUNDS);
    return 0;
}
