/* Barriers, loops of every schedule, sections, tasks that create tasks, and teams within teams. */
#include "check.h"

#define MOST 64

static long stamps[MOST][16];

static void barriers(int rounds)
{
#pragma omp parallel
    {
        int me = omp_get_thread_num(), all = omp_get_num_threads();
        for (long round = 1; round <= rounds; round++) {
            stamps[me][0] = round;
#pragma omp barrier
            for (int other = 0; other < all; other++)
                CHECK(stamps[other][0] == round);
#pragma omp barrier
        }
        stamps[me][0] = 0;
    }
}

static long loops(int rounds)
{
    long sum = 0;
#pragma omp parallel
    for (int round = 0; round < rounds; round++) {
        static long parts[100];
#pragma omp for schedule(dynamic, 3)
        for (int i = 0; i < 100; i++)
            parts[i] = i + round;
        /* Each member reads what others have written before the loop's barrier. */
        long seen = 0;
        for (int i = 0; i < 100; i++)
            seen += parts[i];
        CHECK(seen == 4950 + 100L * round);
#pragma omp barrier
#pragma omp for schedule(guided)
        for (int i = 0; i < 100; i++)
            parts[i]++;
#pragma omp for schedule(runtime)
        for (int i = 0; i < 100; i++)
            parts[i]++;
#pragma omp for schedule(static, 1)
        for (int i = 0; i < 100; i++)
            parts[i]++;
#pragma omp for ordered schedule(dynamic)
        for (int i = 0; i < 20; i++) {
#pragma omp ordered
            sum += parts[i];
        }
#pragma omp sections
        {
#pragma omp section
            parts[0] = -1;
#pragma omp section
            parts[1] = -2;
#pragma omp section
            parts[2] = -3;
        }
        CHECK(parts[0] + parts[1] + parts[2] == -6);
#pragma omp barrier
#pragma omp single
        sum += round;
#pragma omp for reduction(+ : sum)
        for (int i = 0; i < 100; i++)
            sum += i;
    }
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
    for (int i = 0; i < 1000; i++)
        sum += i;
#pragma omp parallel for schedule(guided) reduction(+ : sum)
    for (int i = 0; i < 1000; i++)
        sum += i;
#pragma omp parallel for schedule(runtime) reduction(+ : sum)
    for (int i = 0; i < 1000; i++)
        sum += i;
#pragma omp parallel for schedule(static, 7) reduction(+ : sum)
    for (int i = 0; i < 1000; i++)
        sum += i;
#pragma omp parallel sections reduction(+ : sum)
    {
#pragma omp section
        sum += 3;
#pragma omp section
        sum += 4;
    }
    return sum;
}

static long grow(int depth)
{
    if (depth == 0)
        return 1;
    long left = 0, right = 0;
#pragma omp task shared(left)
    left = grow(depth - 1);
#pragma omp task shared(right)
    right = grow(depth - 1);
#pragma omp taskwait
    return left + right;
}

/* Of the team, and of file scope: GCC gives a task a copy of a static variable of a region. */
static long count, tree, unused;

static void spread(long *count, int depth)
{
#pragma omp atomic
    ++*count;
    for (int i = 0; i < 2 && depth > 0; i++) {
        /* Nobody waits for it but the next barrier. */
#pragma omp task
        spread(count, depth - 1);
    }
}

static long tasks(int rounds)
{
    long sum = 0;
#pragma omp parallel
    for (int round = 0; round < rounds; round++) {
#pragma omp single
        {
            count = 0;
            tree = grow(5);
        }
        CHECK(tree == 32);
        /* One barrier without tasks, one that every member brings tasks to, one without again. */
#pragma omp barrier
#pragma omp task
        spread(&count, 4);
#pragma omp barrier
        CHECK(count == 31L * omp_get_num_threads());
#pragma omp barrier
        if (omp_get_thread_num() == round % omp_get_num_threads()) {
            for (int i = 0; i < 20; i++) {
#pragma omp task
                spread(&count, 1);
            }
        }
#pragma omp barrier
        CHECK(count == 31L * omp_get_num_threads() + 60);
#pragma omp barrier
#pragma omp single
        {
#pragma omp taskloop grainsize(4)
            for (int i = 0; i < 64; i++) {
#pragma omp atomic
                sum += i;
            }
        }
#pragma omp single nowait
        {
#pragma omp taskloop nogroup
            for (unsigned long long i = 0; i < 64; i++) {
#pragma omp atomic
                sum += i;
            }
        }
#pragma omp barrier
    }
    return sum;
}

static long nested(int rounds, int threads)
{
    long sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    for (int round = 0; round < rounds; round++) {
        long inner = 0;
#pragma omp barrier
#pragma omp parallel num_threads(2 + round % 2) reduction(+ : inner)
        {
            long mine[8] = {0};
            for (int i = 0; i < 5; i++) {
#pragma omp barrier
                mine[i] = i;
#pragma omp barrier
                inner += mine[i];
            }
            if (round % 2) {
#pragma omp task
                spread(&unused, 0);
            }
#pragma omp barrier
            if (omp_get_thread_num() == 0) {
                long deepest = 0;
#pragma omp parallel num_threads(2) reduction(+ : deepest)
                {
#pragma omp barrier
                    deepest += 1;
                }
                CHECK(deepest == 2 || deepest == 1);
            }
        }
        CHECK(inner == 10 * (2 + round % 2) || inner == 10);
        sum += inner;
#pragma omp barrier
    }
    return sum;
}

static long reduced_by_tasks(void)
{
    long sum = 0;
#if defined(_OPENMP) && _OPENMP >= 201511 && __GNUC__ >= 9 && !defined(__clang__)
#pragma omp parallel reduction(task, + : sum)
    {
#pragma omp barrier
        for (int i = 0; i < 10; i++) {
#pragma omp task in_reduction(+ : sum)
            sum += i;
        }
#pragma omp barrier
    }
    CHECK(sum % 45 == 0 && sum > 0);
#endif
    return sum;
}

int main(int argc, char **argv)
{
    int threads = number(argc, argv, 1, 2), rounds = number(argc, argv, 2, 20);
    omp_set_num_threads(threads);
    omp_set_max_active_levels(3);
    barriers(10 * rounds);
    long sum = loops(rounds);
    sum += tasks(rounds);
    sum += nested(rounds, threads);
    sum += reduced_by_tasks();
    barriers(rounds);
    return finish("teams", sum);
}
