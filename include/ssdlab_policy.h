/* A victim policy of your own for ssdlab, as a shared library: version 1 of the interface.
 *
 *     cc -O2 -shared -fPIC -I include -o mine.so mine.c
 *     ssdlab run job.fio --drive theory --set ftl.gc=./mine.so
 *
 * Needed: ssdlab_policy_version and ssdlab_policy_choose. The other two are optional.
 * docs/policy.md says what the values mean and what happens to wrong answers.
 */
#ifndef SSDLAB_POLICY_H
#define SSDLAB_POLICY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SSDLAB_POLICY_VERSION 1u

/* Set in a block's valid units while it is open, free, being collected or bad: it must not be chosen.
 * Since it is the highest bit, the smallest value is that of a candidate. */
#define SSDLAB_NOT_A_CANDIDATE 0x80000000u

/* Any negative answer is an error, and ends the run. */
#define SSDLAB_FAILED (-1)

/* The blocks of one pool: those of a die, or with superblocks those of the drive. A block is a number
 * from 0 to count - 1. Everything is read only, and holds until the call returns. */
typedef struct ssdlab_blocks {
    uint32_t version;          /* SSDLAB_POLICY_VERSION of the simulator */
    uint32_t count;            /* blocks of the pool, candidates and others */
    uint32_t capacity;         /* units that a block holds at most */
    uint32_t turn;             /* one behind the last victim: of equals, take the first from here on */
    uint32_t pool;             /* number of the pool */
    uint32_t pools;            /* pools of the drive */
    const uint32_t *valid;     /* valid units of each block */
    const uint64_t *sealed_at; /* number of each block's last sealing: see ssdlab_age */
    uint64_t sealed_at_stride; /* bytes from one to the next */
    const uint32_t *erases;    /* erases of each block so far: see ssdlab_erases */
    uint64_t erases_stride;    /* bytes from one to the next */
    uint64_t sealings;         /* blocks sealed in the drive so far */
    uint64_t random;           /* 64 random bits, new with each call, from the seed of the run */
} ssdlab_blocks;

/* Blocks sealed in the drive since this one was: its age. */
static inline uint64_t ssdlab_age(const ssdlab_blocks *blocks, uint32_t block) {
    return blocks->sealings
        - *(const uint64_t *)((const char *)blocks->sealed_at + block * blocks->sealed_at_stride);
}

/* Erases of a block so far; of a superblock, those of its first block. */
static inline uint32_t ssdlab_erases(const ssdlab_blocks *blocks, uint32_t block) {
    return *(const uint32_t *)((const char *)blocks->erases + block * blocks->erases_stride);
}

/* Return SSDLAB_POLICY_VERSION. */
uint32_t ssdlab_policy_version(void);

/* The state of a policy for one drive; `argument` is what follows "PATH.so:", or empty. NULL refuses it.
 * Without this function the state is NULL, and no argument is taken. */
void *ssdlab_policy_new(const char *argument);

/* The candidate to be collected next, or a negative number. It is called once a victim, from one thread at
 * a time for each state. */
int64_t ssdlab_policy_choose(void *state, const ssdlab_blocks *blocks);

/* The drive is gone. */
void ssdlab_policy_free(void *state);

#ifdef __cplusplus
}
#endif

#endif
