// An operation is a record: its id, method and path, authentication, schemas and handler. The list of all operations defines the API:
// routes, checks, the OpenAPI document and coverage tests are derived from it.
import type { Quota } from './rate-limits.ts'
import type { Static, TSchema } from 'typebox'
import type { Cells } from '../db/cells.ts'
import type { PlainTx, Tenant, Tx } from '../db/transaction.ts'
import type { Feature } from './feature-flags.ts'
import { DAY_S } from '../runtime/durations.ts'
import type { Problem } from '../runtime/problem.ts'

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
/** Required credential: a team's key, a management key, the token of a link session, a member's session in the console, or none. */
type Auth = 'team' | 'management' | 'link' | 'session' | 'none'

/** What the paths of operations begin with that only pages of the console call. */
export const CONSOLE_API = '/console/api/'

/** The user to whom an access token of a phone, or a link token, belongs, and the session in which it was issued. */
export interface UserCredential {
  user_id: string
  session_id: string
}

/** The principal of a team request. */
export interface Caller {
  tenant: Tenant
  /** Id of the team's key; of an access token `token:`, of a user's access token `user_token:`, of a link token `link_token:`, and its id. */
  key_id: string
  /** The member of the organization who uses the key; undefined for a key of a program. */
  member_id?: string
  /** The only user whom the request may concern; undefined if it may concern the whole team. */
  user?: UserCredential
  /** What is left of its rate of requests; undefined if that has no limit. */
  quota?: Quota | undefined
}

/** The principal of a management request: a key of an organization, limited to some of its teams or not limited. */
export interface ManagementPrincipal {
  key_id: string
  /** As of `Caller`. */
  member_id?: string
  /** The session of a member who has signed in to the console, in place of a key. */
  session_id?: string
  /** Hash of the key text that was sent: a key has two texts while a rotation overlaps. */
  key_hash: Buffer
  org: string
  /** null: every team of the organization, and the organization itself. */
  teams: ReadonlySet<string> | null
  /** Since when the organization is read-only. */
  expires_at: string | null
  /** What is left of its rate of requests; undefined if that has no limit. */
  quota?: Quota | undefined
}

/** What a launch URL has limited a session to, besides its team. */
export interface LaunchScope {
  environment: 'sandbox' | 'production'
  region: string
  /** For example `order:` and the id of an order. */
  feature: string
  /** Whether the feature is all that the session may do; otherwise it only says where the session begins. */
  isLocked: boolean
}

/** A member of an organization who has signed in to the console: the principal of its requests, in place of a key. */
export interface MemberSession {
  session_id: string
  /** `session:`, or `launch:` for a session that a launch URL has opened, and the id of the session. */
  key_id: string
  member_id: string
  org: string
  role: 'org_admin' | 'team_admin' | 'no_role'
  /** Team → role of the member in it; null: every team of the organization, as an administrator. */
  teams: ReadonlyMap<string, string> | null
  /** Of a session that a launch URL has opened. */
  launch?: LaunchScope
  /** As of `ManagementPrincipal`. */
  expires_at: string | null
  /** As of `Caller`. */
  quota?: Quota | undefined
}

/** Names the team and the object of a write, if the path does not: the audit log gets an entry for each. */
export type RecordAuditSubject = (team_id: string, object?: string) => void

/**
 * The scope of a management operation's rows, which determines the parameters of its path: the control plane (`org_id`), one cell
 * (`org_id`, `env` or `environment`, `region`), or a team in one cell (`org_id`, `team_id`, `environment`).
 */
export type OperationScope = 'control' | 'cell' | 'team'

/** Special responses: no body (204), a PDF, a picture. */
export const noContent = Symbol('204')
export const pdf = Symbol('application/pdf')
export const png = Symbol('image/png')

export type Reply = TSchema | typeof noContent | typeof pdf | typeof png

/** Whether a response is a file. */
export const isFile = (reply: Reply): reply is typeof pdf | typeof png => reply === pdf || reply === png

/** A response that is JSON text already. Tests parse it and check it against the operation's schema like any other. */
export class PreserializedJson<R> {
  readonly text: string
  /**
   * Whether the text is searched for users, for the access log. False if it names none, or if `Tx.concerns` has named them all; those of the
   * path and the query are named in any case.
   */
  readonly searchForUsers: boolean
  declare readonly shape: R
  constructor(text: string, { searchForUsers = true }: { searchForUsers?: boolean } = {}) {
    this.text = text
    this.searchForUsers = searchForUsers
  }
}

/** A response that is a file, also of operations with `formats`. */
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

/** A response with a status of its own, for operations with several successful ones. The schema of the operation describes its body. */
export class StatusReply<R> {
  readonly status: number
  readonly body: R
  readonly headers: Readonly<Record<string, string | string[]>>
  /** @param headers besides those of the body, such as cookies */
  constructor(status: number, body: R, headers: Readonly<Record<string, string | string[]>> = {}) {
    this.status = status
    this.body = body
    this.headers = headers
  }
}

export interface Deprecation {
  deprecated_at: Date
  /** The path to request instead, below the base path. */
  successor: `/${string}`
}

/** The headers of a deprecated response. @param base_path everything is served below it */
export const deprecationHeaders = (
  { deprecated_at: since, successor }: Deprecation,
  base_path: string,
): Record<string, string> => ({
  deprecation: `@${since.getTime() / 1000}`,
  link: `<${base_path}${successor}>; rel="successor-version"`,
})

/** How an operation stores its responses under `X-Idempotency-Key`. */
export interface Idempotency {
  /** Operations of one scope share keys. */
  scope: string
  retention_s: number
  /** The response holds a secret: it is not stored, and a repeated key gets 409. */
  secret?: boolean
  /** A request without a key is rejected. */
  required?: boolean
  /** A key belongs to one request: with another path, query or body it gets 409. */
  bindsToBody?: boolean
}

/** By default every POST that changes data accepts a key, for one day. Source: management-auth.md 21. */
function idempotencyOf(spec: Pick<Declaration<unknown, unknown, unknown, unknown>, 'id' | 'method' | 'reads' | 'idempotency'>) {
  const { id, method, reads, idempotency } = spec
  if (idempotency === 'none' || method !== 'POST' || reads) return undefined
  return idempotency ?? { scope: id, retention_s: DAY_S, bindsToBody: true }
}

type In<S> = S extends TSchema ? Static<S> : undefined
type Out<R> = R extends TSchema
  ? Static<R> | PreserializedJson<Static<R>> | StatusReply<Static<R>> | FileReply
  : R extends typeof pdf | typeof png
    ? FileReply
    : void

interface Input<P, Q, B> {
  params: In<P>
  query: In<Q>
  body: In<B>
  hasIdempotencyKey: boolean
  /** The user and the session of an access token of a user, or of a link token, if the request came with one. */
  user: UserCredential | undefined
  /** As of `Caller`, or of the management key. */
  key_id: string
  /** The session of a member in the console, if the request came with one. */
  session: MemberSession | undefined
  /** As of `Caller`. */
  member_id: string | undefined
  /** The bytes of the body, of an operation that takes a file. */
  file: Buffer | undefined
  /** The bytes of the body, of any operation. */
  bytes: Buffer | undefined
  recordAuditSubject: RecordAuditSubject
  /** As they were sent. */
  headers: Record<string, string | string[] | undefined>
}

/** The dependencies of an operation that works outside a single transaction. */
export interface MultiTransactionContext {
  /** Each of its transactions names the users whose data it reads or changes (`Tx.concerns`). */
  tenant: Tenant
  cells: Cells
}

/** The transaction in which an operation changes data of its team. */
export interface Changes {
  /** Makes the idempotency key of the request belong to these values as well: those of a body that only the operation can read. */
  bind(values: unknown): void
  /**
   * What `make` returned for an earlier request with the same idempotency key; undefined if there was none. An operation that does much
   * before its change asks first. Errors: 404 a user of it is deleted; 409 the key belongs to another request.
   */
  earlier<R>(): Promise<R | undefined>
  /**
   * Runs a transaction of the team that also leaves the line of the access log, and stores what `work` returns under the idempotency key.
   * With a repeated key it returns what was stored, and `work` does not run. Errors: those of `work`, and of `earlier`.
   */
  make<R>(work: (tx: Tx) => Promise<R>): Promise<R>
}

/** The same, with the principal. */
export interface OutsideRequest extends MultiTransactionContext {
  /** Client address. */
  address: string
  /** As they were sent, for signatures. */
  headers: Record<string, string | string[] | undefined>
  /** All parameters of the query, also undeclared ones. */
  query: Record<string, string | string[]>
  /** The bytes of the body, decompressed; undefined without one. */
  body: Buffer | undefined
  /** For operations with a key or token of a team. */
  changes: Changes
}

/**
 * The dependencies of a management operation that calls an external service. It reads, calls and writes, with a transaction for each step,
 * so that none is open while it waits.
 */
export interface TransactionSteps<X> {
  read<R>(execute: (tx: X) => Promise<R>): Promise<R>
  /** Adds the audit entry. */
  write<R>(execute: (tx: X) => Promise<R>): Promise<R>
}

interface Declaration<P, Q, B, R> {
  /** The published function name, `create_testkit_order`. */
  id: string
  method: Method
  path: `/${string}`
  /** Other paths with the same response. */
  aliases?: `/${string}`[]
  auth?: Auth
  summary: string
  description?: string
  deprecated?: boolean
  /** Marks successful responses as deprecated; undefined with parameters for which they are not. */
  deprecation?: (params: In<P>) => Deprecation | undefined
  params?: P
  query?: Q
  body?: B
  /** The body may be omitted or null. */
  body_optional?: boolean
  reply: R
  /** Default 100 kB. */
  body_bytes_max?: number
  /** `none`: it accepts no key, although it is a POST that changes data. */
  idempotency?: Idempotency | 'none'
  /** Success status; default 200. */
  success?: 200 | 201 | 202
  /** It changes nothing although its method is not GET. */
  reads?: boolean
  /**
   * Whether it shows or changes data of patients, or names one: each call then leaves a line in the access log
   * (docs/decisions/access-log.md).
   */
  logsAccess: boolean
  /**
   * Access tokens of users may call it, each about its own user, whom the path or the body names in `user_id`. `record`: the path names a
   * record, and `run` answers 404 for one of another user than `user`. Default: they may not. An operation that concerns anything else
   * than that user must not have it.
   */
  userTokens?: 'path' | 'body' | 'record'
  /** The body may also be form-encoded. */
  form?: boolean
  /** Media types of files that the response may be instead of JSON. A request whose `Accept` admits none of them nor JSON gets 406. */
  formats?: readonly string[]
  /** The body is a file of any type, which is not parsed; the operation has no `body`. */
  file?: true
  /** The file comes as a form of type `multipart/form-data`, which the operation reads: its parts, for the description of the API. */
  form_file?: { required: string[]; properties: Record<string, unknown> }
  /** A team for which this feature is disabled is rejected. */
  feature?: Feature
  /** Its response may hold a secret: reading it adds an entry to the audit log. */
  auditsRead?: boolean
  /** It is not among the requests that developers are shown. */
  isUnlisted?: true
  /** A request body that works, for the API page. */
  example?: unknown
  /** Called in a transaction of the team after the request was rejected with 400, 413 or 422. */
  onRejected?: (tx: Tx, rejection: RejectedRequest<In<P>>) => Promise<void>
}

/** A request that was rejected; its body only as far as it was read. */
interface RejectedRequest<P = unknown> {
  params: P
  bytes: Buffer | undefined
  problem: Problem
}

export interface Operation extends Omit<
  Declaration<TSchema | undefined, TSchema | undefined, TSchema | undefined, Reply>,
  'idempotency' | 'deprecation' | 'onRejected'
> {
  idempotency?: Idempotency | undefined
  // oxlint-disable-next-line typescript/no-explicit-any -- `operation` ties it to the schema of the parameters
  deprecation?: (params: any) => Deprecation | undefined
  onRejected?: (tx: Tx, rejection: RejectedRequest) => Promise<void>
  auth: Auth
  module: string
  multiTransaction: boolean
  scope?: OperationScope
  /** `org`: keys that are limited to teams are rejected. */
  keyScope?: 'org' | 'bound'
  /** What the organization must be entitled to; the management guard knows the names. */
  entitlement?: string
  // oxlint-disable-next-line typescript/no-explicit-any -- `operation` ties schemas and `run` together
  run: (context: any, input: any) => Promise<unknown>
}

/** Whether an operation changes data. */
export const isWrite = ({ method, reads }: Operation): boolean => method !== 'GET' && !reads

type Schema = TSchema | undefined

/** Declares an operation that runs as one transaction of its team. The schemas type `run`, parse the input and describe the response. */
export function operation<
  P extends Schema = undefined,
  Q extends Schema = undefined,
  B extends Schema = undefined,
  R extends Reply = Reply,
>(spec: Declaration<P, Q, B, R> & { run: (tx: Tx, input: Input<P, Q, B>) => Promise<Out<R>> }): Operation {
  return { auth: 'team', module: '', multiTransaction: false, ...spec, idempotency: idempotencyOf(spec) } as unknown as Operation
}

/**
 * Declares an operation that needs several transactions, or none. It accepts an idempotency key only if it is declared with one: then its
 * change runs in `changes.make`, whose transaction stores the key.
 */
export function multiTransactionOperation<
  P extends Schema = undefined,
  Q extends Schema = undefined,
  B extends Schema = undefined,
  R extends Reply = Reply,
>(
  spec: Omit<Declaration<P, Q, B, R>, 'idempotency'> & {
    idempotency?: Idempotency
    run: (context: OutsideRequest, input: Input<P, Q, B>) => Promise<Out<R>>
  },
): Operation {
  return { auth: 'team', module: '', ...spec, multiTransaction: true } as unknown as Operation
}

interface SessionInput<P, Q, B> extends Input<P, Q, B> {
  session: MemberSession
}

/**
 * Declares an operation of the console about the member who has signed in. It runs as one transaction on the control plane; a write adds an
 * entry to the audit log of the organization.
 */
export function sessionOperation<
  P extends Schema = undefined,
  Q extends Schema = undefined,
  B extends Schema = undefined,
  R extends Reply = Reply,
>(
  spec: Omit<Declaration<P, Q, B, R>, 'idempotency' | 'auth' | 'logsAccess'> & {
    run: (tx: PlainTx, input: SessionInput<P, Q, B>) => Promise<Out<R>>
  },
): Operation {
  return { module: '', multiTransaction: false, logsAccess: false, ...spec, auth: 'session' } as unknown as Operation
}

interface ManagementInput<P, Q, B> extends Input<P, Q, B> {
  manager: ManagementPrincipal
}

interface ManagementContext {
  control: PlainTx
  cell: PlainTx
  team: Tx
}

/**
 * Declares an operation of the Management API. It runs as one transaction in its scope; a write, or reading a secret, adds an entry to the
 * audit log of that scope. Before it runs, the organization of the path must be the key's (403) and the key must have access to a team of
 * the path (404, 403).
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
    /** Default: that of the Management API. */
    entitlement?: string
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

/** Declares an operation of the Management API that calls an external service. Otherwise as `managementOperation`. */
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
    entitlement?: string
    run: (steps: TransactionSteps<ManagementContext[L]>, input: ManagementInput<P, Q, B>) => Promise<Out<R>>
  },
): Operation {
  return { module: '', ...spec, auth: 'management', multiTransaction: true } as unknown as Operation
}
