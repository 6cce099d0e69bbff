// Loaded into a process before the program (`node --import`): its clock is ahead by CLOCK_SKEW_S seconds, or behind where that is negative.
// Timers and the monotonic clock are as they were, as on a machine whose clock is set wrong.
const skew_ms = Number(process.env.CLOCK_SKEW_S) * 1000
if (!Number.isFinite(skew_ms)) throw new Error('CLOCK_SKEW_S must be a number of seconds')

const RealDate = Date
class SkewedDate extends RealDate {
  constructor(...args: unknown[]) {
    if (args.length === 0) super(RealDate.now() + skew_ms)
    else super(...(args as [number]))
  }

  static override now(): number {
    return RealDate.now() + skew_ms
  }
}
// `Date()` without `new` gives a text of the present.
globalThis.Date = new Proxy(SkewedDate, { apply: () => new SkewedDate().toString() }) as unknown as DateConstructor

export {}
