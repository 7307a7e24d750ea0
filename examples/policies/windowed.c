/* Windowed greedy (Hu, Eleftheriou, Haas, Iliadis, Pletka: Write amplification analysis in flash-based solid state
 * drives, SYSTOR 2009): greedy among the WINDOW blocks that were sealed longest ago; of equals the oldest.
 *
 *     cc -O3 -shared -fPIC -I include -o windowed.so examples/policies/windowed.c
 *     ssdlab run examples/uniform.fio --drive theory --set ftl.gc=./windowed.so:8
 *
 * A window of 1 is FIFO; one that holds all blocks is greedy, but for ties.
 */
#include "ssdlab_policy.h"
#include <stdlib.h>

uint32_t ssdlab_policy_version(void) {
    return SSDLAB_POLICY_VERSION;
}

typedef struct {
    uint32_t most;   /* blocks that the window holds */
    uint32_t held;   /* of which there are so many now */
    uint32_t *block; /* oldest first */
} window;

/* The argument is the window; without one it holds all blocks. */
void *ssdlab_policy_new(const char *argument) {
    char *end;
    unsigned long most = *argument ? strtoul(argument, &end, 10) : UINT32_MAX;
    if ((*argument && *end) || most < 1 || most > UINT32_MAX) {
        return NULL;
    }
    window *made = calloc(1, sizeof *made);
    made->most = (uint32_t)most;
    return made;
}

void ssdlab_policy_free(void *state) {
    window *used = state;
    free(used->block);
    free(used);
}

/* Puts a block in its place by age, where it is among the oldest. */
static void consider(window *used, const ssdlab_blocks *blocks, uint32_t block) {
    uint32_t place = used->held;
    while (place > 0 && ssdlab_age(blocks, used->block[place - 1]) < ssdlab_age(blocks, block)) {
        place--;
    }
    if (place >= used->most) {
        return;
    }
    used->held += used->held < used->most && used->held < blocks->count;
    for (uint32_t moved = used->held - 1; moved > place; moved--) {
        used->block[moved] = used->block[moved - 1];
    }
    used->block[place] = block;
}

int64_t ssdlab_policy_choose(void *state, const ssdlab_blocks *blocks) {
    window *used = state;
    if (!used->block && !(used->block = malloc(blocks->count * sizeof *used->block))) {
        return SSDLAB_FAILED;
    }
    used->held = 0;
    for (uint32_t block = 0; block < blocks->count; block++) {
        if (!(blocks->valid[block] & SSDLAB_NOT_A_CANDIDATE)) {
            consider(used, blocks, block);
        }
    }
    uint32_t best = used->block[0];
    for (uint32_t place = 1; place < used->held; place++) {
        best = blocks->valid[used->block[place]] < blocks->valid[best] ? used->block[place] : best;
    }
    return best;
}
