// The size of V8's young generation. A server that mostly serves requests works best with a small one: objects of requests die at once. A
// process that buffers many objects for a moment would copy them in each small collection. Figures: docs/decisions/memory.md.
import { setFlagsFromString } from 'node:v8'

/**
 * Allows the young generation to grow from the minimum to the maximum of the command line (`--min-semi-space-size`,
 * `--max-semi-space-size`); before that `cli/entry.js` keeps it small. V8 shrinks it again when there is little to do.
 */
export const allowYoungGenerationGrowth = (): void => setFlagsFromString('--semi-space-growth-factor=2')
