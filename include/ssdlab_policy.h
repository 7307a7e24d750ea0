/* A policy of your own for ssdlab, as a shared library: version 2 of the interface.
 *
 *     cc -O2 -shared -fPIC -I include -o mine.so mine.c
 *     ssdlab run job.fio --drive theory --set ftl.gc=./mine.so
 *
 * Needed: ssdlab_policy_version and ssdlab_policy_choose, which names the victims of garbage collection. The others are
 * optional. A library of version 1 works as before.
 * docs/howto/policy.md says what the values mean and what happens to wrong answers.
 */
#ifndef SSDLAB_POLICY_H
#define SSDLAB_POLICY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SSDLAB_POLICY_VERSION 2u

/* Set in a block's valid units while it is open, free, being collected or bad: it must not be chosen.
 * Since it is the highest bit, the smallest value is that of a candidate. */
#define SSDLAB_NOT_A_CANDIDATE 0x80000000u

/* Any negative answer is an error, and ends the run. */
#define SSDLAB_FAILED (-1)

/* An answer of ssdlab_policy_open and ssdlab_policy_level: choose as the drive does without this function. */
#define SSDLAB_BUILT_IN (-3)

/* An answer of ssdlab_policy_level: no data are to be moved now. */
#define SSDLAB_NOTHING (-4)

/* A bit of ssdlab_policy_sees: times of invalidation are noted. */
#define SSDLAB_SEES_INVALIDATIONS 1u

/* Streams that a policy keeps apart at most. */
#define SSDLAB_MOST_STREAMS 16u

/* Of a unit that lies in no block yet. */
#define SSDLAB_NO_STREAM 0xffffffffu

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
    /* From version 2 on. NULL and 0 unless SSDLAB_SEES_INVALIDATIONS. */
    const uint64_t *invalidated_at; /* `written` when a unit of each block was last overwritten or trimmed: see ssdlab_idle */
    uint64_t invalidated_at_stride; /* bytes from one to the next */
    uint64_t written;               /* units that the host has written to flash so far */
    /* NULL where there is one stream. */
    const uint8_t *stream;  /* stream that each block was last opened for: see ssdlab_stream */
    uint64_t stream_stride; /* bytes from one to the next */
} ssdlab_blocks;

/* A unit on its way to an open block. */
typedef struct ssdlab_unit {
    uint32_t version; /* SSDLAB_POLICY_VERSION of the simulator */
    uint32_t unit;    /* number of the mapping unit: its first byte / ftl.mapping_unit_bytes */
    uint32_t is_copy; /* 1: collection moves it; 0: the host writes it */
    uint32_t stream;  /* stream of the block that it lies in, or SSDLAB_NO_STREAM */
    uint64_t written; /* units that the host has written to flash so far */
} ssdlab_unit;

/* Blocks sealed in the drive since this one was: its age. */
static inline uint64_t ssdlab_age(const ssdlab_blocks *blocks, uint32_t block) {
    return blocks->sealings
        - *(const uint64_t *)((const char *)blocks->sealed_at + block * blocks->sealed_at_stride);
}

/* Erases of a block so far; of a superblock, those of its first block. */
static inline uint32_t ssdlab_erases(const ssdlab_blocks *blocks, uint32_t block) {
    return *(const uint32_t *)((const char *)blocks->erases + block * blocks->erases_stride);
}

/* Units that the host has written since one of this block was last overwritten or trimmed. */
static inline uint64_t ssdlab_idle(const ssdlab_blocks *blocks, uint32_t block) {
    return blocks->written
        - *(const uint64_t *)((const char *)blocks->invalidated_at + block * blocks->invalidated_at_stride);
}

/* The stream that a block was last opened for. */
static inline uint32_t ssdlab_stream(const ssdlab_blocks *blocks, uint32_t block) {
    return blocks->stream ? blocks->stream[block * blocks->stream_stride] : 0;
}

/* Return SSDLAB_POLICY_VERSION. */
uint32_t ssdlab_policy_version(void);

/* The state of a policy for one drive; `argument` is what follows "PATH.so:", or empty. NULL refuses it.
 * Without this function the state is NULL, and no argument is taken. */
void *ssdlab_policy_new(const char *argument);

/* The candidate to be collected next, or a negative number. It is called once a victim, from one thread at
 * a time for each state. */
int64_t ssdlab_policy_choose(void *state, const ssdlab_blocks *blocks);

/* What the policy wants to see: bits SSDLAB_SEES_… */
uint32_t ssdlab_policy_sees(void);

/* Wear levelling's choice: which free block is opened next, one of the `count` numbers in `free`, in the order in which
 * they became free; or SSDLAB_BUILT_IN. `is_cold`: for data that ssdlab_policy_level has moved. */
int64_t ssdlab_policy_open(
    void *state, const ssdlab_blocks *blocks, const uint32_t *free, uint32_t count, uint32_t is_cold);

/* Static wear levelling: the candidate whose data are moved to rest elsewhere, SSDLAB_NOTHING, or SSDLAB_BUILT_IN. It is
 * called once in 32 collections of a die, and in 8 where the last call named a block. */
int64_t ssdlab_policy_level(void *state, const ssdlab_blocks *blocks);

/* How many streams the policy keeps apart, from 1 to SSDLAB_MOST_STREAMS: each has open blocks of its own on each die, for
 * the host and for collection. It is called once, and needs ssdlab_policy_stream. */
uint32_t ssdlab_policy_streams(void *state);

/* The stream of a unit that is written next, from 0 on. */
int64_t ssdlab_policy_stream(void *state, const ssdlab_unit *unit);

/* The drive is gone. */
void ssdlab_policy_free(void *state);

#ifdef __cplusplus
}
#endif

#endif
