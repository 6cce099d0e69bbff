// An operation is a record: what it is called, where it is found, who may call it, what goes in and out, and what it does.
// The list of all operations is the interface: routes, checks, description and coverage all come from it.
import type { Static, TSchema } from 'typebox'
import type { Cells } from '../db/cells.ts'
import type { PlainTx, Tenant, Tx } from '../db/transaction.ts'
import type { Feature } from './feature-flags.ts'

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
/** Who may call: a team's key, a management key, or anybody. */
export type Auth = 'team' | 'management' | 'none'

/** Who calls for a team. */
export interface Caller {
  tenant: Tenant
  /** Of the team's key; of an access token `token:` and the token's id. */
  key_id: string
}

/** Who manages: a key of an organization, bound to some of its teams or to none in particular. */
export interface ManagementPrincipal {
  key_id: string
  /** Of the text that was sent: a key has two while a rotation overlaps. */
  key_hash: Buffer
  org: string
  /** null: every team of the organization, and the organization itself. */
  teams: ReadonlySet<string> | null
  plan: Plan
  /** Since when the organization may only read. */
  expires_at: string | null
}

/** Say which team a write was about, and which of its objects, where the path does not: the audit log gets a line for each. */
export type RecordAuditSubject = (team_id: string, object?: string) => void

/** What an organization has paid for, from least to most. */
export const plans = ['launch', 'grow', 'scale'] as const
export type Plan = (typeof plans)[number]

/** The least plan that has a group of operations; what is not named here everybody has. Source: management-auth.md 19. */
export const requiredPlan = {
  management: 'scale',
  webhooks: 'scale',
  custom_credentials: 'scale',
  custom_oauth: 'grow',
  etl: 'scale',
} as const satisfies Record<string, Plan>

/**
 * Where the rows of a management operation are, and what its path must therefore name: the control plane (`org_id`), one cell
 * (`org_id`, `env` or `environment`, `region`), or a team in one cell (`org_id`, `team_id`, `environment`).
 */
export type OperationScope = 'control' | 'cell' | 'team'

/** A reply that is JSON text already. In tests it is parsed and held to the operation's schema like any other. */
export class PreserializedJson<R> {
  readonly text: string
  declare readonly shape: R
  constructor(text: string) {
    this.text = text
  }
}

/** A reply that is a file. */
export class FileReply {
  readonly type: string
  readonly name: string
  readonly bytes: Uint8Array
  constructor(type: string, name: string, bytes: Uint8Array) {
    this.type = type
    this.name = name
    this.bytes = bytes
  }
}

/** Special replies: no body (204), a PDF, an HTML page or other text. */
export const noContent = Symbol('204')
export const pdf = Symbol('application/pdf')

export type Reply = TSchema | typeof noContent | typeof pdf

/** Where an operation keeps the answers it gave under `X-Idempotency-Key`. */
export interface Idempotency {
  /** Operations of one scope share keys. */
  scope: string
  retention_s: number
  /** The answer holds a secret: it is not kept, and a repeated key is refused with 409. */
  secret?: boolean
  /** A request without a key is refused. */
  required?: boolean
  /** A key stands for one request: repeated with another path, query or body it is refused with 409. */
  bindsToBody?: boolean
}

const DAY_S = 86_400

/** Every POST that changes something honors a key, a day long, unless it says otherwise. Source: management-auth.md 21. */
function idempotencyOf(spec: Pick<Declaration<unknown, unknown, unknown, unknown>, 'id' | 'method' | 'reads' | 'idempotency'>) {
  const { id, method, reads, idempotency } = spec
  if (idempotency === 'none' || method !== 'POST' || reads) return undefined
  return idempotency ?? { scope: id, retention_s: DAY_S, bindsToBody: true }
}

type In<S> = S extends TSchema ? Static<S> : undefined
type Out<R> = R extends TSchema ? Static<R> | PreserializedJson<Static<R>> : R extends typeof pdf ? FileReply : void

interface Input<P, Q, B> {
  params: In<P>
  query: In<Q>
  body: In<B>
  /** The request came with an idempotency key. */
  keyed: boolean
}

interface Declaration<P, Q, B, R> {
  /** The published function name, `create_testkit_order`. */
  id: string
  method: Method
  path: `/${string}`
  /** Other paths that answer the same. */
  aliases?: `/${string}`[]
  auth?: Auth
  summary: string
  description?: string
  deprecated?: boolean
  params?: P
  query?: Q
  body?: B
  /** The body may be left out or be null. */
  body_optional?: boolean
  reply: R
  /** Default 100 kB. */
  body_bytes_max?: number
  /** `none`: it takes no key, although it is a POST that changes something. */
  idempotency?: Idempotency | 'none'
  /** Status of success, 200 unless said otherwise. */
  success?: 200 | 201 | 202
  /** It changes nothing although its method is not GET. */
  reads?: boolean
  /**
   * Whether it shows or changes data of patients, or names one: each call then leaves a line in the access log
   * (docs/decisions/access-log.md).
   */
  patients: boolean
  /** A team for which this is switched off is refused. */
  feature?: Feature
  /** A request body that works, for the API page. */
  example?: unknown
}

export interface Operation extends Omit<
  Declaration<TSchema | undefined, TSchema | undefined, TSchema | undefined, Reply>,
  'idempotency'
> {
  idempotency?: Idempotency | undefined
  auth: Auth
  module: string
  multiTransaction: boolean
  scope?: OperationScope
  /** `org`: keys that are bound to teams are refused. */
  keyScope?: 'org' | 'bound'
  /** The least plan that includes it. */
  plan?: Plan
  /** A line in the audit log, though it only reads. */
  auditsRead?: boolean
  // oxlint-disable-next-line typescript/no-explicit-any -- `operation` ties schemas and `run` together
  run: (context: any, input: any) => Promise<unknown>
}

/** What an operation gets that has to work outside a single transaction. */
export interface MultiTransactionContext {
  /** Its transactions say whom they were about, each for itself (`Tx.concerns`). */
  tenant: Tenant
  cells: Cells
}

/** The same, and who asks. */
export interface OutsideRequest extends MultiTransactionContext {
  /** The network address that the request came from. */
  address: string
}

type Schema = TSchema | undefined

/** Declare an operation that runs as one transaction of its team. The schemas type `run`, read the input and describe the reply. */
export function operation<
  P extends Schema = undefined,
  Q extends Schema = undefined,
  B extends Schema = undefined,
  R extends Reply = Reply,
>(spec: Declaration<P, Q, B, R> & { run: (tx: Tx, input: Input<P, Q, B>) => Promise<Out<R>> }): Operation {
  return { auth: 'team', module: '', multiTransaction: false, ...spec, idempotency: idempotencyOf(spec) } as unknown as Operation
}

/**
 * Declare an operation that needs several transactions, or none. It takes no idempotency key, which is kept in the transaction of what it
 * stands for.
 */
export function multiTransactionOperation<
  P extends Schema = undefined,
  Q extends Schema = undefined,
  B extends Schema = undefined,
  R extends Reply = Reply,
>(
  spec: Omit<Declaration<P, Q, B, R>, 'idempotency'> & {
    run: (context: OutsideRequest, input: Input<P, Q, B>) => Promise<Out<R>>
  },
): Operation {
  return { auth: 'team', module: '', ...spec, multiTransaction: true } as unknown as Operation
}

interface ManagementInput<P, Q, B> extends Input<P, Q, B> {
  manager: ManagementPrincipal
  recordAuditSubject: RecordAuditSubject
}

interface ManagementContext {
  control: PlainTx
  cell: PlainTx
  team: Tx
}

/**
 * Declare an operation of the management interface. It runs as one transaction where its rows are; a write, or reading a secret, leaves
 * a line in the audit log of that place. Before it runs, the organization of the path must be the key's (403) and a team of the path must be one
 * that the key reaches (404, 403).
 */
export function managementOperation<
  L extends OperationScope,
  P extends Schema = undefined,
  Q extends Schema = undefined,
  B extends Schema = undefined,
  R extends Reply = Reply,
>(
  spec: Declaration<P, Q, B, R> & {
    scope: L
    keyScope: 'org' | 'bound'
    /** Of `planOf`; default that of the management interface. */
    plan?: Plan
    /** Its answer may hold a secret: reading it leaves a line in the audit log as a write does. */
    auditsRead?: boolean
    run: (tx: ManagementContext[L], input: ManagementInput<P, Q, B>) => Promise<Out<R>>
  },
): Operation {
  return {
    module: '',
    multiTransaction: false,
    ...spec,
    auth: 'management',
    idempotency: idempotencyOf(spec),
  } as unknown as Operation
}

/**
 * What a management operation gets that asks somebody outside. It reads, asks and writes, each in its own transaction, so that none is
 * open while it waits.
 */
export interface TransactionSteps<X> {
  read<R>(execute: (tx: X) => Promise<R>): Promise<R>
  /** Leaves the line in the audit log. */
  write<R>(execute: (tx: X) => Promise<R>): Promise<R>
}

/** Declare an operation of the management interface that asks somebody outside. Otherwise as `managementOperation`. */
export function multiTransactionManagementOperation<
  L extends OperationScope,
  P extends Schema = undefined,
  Q extends Schema = undefined,
  B extends Schema = undefined,
  R extends Reply = Reply,
>(
  spec: Omit<Declaration<P, Q, B, R>, 'idempotency'> & {
    scope: L
    keyScope: 'org' | 'bound'
    /** Default `scale`. */
    plan?: Plan
    run: (steps: TransactionSteps<ManagementContext[L]>, input: ManagementInput<P, Q, B>) => Promise<Out<R>>
  },
): Operation {
  return { module: '', ...spec, auth: 'management', multiTransaction: true } as unknown as Operation
}
