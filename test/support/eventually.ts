// Waiting for what becomes so: as soon as it is, and never without end.
import { setTimeout as sleep } from 'node:timers/promises'

/** Generous, since a machine that is busy with other tests is slow; what is right takes a fraction of it. */
const WITHIN_MS = 60_000
/** It is looked at often first, and seldom when it takes long. */
const [FIRST_PAUSE_MS, PAUSE_MS_MAX] = [5, 200]

/**
 * Wait until something is so. Fails when it is not in time.
 * @param subject what is waited for, as a sentence: "the second attempt is listed"; the condition itself when it is not given
 * @returns what `isSo` gave at last
 */
export async function eventually<V>(
  isSo: () => V | Promise<V>,
  subject = String(isSo),
  within_ms = WITHIN_MS,
): Promise<NonNullable<V>> {
  const end_ms = performance.now() + within_ms
  for (let pause_ms = FIRST_PAUSE_MS; ; pause_ms = Math.min(1.3 * pause_ms, PAUSE_MS_MAX)) {
    const found = await isSo()
    if (found) return found
    if (performance.now() > end_ms) throw new Error(`Not so after ${within_ms / 1000} s: ${subject}`)
    await sleep(pause_ms)
  }
}

/** Wait until an assertion holds. Fails as it does when it does not hold in time. */
export async function eventuallyHolds(assertion: () => void | Promise<void>, within_ms = WITHIN_MS): Promise<void> {
  let failure: unknown
  const holds = async () => {
    try {
      await assertion()
      return true
    } catch (error) {
      failure = error
      return false
    }
  }
  await eventually(holds, 'the assertion holds', within_ms).catch(() => {
    throw failure
  })
}
