// How do the threads of a program that I have agree: on changes that each may refuse, on an order, on how far all are?
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <corecast.h>

#include "check.h"

enum { MEMBERS = 4, PROPOSALS = 9, EVENTS = 100, ENTRIES = 1000 };

static const uint64_t minute_ns = UINT64_C(60000000000);

// The results of one member.
typedef struct seen {
  corecast_member *me;
  int applied;
  // Of the order of events.
  uint64_t hash;
  int events;
  uint64_t entries;
} seen;

// Every member may refuse: the last one does, every third time.
static bool vote(void *context, const void *proposal, size_t len) {
  const seen *own = (const seen *)context;
  uint32_t number;
  if (len != sizeof number) {
    return false;
  }
  memcpy(&number, proposal, sizeof number);
  return corecast_member_rank(own->me) != MEMBERS - 1 || number % 3 != 0;
}

static void apply(void *context, const void *proposal, size_t len, bool is_committed) {
  seen *own = (seen *)context;
  (void)proposal;
  (void)len;
  own->applied += is_committed;
}

// Two-phase commit: a proposal is applied by all or by none.
static void decide(seen *own) {
  if (corecast_member_rank(own->me) != 0) {
    corecast_commit_participant *participant;
    check(corecast_commit_participant_open(own->me, 0, sizeof(uint32_t), &participant));
    corecast_status status;
    while ((status = corecast_commit_participant_serve(participant, vote, apply, own)) == CORECAST_OK) {
    }
    if (status != CORECAST_CLOSED) {
      check(status);
    }
    corecast_commit_participant_close(participant);
    return;
  }
  corecast_commit_coordinator *coordinator;
  check(corecast_commit_coordinator_open(own->me, sizeof(uint32_t), &coordinator));
  for (uint32_t number = 1; number <= PROPOSALS; number++) {
    bool is_committed;
    check(corecast_commit_coordinator_commit(coordinator, &number, sizeof number, minute_ns, &is_committed));
    own->applied += is_committed;
  }
  corecast_commit_coordinator_close(coordinator);
}

static void deliver(void *context, uint64_t number, uint32_t origin, const void *data, size_t len) {
  seen *own = (seen *)context;
  (void)number;
  (void)data;
  (void)len;
  own->hash = own->hash * 31 + origin;
  own->events++;
}

// An atomic stream: events of all members, in one order for all.
static void order(seen *own) {
  corecast_atomic_stream *stream;
  check(corecast_atomic_stream_open(own->me, &stream));
  for (int i = 0; i < EVENTS; i++) {
    check(corecast_atomic_stream_publish(stream, &i, sizeof i, deliver, own));
  }
  check(corecast_atomic_stream_finish(stream, deliver, own));
  corecast_atomic_stream_close(stream);
}

static void process(void *context, uint64_t number, const void *data, size_t len) {
  seen *own = (seen *)context;
  (void)data;
  (void)len;
  own->entries = number;
}

// An acknowledged broadcast: a log that is known to be processed by all.
static void replicate(seen *own) {
  corecast_ack_config config;
  memset(&config, 0, sizeof config);
  config.size = sizeof config;
  if (corecast_member_rank(own->me) != config.root) {
    corecast_ack_follower *follower;
    check(corecast_ack_follower_open(own->me, &config, &follower));
    size_t count;
    corecast_status status;
    while ((status = corecast_ack_follower_drain(follower, process, own, &count)) == CORECAST_OK) {
    }
    if (status != CORECAST_CLOSED) {
      check(status);
    }
    corecast_ack_follower_close(follower);
    return;
  }
  corecast_ack_root *root;
  check(corecast_ack_root_open(own->me, &config, &root));
  for (int i = 0; i < ENTRIES; i++) {
    check(corecast_ack_root_publish(root, "entry", 5, &own->entries));
  }
  check(corecast_ack_root_wait(root, own->entries));
  check(corecast_ack_root_finish(root));
  corecast_ack_root_close(root);
}

static void *work(void *argument) {
  seen *own = (seen *)argument;
  decide(own);
  order(own);
  replicate(own);
  corecast_member_leave(own->me);
  return NULL;
}

int main(void) {
  corecast_group_config config;
  memset(&config, 0, sizeof config);
  config.size = sizeof config;
  config.members = MEMBERS;
  corecast_group *group;
  check(corecast_group_create(&config, &group));
  seen all[MEMBERS];
  memset(all, 0, sizeof all);
  pthread_t threads[MEMBERS];
  for (uint32_t rank = 0; rank < MEMBERS; rank++) {
    check(corecast_group_join(group, rank, &all[rank].me));
  }
  for (uint32_t rank = 0; rank < MEMBERS; rank++) {
    if (pthread_create(&threads[rank], NULL, work, &all[rank]) != 0) {
      return 1;
    }
  }
  for (int i = 0; i < MEMBERS; i++) {
    pthread_join(threads[i], NULL);
  }
  corecast_group_destroy(group);
  for (int i = 1; i < MEMBERS; i++) {
    if (all[i].applied != all[0].applied || all[i].hash != all[0].hash || all[i].entries != all[0].entries) {
      fprintf(stderr, "member %d does not agree with member 0\n", i);
      return 1;
    }
  }
  printf("all applied %d of %d proposals, saw %d events in one order, and processed %" PRIu64 " entries\n", all[0].applied,
         PROPOSALS, all[0].events, all[0].entries);
  return 0;
}
