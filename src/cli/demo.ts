// Demo data: the first start creates an organization with a member, a team per region, a key per cell, a catalog to order from, and `demo.json` with the
// keys. Later starts only update its address, and the keys that the operator has set.
import { contents } from '../app/contents.ts'
import { seedSampleTests, seedStandardTests } from '../lab/catalog/lab-tests.ts'
import { createOrgKey, createTeamKey } from '../tenancy/keys/keys.ts'
import { ensureDemoMember } from '../tenancy/sign-in/demo-member.ts'
import { createOrg } from '../tenancy/organizations/organizations.ts'
import { cellsOfRegion, createTeam, loadTenant, placeTeam, type Region } from '../tenancy/teams/teams.ts'
import type { Cells } from '../platform/db/cells.ts'
import { type CellName, placeOfKey } from '../settings/cells.ts'
import type { PlainTx } from '../platform/db/transaction.ts'
import { T } from '../platform/schema/schema.ts'
import { hashKey } from '../platform/crypto/api-keys.ts'
import { sql } from '../platform/db/sql.ts'
import { readDemo, type Demo } from './demo-file.ts'

const NAME = 'Drawbridge Demo'
const regions: Region[] = ['us', 'eu']

/** Cell, or `management` → the key that the operator has set for it. */
type SetKeys = ReadonlyMap<string | undefined, string>

/**
 * Returns the demo and creates it if it is missing. Its address is that of an earlier start.
 * @param keys keys that the operator has set, at most one for each cell and one of the Management API. Those of earlier starts stay valid
 * @throws Error if another team or organization has one of them
 */
export async function prepareDemo(cells: Cells, dataDir: string, keys: readonly string[] = []): Promise<Demo> {
  const set: SetKeys = new Map(keys.map((key) => [placeOfKey(key), key]))
  const known = await findDemoOrg(cells, dataDir)
  const demo = await cells.control.plainTx(async (tx) =>
    useSetKeys(tx, known ?? { base_url: '', ...(await createDemoKeys(tx, set)) }, set),
  )
  await cells.control.plainTx((tx) => ensureDemoMember(tx, demo.org_id))
  for (const region of regions)
    for (const cell of cellsOfRegion(region))
      if (cells.has(cell)) await loadReferenceData(cells, cell, { id: demo.teams[region], org_id: demo.org_id })
  return demo
}

const Count = T.Object({ n: T.Integer() })

/** The demo of an earlier start, if its organization, teams and keys are those of this database. */
async function findDemoOrg(cells: Cells, dataDir: string): Promise<Demo | undefined> {
  const demo = readDemo(dataDir)
  if (!demo) return undefined
  const { org_id, teams, api_keys } = demo
  const placed = regions.flatMap((region) =>
    cellsOfRegion(region).map((cell) => ({ team: teams[region], cell, key_hash: hashKey(api_keys[cell]).toString('hex') })),
  )
  const { n } = await cells.control.queries.one(
    Count,
    sql`
    select count(*) as n
    from jsonb_to_recordset(${JSON.stringify(placed)}::jsonb) as said (team text, cell text, key_hash text)
    join api_key k on k.key_hash = decode(said.key_hash, 'hex') and k.cell = said.cell and k.team_id::text = said.team
    join team t on t.id = k.team_id and t.org_id::text = ${org_id}
    join management_key m on m.org_id = t.org_id and m.key_hash = ${hashKey(demo.management_key)}`,
  )
  return n === placed.length ? demo : undefined
}

const Id = T.Object({ id: T.String() })
const Owner = T.Object({ id: T.String(), cell: T.String() })
const TeamOf = T.Object({ id: T.String(), region: T.String() })

/** Creates the demo organization with fresh keys where none is set; its rows are reused if only the file was lost. */
async function createDemoKeys(tx: PlainTx, set: SetKeys): Promise<Omit<Demo, 'base_url'>> {
  const org = await tx.maybe(Id, sql`select id from org where name = ${NAME} order by created_at limit 1`)
  const org_id = org?.id ?? (await createOrg(tx, NAME))
  const present = await tx.many(TeamOf, sql`select id, region from team where org_id = ${org_id} order by created_at, id`)
  const teams = {} as Record<Region, string>
  const api_keys = {} as Demo['api_keys']
  for (const region of regions) {
    const team = present.find((row) => row.region === region)
    teams[region] = team?.id ?? (await createTeam(tx, { org_id, name: `Demo team ${region.toUpperCase()}`, region }))
    for (const cell of cellsOfRegion(region))
      api_keys[cell] = set.get(cell) ?? (await createTeamKey(tx, { team_id: teams[region], cell, label: 'demo' }))
  }
  const management_key = set.get('management') ?? (await createOrgKey(tx, { org_id, label: 'demo' }))
  return { org_id, management_key, teams, api_keys }
}

/** Replaces the keys of the demo with the operator's keys, and issues new ones. Writes api_key, management_key. */
async function useSetKeys(tx: PlainTx, demo: Demo, set: SetKeys): Promise<Demo> {
  const api_keys = { ...demo.api_keys }
  for (const region of regions)
    for (const cell of cellsOfRegion(region)) {
      const text = set.get(cell)
      if (text === undefined) continue
      const team_id = demo.teams[region]
      const owner = await tx.maybe(Owner, sql`select team_id as id, cell from api_key where key_hash = ${hashKey(text)}`)
      if (!owner) await createTeamKey(tx, { team_id, cell, label: 'demo', text })
      else if (owner.id !== team_id || owner.cell !== cell)
        throw new Error(`DEMO_KEYS contains a key for ${cell} that another team has.`)
      api_keys[cell] = text
    }
  const management_key = set.get('management') ?? demo.management_key
  const owner = await tx.maybe(
    Id,
    sql`select org_id as id from management_key where ${hashKey(management_key)} in (key_hash, previous_hash)`,
  )
  if (!owner) await createOrgKey(tx, { org_id: demo.org_id, label: 'demo', text: management_key })
  else if (owner.id !== demo.org_id) throw new Error('DEMO_KEYS contains a management key that another organization has.')
  return { ...demo, api_keys, management_key }
}

async function loadReferenceData(cells: Cells, cell: CellName, team: { id: string; org_id: string }): Promise<void> {
  const db = cells.db(cell)
  await contents.loadReferenceData(db, true)
  await db.plainTx((tx) => placeTeam(tx, cell, team))
  const tenant = await loadTenant(cells, cell, team.id)
  await db.tx(tenant!, async (tx) => {
    await seedStandardTests(tx)
    await seedSampleTests(tx)
  })
}
