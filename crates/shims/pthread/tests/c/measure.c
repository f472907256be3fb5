// Times for docs/design/shim-pthread.md: medians, in nanoseconds.
//   measure barrier THREADS ROUNDS    one round of a barrier
//   measure lock                      a lock and an unlock that nobody else wants
//   measure shared                    the same, of a mutex that is shared among processes, which is passed on
//   measure contended THREADS MS      the same for THREADS threads with one mutex, per acquisition of any
#include "check.h"

enum { BATCHES = 15 };

static double now_ns(void) {
    struct timespec now;
    CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times, int many) {
    qsort(times, many, sizeof *times, ascending);
    return times[many / 2];
}

static pthread_barrier_t barrier;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int threads, rounds;
static double times[BATCHES];

static void *passes(void *with) {
    for (int batch = 0; batch < BATCHES; batch++) {
        pthread_barrier_wait(&barrier);
        double start = now_ns();
        for (int round = 0; round < rounds; round++) pthread_barrier_wait(&barrier);
        if (with == NULL) times[batch] = (now_ns() - start) / rounds;
    }
    return NULL;
}

static double measure_barrier(void) {
    pthread_t others[64];
    CHECK(threads >= 1 && threads <= 64);
    OK(pthread_barrier_init(&barrier, NULL, threads));
    for (int i = 1; i < threads; i++) others[i] = start(passes, &barrier);
    passes(NULL);
    for (int i = 1; i < threads; i++) end(others[i]);
    return median(times, BATCHES);
}

static double measure_lock(void) {
    enum { MANY = 1000000 };
    for (int batch = 0; batch < BATCHES; batch++) {
        double start = now_ns();
        for (int i = 0; i < MANY; i++) {
            pthread_mutex_lock(&mutex);
            pthread_mutex_unlock(&mutex);
        }
        times[batch] = (now_ns() - start) / MANY;
    }
    return median(times, BATCHES);
}

static volatile int is_over;
static long guarded;

static void *adds(void *unused) {
    (void)unused;
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
        pthread_mutex_lock(&mutex);
        guarded++;
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static double measure_contended(long ms) {
    pthread_t all[64];
    CHECK(threads >= 1 && threads <= 64);
    double begin = now_ns();
    for (int i = 0; i < threads; i++) all[i] = start(adds, NULL);
    struct timespec wait = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&wait, NULL);
    put(&is_over, 1);
    for (int i = 0; i < threads; i++) end(all[i]);
    return (now_ns() - begin) / guarded;
}

static void *nothing(void *unused) { return unused; }

int main(int argc, char **argv) {
    // The C library takes a shorter way before a process has had a second thread.
    end(start(nothing, NULL));
    if (argc == 4 && strcmp(argv[1], "barrier") == 0) {
        threads = atoi(argv[2]);
        rounds = atoi(argv[3]);
        printf("%.1f\n", measure_barrier());
    } else if (argc == 2 && strcmp(argv[1], "lock") == 0) {
        printf("%.2f\n", measure_lock());
    } else if (argc == 2 && strcmp(argv[1], "shared") == 0) {
        pthread_mutexattr_t attributes;
        OK(pthread_mutexattr_init(&attributes));
        OK(pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED));
        OK(pthread_mutex_init(&mutex, &attributes));
        printf("%.2f\n", measure_lock());
    } else if (argc == 4 && strcmp(argv[1], "contended") == 0) {
        threads = atoi(argv[2]);
        printf("%.1f\n", measure_contended(atol(argv[3])));
    } else {
        return 2;
    }
}
