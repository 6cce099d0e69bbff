// Faults that a sandbox team asks for, so that the developers of its client can test how that behaves: answers 429, 500 and 503, delays and
// dropped connections. Only requests with a key or token of a sandbox team have them, and only that team waits.
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Tenant } from '../db/transaction.ts'
import { unavailable } from '../runtime/problem.ts'
import { badRequest, InjectedFault } from './errors.ts'
import type { Operation } from './operation.ts'

export const faultStatuses = [429, 500, 503] as const
export const DELAY_MS_MAX = 30_000
/** Requests that are held at a time: of one team, and of all. */
const HELD_OF_TEAM_MAX = 20
const HELD_MAX = 100

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

/** With it a request asks for its own fault; a response has it that is one. */
const HEADER = 'x-sandbox-fault'
/** Operations below it are never faulty, so that faults can be removed. */
const PREFIX = '/v1/sandbox/'

export class RequestFaults {
  readonly #source: FaultSource | undefined
  readonly #held = new Map<string, number>()
  #heldOfAll = 0

  constructor(source: FaultSource | undefined) {
    this.#source = source
  }

  /**
   * Finds the fault of an admitted request, and injects one that takes place before the operation. Errors: the fault; 400 an invalid header; 503
   * too many requests are held.
   * @returns undefined: the request goes on at once
   */
  before(operation: Operation, request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined {
    const { tenant } = request
    if (!tenant?.cell.startsWith('sandbox') || operation.auth === 'management' || operation.path.startsWith(PREFIX))
      return undefined
    const asked = request.headers[HEADER]
    const found = asked === undefined ? this.#source?.takeRequest(tenant, operation.id) : parseFault(String(asked))
    if (found instanceof Promise) return found.then((fault) => this.#begin(fault, request, reply))
    return found && this.#begin(found, request, reply)
  }

  /** Injects a fault that takes place after the operation. */
  async after(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (request.fault?.after) await this.#inject(request.fault, request, reply)
  }

  async #begin(fault: RequestFault | undefined, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    request.fault = fault
    if (fault && !fault.after) await this.#inject(fault, request, reply)
  }

  async #inject(fault: RequestFault, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (fault.delay_ms) await this.#hold(request.tenant!.team, fault.delay_ms)
    reply.header(HEADER, nameOf(fault))
    if (fault.drop) {
      reply.hijack()
      request.raw.socket.destroy()
    } else if (fault.status) throw problemOf(fault.status)
  }

  async #hold(team: string, delay_ms: number): Promise<void> {
    const ofTeam = this.#held.get(team) ?? 0
    if (ofTeam >= HELD_OF_TEAM_MAX || this.#heldOfAll >= HELD_MAX)
      throw unavailable('Too many requests are held by faults of the sandbox')
    this.#held.set(team, ofTeam + 1)
    this.#heldOfAll++
    try {
      await sleep(Math.min(delay_ms, DELAY_MS_MAX), undefined, { ref: false })
    } finally {
      this.#heldOfAll--
      const left = this.#held.get(team)! - 1
      if (left) this.#held.set(team, left)
      else this.#held.delete(team)
    }
  }
}

/** Whether a response is an injected fault: it says nothing about the health of the server. */
export const isInjected = (reply: FastifyReply): boolean => reply.hasHeader(HEADER)

function problemOf(status: (typeof faultStatuses)[number]): InjectedFault {
  const detail = 'A fault of the sandbox, as the team or the request asked for it'
  return new InjectedFault(status, { detail }, status === 500 ? {} : { 'retry-after': '1' })
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
  const status = faultStatuses.find((one) => String(one) === word)
  if (status !== undefined) return { status }
  if (word === 'drop' || word === 'after') return { [word]: true }
  const delay_ms = Number(/^delay=(\d{1,5})$/.exec(word)?.[1] ?? 0)
  return delay_ms >= 1 && delay_ms <= DELAY_MS_MAX ? { delay_ms } : undefined
}
