// A bank whose tellers are processes: one of them is killed within a transaction.
//
// Two tellers, each a process, move money between accounts. One is killed at some moment. This process counts all money
// meanwhile, again and again, and always finds as much as at the beginning.
#define _DEFAULT_SOURCE

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <corecast.h>

#include "check.h"

enum { ACCOUNTS = 8, BALANCE = 100, TRANSFERS = 1000, SERVER = 0, AUDITOR = 2, PARTICIPANTS = 4 };

// The words of the bank: its accounts, and how often each teller has moved money.
typedef struct bank {
  uint32_t accounts[ACCOUNTS];
  uint32_t transfers[PARTICIPANTS];
} bank;

typedef struct transfer {
  const bank *words;
  uint32_t teller;
  unsigned from, to;
} transfer;

static int add(corecast_tx *tx, uint32_t word, uint64_t amount) {
  uint64_t value;
  return corecast_tx_read_for_update(tx, word, &value) || corecast_tx_write(tx, word, value + amount);
}

static int move_money(corecast_tx *tx, void *context) {
  const transfer *what = (const transfer *)context;
  const bank *words = what->words;
  return add(tx, words->accounts[what->from], (uint64_t)-3) || add(tx, words->accounts[what->to], 3) ||
         add(tx, words->transfers[what->teller], 1);
}

typedef struct audit {
  const bank *words;
  uint64_t total;
} audit;

static int count_money(corecast_tx *tx, void *context) {
  audit *result = (audit *)context;
  int i;
  result->total = 0; // The body may be called several times.
  for (i = 0; i < ACCOUNTS; i++) {
    uint64_t value;
    if (corecast_tx_read(tx, result->words->accounts[i], &value)) {
      return 1;
    }
    result->total += value;
  }
  return 0;
}

static void work(int fd, uint32_t id, const bank *words) {
  corecast_tm *tm;
  corecast_tm_participant *me;
  unsigned i;
  int outcome;
  check(corecast_tm_attach_fd(fd, &tm));
  check(corecast_tm_participant_open(tm, id, &me));
  for (i = 0; i < TRANSFERS; i++) {
    transfer what = {words, id, i % ACCOUNTS, (i * 5 + id) % ACCOUNTS};
    check(corecast_tm_run(me, move_money, &what, &outcome));
  }
  corecast_tm_participant_close(me);
  corecast_tm_close(tm);
}

static pid_t start_teller(int fd, uint32_t id, const bank *words) {
  pid_t child = fork();
  if (child == 0) {
    work(fd, id, words);
    _exit(0);
  }
  return child;
}

static void *serve(void *server) {
  check(corecast_tm_server_serve((corecast_tm_server *)server));
  return NULL;
}

static void count(corecast_tm_participant *auditor, const bank *words) {
  audit result = {words, 0};
  int outcome;
  check(corecast_tm_run(auditor, count_money, &result, &outcome));
  if (result.total != ACCOUNTS * BALANCE) {
    fprintf(stderr, "%lu of %d\n", (unsigned long)result.total, ACCOUNTS * BALANCE);
    exit(1);
  }
}

// Counts until a teller has moved money that often.
static void audit_until(corecast_tm *tm, corecast_tm_participant *auditor, const bank *words, int id, uint64_t transfers) {
  uint64_t done;
  do {
    count(auditor, words);
    check(corecast_tm_load(tm, words->transfers[id], &done));
  } while (done < transfers);
}

int main(void) {
  corecast_tm_config config;
  corecast_tm *tm;
  corecast_tm_server *server;
  corecast_tm_participant *auditor;
  bank words;
  pid_t tellers[2];
  pthread_t thread;
  int i, fd, status;

  memset(&config, 0, sizeof config);
  config.size = sizeof config;
  config.participants = PARTICIPANTS;
  config.servers_every = PARTICIPANTS; // Participant 0 is the only server.
  check(corecast_tm_create_shared(&config, &tm));
  for (i = 0; i < ACCOUNTS; i++) {
    check(corecast_tm_new_word(tm, BALANCE, &words.accounts[i]));
  }
  for (i = 0; i < PARTICIPANTS; i++) {
    check(corecast_tm_new_word(tm, 0, &words.transfers[i]));
  }
  check(corecast_tm_share_fd(tm, &fd));
  tellers[0] = start_teller(fd, 1, &words);
  tellers[1] = start_teller(fd, 3, &words);
  close(fd);

  check(corecast_tm_server_open(tm, SERVER, &server));
  pthread_create(&thread, NULL, serve, server);
  check(corecast_tm_participant_open(tm, AUDITOR, &auditor));
  audit_until(tm, auditor, &words, 1, TRANSFERS / 10);
  kill(tellers[0], SIGKILL);
  waitpid(tellers[0], &status, 0);
  audit_until(tm, auditor, &words, 3, TRANSFERS);
  waitpid(tellers[1], &status, 0);
  count(auditor, &words);

  corecast_tm_participant_close(auditor);
  corecast_tm_stop(tm);
  pthread_join(thread, NULL);
  corecast_tm_server_close(server);
  corecast_tm_close(tm);
  printf("one teller was killed, and the other one moved money %d times: %d, as always\n", TRANSFERS, ACCOUNTS * BALANCE);
  return status == 0 ? 0 : 1;
}
