// Users of a team who are connected to the cloud of a vendor: the team has an application there, and the user has agreed.
import { teamNow } from '../../../src/platform/db/database.ts'
import type { OAuthProvider } from '../../../src/people/users/sources.ts'
import { connectorOf } from '../../../src/connections/connectors/connectors.ts'
import { saveGrant } from '../../../src/connections/grants/grants.ts'
import { createTestTeam, guard, runner, settings, vault, type TestTeam } from '../server.ts'
import type { VendorGrants } from './grants.ts'
import { CLIENT, plainHttp, REDIRECT, type VendorServer } from './vendor-server.ts'

type Peer = VendorServer & { grants: VendorGrants }

/** The program asks this server from now on, in place of the vendor's own. */
export function useVendorServer(provider: OAuthProvider, { url }: VendorServer): void {
  const others = settings.provider_urls.filter((entry) => !entry.startsWith(`${provider}=`))
  settings.provider_urls.splice(0, Infinity, ...others, `${provider}=${url}`)
}

/** A team with an application at the vendor. */
export async function teamAt(provider: OAuthProvider): Promise<TestTeam> {
  const team = await createTestTeam()
  await team.manage.post('/team_custom_credentials/sandbox/us', { team_id: team.team, provider, ...CLIENT })
  return team
}

/** A user agrees, as on the page of the vendor, and is connected. */
export async function agree(team: TestTeam, provider: OAuthProvider, peer: Peer, user_id: string, account: string, days = 5) {
  const connector = connectorOf(provider)!
  await team.db.pool.query(
    `insert into data_pull_preference (team_id, provider, days, updated_at) values ($1, $2, $3, now()) on conflict (team_id, provider) do update set days = excluded.days`,
    [team.team, provider, days],
  )
  const code = peer.grants.agree(account, [...connector.scopes], REDIRECT)
  const now_ms = Date.now()
  const grant = await connector.exchange(plainHttp, peer.app(), { code, redirect_uri: REDIRECT, code_verifier: '', now_ms })
  await team.db.tx(team.tenant, (tx) => saveGrant(tx, vault, user_id, provider, grant))
  return grant
}

/** Runs the team's jobs that are due within some seconds from now. */
export async function run({ cell, team, db }: TestTeam, ahead_s = 10): Promise<void> {
  const start = teamNow((await guard.tenant(cell, team))!)
  const end = new Date(start.getTime() + ahead_s * 1000)
  await runner.runUntil(cell, db, team, { start, end, jobs_max: 500 }, async () => {})
}

/** `YYYY-MM-DD` of some days ago. */
export const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)
