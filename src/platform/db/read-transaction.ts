// A transaction that only reads: each statement sees the latest commit, and a statement that would write or lock throws. Contract:
// transaction.ts.
import type pg from 'pg'
import type { Static, TSchema } from 'typebox'
import { createQueries } from './statements.ts'
import type { Sql } from './sql.ts'
import type { LookUps } from './look-ups.ts'
import type { Hooks } from './hooks.ts'
import { Subjects, type HookPoint, type Queries, type RowById, type Tenant, type Tx } from './transaction.ts'
import { uuid } from '../runtime/uuid.ts'
import type { TenantCache } from './write-transaction.ts'

/** Its dependencies on its database. */
interface Means {
  send: (q: Sql) => Promise<pg.QueryResult>
  /** For reads by key. */
  lookUps: LookUps
  memory: TenantCache
  checkRows: boolean
  /** Undefined before the process has set them. */
  hooks: () => Hooks | undefined
}

const forbidden = (): never => {
  throw new Error('a read-only operation cannot write or lock')
}
const LOCKING: Queries = { run: forbidden, many: forbidden, maybe: forbidden, one: forbidden }

export class ReadTx implements Tx {
  readonly team: string
  readonly tenant: Tenant
  readonly now: Date
  readonly subjects: Subjects
  readonly #means: Means
  #made: Queries | undefined

  constructor(tenant: Tenant, now: Date, means: Means) {
    this.tenant = tenant
    this.team = tenant.team
    this.now = now
    this.subjects = tenant.subjects ?? new Subjects()
    this.#means = means
  }

  /** Most reads are one look-up: the object that sends other statements is created with the first of them. */
  get #queries(): Queries {
    return (this.#made ??= createQueries(this.#means.send, this.#means.checkRows))
  }

  run(q: Sql): Promise<number> {
    return this.#queries.run(q)
  }

  many<S extends TSchema>(row: S, q: Sql): Promise<Static<S>[]> {
    return this.#queries.many(row, q)
  }

  maybe<S extends TSchema>(row: S, q: Sql): Promise<Static<S> | undefined> {
    return this.#queries.maybe(row, q)
  }

  one<S extends TSchema>(row: S, q: Sql): Promise<Static<S>> {
    return this.#queries.one(row, q)
  }

  lookup<S extends TSchema>(row: S, q: Sql): Promise<Static<S> | undefined> {
    return this.#means.lookUps.ofTeam(this.team).maybe(row, q)
  }

  lookupById<S extends TSchema>(kind: RowById<S>, id: string): Promise<Static<S> | undefined> {
    return this.#means.lookUps.byId(this.team, kind, id)
  }

  concerns(user_id: string | null, object?: string): void {
    this.subjects.add(user_id, object)
  }

  cached<V>(key: string, load: () => Promise<V | undefined>): Promise<V | undefined> {
    return this.#means.memory.getOrLoad(this.tenant, key, load)
  }

  mayAssume(): boolean {
    return false
  }

  /** Hooks of a read only read: their statements are sent by this transaction. */
  async notify<A extends unknown[]>(point: HookPoint<A>, ...args: NoInfer<A>): Promise<void> {
    const hooks = this.#means.hooks()
    if (!hooks) throw new Error(`the hooks of this process were not set before ${point.name}`)
    await hooks.notify<A, Tx>(this, point, ...args)
  }

  get locking(): Queries {
    return LOCKING
  }

  uuid(): string {
    return uuid()
  }

  readonly defer = forbidden
  readonly deferBatched = forbidden
  readonly afterCommit = forbidden
  readonly notifyWorker = forbidden
  readonly notifyDelivery = forbidden
  readonly allocateIds = forbidden
  readonly invalidate = forbidden
}
