// Lines of the access log as the database has them, whether they are part of the chain yet or not.
import type { TestTeam } from './test-server.ts'

export interface AccessLine {
  at: string
  request: string
  key: string
  org: string
  team: string | null
  operation: string
  objects: string[]
  users: string[]
  address: string
  outcome: number
}

/** The lines of a request that are in the database now: those of its changes, and those of reads that the process has written meanwhile. */
export async function linesInDatabase({ db, team }: TestTeam, request_id: string): Promise<AccessLine[]> {
  const { rows } = await db.pool.query<{ line: string }>(
    `select line from access_line where team_id = $1 union all select line from access_log where team_id = $1`,
    [team],
  )
  return rows.map(({ line }) => JSON.parse(line) as AccessLine).filter(({ request }) => request === request_id)
}
