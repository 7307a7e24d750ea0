/* Random++ (Van Houdt, A mean field model for a class of garbage collection algorithms in flash-based solid state
 * drives, SIGMETRICS 2013): blocks are drawn at random until one has fewer valid units than the average.
 *
 *     cc -O3 -shared -fPIC -I include -o random_plus_plus.so examples/policies/random_plus_plus.c
 *     ssdlab run examples/uniform.fio --drive theory --set ftl.gc=./random_plus_plus.so
 *
 * The average is that of the candidates. Where all have as many, the first draw is taken.
 */
#include "ssdlab_policy.h"

uint32_t ssdlab_policy_version(void) {
    return SSDLAB_POLICY_VERSION;
}

static int is_candidate(const ssdlab_blocks *blocks, uint32_t block) {
    return !(blocks->valid[block] & SSDLAB_NOT_A_CANDIDATE);
}

/* More draws out of the one that comes along: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
static uint64_t next(uint64_t *state) {
    uint64_t mixed = *state += 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return mixed ^ (mixed >> 31);
}

static uint32_t draw(const ssdlab_blocks *blocks, uint64_t *state) {
    for (;;) {
        uint32_t block = (uint32_t)(((next(state) >> 32) * blocks->count) >> 32);
        if (is_candidate(blocks, block)) {
            return block;
        }
    }
}

int64_t ssdlab_policy_choose(void *state, const ssdlab_blocks *blocks) {
    (void)state;
    uint64_t candidates = 0, units = 0, fewest = UINT64_MAX, random = blocks->random;
    for (uint32_t block = 0; block < blocks->count; block++) {
        if (is_candidate(blocks, block)) {
            candidates += 1;
            units += blocks->valid[block];
            fewest = blocks->valid[block] < fewest ? blocks->valid[block] : fewest;
        }
    }
    uint32_t block = draw(blocks, &random);
    while (fewest * candidates < units && blocks->valid[block] * candidates >= units) {
        block = draw(blocks, &random);
    }
    return block;
}
