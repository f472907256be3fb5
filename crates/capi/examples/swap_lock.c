// Which lock suits my program? Threads count words into shared counters, and the lock is one name.
//
// Each line is a lock, and what it took; times differ from run to run.
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <corecast.h>

#include "check.h"

enum { THREADS = 4, WORDS = 50000, COUNTERS = 8 };

typedef struct {
  corecast_lock lock;
  uint64_t count;
} counter;

// Where threads wait for each other before they begin. All zeroes are a closed one.
typedef struct {
  corecast_lock lock;
  corecast_condvar opened;
  int there;
} gate;

typedef struct {
  counter *counters;
  gate *start;
  int number;
} thread_of_words;

static void pass(gate *start) {
  check(corecast_lock_lock(&start->lock));
  if (++start->there == THREADS) {
    check(corecast_condvar_notify_all(&start->opened));
  }
  while (start->there < THREADS) {
    check(corecast_condvar_wait(&start->opened, &start->lock));
  }
  check(corecast_lock_unlock(&start->lock));
}

// The program: it does not know which lock it uses.
static void *count_words(void *argument) {
  const thread_of_words *thread = (const thread_of_words *)argument;
  pass(thread->start);
  for (int word = 0; word < WORDS; word++) {
    counter *chosen = &thread->counters[(thread->number + word) % COUNTERS];
    check(corecast_lock_lock(&chosen->lock));
    chosen->count++;
    check(corecast_lock_unlock(&chosen->lock));
  }
  return NULL;
}

static uint64_t count_all(uint32_t algorithm) {
  counter counters[COUNTERS];
  for (int i = 0; i < COUNTERS; i++) {
    check(corecast_lock_create(algorithm, &counters[i].lock));
    counters[i].count = 0;
  }
  gate start;
  memset(&start, 0, sizeof start);
  pthread_t threads[THREADS];
  thread_of_words arguments[THREADS];
  for (int i = 0; i < THREADS; i++) {
    arguments[i].counters = counters;
    arguments[i].start = &start;
    arguments[i].number = i;
    if (pthread_create(&threads[i], NULL, count_words, &arguments[i]) != 0) {
      exit(1);
    }
  }
  uint64_t counted = 0;
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
  }
  for (int i = 0; i < COUNTERS; i++) {
    counted += counters[i].count;
    check(corecast_lock_destroy(&counters[i].lock));
  }
  return counted;
}

static void timed(const char *name) {
  uint32_t algorithm;
  check(corecast_lock_algorithm_of_name(name, &algorithm));
  struct timespec began, ended;
  clock_gettime(CLOCK_MONOTONIC, &began);
  uint64_t counted = count_all(algorithm);
  clock_gettime(CLOCK_MONOTONIC, &ended);
  if (counted != (uint64_t)THREADS * WORDS) {
    fprintf(stderr, "%s has lost words\n", name);
    exit(1);
  }
  double ms = (double)(ended.tv_sec - began.tv_sec) * 1e3 + (double)(ended.tv_nsec - began.tv_nsec) / 1e6;
  printf("%7s: %llu words in %.1f ms\n", name, (unsigned long long)counted, ms);
}

int main(void) {
  timed("auto");
  timed("word");
  timed("ticket");
  timed("mcs");
  return 0;
}
