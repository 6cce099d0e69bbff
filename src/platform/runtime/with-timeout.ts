export class TimeoutError extends Error {
  readonly code = 'TIMEOUT'
}

const noResponse = (): Error => new TimeoutError('timed out waiting for a response')

/** The outcome of `work`, or after `ms` the error that `onLate` returns; `work` itself continues. */
export async function withTimeout<V>(ms: number, work: Promise<V>, onLate: () => Error = noResponse): Promise<V> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(onLate()), ms)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
