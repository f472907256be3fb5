/* Online clustering, which waits at barriers: threads find medians of points that come in chunks.
 *
 * kernel K1 K2 DIMENSIONS POINTS CHUNK KEPT SEED THREADS
 *
 * prints: seconds cost medians checksum barriers, where the cost is that of all chunks and of the end.
 *
 * kernel THREADS
 *
 * lets threads meet at a barrier again and again, and prints such a line: the seconds are those of a million rounds, the barriers those of one timed batch.
 *
 * Each chunk is replaced by the medians of its points, weighted by how many points each of them has, and in the end the medians of
 * those medians are found. The medians of a set are those of a facility location whose price of a facility is searched for until
 * there are K1 to K2 facilities; local search asks of one candidate after the other what opening it would save, all threads together,
 * with barriers around each question. For a number of threads the result is always the same, whichever barrier there is.
 *
 * Written from: L. O'Callaghan et al., Streaming-Data Algorithms for High-Quality Clustering, ICDE 2002; C. Bienia et al., The PARSEC
 * Benchmark Suite, PACT 2008 (streamcluster); J. Mellor-Crummey, M. Scott, Algorithms for Scalable Synchronization, 1991.
 *
 * BARRIER: 0 pthread_barrier_t, 1 a mutex and a condition variable, 2 an MCS tree barrier with a line for each thread. */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef BARRIER
#define BARRIER 0
#endif

enum { MOST_THREADS = 256, LINE = 64, POLLS = 200 };

static int threads;
static long barriers;

/* ---- barriers ---- */
#if BARRIER == 0
static pthread_barrier_t all;
static void barrier_init(void) { pthread_barrier_init(&all, NULL, (unsigned)threads); }
static void barrier_wait(int t) { (void)t; pthread_barrier_wait(&all); }
#elif BARRIER == 1
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int here;
static unsigned long round_number;
static void barrier_init(void) {}
static void barrier_wait(int t) {
    (void)t;
    pthread_mutex_lock(&mutex);
    unsigned long mine = round_number;
    if (++here == threads) {
        here = 0;
        round_number++;
        pthread_cond_broadcast(&changed);
    }
    while (mine == round_number) pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}
#else
/* Arrivals go up a tree of four children each, releases down one of two. Each word has one writer. */
typedef struct { _Alignas(LINE) unsigned arrived; _Alignas(LINE) unsigned released; unsigned own; } Node;
static Node nodes[MOST_THREADS];
static void barrier_init(void) {}
static void await_word(const unsigned *word, unsigned value) {
    for (int polls = 0; __atomic_load_n(word, __ATOMIC_ACQUIRE) != value; polls++)
        if (polls > POLLS) sched_yield();
}
static void barrier_wait(int t) {
    unsigned now = ++nodes[t].own;
    for (int c = 4 * t + 1; c <= 4 * t + 4 && c < threads; c++) await_word(&nodes[c].arrived, now);
    if (t > 0) {
        __atomic_store_n(&nodes[t].arrived, now, __ATOMIC_RELEASE);
        await_word(&nodes[t].released, now);
    }
    for (int c = 2 * t + 1; c <= 2 * t + 2 && c < threads; c++)
        __atomic_store_n(&nodes[c].released, now, __ATOMIC_RELEASE);
}
#endif

static void meet(int t) {
    if (t == 0) barriers++;
    barrier_wait(t);
}

/* ---- points ---- */
typedef struct {
    long count;
    float *at;       /* count x dimensions */
    float *weight;
    float *cost;     /* weighted distance to the median that it has */
    long *median;    /* the point that is its median */
    char *moves;     /* whether it would move to the candidate */
    long *place;     /* of a median: its place in `open` */
} Points;

static int dimensions;
static long least_medians, most_medians;
static uint64_t seed;

static uint64_t mixed(uint64_t x) { /* splitmix64 */
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}
static double unit(uint64_t a, uint64_t b) { return (double)(mixed(mixed(seed ^ a) + b) >> 11) * 0x1p-53; }

static void *get(size_t count, size_t bytes) {
    void *memory = calloc(count ? count : 1, bytes);
    if (!memory) { fprintf(stderr, "kernel: no memory\n"); exit(3); }
    return memory;
}
static Points points(long room) {
    Points p = {0};
    p.at = get((size_t)room * (size_t)dimensions, sizeof *p.at);
    p.weight = get((size_t)room, sizeof *p.weight);
    p.cost = get((size_t)room, sizeof *p.cost);
    p.median = get((size_t)room, sizeof *p.median);
    p.moves = get((size_t)room, 1);
    p.place = get((size_t)room, sizeof *p.place);
    return p;
}
static float distance(const Points *p, long a, long b) {
    const float *x = p->at + a * dimensions, *y = p->at + b * dimensions;
    float sum = 0;
    for (int i = 0; i < dimensions; i++) sum += (x[i] - y[i]) * (x[i] - y[i]);
    return sum;
}

/* ---- shared state of a search; thread 0 writes it between barriers ---- */
static long *open_medians; /* the medians */
static long open_count;
static double price;       /* of a facility */
static double gained;      /* by the candidate of this moment; 0 if it stays closed */
static double total;       /* of all costs and facilities */
static long *candidates;
static long candidate_count;
static char *closes;       /* by place: whether the candidate makes it superfluous */
typedef struct { _Alignas(LINE) double saved; double *lost; long room; } Partial;
static Partial partial[MOST_THREADS];

static long from(const Points *p, int t) { return p->count * t / threads; }
static long to(const Points *p, int t) { return p->count * (t + 1) / threads; }

static double sum_of_costs(const Points *p) {
    double sum = 0;
    for (long i = 0; i < p->count; i++) sum += p->cost[i];
    return sum;
}
static void open_one(Points *p, long point) {
    p->place[point] = open_count;
    open_medians[open_count++] = point;
}

/* Opens point after point with a probability that its cost says, so that there is a solution to begin with. */
static void begin(Points *p, int t, uint64_t turn) {
    for (long i = from(p, t); i < to(p, t); i++) {
        p->median[i] = 0;
        p->cost[i] = p->weight[i] * distance(p, i, 0);
    }
    if (t == 0) { open_count = 0; open_one(p, 0); }
    meet(t);
    for (long i = 1; i < p->count; i++) {
        if (unit(turn, (uint64_t)i) * price >= p->cost[i]) continue;
        meet(t); /* all have looked at its cost */
        if (t == 0) open_one(p, i);
        for (long j = from(p, t); j < to(p, t); j++) {
            float cost = p->weight[j] * distance(p, j, i);
            if (cost < p->cost[j]) { p->cost[j] = cost; p->median[j] = i; }
        }
        meet(t);
    }
    if (t == 0) total = sum_of_costs(p) + price * (double)open_count;
    meet(t);
}

/* Asks what opening this candidate saves, and does it if that is anything. */
static void try_candidate(Points *p, int t, long candidate) {
    Partial *own = &partial[t];
    if (own->room < open_count) {
        free(own->lost);
        own->room = 2 * open_count;
        own->lost = get((size_t)own->room, sizeof *own->lost);
    }
    memset(own->lost, 0, (size_t)open_count * sizeof *own->lost);
    own->saved = 0;
    for (long i = from(p, t); i < to(p, t); i++) {
        double less = (double)p->cost[i] - (double)(p->weight[i] * distance(p, i, candidate));
        p->moves[i] = less > 0;
        if (less > 0) own->saved += less;
        else own->lost[p->place[p->median[i]]] += less;
    }
    meet(t);
    if (t == 0) {
        gained = -price;
        for (int other = 0; other < threads; other++) gained += partial[other].saved;
        for (long place = 0; place < open_count; place++) {
            double without = price;
            for (int other = 0; other < threads; other++) without += partial[other].lost[place];
            closes[place] = without > 0;
            if (closes[place]) gained += without;
        }
        if (gained <= 0) gained = 0;
    }
    meet(t);
    if (gained > 0) {
        for (long i = from(p, t); i < to(p, t); i++) {
            if (!p->moves[i] && !closes[p->place[p->median[i]]]) continue;
            p->median[i] = candidate;
            p->cost[i] = p->weight[i] * distance(p, i, candidate);
        }
        meet(t);
        if (t == 0) {
            long left = open_count;
            open_count = 0;
            for (long place = 0; place < left; place++)
                if (!closes[place]) open_one(p, open_medians[place]);
            open_one(p, candidate);
            total -= gained;
        }
    }
    meet(t);
}

static void choose_candidates(const Points *p, uint64_t turn) {
    candidate_count = (long)(3 * (double)least_medians * log((double)least_medians)) + 1;
    if (candidate_count > p->count) candidate_count = p->count;
    for (long i = 0; i < candidate_count; i++)
        candidates[i] = (long)(unit(turn, (uint64_t)i) * (double)p->count);
}

/* Goes over the candidates as long as that improves the total by a tenth. */
static void search(Points *p, int t, uint64_t turn) {
    for (uint64_t pass = 0;; pass++) {
        double before = total;
        meet(t);
        for (long i = 0; i < candidate_count; i++) {
            long at = (long)(mixed(seed + turn + pass) + (uint64_t)i) % candidate_count;
            long candidate = candidates[at < 0 ? at + candidate_count : at];
            if (open_medians[p->place[candidate]] == candidate && p->place[candidate] < open_count) continue;
            try_candidate(p, t, candidate);
        }
        double change = before - total;
        meet(t);
        if (change <= 0.1 * before || pass > 20) return;
    }
}

/* Finds the price at which there are as many medians as wanted. */
static void find_medians(Points *p, int t, uint64_t turn) {
    static double low, high;
    if (t == 0) {
        low = 0;
        high = 0;
        for (long i = 0; i < p->count; i++) high += p->weight[i] * distance(p, i, 0);
        price = high / 2;
        choose_candidates(p, turn);
    }
    meet(t);
    if (p->count <= most_medians) {
        if (t == 0) {
            open_count = 0;
            for (long i = 0; i < p->count; i++) { open_one(p, i); p->median[i] = i; p->cost[i] = 0; }
            total = 0;
        }
        meet(t);
        return;
    }
    for (int tries = 0; tries < 40; tries++) {
        begin(p, t, turn + (uint64_t)tries);
        search(p, t, turn + (uint64_t)tries);
        int is_enough = open_count >= least_medians && open_count <= most_medians;
        meet(t);
        if (is_enough) return;
        if (t == 0) {
            if (open_count > most_medians) low = price; else high = price;
            price = (low + high) / 2;
        }
        meet(t);
    }
}

/* ---- the stream ---- */
static Points chunk, kept;
static long chunk_points, all_points, most_kept;
static double seconds, cost;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Puts the medians, weighted by their points, to those that are kept. */
static void keep_medians(const Points *p) {
    float *weights = get((size_t)open_count, sizeof *weights);
    for (long i = 0; i < p->count; i++) weights[p->place[p->median[i]]] += p->weight[i];
    for (long place = 0; place < open_count; place++) {
        if (kept.count == most_kept) { fprintf(stderr, "kernel: too many medians\n"); exit(3); }
        memcpy(kept.at + kept.count * dimensions, p->at + open_medians[place] * dimensions,
               (size_t)dimensions * sizeof(float));
        kept.weight[kept.count++] = weights[place];
    }
    free(weights);
}

static void *work(void *number) {
    int t = (int)(intptr_t)number;
    double begun = 0;
    for (long first = 0; first < all_points; first += chunk_points) {
        if (t == 0) chunk.count = all_points - first < chunk_points ? all_points - first : chunk_points;
        meet(t);
        for (long i = from(&chunk, t); i < to(&chunk, t); i++) {
            chunk.weight[i] = 1;
            for (int j = 0; j < dimensions; j++)
                chunk.at[i * dimensions + j] = (float)unit((uint64_t)(first + i), (uint64_t)j);
        }
        meet(t);
        if (t == 0) begun = now();
        find_medians(&chunk, t, (uint64_t)first + 1000);
        if (t == 0) {
            keep_medians(&chunk);
            cost += sum_of_costs(&chunk);
            seconds += now() - begun;
        }
        meet(t);
    }
    if (t == 0) begun = now();
    find_medians(&kept, t, 77);
    if (t == 0) seconds += now() - begun;
    return NULL;
}

/* ---- nothing but barriers ---- */
enum { BATCHES = 15, CHECKED = 200 };
/* Volatile, as GCC keeps what no call that it sees can change in registers, across barriers, too. */
static volatile struct { _Alignas(LINE) long round; } seen[MOST_THREADS];
static volatile long rounds;
static volatile double batches[BATCHES];
static long wrong;

static double batch(int t) {
    meet(t);
    double begun = now();
    for (long round = 0; round < rounds; round++) barrier_wait(t);
    return now() - begun;
}

static void *only_meet(void *number) {
    int t = (int)(intptr_t)number;
    for (long round = 1; round <= CHECKED; round++) {
        seen[t].round = round;
        meet(t);
        for (int other = 0; other < threads; other++)
            if (seen[other].round != round) __atomic_store_n(&wrong, 1, __ATOMIC_RELAXED);
        meet(t);
    }
    /* Batches of two milliseconds, so that the clock and a lost time slice count for little. */
    for (int is_long = 0; !is_long;) {
        double took = batch(t);
        meet(t);
        if (t == 0) rounds = took < 2e-3 ? 2 * rounds : rounds, batches[0] = took;
        meet(t);
        is_long = batches[0] >= 2e-3;
    }
    for (int at = 0; at < BATCHES; at++) {
        double took = batch(t);
        if (t == 0) batches[at] = took / (double)rounds;
    }
    return NULL;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Calls `run` in all threads. */
static int together(void *(*run)(void *)) {
    pthread_t others[MOST_THREADS];
    barrier_init();
    for (int t = 1; t < threads; t++)
        if (pthread_create(&others[t], NULL, run, (void *)(intptr_t)t)) { fprintf(stderr, "kernel: no thread\n"); return 3; }
    run(NULL);
    for (int t = 1; t < threads; t++) pthread_join(others[t], NULL);
    return 0;
}

static int nothing_but_barriers(void) {
    if (threads < 1 || threads > MOST_THREADS) { fprintf(stderr, "kernel: numbers that do not fit\n"); return 2; }
    rounds = 16;
    int code = together(only_meet);
    if (code) return code;
    if (wrong) { fprintf(stderr, "kernel: a thread has left before all had come\n"); return 3; }
    qsort((void *)batches, BATCHES, sizeof *batches, ascending);
    printf("%.6f 0 0 0 %ld\n", batches[BATCHES / 2] * 1e6, rounds);
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 2) {
        threads = atoi(argv[1]);
        return nothing_but_barriers();
    }
    if (argc != 9) { fprintf(stderr, "kernel: 8 numbers are needed, or one\n"); return 2; }
    least_medians = atol(argv[1]);
    most_medians = atol(argv[2]);
    dimensions = atoi(argv[3]);
    all_points = atol(argv[4]);
    chunk_points = atol(argv[5]);
    most_kept = atol(argv[6]);
    seed = strtoull(argv[7], NULL, 10);
    threads = atoi(argv[8]);
    if (threads < 1 || threads > MOST_THREADS || least_medians < 1 || most_medians < least_medians || dimensions < 1 ||
        all_points < 1 || chunk_points < 1 || most_kept < 1) {
        fprintf(stderr, "kernel: numbers that do not fit\n");
        return 2;
    }
    if (chunk_points > all_points) chunk_points = all_points;
    long room = chunk_points > most_kept ? chunk_points : most_kept;
    chunk = points(chunk_points);
    kept = points(most_kept);
    open_medians = get((size_t)room + 1, sizeof *open_medians);
    candidates = get((size_t)room + 1, sizeof *candidates);
    closes = get((size_t)room + 1, 1);
    int code = together(work);
    if (code) return code;
    uint64_t checksum = 0;
    for (long place = 0; place < open_count; place++) checksum = mixed(checksum ^ (uint64_t)open_medians[place]);
    printf("%.6f %.9e %ld %016llx %ld\n", seconds, cost + sum_of_costs(&kept), open_count, (unsigned long long)checksum, barriers);
    return 0;
}
