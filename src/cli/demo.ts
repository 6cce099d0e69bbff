// Demo data: the first start creates an organization, a team per region, a key per cell, a catalog to order from, and `demo.json` with the
// keys. Later starts only update its address.
import { contents } from '../app/contents.ts'
import { seedSampleTests, seedStandardTests } from '../lab/catalog/lab-tests.ts'
import { createOrgKey, createTeamKey } from '../tenancy/keys/keys.ts'
import { createOrg } from '../tenancy/organizations/organizations.ts'
import { cellsOfRegion, createTeam, loadTenant, placeTeam, type Region } from '../tenancy/teams/teams.ts'
import type { Cells } from '../platform/db/cells.ts'
import type { CellName } from '../platform/db/cell-names.ts'
import type { PlainTx } from '../platform/db/transaction.ts'
import { T } from '../platform/schema/schema.ts'
import { hashKey } from '../platform/crypto/api-keys.ts'
import { sql } from '../platform/db/sql.ts'
import { readDemo, type Demo } from './demo-file.ts'

const NAME = 'Drawbridge Demo'
const regions: Region[] = ['us', 'eu']

/** Returns the demo and creates it if it is missing. Its address is that of an earlier start. */
export async function prepareDemo(cells: Cells, dataDir: string): Promise<Demo> {
  const demo = (await findDemoOrg(cells, dataDir)) ?? { base_url: '', ...(await cells.control.plainTx(createDemoKey)) }
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
const TeamOf = T.Object({ id: T.String(), region: T.String() })

/** Creates the demo organization with fresh keys; its rows are reused if only the file was lost. */
async function createDemoKey(tx: PlainTx): Promise<Omit<Demo, 'base_url'>> {
  const org = await tx.maybe(Id, sql`select id from org where name = ${NAME} order by created_at limit 1`)
  const org_id = org?.id ?? (await createOrg(tx, NAME))
  const present = await tx.many(TeamOf, sql`select id, region from team where org_id = ${org_id} order by created_at, id`)
  const teams = {} as Record<Region, string>
  const api_keys = {} as Record<CellName, string>
  for (const region of regions) {
    const team = present.find((row) => row.region === region)
    teams[region] = team?.id ?? (await createTeam(tx, { org_id, name: `Demo team ${region.toUpperCase()}`, region }))
    for (const cell of cellsOfRegion(region))
      api_keys[cell] = await createTeamKey(tx, { team_id: teams[region], cell, label: 'demo' })
  }
  return { org_id, management_key: await createOrgKey(tx, { org_id, label: 'demo' }), teams, api_keys }
}

async function loadReferenceData(cells: Cells, cell: CellName, team: { id: string; org_id: string }): Promise<void> {
  const db = cells.of(cell)
  await contents.loadReferenceData(db, true)
  await db.plainTx((tx) => placeTeam(tx, cell, team))
  const tenant = await loadTenant(cells, cell, team.id)
  await db.tx(tenant!, async (tx) => {
    await seedStandardTests(tx)
    await seedSampleTests(tx)
  })
}
