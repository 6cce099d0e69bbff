// Statements as they travel to the database. Those that are run thousands of times a second leave as one piece of bytes, where `pg` makes one
// of each message of the protocol, and what the database said of their rows when it prepared them is not asked for again (the figures:
// docs/decisions/row-security.md).
//
// A statement that sees the rows of one team: the database's policies compare the column `team_id` with the setting `drawbridge.team`; the
// setting is sent in front of the statement, between the same two Syncs, so both are one transaction: when setting fails the statement
// is skipped, and when the transaction ends, however it ends, the setting is gone. A connection therefore never remembers a team.
import { createRequire } from 'node:module'
import type { Duplex } from 'node:stream'
import pg from 'pg'
import { Frame } from './frame.ts'

/** Every connection on which a statement of a team runs prepares this one first: `prepareTeamSetting`. */
const SETTING = { name: 'drawbridge team', text: `select set_config('drawbridge.team', $1, true)` }

/** Most statements of a connection whose rows are known. */
const SHAPES_MAX = 1000

type Callback = (error: Error | null, result: pg.QueryResult) => void

/** What `pg` takes of the rows of a result, once the database has described them. */
interface Shape {
  fields: pg.FieldDef[]
  _parsers: unknown
  _prebuiltEmptyResultObject: unknown
}

const SHAPES = Symbol('shapes')

/** What is used of a connection of `pg` besides its public parts. */
interface Wire {
  stream: Duplex
  parsedStatements: Record<string, string>
  submittedNamedStatements: Record<string, string>
  parse(message: { text: string; name: string | undefined; types: undefined }): void
  /** Of the statements that are prepared on this connection, by name. */
  [SHAPES]?: Map<string, Shape>
}

/** What is used of a query of `pg` besides its public parts. */
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

const frame = new Frame()

class Statement extends Query {
  readonly #team: string | undefined
  #isSet: boolean
  #isDescribed = false

  constructor({ text, values, name }: pg.QueryConfig, team: string | undefined) {
    // By its parts: `pg` copies a statement by the descriptors of its properties, at 3 µs of the processor.
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
      bytes = this.#encoded(wire, values ? values.map((value) => prepareValue(value)) : [])
    } catch (error) {
      frame.clear()
      return error as Error
    }
    if (name !== undefined && (wire.parsedStatements[name] ?? wire.submittedNamedStatements[name]) !== undefined) {
      wire.stream.write(bytes)
      return null
    }
    // In one write with what follows.
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
    // Names that are not used any more are forgotten with the others.
    if (shapes.size >= SHAPES_MAX) shapes.clear()
    const { fields, _parsers, _prebuiltEmptyResultObject } = this._result
    shapes.set(this.name, { fields, _parsers, _prebuiltEmptyResultObject })
  }
}

const submitTo = pg.Client.prototype.query as (this: pg.ClientBase, statement: Statement) => void

/** Send a statement. Its errors have the frames of the caller, as those of `pg` do. */
function submit(client: pg.ClientBase, given: pg.QueryConfig, team: string | undefined): Promise<pg.QueryResult> {
  const statement = new Statement(given, team)
  const answer = new Promise<pg.QueryResult>((resolve, reject) => {
    statement.callback = (error, result) => (error ? reject(error) : resolve(result))
  })
  submitTo.call(client, statement)
  return answer.catch(async (error: Error) => {
    // Nobody else may be lent it.
    if (isForgotten(error)) await giveUp(client)
    Error.captureStackTrace(error)
    throw error
  })
}

const PLAIN = new Set(['text', 'values', 'name'])

/** Whether it has a text, perhaps values and a name, and nothing else. */
const isPlain = (given: unknown): given is pg.QueryConfig =>
  typeof given === 'object' && given !== null && Object.keys(given).every((key) => PLAIN.has(key))

/** As `pg.Client`, with statements as above. */
export class Client extends pg.Client {
  // oxlint-disable-next-line typescript/no-explicit-any -- overloaded: what is no plain statement goes on as it came
  override query(...given: any[]): any {
    const [statement] = given
    return given.length === 1 && isPlain(statement) ? submit(this, statement, undefined) : super.query(...(given as [string]))
  }
}

/** Make a connection ready for statements of teams. */
export const prepareTeamSetting = async (client: pg.ClientBase): Promise<void> =>
  void (await client.query({ ...SETTING, values: [''] }))

/** The connection has lost what was prepared on it; nothing was run. */
const isForgotten = ({ code, message }: Error & { code?: string }): boolean => code === '26000' && message.includes(SETTING.name)

/** What made a connection forget what was prepared (`discard all`) may have taken its role as well: it is not used again. */
function giveUp(client: pg.ClientBase): Promise<void> {
  const { connection } = client as unknown as { connection: { stream: Duplex } }
  const ended = new Promise<void>((resolve) => void client.once('end', () => resolve()))
  connection.stream.destroy()
  return ended
}

/**
 * Run a statement that sees the rows of the team and no other team's. Inside a transaction that was begun, what follows on the same
 * connection sees them too, until the transaction ends. A connection that no longer knows the setting is given up.
 * @param team absent on a connection that works on the whole cell, and where the statement is about no team
 */
export const send = (client: pg.ClientBase, statement: pg.QueryConfig, team: string | undefined): Promise<pg.QueryResult> =>
  team === undefined ? client.query(statement) : submit(client, statement, team)
