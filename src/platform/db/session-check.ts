// What a process asks a PostgreSQL of the operator's before it serves: whether its connections keep their sessions, and whether there are
// enough of them.
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { APPLICATION, type Connection } from './connections.ts'
import { ignoreError } from './database-connection.ts'

const CONNECT_MS_MAX = 10_000
/** A pooler that shares backends may give two connections different ones once. */
const ROUNDS = 3

/** A pooler gives a backend to several connections in turn, so that none keeps its role, its settings and its prepared statements. */
class SharedSessions extends Error {
  override name = 'SharedSessions'
  constructor() {
    super(
      'The connections to PostgreSQL do not keep their sessions: the pooler in front of it must use session mode (docs/operating/pooler.md).',
    )
  }
}

export interface ServerConnections {
  /** How many connections the server accepts from logins that are no superusers. */
  limit: number
  /** How many processes of Drawbridge may open that run now. */
  of_others: number
}

/**
 * Opens two connections for a moment. Errors: SharedSessions if a pooler breaks sessions; Error of `pg` if no connection can be made.
 */
export async function checkSessions(connection: Connection): Promise<ServerConnections> {
  const [first, second] = await Promise.all([open(connection), open(connection)])
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const mark = randomUUID()
      const pid = await markSession(first, mark)
      if (pid === (await markSession(second, randomUUID())) || (await readMark(first)) !== mark) throw new SharedSessions()
    }
    return await countConnections(first)
  } finally {
    await Promise.all([first, second].map((client) => client.end().catch(ignoreError)))
  }
}

async function open(connection: Connection): Promise<pg.Client> {
  const client = new pg.Client({
    ...connection,
    application_name: 'drawbridge check',
    connectionTimeoutMillis: CONNECT_MS_MAX,
    query_timeout: CONNECT_MS_MAX,
  })
  client.on('error', ignoreError)
  await client.connect()
  return client
}

async function markSession(client: pg.Client, mark: string): Promise<number> {
  const { rows } = await client.query<{ pid: number }>(
    "select pg_backend_pid() as pid, set_config('drawbridge.session', $1, false)",
    [mark],
  )
  return rows[0]!.pid
}

async function readMark(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ mark: string }>("select current_setting('drawbridge.session', true) as mark")
  return rows[0]!.mark
}

/** Connections of other logins are not seen by all logins; those of the same login are. */
async function countConnections(client: pg.Client): Promise<ServerConnections> {
  const { rows } = await client.query<ServerConnections>(
    `select current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer
         - coalesce(current_setting('reserved_connections', true), '0')::integer as "limit",
       (select coalesce(sum(substring(name from '[0-9]+$')::integer), 0)::integer
        from (select distinct application_name as name from pg_stat_activity where application_name like $1) as process) as of_others`,
    [`${APPLICATION} %`],
  )
  return rows[0]!
}
