/* Threads of the program that fork teams of their own, end, and are followed by others; signals arrive all the time. */
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

static int threads;
static long caught;

static void catch_it(int signal)
{
    (void)signal;
    __atomic_add_fetch(&caught, 1, __ATOMIC_RELAXED);
}

static void *master(void *data)
{
    long sum = 0;
    for (int round = 0; round < 10; round++) {
#pragma omp parallel num_threads(threads) reduction(+ : sum)
        for (int i = 0; i < 30; i++) {
            errno = 77;
#pragma omp barrier
            CHECK(errno == 77);
            sum += i;
        }
    }
    *(long *)data = sum;
    return NULL;
}

int main(int argc, char **argv)
{
    threads = number(argc, argv, 1, 2);
    signal(SIGALRM, catch_it);
    struct itimerval each_ms = {{0, 1000}, {0, 1000}};
    setitimer(ITIMER_REAL, &each_ms, NULL);
    long total = 0;
    for (int generation = 0; generation < 5; generation++) {
        pthread_t masters[3];
        long sums[3];
        for (int i = 0; i < 3; i++)
            pthread_create(&masters[i], NULL, master, &sums[i]);
        for (int i = 0; i < 3; i++) {
            pthread_join(masters[i], NULL);
            CHECK(sums[i] == 10 * 435L * threads);
            total += sums[i];
        }
    }
    return finish("masters", total);
}
