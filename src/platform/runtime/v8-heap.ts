// How much room V8 has for what is young. A server that mostly answers requests is best off with little of it: what they leave dies at
// once. Whoever keeps much in hand for a moment pays for each small collection with a copy of it. Figures: docs/decisions/memory.md.
import { setFlagsFromString } from 'node:v8'

/**
 * From now on the young generation may grow from the least to the most that the process was started with
 * (`--min-semi-space-size`, `--max-semi-space-size`); until then `cli/entry.js` keeps it small. V8 shrinks it again when there is little to do.
 */
export const allowYoungGenerationGrowth = (): void => setFlagsFromString('--semi-space-growth-factor=2')
