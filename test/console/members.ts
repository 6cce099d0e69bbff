// Members with a role in the demo team, signed in to the console.
import { randomUUID } from 'node:crypto'
import { generateKey, hashKey } from '../../src/platform/crypto/api-keys.ts'
import type { TeamRole } from '../../src/tenancy/roles/roles.ts'
import { connectionOf, onDatabase } from '../support/program.ts'
import { visitConsole, type ConsoleVisit } from './console.ts'

/** The console at a page of the sandbox, as a new member who has a role in the demo team and none in the organization. */
export async function openConsoleAs(role: TeamRole, path: string): Promise<ConsoleVisit> {
  const visited = await visitConsole()
  const { page, server, demo } = visited
  const [member_id, token] = [randomUUID(), generateKey('cs_')]
  const team = demo.teams.us!
  await onDatabase(connectionOf(server.dataDir), async (client) => {
    await client.query(
      `insert into control.member (id, org_id, name, email, role, team_ids, team_roles, created_at)
       values ($1, $2, 'Testa Fictional', $3, 'team_admin', array[$4::uuid], $5, now())`,
      [member_id, demo.org_id, `testa-${member_id}@example.com`, team, { [team]: role }],
    )
    await client.query(
      `insert into control.console_session
         (id, member_id, token_hash, method, address, user_agent, created_at, last_seen_at, idle_expires_at, expires_at)
       select gen_random_uuid(), $1, $2, 'demo', '127.0.0.1', 'Fictional browser', now(), now(), t.later, t.later
       from (select now() + interval '1 hour' as later) t`,
      [member_id, hashKey(token)],
    )
  })
  await page.context().addCookies([{ name: 'drawbridge_session', value: token, url: server.url }])
  await visited.open(path)
  await page.getByRole('button', { name: /Account of/ }).waitFor()
  return visited
}
