// What wrong credentials may cost: so many a minute of one address are looked up, and no more. Kept in memory: each process counts for
// itself, and a restart forgets.
import { busy, type Problem } from '../platform/errors.ts'
import { Quota } from '../platform/limits.ts'
import { networkOf } from '../platform/network.ts'
import { Remembered } from '../platform/remembered.ts'
import { keyHash } from '../platform/secrets.ts'

const WINDOW_S = 60
/** A credential that was valid so recently is looked up whatever else its address has sent: others may share the address. */
const PROVEN_MS = 3_600_000
const PROVEN_MAX = 50_000
/** Look-ups that wait for others of their address, in all. */
const WAITING_MAX = 1000
const REFUSED = 'Too many wrong keys from this address'

/** What is being looked up for one network of callers. */
interface Checking {
  running: number
  waiting: (() => void)[]
}

/** Bounds look-ups of credentials of every kind. One per process. */
export class CredentialChecks {
  readonly #wrong: Quota
  readonly #proven = new Remembered<true>({ lifetime_ms: PROVEN_MS, size_max: PROVEN_MAX })
  readonly #checking = new Map<string, Checking>()
  #waiting = 0

  /** @param options.wrong_per_min 0: no limit */
  constructor({ wrong_per_min }: { wrong_per_min: number }) {
    this.#wrong = new Quota({ max: wrong_per_min, window_s: WINDOW_S })
  }

  /** Counts a wrong credential of an address. Returns `problem`, or 429 when there were too many. */
  refusal(address: string, problem: Problem): Problem {
    return this.#wrong.count(networkOf(address), REFUSED) ?? problem
  }

  /**
   * Looks a credential up, unless its address has used up its quota. What is not found counts as wrong.
   * Look-ups that run count like wrong ones while it is not known what they find: the next ones wait for them.
   * 429: the quota is used up. 503: too many wait. Or `unknown`: there is no such credential.
   * @param credential undefined for one that is good for one use
   */
  async find<V>(
    address: string,
    credential: string | undefined,
    lookUp: () => Promise<V | undefined>,
    unknown: () => Problem,
  ): Promise<V> {
    if (!this.#wrong.isLimited) return (await lookUp()) ?? raise(unknown())
    const proof = credential === undefined ? undefined : keyHash(credential).toString('base64')
    if (proof !== undefined && this.#proven.get(proof)) {
      const found = await lookUp()
      if (found !== undefined) return found
      this.#proven.delete(proof)
      throw this.refusal(address, unknown())
    }
    const network = networkOf(address)
    const checking = await this.#turnOf(network)
    try {
      const found = await lookUp()
      if (found === undefined) throw this.refusal(address, unknown())
      if (proof !== undefined) this.#proven.set(proof, true)
      return found
    } finally {
      checking.running -= 1
      if (checking.running === 0) this.#checking.delete(network)
      // Each asks again: what they waited for may have used the quota up.
      for (const wake of checking.waiting.splice(0)) wake()
    }
  }

  async #turnOf(network: string): Promise<Checking> {
    for (;;) {
      const refused = this.#wrong.refusal(network, REFUSED)
      if (refused) throw refused
      const checking = this.#checking.get(network) ?? { running: 0, waiting: [] }
      this.#checking.set(network, checking)
      if (checking.running < this.#wrong.left(network)) {
        checking.running += 1
        return checking
      }
      if (this.#waiting >= WAITING_MAX) throw busy('Too many credentials are being checked, try again')
      this.#waiting += 1
      await new Promise<void>((resolve) => checking.waiting.push(resolve))
      this.#waiting -= 1
    }
  }
}

function raise(problem: Problem): never {
  throw problem
}
