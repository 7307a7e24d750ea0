/* Two drives in one: units below a boundary and the others are kept apart, and each kind keeps a number of blocks.
 *
 *     cc -O3 -shared -fPIC -I include -o two_drives.so examples/policies/two_drives.c
 *     ssdlab run job.fio --drive theory --set ftl.gc=./two_drives.so:BOUNDARY,BLOCKS
 *
 * BOUNDARY is a number of mapping units, BLOCKS how many blocks of each die the units below it keep, free ones not
 * counted. The victim is the block with the fewest valid units of whichever kind has more than its blocks; so each kind is
 * collected as if it had a drive of its own, greedily.
 */
#include "ssdlab_policy.h"
#include <stdlib.h>

typedef struct {
    unsigned long boundary, blocks;
} split;

uint32_t ssdlab_policy_version(void) {
    return SSDLAB_POLICY_VERSION;
}

void *ssdlab_policy_new(const char *argument) {
    char *comma, *end = NULL;
    split read = {strtoul(argument, &comma, 10), 0};
    if (*comma == ',') {
        read.blocks = strtoul(comma + 1, &end, 10);
    }
    if (!end || *end || !read.blocks) {
        return NULL;
    }
    split *made = malloc(sizeof *made);
    *made = read;
    return made;
}

void ssdlab_policy_free(void *state) {
    free(state);
}

uint32_t ssdlab_policy_streams(void *state) {
    (void)state;
    return 2;
}

int64_t ssdlab_policy_stream(void *state, const ssdlab_unit *unit) {
    return unit->unit < ((split *)state)->boundary ? 0 : 1;
}

/* The candidate of a stream with the fewest valid units, of equals the first from `turn` on. */
static int64_t fewest_valid(const ssdlab_blocks *blocks, uint32_t stream) {
    int64_t found = SSDLAB_FAILED;
    for (uint32_t step = 0; step < blocks->count; step++) {
        uint32_t block = (blocks->turn + step) % blocks->count;
        int better = found < 0 || blocks->valid[block] < blocks->valid[found];
        if (better && ssdlab_stream(blocks, block) == stream && !(blocks->valid[block] & SSDLAB_NOT_A_CANDIDATE)) {
            found = block;
        }
    }
    return found;
}

int64_t ssdlab_policy_choose(void *state, const ssdlab_blocks *blocks) {
    unsigned long sealed = 0;
    for (uint32_t block = 0; block < blocks->count; block++) {
        sealed += !(blocks->valid[block] & SSDLAB_NOT_A_CANDIDATE) && ssdlab_stream(blocks, block) == 0;
    }
    uint32_t stream = sealed > ((split *)state)->blocks ? 0 : 1;
    int64_t block = fewest_valid(blocks, stream);
    return block >= 0 ? block : fewest_valid(blocks, 1 - stream);
}
