// A line of the access log: who read or changed data of which patients. It holds ids and no names. It is stored as the JSON text that the
// export contains. Storage: access-log.ts.
import { userInfo } from 'node:os'
import { systemNow } from '../runtime/clock.ts'
import type { PlainTx, Tx } from '../db/transaction.ts'
import { join, sql, type Sql } from '../db/sql.ts'

/** `batched`: a killed process may lose the lines of reads of the last second. `strict`: a response waits for its line. */
export const accessLogModes = ['batched', 'strict'] as const
export type AccessLogMode = (typeof accessLogModes)[number]

/** What one call of an operation, a page or a command did. */
export interface Access {
  at: Date
  /** The request id that the response contains; null for a command. */
  request: string | null
  /** Id of the key; for callers without a key `token:`, `link:` or `cli:` and a name. */
  key: string
  /** The member of the organization for whom the key was issued; undefined if it is for a program. */
  member?: string | undefined
  /** null if there is no single organization: a command about several. */
  org: string | null
  team: string | null
  operation: string
  /** Ids of other objects of the call: orders, transactions, messages. */
  objects: readonly string[]
  /** Ids of the patients whose data was shown or changed, or whom the call named. */
  users: readonly string[]
  /** Client address as the server sees it; null for a command. */
  address: string | null
  /** Status of the response; 200 for a command. */
  outcome: number
}

/** A line in the form in which tables store it. */
export interface Line {
  team_id: string | null
  /** A PostgreSQL array, as text. */
  users: string
  text: string
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export const isId = (value: unknown): value is string => typeof value === 'string' && UUID.test(value)

/** Builds the line of an access. It leaves out values that are not ids, because a caller may send anything in their place. */
export function lineOf(access: Access): Line {
  const { at, request, key, member, org, team, operation, address, outcome } = access
  const users = access.users.filter(isId)
  const objects = access.objects.filter(isId)
  // The texts determine the order of lines: the instant comes first.
  const text = JSON.stringify({ at, request, key, member, org, team, operation, objects, users, address, outcome })
  return { team_id: team, users: `{${users.join()}}`, text }
}

const MARK = 'user_id":"'
const ID_LENGTH = 36
const QUOTE = 34
/**
 * Adds the users that a JSON text names under `user_id`, each once. JSON escapes quotes within values, so a value cannot look like a field
 * name. The text must not contain white space between tokens.
 */
export function addUsersIn(text: string, users: string[]): void {
  const known = new Set(users)
  for (let at = text.indexOf(MARK); at >= 0; at = text.indexOf(MARK, at + MARK.length)) {
    // `client_user_id` has the same ending.
    if (text.charCodeAt(at - 1) !== QUOTE) continue
    const start = at + MARK.length
    if (text.charCodeAt(start + ID_LENGTH) !== QUOTE) continue
    const id = text.slice(start, start + ID_LENGTH)
    if (known.has(id)) continue
    known.add(id)
    users.push(id)
  }
}

const insertLines = (_tx: PlainTx, lines: Line[]): Sql => sql`
  insert into access_line (team_id, users, line)
  values ${join(
    lines.map(({ team_id, users, text }) => sql`(${team_id}::uuid, ${users}, ${text})`),
    ', ',
  )}`

/** Adds a line to the transaction that makes the change. Writes access_line. */
export const leaveLine = (tx: PlainTx, line: Line): void => tx.deferBatched(line, insertLines as (tx: Tx, lines: Line[]) => Sql)

/** A command of the operator, and who runs it. */
export interface OperatorCommand {
  /** As of `actorOf`. */
  actor: string
  operation: string
}

/** Adds the line of an operator's command to the transaction that changes or shows the data. Writes access_line. */
export function leaveCommand(
  tx: PlainTx,
  { actor, operation }: OperatorCommand,
  subjects: { team?: string; org?: string; objects?: readonly string[]; users?: readonly string[] } = {},
): void {
  const { team = null, org = null, objects = [], users = [] } = subjects
  const said = { users: [...users, ...(tx.subjects?.users ?? [])], objects: [...objects, ...(tx.subjects?.objects ?? [])] }
  const command = { at: systemNow(), request: null, key: actor, address: null, outcome: 200 }
  leaveLine(
    tx,
    lineOf({ ...command, org, team, operation, users: [...new Set(said.users)], objects: [...new Set(said.objects)] }),
  )
}

/** As `leaveCommand`, for a command that shows patients of several teams: adds one line for each team. */
export function leaveCommands(
  tx: PlainTx,
  command: OperatorCommand,
  subjects: readonly { team_id: string; user_id: string; object: string }[],
): void {
  const teams = new Map<string, { users: string[]; objects: string[] }>()
  for (const { team_id, user_id, object } of subjects) {
    const { users, objects } = teams.get(team_id) ?? { users: [], objects: [] }
    teams.set(team_id, { users: [...users, user_id], objects: [...objects, object] })
  }
  for (const [team, about] of teams) leaveCommand(tx, command, { team, ...about })
}

/**
 * Who runs a command, as lines name them: `cli:`, the account of the operating system, and after another colon the person who is named
 * next to it, because several people use one account.
 */
export function actorOf(person: string | undefined): string {
  const account = accountName()
  return person === undefined || person === account ? `cli:${account}` : `cli:${account}:${person}`
}

function accountName(): string {
  try {
    return userInfo().username
  } catch {
    // An account without an entry in the user database, as in containers.
    return String(process.getuid?.() ?? 'unknown')
  }
}
