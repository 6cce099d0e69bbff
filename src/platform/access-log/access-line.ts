// A line of the access log: who read or changed data of which patients. It holds ids and no names, and is written down as the JSON text
// that is exported. How lines are kept: access-log.ts.
import { userInfo } from 'node:os'
import { systemNow, shownInstant } from '../runtime/clock.ts'
import type { PlainTx, Tx } from '../db/transaction.ts'
import { join, sql, type Sql } from '../db/sql.ts'

/** What one call of an operation, a page or a command did. */
export interface Access {
  at: Date
  /** Of the request, as its answer names it; null for a command. */
  request: string | null
  /** Id of the key; `token:`, `link:` or `cli:` and a name for those who have none. */
  key: string
  /** null where the organization is not known: a command about several. */
  org: string | null
  team: string | null
  operation: string
  /** Ids of what it was about beside users: orders, transactions, messages. */
  objects: readonly string[]
  /** Ids of the patients whose data was shown or changed, or who were named. */
  users: readonly string[]
  /** From where, as the server sees it; null for a command. */
  address: string | null
  /** The status of the answer; of a command 200. */
  outcome: number
}

/** A line as tables have it. */
export interface Line {
  team_id: string | null
  /** A PostgreSQL array, as text. */
  users: string
  text: string
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export const isId = (value: unknown): value is string => typeof value === 'string' && UUID.test(value)

const PLAIN = /^[\w:.-]*$/

const quoted = (text: string | null): string => (text === null ? 'null' : PLAIN.test(text) ? `"${text}"` : JSON.stringify(text))

/** Ids need no escaping. */
const listed = (ids: string[]): string => (ids.length ? `["${ids.join('","')}"]` : '[]')

/** The line of an access. What is no id is left out of it: a caller may send anything in the place of one. */
export function lineOf(access: Access): Line {
  const { at, request, key, org, team, operation, address, outcome } = access
  const users = access.users.filter(isId)
  const objects = access.objects.filter(isId)
  // Lines are put in order by their texts: the instant stands first. Put together by hand, at a third of the cost of an object.
  const text =
    `{"at":"${shownInstant(at)}","request":${quoted(request)},"key":${quoted(key)},"org":${quoted(org)},"team":${quoted(team)},` +
    `"operation":${quoted(operation)},"objects":${listed(objects)},"users":${listed(users)},"address":${quoted(address)},"outcome":${outcome}}`
  return { team_id: team, users: `{${users.join()}}`, text }
}

const MARK = 'user_id":"'
const ID_LENGTH = 36
const QUOTE = 34
/** Up to so many ids are quicker looked through than kept in a set. */
const LOOKED_THROUGH_MAX = 20

/**
 * Adds the users that a JSON text names under `user_id`, each once. Quotes within values are escaped, so that no value can look like the
 * name of a field. The text must have no white space between its parts.
 */
export function addUsersIn(text: string, users: string[]): void {
  let known: Set<string> | undefined
  for (let at = text.indexOf(MARK); at >= 0; at = text.indexOf(MARK, at + MARK.length)) {
    // `client_user_id` ends alike.
    if (text.charCodeAt(at - 1) !== QUOTE) continue
    const start = at + MARK.length
    if (text.charCodeAt(start + ID_LENGTH) !== QUOTE) continue
    const id = text.slice(start, start + ID_LENGTH)
    if (!known && users.length > LOOKED_THROUGH_MAX) known = new Set(users)
    if (known ? known.has(id) : users.includes(id)) continue
    known?.add(id)
    users.push(id)
  }
}

const insertLines = (_tx: PlainTx, lines: Line[]): Sql => sql`
  insert into access_line (team_id, users, line)
  values ${join(
    lines.map(({ team_id, users, text }) => sql`(${team_id}::uuid, ${users}, ${text})`),
    ', ',
  )}`

/** Leaves a line with what a transaction changes. Writes access_line. */
export const leaveLine = (tx: PlainTx, line: Line): void => tx.deferBatched(line, insertLines as (tx: Tx, lines: Line[]) => Sql)

/** Leaves the line of a command of the operator with what it changes or shows. Writes access_line. */
export function leaveCommand(
  tx: PlainTx,
  operation: string,
  about: { team?: string; org?: string; objects?: readonly string[]; users?: readonly string[] } = {},
): void {
  const { team = null, org = null, objects = [], users = [] } = about
  const said = { users: [...users, ...(tx.subjects?.users ?? [])], objects: [...objects, ...(tx.subjects?.objects ?? [])] }
  const command = { at: systemNow(), request: null, key: commandKey(), address: null, outcome: 200 }
  leaveLine(
    tx,
    lineOf({ ...command, org, team, operation, users: [...new Set(said.users)], objects: [...new Set(said.objects)] }),
  )
}

/** As `leaveCommand`, for a command that shows patients of several teams: a line for each team. */
export function leaveCommands(
  tx: PlainTx,
  operation: string,
  shown: readonly { team_id: string; user_id: string; object: string }[],
): void {
  const teams = new Map<string, { users: string[]; objects: string[] }>()
  for (const { team_id, user_id, object } of shown) {
    const { users, objects } = teams.get(team_id) ?? { users: [], objects: [] }
    teams.set(team_id, { users: [...users, user_id], objects: [...objects, object] })
  }
  for (const [team, about] of teams) leaveCommand(tx, operation, { team, ...about })
}

/** The account of the operating system that runs a command, as lines name it. */
export function commandKey(): string {
  try {
    return `cli:${userInfo().username}`
  } catch {
    // An account without an entry, as containers have them.
    return `cli:${process.getuid?.() ?? 'unknown'}`
  }
}
