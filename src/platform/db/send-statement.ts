// How statements are sent to the database. A statement that runs thousands of times a second is sent as one piece of bytes, where `pg`
// makes one for each message of the protocol, and its row description is not requested again after it was prepared (figures:
// docs/decisions/row-security.md). A statement that sees the rows of one team: the policies compare the column `team_id` with the setting
// `drawbridge.team`. The setting is sent before the statement, between the same two Syncs, so both are one transaction: if setting fails
// the statement is skipped, and when the transaction ends, the setting ends too. A connection therefore never remembers a team.
import { createRequire } from 'node:module'
import type { Duplex } from 'node:stream'
import pg from 'pg'
import { paused, resumed } from '../runtime/loop-work.ts'
import { Frame } from './frame.ts'

/** Every connection that runs statements of teams prepares this one first: `prepareTeamSetting`. */
const SETTING = { name: 'drawbridge team', text: `select set_config('drawbridge.team', $1, true)` }

/** Maximum number of statements of a connection whose row descriptions are cached. */
const SHAPES_MAX = 1000

type Callback = (error: Error | null, result: pg.QueryResult) => void

/** The part of `pg` that holds the row description of a result. */
interface Shape {
  fields: pg.FieldDef[]
  _parsers: unknown
  _prebuiltEmptyResultObject: unknown
}

const SHAPES = Symbol('shapes')

/** The private parts of a `pg` connection that are used here. */
interface Wire {
  stream: Duplex
  parsedStatements: Record<string, string>
  submittedNamedStatements: Record<string, string>
  parse(message: { text: string; name: string | undefined; types: undefined }): void
  /** The prepared statements of this connection, by name. */
  [SHAPES]?: Map<string, Shape>
}

/** The private parts of a `pg` query that are used here. */
interface Parts {
  text: string
  values: unknown[] | undefined
  name: string | undefined
  callback: Callback
  _result: Shape
  _accumulateRows: boolean
  submit(wire: Wire): Error | null
  handleDataRow(message: unknown): void
  handleCommandComplete(message: unknown, wire: Wire): void
}

const Query = pg.Query as unknown as new (text: string, values: unknown[] | undefined) => Parts

const { prepareValue } = createRequire(import.meta.url)('pg/lib/utils.js') as {
  prepareValue: (value: unknown) => string | Buffer | null
}

/** The instant that was sent last: a transaction sends its own several times, and its text takes 1 µs. */
const last: { ms: number; text: string | Buffer | null } = { ms: NaN, text: null }

/** As `pg` sends a value. */
function toSend(value: unknown): string | Buffer | null {
  if (typeof value === 'string') return value
  if (!(value instanceof Date)) return prepareValue(value)
  const ms = value.getTime()
  if (ms !== last.ms) {
    last.text = prepareValue(value)
    last.ms = ms
  }
  return last.text
}

const frame = new Frame()

class Statement extends Query {
  readonly #team: string | undefined
  #isSet: boolean
  #isDescribed = false

  constructor({ text, values, name }: pg.QueryConfig, team: string | undefined) {
    // Passed by its parts: `pg` copies a statement by its property descriptors, which takes 3 µs of CPU.
    super(text, values)
    this.name = name
    this.#team = team
    this.#isSet = team === undefined
  }

  override submit(wire: Wire): Error | null {
    const { name, text, values } = this
    if (this.#team === undefined && name === undefined && !values?.length) return super.submit(wire)
    let bytes: Buffer
    try {
      bytes = this.#encoded(wire, values ? values.map(toSend) : [])
    } catch (error) {
      frame.clear()
      return error as Error
    }
    if (name !== undefined && (wire.parsedStatements[name] ?? wire.submittedNamedStatements[name]) !== undefined) {
      wire.stream.write(bytes)
      return null
    }
    // Sent in one write with the messages that follow.
    wire.stream.cork()
    wire.parse({ text, name, types: undefined })
    if (name !== undefined) wire.submittedNamedStatements[name] = text
    wire.stream.write(bytes)
    wire.stream.uncork()
    return null
  }

  #encoded(wire: Wire, values: (string | Buffer | null)[]): Buffer {
    if (this.#team !== undefined) frame.run(SETTING.name, [this.#team], false)
    const shape = this.name === undefined ? undefined : wire[SHAPES]?.get(this.name)
    if (shape) this.#take(shape)
    frame.run(this.name ?? '', values, !shape)
    frame.sync()
    return frame.take()
  }

  #take({ fields, _parsers, _prebuiltEmptyResultObject }: Shape): void {
    this.#isDescribed = true
    this._accumulateRows = true
    Object.assign(this._result, { fields, _parsers, _prebuiltEmptyResultObject })
  }

  override handleDataRow(message: unknown): void {
    if (this.#isSet) super.handleDataRow(message)
  }

  override handleCommandComplete(message: unknown, wire: Wire): void {
    if (!this.#isSet) {
      this.#isSet = true
      return
    }
    super.handleCommandComplete(message, wire)
    if (this.#isDescribed || this.name === undefined) return
    const shapes = (wire[SHAPES] ??= new Map())
    // Removes unused names with the others.
    if (shapes.size >= SHAPES_MAX) shapes.clear()
    const { fields, _parsers, _prebuiltEmptyResultObject } = this._result
    shapes.set(this.name, { fields, _parsers, _prebuiltEmptyResultObject })
  }
}

const submitTo = pg.Client.prototype.query as (this: pg.ClientBase, statement: Statement) => void

/** Sends a statement. Its errors have the stack frames of the caller, as those of `pg` have. */
function submit(client: pg.ClientBase, given: pg.QueryConfig, team: string | undefined): Promise<pg.QueryResult> {
  const statement = new Statement(given, team)
  const work = paused()
  const answer = new Promise<pg.QueryResult>((resolve, reject) => {
    statement.callback = (error, result) => {
      resumed(work)
      if (error) reject(error)
      else resolve(result)
    }
  })
  submitTo.call(client, statement)
  return answer.catch(async (error: Error) => {
    // No other caller may use the connection.
    if (isForgotten(error)) await destroy(client)
    Error.captureStackTrace(error)
    throw error
  })
}

const PLAIN = new Set(['text', 'values', 'name'])

/** Whether it has a text, optional values and an optional name, and nothing else. */
const isPlain = (given: unknown): given is pg.QueryConfig =>
  typeof given === 'object' && given !== null && Object.keys(given).every((key) => PLAIN.has(key))

/** As `pg.Client`, with statements sent as above. */
export class Client extends pg.Client {
  // oxlint-disable-next-line typescript/no-explicit-any -- overloaded: any other argument is passed on unchanged
  override query(...given: any[]): any {
    const [statement] = given
    return given.length === 1 && isPlain(statement) ? submit(this, statement, undefined) : super.query(...(given as [string]))
  }
}

/** Prepares a connection for statements of teams. */
export const prepareTeamSetting = async (client: pg.ClientBase): Promise<void> =>
  void (await client.query({ ...SETTING, values: [''] }))

/** The connection has lost its prepared statements; nothing was run. */
const isForgotten = ({ code, message }: Error & { code?: string }): boolean => code === '26000' && message.includes(SETTING.name)

/** A command that removed the prepared statements (`discard all`) may have reset the role as well: the connection is not reused. */
function destroy(client: pg.ClientBase): Promise<void> {
  const { connection } = client as unknown as { connection: { stream: Duplex } }
  const ended = new Promise<void>((resolve) => void client.once('end', () => resolve()))
  connection.stream.destroy()
  return ended
}

/**
 * Runs a statement that sees only the rows of the team. Inside a transaction that has begun, later statements on the same connection see
 * them too, until the transaction ends. A connection that has lost the prepared setting is destroyed.
 * @param team absent on a connection for the whole cell, and for statements without a team
 */
export const send = (client: pg.ClientBase, statement: pg.QueryConfig, team: string | undefined): Promise<pg.QueryResult> =>
  team === undefined ? client.query(statement) : submit(client, statement, team)
