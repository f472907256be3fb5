// How do the threads of a program that I have already meet, share and add up?
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <corecast.h>

#include "check.h"

enum { MEMBERS = 4, ROUNDS = 1000 };

// Numbers that were seen: how many, their mean, and the sum of the squares of their distances from it.
typedef struct {
  double count;
  double mean;
  double squares;
} sample;

// Makes two samples one. No operation of corecast_op does.
static void merge(void *context, void *accumulator, const void *operand) {
  (void)context;
  sample *own = (sample *)accumulator;
  const sample *their = (const sample *)operand;
  double count = own->count + their->count;
  double apart = their->mean - own->mean;
  own->squares += their->squares + apart * apart * own->count * their->count / count;
  own->mean += apart * their->count / count;
  own->count = count;
}

// The variance of one number of each member.
static double variance(corecast_member *me, double number) {
  corecast_combination merging;
  memset(&merging, 0, sizeof merging);
  merging.size = sizeof merging;
  merging.value_bytes = sizeof(sample);
  merging.commutes = 1;
  merging.combine = merge;
  sample all = {1, number, 0};
  check(corecast_member_allreduce_with(me, &all, 1, &merging));
  return all.squares / all.count;
}

static void *work(void *argument) {
  corecast_member *me = (corecast_member *)argument;
  uint32_t rank = corecast_member_rank(me);
  char word[16] = "";
  if (rank == 0) {
    strcpy(word, "begin");
  }
  check(corecast_member_broadcast(me, 0, word, sizeof word));
  if (strcmp(word, "begin") != 0) {
    fprintf(stderr, "rank %u was told '%s'\n", rank, word);
    exit(1);
  }
  for (int i = 0; i < ROUNDS; i++) {
    check(corecast_member_barrier(me));
  }
  double sums[2] = {(double)rank, 0.5};
  check(corecast_member_allreduce(me, sums, 2, CORECAST_NUMBER_DOUBLE, CORECAST_OP_SUM));
  double spread = variance(me, rank);
  uint32_t ranks[MEMBERS];
  check(corecast_member_gather(me, 0, &rank, sizeof rank, ranks));
  if (rank == 0) {
    for (uint32_t i = 0; i < MEMBERS; i++) {
      if (ranks[i] != i) {
        fprintf(stderr, "the rank of member %u is %u\n", i, ranks[i]);
        exit(1);
      }
    }
    printf("%d members met %d times; their sums are %g and %g, the variance of their ranks %g\n", MEMBERS, ROUNDS, sums[0],
           sums[1], spread);
  }
  corecast_member_leave(me);
  return NULL;
}

int main(void) {
  corecast_group_config config;
  memset(&config, 0, sizeof config);
  config.size = sizeof config;
  config.members = MEMBERS;
  corecast_group *group;
  check(corecast_group_create(&config, &group));
  pthread_t threads[MEMBERS];
  for (uint32_t rank = 0; rank < MEMBERS; rank++) {
    corecast_member *member;
    check(corecast_group_join(group, rank, &member));
    if (pthread_create(&threads[rank], NULL, work, member) != 0) {
      return 1;
    }
  }
  for (int i = 0; i < MEMBERS; i++) {
    pthread_join(threads[i], NULL);
  }
  corecast_group_destroy(group);
  return 0;
}
