// An operation is a record: what it is called, where it is found, who may call it, what goes in and out, and what it does.
// The list of all operations is the interface: routes, checks, description and coverage all come from it.
import type { Static, TSchema } from 'typebox'
import type { Cells } from './cells.ts'
import type { Tenant, Tx } from './db.ts'

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
/** Who may call: a team's key, or anybody. */
export type Auth = 'team' | 'none'

/** A reply that is JSON text already. In tests it is parsed and held to the operation's schema like any other. */
export class JsonText<R> {
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
}

type In<S> = S extends TSchema ? Static<S> : undefined
type Out<R> = R extends TSchema ? Static<R> | JsonText<Static<R>> : R extends typeof pdf ? FileReply : void

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
  idempotency?: Idempotency
  /** A request body that works, for the API page. */
  example?: unknown
}

export interface Operation extends Declaration<TSchema | undefined, TSchema | undefined, TSchema | undefined, Reply> {
  auth: Auth
  module: string
  outside: boolean
  // oxlint-disable-next-line typescript/no-explicit-any -- `operation` ties schemas and `run` together
  run: (context: any, input: any) => Promise<unknown>
}

/** What an operation gets that has to work outside a single transaction. */
export interface Outside {
  tenant: Tenant
  cells: Cells
}

type Schema = TSchema | undefined

/** Declare an operation that runs as one transaction of its team. The schemas type `run`, read the input and describe the reply. */
export function operation<
  P extends Schema = undefined,
  Q extends Schema = undefined,
  B extends Schema = undefined,
  R extends Reply = Reply,
>(spec: Declaration<P, Q, B, R> & { run: (tx: Tx, input: Input<P, Q, B>) => Promise<Out<R>> }): Operation {
  return { auth: 'team', module: '', outside: false, ...spec } as unknown as Operation
}

/** Declare an operation that needs several transactions, or none. */
export function outsideOperation<
  P extends Schema = undefined,
  Q extends Schema = undefined,
  B extends Schema = undefined,
  R extends Reply = Reply,
>(spec: Declaration<P, Q, B, R> & { run: (context: Outside, input: Input<P, Q, B>) => Promise<Out<R>> }): Operation {
  return { auth: 'team', module: '', ...spec, outside: true } as unknown as Operation
}
