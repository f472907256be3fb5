/* The overhead of OpenMP constructs, written from J. M. Bull, Measuring Synchronisation and Scheduling Overheads in OpenMP,
   EWOMP 1999: a construct is executed many times around a short delay, and what the delay alone takes on one thread is
   subtracted. Prints the median over all outer repetitions of each construct.

   epcc THREADS OUTER_REPETITIONS TEST_MICROSECONDS */

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A delay lasts about this long. */
#define DELAY_US 0.1
/* Checks go on for this long before anything is timed. */
#define WARM_UP_S 0.1
/* Doubles that COPYPRIVATE copies. */
#define COPIED 9

static int threads;
static long outer, delay_length, inner;
static double test_us;

/* As a separate function, so that no compiler moves it out of a loop. */
__attribute__((noinline)) static void delay(long length)
{
    for (long i = 0; i < length; i++)
        __asm__ volatile("" ::: "memory");
}

static void reference(void)
{
    for (long i = 0; i < inner; i++)
        delay(delay_length);
}

static void parallel(void)
{
    for (long i = 0; i < inner; i++) {
#pragma omp parallel
        delay(delay_length);
    }
}

static void loop(void)
{
#pragma omp parallel
    for (long i = 0; i < inner; i++) {
#pragma omp for
        for (int k = 0; k < threads; k++)
            delay(delay_length);
    }
}

/* The runtime gives the iterations out, and a barrier of its own ends the loop. */
static void dynamic_loop(void)
{
#pragma omp parallel
    for (long i = 0; i < inner; i++) {
#pragma omp for schedule(dynamic)
        for (int k = 0; k < threads; k++)
            delay(delay_length);
    }
}

/* Two sections, whatever the number of threads. */
static void sections(void)
{
#pragma omp parallel
    for (long i = 0; i < inner; i++) {
#pragma omp sections
        {
#pragma omp section
            delay(delay_length);
#pragma omp section
            delay(delay_length);
        }
    }
}

static void barrier(void)
{
#pragma omp parallel
    for (long i = 0; i < inner; i++) {
        delay(delay_length);
#pragma omp barrier
    }
}

static void single(void)
{
#pragma omp parallel
    for (long i = 0; i < inner; i++) {
#pragma omp single
        delay(delay_length);
    }
}

static void copyprivate(void)
{
#pragma omp parallel
    {
        double values[COPIED];
        for (long i = 0; i < inner; i++) {
#pragma omp single copyprivate(values)
            {
                for (int k = 0; k < COPIED; k++)
                    values[k] = (double)i;
                delay(delay_length);
            }
        }
    }
}

static void reduction(void)
{
    long sum = 0;
    for (long i = 0; i < inner; i++) {
#pragma omp parallel reduction(+ : sum)
        {
            delay(delay_length);
            sum += 1;
        }
    }
    if (sum != inner * threads)
        exit(3);
}

static void task(void)
{
#pragma omp parallel
    for (long i = 0; i < inner; i++) {
#pragma omp task
        delay(delay_length);
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median time of one inner repetition, in microseconds. */
static double measure(void (*test)(void))
{
    double *times = malloc(sizeof *times * (size_t)outer);
    double took = 0;
    if (!times)
        exit(4);
    for (inner = 4; ; inner *= 2) {
        double start = omp_get_wtime();
        test();
        took = (omp_get_wtime() - start) * 1e6;
        if (took >= test_us || inner > 1L << 40)
            break;
    }
    for (long k = 0; k < outer; k++) {
        double start = omp_get_wtime();
        test();
        times[k] = (omp_get_wtime() - start) * 1e6 / (double)inner;
    }
    qsort(times, (size_t)outer, sizeof *times, ascending);
    double median = outer % 2 ? times[outer / 2] : (times[outer / 2 - 1] + times[outer / 2]) / 2;
    free(times);
    return median;
}

/* Nobody leaves a barrier before all have come, and a copied value is the one that was read. Before anything is timed. */
static void check(void)
{
    static long words[1024][16];
    long wrong = 0;
#pragma omp parallel reduction(+ : wrong)
    {
        int me = omp_get_thread_num(), all = omp_get_num_threads();
        if (all != threads)
            wrong++;
        for (long round = 1; round <= 200; round++) {
            words[me][0] = round;
#pragma omp barrier
            for (int k = 0; k < all; k++)
                wrong += words[k][0] != round;
            long value = -1;
#pragma omp single copyprivate(value)
            value = round;
            wrong += value != round;
            /* Each iteration writes its word before any thread leaves the loop, and each section likewise. */
#pragma omp for schedule(dynamic)
            for (int k = 0; k < all; k++)
                words[k][1] = round;
            for (int k = 0; k < all; k++)
                wrong += words[k][1] != round;
#pragma omp sections
            {
#pragma omp section
                words[0][2] = round;
#pragma omp section
                words[1][2] = round;
            }
            wrong += words[0][2] != round || words[1][2] != round;
        }
    }
    if (wrong) {
        printf("wrong: %ld values\n", wrong);
        exit(3);
    }
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    threads = atoi(argv[1]);
    outer = atol(argv[2]);
    test_us = atof(argv[3]);
    if (threads < 1 || threads > 1024 || outer < 1)
        return 2;
    omp_set_dynamic(0);
    omp_set_num_threads(threads);
    /* A new team takes a while to spread over the CPUs, and a waiter to learn how to wait there. */
    for (double start = omp_get_wtime(); omp_get_wtime() - start < WARM_UP_S;)
        check();
    for (delay_length = 1;; delay_length += delay_length / 10 + 1) {
        double start = omp_get_wtime();
        for (int i = 0; i < 1000; i++)
            delay(delay_length);
        if ((omp_get_wtime() - start) * 1e3 >= DELAY_US)
            break;
    }
    static const struct {
        const char *name;
        void (*test)(void);
    } constructs[] = {
        {"BARRIER", barrier},         {"FOR", loop},          {"FOR DYNAMIC", dynamic_loop},
        {"SECTIONS", sections},       {"SINGLE", single},     {"COPYPRIVATE", copyprivate},
        {"PARALLEL", parallel},       {"REDUCTION", reduction}, {"TASK", task},
    };
    double alone = measure(reference);
    for (size_t i = 0; i < sizeof constructs / sizeof *constructs; i++)
        printf("%s median_ovrhd = %.6f microseconds\n", constructs[i].name, measure(constructs[i].test) - alone);
    return 0;
}
