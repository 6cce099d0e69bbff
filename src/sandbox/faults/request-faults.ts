// Faults that a sandbox team asks for, so that the developers of its client can test how that behaves: answers 429, 500 and 503, delays and
// dropped connections. Only requests with a key or token of a sandbox team have them, and only that team waits.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Tenant } from '../../platform/db/transaction.ts'
import type { Call } from '../../platform/http/call.ts'
import { badRequest, DroppedConnection, IntendedProblem } from '../../platform/http/errors.ts'
import type { AfterOperation } from '../../platform/http/request.ts'
import { ConcurrencyLimit } from '../../platform/runtime/concurrency-limit.ts'
import { unavailable } from '../../platform/runtime/problem.ts'

export const faultStatuses = [429, 500, 503] as const
export const DELAY_MS_MAX = 30_000
/** Requests that are delayed at a time: of one team, and of all. */
const DELAYED = { running_max_each: 20, running_max: 100, waiting_max: 0, wait_ms: 0 }

/** What happens to a request. A delay may be followed by one of the others. */
export interface RequestFault {
  status?: (typeof faultStatuses)[number]
  delay_ms?: number
  /** The connection is closed without an answer. */
  drop?: boolean
  /** The operation runs first: what it changed stays, and its answer is lost. */
  after?: boolean
}

/** Where the faults of teams come from. */
export interface FaultSource {
  /** The fault of a request of this operation, which is used up by it. */
  takeRequest(tenant: Tenant, operation: string): RequestFault | undefined | Promise<RequestFault | undefined>
}

/** A request asks for its own fault with this header; the response that is a fault has it too. */
const HEADER = 'x-sandbox-fault'
/** Operations below it are never faulty, so that faults can be removed. */
const PREFIX = '/v1/sandbox/'

/** Injects the faults of requests. One per process. */
export class RequestFaults {
  readonly #source: FaultSource
  readonly #delayed = new ConcurrencyLimit(DELAYED, () => unavailable('Too many requests are held by faults of the sandbox'))

  constructor(source: FaultSource) {
    this.#source = source
  }

  /**
   * Injects the fault of an authorized request, or returns the function that injects it after the operation. Errors: the fault; 400 an
   * invalid header; 503 too many requests are delayed.
   */
  intercept = (call: Call): AfterOperation | undefined | Promise<AfterOperation | undefined> => {
    const { tenant, operation, headers } = call
    if (!tenant?.cell.startsWith('sandbox') || operation.auth === 'management' || operation.path.startsWith(PREFIX))
      return undefined
    const header = headers[HEADER]
    const fault = header === undefined ? this.#source.takeRequest(tenant, operation.id) : parseFault(String(header))
    return fault instanceof Promise ? fault.then((resolvedFault) => this.#begin(resolvedFault, call)) : this.#begin(fault, call)
  }

  #begin(fault: RequestFault | undefined, call: Call): AfterOperation | undefined | Promise<undefined> {
    if (!fault) return undefined
    const inject = () => this.#inject(fault, call)
    return fault.after ? inject : inject().then(() => undefined)
  }

  async #inject(fault: RequestFault, call: Call): Promise<void> {
    const delay_ms = Math.min(fault.delay_ms ?? 0, DELAY_MS_MAX)
    if (delay_ms) await this.#delayed.run(() => sleep(delay_ms, undefined, { ref: false }), { owner: call.tenant!.team })
    call.response_headers[HEADER] = nameOf(fault)
    call.isInjected = true
    if (fault.drop) throw new DroppedConnection()
    if (fault.status) throw problemOf(fault.status)
  }
}

function problemOf(status: (typeof faultStatuses)[number]): IntendedProblem {
  const detail = 'A fault of the sandbox, as the team or the request asked for it'
  return new IntendedProblem(status, { detail }, status === 500 ? {} : { 'retry-after': '1' })
}

const nameOf = ({ status, delay_ms, drop, after }: RequestFault): string =>
  [
    ...(delay_ms ? [`delay=${delay_ms}`] : []),
    ...(status ? [status] : []),
    ...(drop ? ['drop'] : []),
    ...(after ? ['after'] : []),
  ].join(', ')

/** `503`, `drop`, `delay=2000, 503`, `drop, after`. Errors: 400. */
function parseFault(text: string): RequestFault {
  const words = text.split(',').map((part) => part.trim().toLowerCase())
  const faults = words.map(partOf)
  const fault: RequestFault = Object.assign({}, ...faults)
  if (faults.includes(undefined) || (fault.status && fault.drop) || !(fault.status || fault.drop || fault.delay_ms))
    throw badRequest(
      `X-Sandbox-Fault must be 429, 500, 503 or drop, or delay=MS of at most ${DELAY_MS_MAX}, alone or before one of these, and "after"`,
    )
  return fault
}

function partOf(word: string): RequestFault | undefined {
  const status = faultStatuses.find((candidate) => String(candidate) === word)
  if (status !== undefined) return { status }
  if (word === 'drop' || word === 'after') return { [word]: true }
  const delay_ms = Number(/^delay=(\d{1,5})$/.exec(word)?.[1] ?? 0)
  return delay_ms >= 1 && delay_ms <= DELAY_MS_MAX ? { delay_ms } : undefined
}
