// A statement that sees the rows of one team. The database's policies compare the column `team_id` with the setting `drawbridge.team`; the
// setting is sent in front of the statement, between the same two Syncs, so both are one transaction: when setting fails the statement
// is skipped, and when the transaction ends, however it ends, the setting is gone. A connection therefore never remembers a team.
// Why, and what it costs: docs/decisions/row-security.md.
import type { Duplex } from 'node:stream'
import pg from 'pg'

/** Every connection on which a `TeamQuery` runs prepares this statement first: `prepareTeamSetting`. */
const SETTING = { name: 'drawbridge team', text: `select set_config('drawbridge.team', $1, true)` }

/** What a message of the protocol is written to. */
interface Wire {
  bind(message: { portal: string; statement: string; values: string[]; valueMapper: (value: string) => string }): void
  execute(message: { portal: string }): void
}

interface Parts {
  name: string | undefined
  queryMode: 'extended' | undefined
  prepare(wire: Wire): void
  handleDataRow(message: unknown): void
  handleCommandComplete(message: unknown, wire: Wire): void
}

type Callback = (error: Error | null, result: pg.QueryResult) => void

const Base = pg.Query as unknown as new (
  text: string,
  values: unknown[] | undefined,
  callback: Callback,
) => Parts & pg.Submittable

const asIs = (value: string): string => value

class TeamQuery extends Base {
  readonly #team: string
  #isSet = false

  constructor(statement: pg.QueryConfig, team: string, callback: Callback) {
    // By its parts, as in client.ts.
    super(statement.text, statement.values, callback)
    this.name = statement.name
    this.queryMode = 'extended'
    this.#team = team
  }

  override prepare(wire: Wire): void {
    wire.bind({ portal: '', statement: SETTING.name, values: [this.#team], valueMapper: asIs })
    wire.execute({ portal: '' })
    super.prepare(wire)
  }

  override handleDataRow(message: unknown): void {
    if (this.#isSet) super.handleDataRow(message)
  }

  override handleCommandComplete(message: unknown, wire: Wire): void {
    if (this.#isSet) super.handleCommandComplete(message, wire)
    this.#isSet = true
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
  team === undefined
    ? client.query(statement)
    : new Promise<pg.QueryResult>((resolve, reject) => {
        client.query(new TeamQuery(statement, team, (error, result) => (error ? reject(error) : resolve(result))))
      }).catch(async (error: Error) => {
        // Nobody else may be lent it.
        if (isForgotten(error)) await giveUp(client)
        // As the driver does for its own promises: its frames lead to the caller that sent the statement.
        Error.captureStackTrace(error)
        throw error
      })
