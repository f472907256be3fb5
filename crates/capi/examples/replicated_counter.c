// Does a counter that three processes share lose an addition when one of them is killed?
//
// Each process has a replica of the counter. Two of them add as fast as they can, and one of these, the leader, is killed. The
// survivors go on, and every addition that was acknowledged is counted.
#define _DEFAULT_SOURCE

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <corecast.h>

#include "check.h"

enum { ADDITIONS = 2000, SECOND = 1000000000 };

// The counter, and the functions that make it a state machine. Operations are amounts, and results sums.
static int apply(void *state, uint64_t index, const void *op, size_t len, corecast_replica_output *result) {
  uint64_t amount, *sum = (uint64_t *)state;
  (void)index;
  if (len != sizeof amount) {
    return 1;
  }
  memcpy(&amount, op, len);
  *sum += amount;
  return corecast_replica_output_write(result, sum, sizeof *sum);
}

static int query(const void *state, const void *question, size_t len, corecast_replica_output *answer) {
  (void)question;
  (void)len;
  return corecast_replica_output_write(answer, state, sizeof(uint64_t));
}

static corecast_replica_digest digest(const void *state) {
  corecast_replica_digest sum = {*(const uint64_t *)state, 0};
  return sum;
}

static void snapshot(const void *state, corecast_replica_output *to) {
  corecast_replica_output_write(to, state, sizeof(uint64_t));
}

static int restore(void *state, const void *bytes, size_t len) {
  if (len != sizeof(uint64_t)) {
    return 1;
  }
  memcpy(state, bytes, len);
  return 0;
}

static corecast_replica_machine machine_of(uint64_t *sum) {
  corecast_replica_machine machine;
  memset(&machine, 0, sizeof machine);
  machine.size = sizeof machine;
  machine.state = sum;
  machine.apply = apply;
  machine.query = query;
  machine.digest = digest;
  machine.snapshot = snapshot;
  machine.restore = restore;
  machine.kind = "counter";
  return machine;
}

// Adds 1. A request without an answer is sent again under its number, so that it is not done again.
static void add(corecast_replica_session *session) {
  const uint64_t one = 1;
  uint32_t request;
  corecast_replica_result result;
  corecast_status status = corecast_replica_session_execute_timeout_ns(session, &one, sizeof one, SECOND, &request, &result);
  while (status == CORECAST_UNKNOWN) {
    status = corecast_replica_session_resume(session, request, SECOND, &result);
  }
  check(status);
}

// Adds `count` times; the number of acknowledged additions is in memory that outlives the process.
static void add_many(corecast_replica *replica, uint64_t count, volatile uint64_t *acknowledged) {
  corecast_replica_session *session;
  check(corecast_replica_session_open(replica, &session));
  while (*acknowledged < count) {
    add(session);
    *acknowledged += 1;
  }
  corecast_replica_session_close(session);
}

// The process that makes the group, and so leads it. It adds until it is killed.
static void lead(int news, volatile uint64_t *acknowledged) {
  uint64_t sum = 0;
  corecast_replica_machine machine = machine_of(&sum);
  corecast_replica *replica;
  char name[40];
  snprintf(name, sizeof name, "replicated-counter-c-%ld", (long)getppid());
  check(corecast_replica_create_named(NULL, name, NULL, &machine, &replica));
  if (write(news, "c", 1) != 1) {
    exit(1);
  }
  add_many(replica, UINT64_MAX, acknowledged);
}

// Another one, which adds, too, and ends.
static void follow(const char *name, volatile uint64_t *acknowledged) {
  uint64_t sum = 0;
  corecast_replica_machine machine = machine_of(&sum);
  corecast_replica *replica;
  check(corecast_replica_attach(NULL, name, NULL, &machine, &replica));
  add_many(replica, ADDITIONS, acknowledged);
  corecast_replica_close(replica);
  exit(0);
}

int main(void) {
  void *memory = mmap(NULL, 2 * sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int news[2], how;
  char what, name[40];
  if (memory == MAP_FAILED || pipe(news) != 0) {
    return 1;
  }
  volatile uint64_t *acknowledged = (volatile uint64_t *)memory;
  snprintf(name, sizeof name, "replicated-counter-c-%ld", (long)getpid());

  pid_t leader = fork();
  if (leader == 0) {
    lead(news[1], &acknowledged[0]);
  }
  close(news[1]);
  if (leader < 0 || read(news[0], &what, 1) != 1) {
    return 1;
  }
  pid_t follower = fork();
  if (follower == 0) {
    follow(name, &acknowledged[1]);
  }
  uint64_t sum = 0, counted, shown;
  size_t len;
  corecast_replica_machine machine = machine_of(&sum);
  corecast_replica *replica;
  check(corecast_replica_attach(NULL, name, NULL, &machine, &replica));
  while (acknowledged[0] < ADDITIONS / 2 || acknowledged[1] < ADDITIONS / 2) {
    usleep(1000);
  }
  kill(leader, SIGKILL);
  waitpid(leader, NULL, 0);
  waitpid(follower, &how, 0);

  check(corecast_replica_read(replica, CORECAST_REPLICA_LEVEL_LINEARIZABLE, 0, NULL, 0, &counted, sizeof counted, &len, &shown));
  uint64_t least = acknowledged[0] + acknowledged[1];
  printf("the leader was killed after %d additions or more\n", ADDITIONS / 2);
  // The leader may have been killed between an addition and its answer.
  int is_right = how == 0 && len == sizeof counted && (counted == least || counted == least + 1);
  corecast_replica_close(replica);
  printf("the counter is %s\n", is_right ? "right" : "wrong");
  return is_right ? 0 : 1;
}
