// What do a producer and two consumers, each a process, notice when one of them is killed?
//
// One consumer is killed with SIGKILL while messages stream, then the producer. The others say what they saw, and end as if
// nothing had happened to them.
#define _POSIX_C_SOURCE 200809L

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <corecast.h>

static void check(corecast_status status) {
  if (status != CORECAST_OK) {
    char why[200];
    corecast_error_message(why, sizeof why);
    fprintf(stderr, "%s: %s\n", corecast_status_name(status), why);
    _exit(1);
  }
}

// The main process waits for these, so that what is printed has an order. `news` is a pipe.
static void tell(int news, char what) {
  if (write(news, &what, 1) != 1) {
    _exit(1);
  }
}

static void await(int news, char expected) {
  char what;
  if (read(news, &what, 1) != 1 || what != expected) {
    fprintf(stderr, "expected '%c'\n", expected);
    exit(1);
  }
}

// True for each participant once, when the kernel says that it is dead.
static bool notice_death(const corecast_region *region, corecast_participant *known, size_t count) {
  for (size_t i = 0; i < count; i++) {
    corecast_liveness before = known[i].liveness;
    check(corecast_region_liveness(region, known[i].index, known[i].generation, &known[i].liveness));
    if (before == CORECAST_LIVENESS_ALIVE && known[i].liveness == CORECAST_LIVENESS_DEAD) {
      return true;
    }
  }
  return false;
}

static void produce(const char *directory, int news) {
  corecast_mcast_config config;
  memset(&config, 0, sizeof config);
  config.size = sizeof config;
  config.zero_readers = CORECAST_MCAST_ZERO_READERS_BLOCK;
  corecast_region_plan *plan;
  check(corecast_region_plan_create(&plan));
  check(corecast_region_plan_add_mcast(plan, "numbers", &config));
  corecast_region *region;
  check(corecast_region_host(directory, "example", plan, &region));
  corecast_region_plan_destroy(plan);
  corecast_mcast_sender *sender;
  check(corecast_mcast_sender_open(region, "numbers", &sender));
  tell(news, 'h');

  corecast_participant known[3];
  size_t count = 0;
  for (uint64_t number = 0;; number++) {
    // Waits for the slower consumer, but not for a dead one.
    check(corecast_mcast_sender_send(sender, &number, sizeof number));
    if (number % 1000 != 0) {
      continue;
    }
    if (count < 3) {
      check(corecast_region_participants(region, known, 3, &count));
    } else if (notice_death(region, known, count)) {
      printf("producer: a consumer died, the other one gets more\n");
      fflush(stdout);
      tell(news, 'd');
    }
  }
}

static void consume(const char *directory, int news) {
  corecast_region *region;
  check(corecast_region_connect(directory, "example", &region));
  corecast_mcast_receiver *receiver;
  check(corecast_mcast_receiver_open(region, "numbers", CORECAST_MCAST_POLICY_RELIABLE, 0, &receiver));
  corecast_message message;
  corecast_status status;
  uint64_t received = 0, last = 0;
  while ((status = corecast_mcast_receiver_recv(receiver, &message)) == CORECAST_OK) {
    uint64_t number;
    memcpy(&number, message.data, sizeof number);
    check(corecast_mcast_receiver_release(receiver, &message));
    if (received > 0 && number != last + 1) {
      fprintf(stderr, "%llu after %llu\n", (unsigned long long)number, (unsigned long long)last);
      _exit(1);
    }
    last = number;
    if (++received == 10000) {
      tell(news, 'r');
    }
  }
  if (status != CORECAST_DIED) {
    check(status);
    _exit(1);
  }
  printf("consumer: the producer died, and nothing it sent was lost\n");
  fflush(stdout);
  corecast_mcast_receiver_close(receiver);
  corecast_region_close(region);
}

static pid_t begin(void (*role)(const char *, int), const char *directory, int news) {
  pid_t child = fork();
  if (child == 0) {
    role(directory, news);
    _exit(0);
  }
  return child;
}

int main(void) {
  char directory[] = "/tmp/corecast-two-processes-XXXXXX";
  int news[2];
  if (mkdtemp(directory) == NULL || pipe(news) != 0) {
    return 1;
  }
  pid_t producer = begin(produce, directory, news[1]);
  await(news[0], 'h');
  pid_t victim = begin(consume, directory, news[1]);
  pid_t survivor = begin(consume, directory, news[1]);
  await(news[0], 'r');
  await(news[0], 'r');

  kill(victim, SIGKILL);
  await(news[0], 'd');
  kill(producer, SIGKILL);

  int how = 1;
  waitpid(survivor, &how, 0);
  waitpid(victim, NULL, 0);
  waitpid(producer, NULL, 0);
  // Empty, or this fails.
  bool is_clean = rmdir(directory) == 0;
  printf("the survivor ended with %d, and left %s behind\n", how, is_clean ? "nothing" : "something");
  return how == 0 && is_clean ? 0 : 1;
}
