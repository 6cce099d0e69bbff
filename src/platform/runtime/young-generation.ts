import { setFlagsFromString } from 'node:v8'

/**
 * Allows V8's young generation to grow from the minimum to the maximum of the command line (`--min-semi-space-size`,
 * `--max-semi-space-size`); before that `cli/entry.js` keeps it small. V8 shrinks it again when there is little to do. A server
 * that mostly serves requests works best with a small one: objects of requests die at once. A process that buffers many objects for a
 * moment would copy them in each small collection. Figures: docs/decisions/worker-threads.md.
 */
export const allowYoungGenerationGrowth = (): void => setFlagsFromString('--semi-space-growth-factor=2')

/** Samples in one request that count as many. */
const MANY = 1000

/** Allows the growth for requests with so many samples. */
export function expectSamples(count: number): void {
  if (count >= MANY) allowYoungGenerationGrowth()
}
