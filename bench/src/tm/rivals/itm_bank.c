/* The bank of `corecast bench tm` on GCC's transactional memory, libitm. Accounts are a number and a balance each. */
#include <stdint.h>

struct account { int32_t number, balance; };

void corecast_bench_itm_transfer(struct account *accounts, uint64_t from, uint64_t to, int32_t amount) {
    __transaction_atomic {
        accounts[from].balance -= amount;
        accounts[to].balance += amount;
    }
}

int64_t corecast_bench_itm_check(struct account *accounts, uint64_t one, uint64_t other) {
    int64_t sum;
    __transaction_atomic { sum = (int64_t)accounts[one].balance + accounts[other].balance; }
    return sum;
}

int64_t corecast_bench_itm_total(struct account *accounts, uint64_t count) {
    int64_t sum = 0;
    __transaction_atomic {
        sum = 0;
        for (uint64_t at = 0; at < count; at++) sum += accounts[at].balance;
    }
    return sum;
}
