/* The built-in greedy in C: of the candidates with the fewest valid units, the first from `turn` on, else the first.
 *
 *     cc -O3 -shared -fPIC -I include -o greedy.so examples/policies/greedy.c
 *     ssdlab run examples/uniform.fio --drive theory --set ftl.gc=./greedy.so
 */
#include "ssdlab_policy.h"

uint32_t ssdlab_policy_version(void) {
    return SSDLAB_POLICY_VERSION;
}

/* What may not be chosen has the highest bit set, so that the smallest value is that of a candidate. */
static uint32_t fewest_valid(const ssdlab_blocks *blocks) {
    uint32_t fewest = blocks->valid[0];
    for (uint32_t block = 1; block < blocks->count; block++) {
        fewest = blocks->valid[block] < fewest ? blocks->valid[block] : fewest;
    }
    return fewest;
}

static int64_t first(const ssdlab_blocks *blocks, uint32_t from, uint32_t to, uint32_t valid) {
    for (uint32_t block = from; block < to; block++) {
        if (blocks->valid[block] == valid) {
            return block;
        }
    }
    return SSDLAB_FAILED;
}

int64_t ssdlab_policy_choose(void *state, const ssdlab_blocks *blocks) {
    (void)state;
    uint32_t fewest = fewest_valid(blocks);
    int64_t behind = first(blocks, blocks->turn, blocks->count, fewest);
    return behind >= 0 ? behind : first(blocks, 0, blocks->turn, fewest);
}
