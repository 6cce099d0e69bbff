// A cell with endpoints and the processes that deliver to them, for the simulation of deliveries: the faults and the invariants.
// The code under test is the program's own: `CellDelivery` with its endpoint queues, leases and recorder, and its
// statements on a real PostgreSQL, fast enough for a thousand seeds. The simulation provides the receivers, the clocks, and the order
// of the statements: each statement is a separate step, also inside a transaction, so that any other one may run between two of them.
import assert from 'node:assert/strict'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../src/platform/db/database.ts'
import type { PlainTx, Queries, Tenant } from '../../src/platform/db/transaction.ts'
import { T } from '../../src/platform/schema/schema.ts'
import { sql } from '../../src/platform/db/sql.ts'
import { emit } from '../../src/platform/queue/outbox.ts'
import { deliveryOptions } from '../support/webhook-receiver.ts'
import { targets, vault } from '../support/server.ts'
import { CellDelivery } from '../../src/events/delivery/delivery-worker.ts'
import { createEndpoint, deleteEndpoint, getEndpoint, patchEndpoint } from '../../src/events/endpoints/endpoints.ts'
import { DESTINATION_LEASE_S, isRevocationPending, type DeliveryDb } from '../../src/events/delivery/leases.ts'
import type { HttpResult, SenderOptions } from '../../src/events/delivery/http-sender.ts'
import type { Pause, Scheduler } from './scheduler.ts'

class Killed extends Error {}
class Lost extends Error {}

const KINDS = ['fan out', 'send', 'keep', 'write'] as const
type Kind = (typeof KINDS)[number]

/** The state of an endpoint, as its receiver and the simulation know it. */
export interface Target {
  id: string
  name: string
  answers: 'well' | 'ill' | 'not'
  /** It was deleted or disabled, and the operation has returned: no request may begin any more. */
  closed: boolean
  /** Number of requested address changes, and the former addresses for which the operation has returned. */
  moves: number
  former: Set<string>
  /** `ending`: it is being deleted or disabled, or was. `disordered`: after a fault its events may arrive in another order. */
  ending: boolean
  disordered: boolean
  /** Events that the receiver acknowledged. */
  acknowledgments: Set<string>
  /** Processes that began a request. */
  owners: Set<string>
  /** By process and object: the event in flight. */
  open: Map<string, string>
}

interface EmittedEvent {
  id: string
  object: string
  /** Endpoints that existed before the event was emitted and receive all events. */
  targets: Target[]
}

export const places = ['a', 'b', 'c'] as const
const OBJECTS = 2
const COMMIT = 'commit'
/** One of this many statements loses its connection before it runs; another one afterwards. */
const LOST_ONCE_IN = 60

/** The state of a cell for one seed after the other. */
export interface SimulatedCell {
  tenant: Tenant
  user: string
  /** Connections of the simulation itself, and of the process in each slot. */
  admin: Db
  dbs: Map<string, Db>
}

/** A process that delivers in one cell. After it is killed, it sends no statement, and its transactions are rolled back. */
class Process {
  readonly name: string
  readonly delivery: CellDelivery
  readonly #world: World
  /** Functions that reject the statements that have not been sent. */
  readonly #gates = new Set<(error: Error) => void>()
  readonly #open = new Set<Promise<unknown>>()
  #numbers = 0
  dead = false
  /** Actors that take no step while the process is stalled. */
  #stalled: string[] | undefined

  constructor(name: string, db: Db, world: World) {
    this.name = name
    this.#world = world
    const skew_ms = world.scheduler.random.pick([0, 0, 90_000, -90_000, 3_600_000])
    this.delivery = new CellDelivery(
      world.cell.tenant.cell,
      this.#db(db),
      deliveryOptions({
        clock: () => new Date(Date.now() + skew_ms),
        now_ms: () => world.now_ms,
        sender: (options) => ({ post: (...args) => this.#post(options, ...args), close: () => {} }),
        gather_ms: 0,
        schedule_s: Array<number>(30).fill(0),
      }),
    )
    for (const kind of KINDS) this.#kick(kind)
  }

  async kill(): Promise<void> {
    this.dead = true
    for (const end of this.#gates) end(new Killed('the process was killed'))
    this.#gates.clear()
    this.#world.scheduler.abandon((name) => name.startsWith(`${this.name} `))
    await Promise.allSettled(this.#open)
  }

  stall(): void {
    this.#stalled ??= []
    for (const name of this.#world.scheduler.runnable) if (name.startsWith(`${this.name} `)) this.#suspend(name)
  }

  resume(): void {
    for (const name of this.#stalled ?? []) this.#world.scheduler.release(name)
    this.#stalled = undefined
  }

  #suspend(name: string): void {
    this.#stalled?.push(name)
    this.#world.scheduler.suspend(name)
  }

  /** Adds a round of one kind as a step. The round continues with the steps of its statements; the next round begins after it. */
  #kick(kind: Kind): void {
    if (this.dead || this.#world.calm) return
    this.#act(`begins to ${kind}`, async () => {
      void this.delivery
        .runRound(kind)
        .catch((error: unknown) => {
          if (!(error instanceof Lost) && !isLockTimeout(error) && !this.dead) this.#world.fail(error)
        })
        .finally(() => this.#kick(kind))
      await turn()
    })
  }

  /** Adds an actor of this process, which is stalled with the process. */
  #act(label: string, run: Parameters<Scheduler['add']>[1]): void {
    const name = `${this.name} ${++this.#numbers} ${label}`
    this.#world.scheduler.add(name, run)
    if (this.#stalled) this.#suspend(name)
  }

  /**
   * Runs a function as a step of its own.
   * @param ending resolves when the transaction of the statement has ended; awaited if the statement fails or is the commit
   */
  #gate<R>(label: string, run: () => Promise<R>, ending?: () => Promise<unknown>): Promise<R> {
    if (this.dead) return Promise.reject(new Killed('the process was killed'))
    if (this.#world.calm) return run()
    return new Promise<R>((resolve, reject) => {
      this.#gates.add(reject)
      this.#act(label, async () => {
        this.#gates.delete(reject)
        const outcome = this.#world.scheduler.random.whole(1, LOST_ONCE_IN)
        let isOver = label === COMMIT
        try {
          if (outcome === 1) throw new Lost('the connection was lost before the statement')
          const value = await run()
          if (outcome === 2 && !ending) throw new Lost('the connection was lost after the statement')
          resolve(value)
        } catch (error) {
          if (error instanceof Lost) this.#world.scheduler.note(`  ${this.name}: ${error.message}`)
          isOver = true
          reject(error as Error)
        }
        await turn()
        if (ending && isOver) {
          await Promise.race([ending(), sleep(1000, undefined, { ref: false })])
          await turn()
        }
      })
    })
  }

  #queries(queries: Queries, where: string, ending?: () => Promise<unknown>): Queries {
    const gated = <A extends unknown[], R>(call: (...args: A) => Promise<R>) => {
      return (...args: A): Promise<R> => {
        const text = (args.at(-1) as { text?: string }).text ?? ''
        return this.#gate(
          `${where} ${/^\s*(?:with \w+ as [\w ]*\(\s*)?(\w+ (?:into |from )?\w*)/.exec(text)?.[1] ?? ''}`,
          () => call(...args),
          ending,
        )
      }
    }
    return {
      run: gated(queries.run),
      many: gated(queries.many as never),
      maybe: gated(queries.maybe as never),
      one: gated(queries.one as never),
    } as Queries
  }

  #transaction(db: Db, kind: 'asyncCommitTx' | 'plainTx') {
    return async <R>(work: (tx: PlainTx) => Promise<R>): Promise<R> => {
      if (this.dead) throw new Killed('the process was killed')
      const after: (() => void)[] = []
      let ended: Promise<unknown> = Promise.resolve()
      const done = () => ended.catch(() => {})
      const running = db[kind](async (tx) => {
        after.length = 0
        const queries = this.#queries(tx, 'tx', done)
        const locking = this.#queries(tx.locking, 'tx', done)
        const gated = {
          ...queries,
          locking,
          uuid: tx.uuid,
          now: tx.now,
          afterCommit: (call: () => void) => void after.push(call),
        }
        const result = await work(gated as unknown as PlainTx)
        await this.#gate(COMMIT, async () => {}, done)
        return result
      })
      ended = running
      this.#open.add(running)
      running.catch(() => {}).finally(() => this.#open.delete(running))
      const result = await running
      if (!this.#world.calm && this.#world.scheduler.random.chance(1 / LOST_ONCE_IN))
        throw new Lost('the connection was lost during the commit')
      for (const call of after) call()
      return result
    }
  }

  #db(db: Db): DeliveryDb {
    return {
      queries: this.#queries(db.queries, 'query'),
      asyncCommit: this.#queries(db.asyncCommit, 'query'),
      asyncCommitTx: this.#transaction(db, 'asyncCommitTx'),
      plainTx: this.#transaction(db, 'plainTx'),
      onEventNotification: () => {},
    }
  }

  /** A request: it begins when its connection is ready, and ends when its receiver has responded. */
  #post(
    { mayBegin }: SenderOptions,
    { id, url }: { id: string; url: string },
    headers: string[],
    _body: Buffer,
    callback: (result: HttpResult) => void,
  ): void {
    const msg = headers[headers.indexOf('webhook-id') + 1]!
    const world = this.#world
    const target = world.target(id)
    const over = (changes: Partial<HttpResult>) => {
      if (!this.dead)
        callback({ status: null, body: '', retry_after: undefined, error: null, duration_ms: 1, withheld: false, ...changes })
    }
    if (world.calm) {
      assert(mayBegin({ id, url }), 'a request may not begin although nothing goes wrong any more')
      target.acknowledgments.add(msg)
      queueMicrotask(() => over({ status: 200 }))
      return
    }
    this.#act(`requests ${target.name}`, async (pause) => {
      if (!mayBegin({ id, url })) {
        over({ withheld: true })
        return void (await turn())
      }
      await world.begin(this, target, msg, url)
      await pause(`is answered by ${target.name}`)
      while (target.answers === 'not') await pause(`waits for ${target.name}`)
      world.end(this, target, msg)
      if (target.answers === 'well') {
        target.acknowledgments.add(msg)
        over({ status: 200 })
      } else {
        target.disordered = true
        over({ status: 500 })
      }
      await turn()
    })
  }
}

const isLockTimeout = (error: unknown): boolean => ['55P03', '40P01'].includes((error as { code?: string }).code ?? '')

export class World {
  readonly scheduler: Scheduler
  readonly cell: SimulatedCell
  #passed_ms = 0
  readonly #processes = new Map<string, Process>()
  readonly #targets = new Map<string, Target>()
  readonly #emitted: EmittedEvent[] = []
  #started = 0
  #objects: string[] = []
  #error: unknown
  /** No fault happens any more, and every statement runs without a step. */
  calm = false

  constructor(scheduler: Scheduler, cell: SimulatedCell) {
    this.scheduler = scheduler
    this.cell = cell
  }

  /** The monotonic clock of all processes. */
  get now_ms(): number {
    return performance.now() + this.#passed_ms
  }

  fail(error: unknown): void {
    this.#error ??= error
  }

  assertSound(): void {
    if (this.#error !== undefined) throw this.#error
  }

  target(id: string): Target {
    return this.#targets.get(id)!
  }

  get targets(): Target[] {
    return [...this.#targets.values()]
  }

  async open(count: number): Promise<void> {
    const { admin, tenant } = this.cell
    const ids = await admin.tx(tenant, async (tx) => {
      const created: string[] = []
      for (let i = 0; i < count; i++)
        created.push((await createEndpoint(tx, vault, targets, { url: `https://receiver.example.com/${i}` })).id)
      this.#objects = Array.from({ length: OBJECTS }, () => tx.uuid())
      return created
    })
    for (const [i, id] of ids.entries())
      this.#targets.set(id, {
        id,
        name: `endpoint ${i}`,
        answers: 'well',
        closed: false,
        moves: 0,
        former: new Set(),
        ending: false,
        disordered: false,
        acknowledgments: new Set(),
        owners: new Set(),
        open: new Map(),
      })
  }

  /** Emits events of the team in one transaction. */
  async emitEvents(count: number): Promise<void> {
    const { admin, tenant, user } = this.cell
    const objects = Array.from({ length: count }, () => this.scheduler.random.pick(this.#objects))
    const targets = this.targets.filter(({ ending }) => !ending)
    await admin.tx(tenant, async (tx) => {
      for (const object_id of objects)
        emit(tx, { type: 'labtest.order.updated', object_id, user_id: user, client_user_id: 'fictional', data: '{}' })
    })
    const Row = T.Object({ id: T.String(), object: T.String() })
    const rows = await admin.queries.many(
      Row,
      sql`select id, object_id as object from event where team_id = ${tenant.team} order by id desc limit ${count}`,
    )
    for (const { id, object } of rows.reverse()) this.#emitted.push({ id: `msg_${id.replaceAll('-', '')}`, object, targets })
  }

  isRunning(place: string): boolean {
    return this.#processes.has(place)
  }

  start(place: string): void {
    this.#processes.set(place, new Process(`${place}${++this.#started}`, this.cell.dbs.get(place)!, this))
  }

  async kill(place: string): Promise<void> {
    const process = this.#processes.get(place)
    this.#processes.delete(place)
    for (const target of this.targets) target.disordered = true
    await process?.kill()
  }

  /** Stalls a process: it takes no step while time passes. */
  stall(place: string): void {
    this.#processes.get(place)?.stall()
  }

  resume(place: string): void {
    this.#processes.get(place)?.resume()
  }

  /** Lets time pass, unless an open transaction holds a lock on the rows to change. @returns whether time has passed */
  async pass(seconds: number): Promise<boolean> {
    const { team } = this.cell.tenant
    const s = sql`make_interval(secs => ${seconds})`
    try {
      await this.cell.admin.queries.run(sql`
        with d as (
          update delivery set due_at = due_at - ${s}, leased_until = leased_until - ${s} where team_id = ${team} and due_at is not null
        ), r as (
          update revoked_lease set leased_until = leased_until - ${s} where team_id = ${team}
        )
        update destination set leased_until = leased_until - ${s}, paused_until = paused_until - ${s} where team_id = ${team}`)
    } catch (error) {
      if (isLockTimeout(error)) return false
      throw error
    }
    this.#passed_ms += seconds * 1000
    return true
  }

  /** Deletes or disables an endpoint as the operations do: transaction, wait for the lease owner, response. */
  close(target: Target, how: 'delete' | 'disable'): void {
    if (target.ending) return
    target.ending = true
    const { admin, tenant } = this.cell
    this.scheduler.add(`${how} ${target.name}`, async (pause) => {
      for (;;) {
        await pause('commit')
        try {
          await admin.tx(tenant, async (tx) => {
            if (how === 'delete') await deleteEndpoint(tx, target.id)
            else await patchEndpoint(tx, targets, target.id, { disabled: true })
          })
          break
        } catch (error) {
          if (!isLockTimeout(error)) throw error
        }
      }
      await this.#waitForLeaseOwner(target, pause)
      target.closed = true
      this.scheduler.note(`  ${how} ${target.name}: answered`)
    })
  }

  /** Changes the address of an endpoint, as the operation does. Meanwhile two processes may send to it, one to each address. */
  move(target: Target): void {
    if (target.ending) return
    const { admin, tenant } = this.cell
    const move = ++target.moves
    target.disordered = true
    this.scheduler.add(`move ${move} ${target.name}`, async (pause) => {
      let former = ''
      for (;;) {
        await pause('commit')
        if (target.ending) return
        try {
          former = await admin.tx(tenant, async (tx) => {
            const { url } = await getEndpoint(tx, target.id)
            await patchEndpoint(tx, targets, target.id, { url: `https://receiver.example.com/${target.id}/${move}` })
            return url
          })
          break
        } catch (error) {
          if (!isLockTimeout(error)) throw error
        }
      }
      await this.#waitForLeaseOwner(target, pause)
      target.former.add(former)
      this.scheduler.note(`  move ${target.name}: answered`)
    })
  }

  async #waitForLeaseOwner(target: Target, pause: Pause): Promise<void> {
    const { admin, tenant } = this.cell
    const until_ms = this.now_ms + DESTINATION_LEASE_S * 1000
    do await pause('wait for the owner')
    while ((await admin.tx(tenant, (tx) => isRevocationPending(tx, target.id))) && this.now_ms < until_ms)
  }

  /** Checks the invariants before a request is written. */
  async begin(process: Process, target: Target, msg: string, url: string): Promise<void> {
    this.scheduler.note(`  ${process.name} sends ${this.#nameOf(msg)} to ${target.name}`)
    assert(!target.closed, `${process.name} sent to ${target.name} after its end had been answered`)
    assert(!target.former.has(url), `${process.name} sent to an address of ${target.name} after its change had been answered`)
    const Row = T.Object({ mine: T.Boolean() })
    const { mine } = await this.cell.admin.queries.one(
      Row,
      sql`
      select exists (select from destination where id = ${target.id} and owner = ${process.delivery.owner} and leased_until > statement_timestamp())
          or exists (select from revoked_lease where destination_id = ${target.id} and owner = ${process.delivery.owner} and leased_until > statement_timestamp()) as mine`,
    )
    assert(mine, `${process.name} sent to ${target.name}, whose lease it does not have`)
    const event = this.#emitted.find(({ id }) => id === msg)!
    const key = `${process.name} ${event.object}`
    assert(!target.open.has(key), `${process.name} sent two events of one object to ${target.name} at once`)
    target.open.set(key, msg)
    target.owners.add(process.name)
    if (target.owners.size > 1) target.disordered = true
    if (target.disordered || target.ending) return
    const before = this.#emitted
      .slice(0, this.#emitted.indexOf(event))
      .filter(({ object, targets }) => object === event.object && targets.includes(target))
    for (const { id } of before)
      assert(
        target.acknowledgments.has(id),
        `${target.name} got ${this.#nameOf(msg)} before ${this.#nameOf(id)}, although nothing went wrong`,
      )
  }

  end(process: Process, target: Target, msg: string): void {
    const { object } = this.#emitted.find(({ id }) => id === msg)!
    target.open.delete(`${process.name} ${object}`)
  }

  #nameOf(msg: string): string {
    const nth = this.#emitted.findIndex(({ id }) => id === msg)
    return `event ${nth} (object ${this.#objects.indexOf(this.#emitted[nth]!.object)})`
  }

  /** Ends the faults and kills all processes: a new process must deliver every event that the others have left. */
  async settle(): Promise<void> {
    for (const place of this.#processes.keys()) await this.kill(place)
    this.assertSound()
    this.calm = true
    await this.pass(3600)
    for (const target of this.targets) if (target.ending) target.closed = true
    const last = new Process('last', this.cell.dbs.get(places[0])!, this)
    await last.delivery.drain()
    const isMissing = this.#emitted.some(({ id, targets }) =>
      targets.some(({ ending, acknowledgments }) => !ending && !acknowledgments.has(id)),
    )
    if (isMissing) {
      await this.pass(3600)
      await last.delivery.drain()
    }
    for (const { id, targets } of this.#emitted)
      for (const target of targets)
        assert(target.ending || target.acknowledgments.has(id), `${this.#nameOf(id)} was lost on its way to ${target.name}`)
    this.assertSound()
  }

  /** Deletes the rows of this seed. */
  async clear(): Promise<void> {
    for (const place of this.#processes.keys()) await this.kill(place)
    const { team } = this.cell.tenant
    await this.cell.admin.pool.query(`
      delete from event_outbox; delete from revoked_lease; delete from feed;
      delete from delivery where team_id = '${team}'; delete from event where team_id = '${team}';
      delete from destination where team_id = '${team}'; delete from webhook where team_id = '${team}'; delete from deleted_destination`)
  }
}
