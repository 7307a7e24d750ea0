/* Two levels: what collection has moved is kept apart from what the host has just written, and each level is first in,
 * first out (Desnoyers, SSSL-ftlsim, 2012: github.com/pjd-nu/sssl-ftlsim, multi-pool.py and notes.txt). Cold data sink into
 * the second level by themselves: nobody has to know which they are.
 *
 *     cc -O3 -shared -fPIC -I include -o two_levels.so examples/policies/two_levels.c
 *     ssdlab run job.fio --drive theory --set ftl.gc=./two_levels.so:BLOCKS
 *
 * BLOCKS is how many blocks of each die the first level keeps. Whichever level has more than its blocks gives its oldest.
 */
#include "ssdlab_policy.h"
#include <stdlib.h>

uint32_t ssdlab_policy_version(void) {
    return SSDLAB_POLICY_VERSION;
}

void *ssdlab_policy_new(const char *argument) {
    char *end;
    unsigned long blocks = strtoul(argument, &end, 10);
    if (*end || blocks < 1) {
        return NULL;
    }
    unsigned long *made = malloc(sizeof *made);
    *made = blocks;
    return made;
}

void ssdlab_policy_free(void *state) {
    free(state);
}

uint32_t ssdlab_policy_streams(void *state) {
    (void)state;
    return 2;
}

/* The host writes to the first level, and every copy goes to the second. */
int64_t ssdlab_policy_stream(void *state, const ssdlab_unit *unit) {
    (void)state;
    return unit->is_copy;
}

typedef struct {
    unsigned long blocks;
    int64_t oldest;
} level;

int64_t ssdlab_policy_choose(void *state, const ssdlab_blocks *blocks) {
    level levels[2] = {{0, SSDLAB_FAILED}, {0, SSDLAB_FAILED}};
    for (uint32_t block = 0; block < blocks->count; block++) {
        if (blocks->valid[block] & SSDLAB_NOT_A_CANDIDATE) {
            continue;
        }
        level *own = &levels[ssdlab_stream(blocks, block)];
        own->blocks++;
        if (own->oldest < 0 || ssdlab_age(blocks, block) > ssdlab_age(blocks, (uint32_t)own->oldest)) {
            own->oldest = block;
        }
    }
    level *first = &levels[0], *second = &levels[1];
    return second->oldest < 0 || first->blocks > *(unsigned long *)state ? first->oldest : second->oldest;
}
