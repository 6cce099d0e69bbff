// Hooks let a module run code within transactions of a lower module, which does not know it. The lower module declares a hook point and
// notifies it; higher modules list it in their hooks; the process gives the hooks to its databases. Hooks run in the order of the list.
import type { HookPoint, PlainTx, Tx } from './transaction.ts'

type Run<A extends unknown[], X extends PlainTx> = (tx: X, ...args: A) => void | Promise<unknown>

/** The function that runs at a hook point. */
export interface Hook {
  readonly point: HookPoint<never, never>
  readonly run: Run<never, never>
  /** The higher module, listed later, whose hooks run before this one. */
  readonly runsAfter?: string
}

/** @param name the module and the event, such as `order.stepped`. `X` is the kind of transaction. */
export const hookPoint = <A extends unknown[], X extends PlainTx = Tx>(name: string): HookPoint<A, X> => ({ name })

/**
 * Runs a function whenever a hook point is notified, within that transaction: an error rolls it back. Work that needs the network is a job.
 * Return no promise if there is nothing to do.
 */
export const defineHook = <A extends unknown[], X extends PlainTx>(
  point: HookPoint<A, X>,
  run: NoInfer<Run<A, X>>,
  { runsAfter }: { runsAfter?: string } = {},
): Hook => ({
  point: point as unknown as HookPoint<never, never>,
  run: run as unknown as Run<never, never>,
  ...(runsAfter !== undefined && { runsAfter }),
})

export class Hooks {
  readonly #runs = new Map<object, Run<never, never>[]>()

  constructor(hooks: readonly Hook[] = []) {
    for (const { point, run } of hooks) this.#runs.set(point, [...(this.#runs.get(point) ?? []), run])
  }

  /** Runs the hooks of a point, each after the previous one has ended. */
  async notify<A extends unknown[], X extends PlainTx>(
    tx: NoInfer<X>,
    point: HookPoint<A, X>,
    ...args: NoInfer<A>
  ): Promise<void> {
    for (const run of (this.#runs.get(point) ?? []) as unknown as Run<A, X>[]) {
      const running = run(tx, ...args)
      if (running) await running
    }
  }
}
