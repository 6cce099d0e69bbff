import assert from 'node:assert/strict'
import { test } from 'node:test'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { labId, site, insertSites } from '../../../test/support/psc-sites.ts'
import { cells } from '../../../test/support/server.ts'
import { loadSandboxSites, sitesChecksum } from './load-sandbox-sites.ts'
import { countSites, findSite } from './sites.ts'

const db = cells.db('sandbox-eu')
const Versions = T.Object({ versions: T.String() })
const versions = async () =>
  (
    await db.queries.one(
      Versions,
      sql`select string_agg(version::text, ',' order by lab_id) as versions from psc_directory_version`,
    )
  ).versions

test('a cell gets the fictional sites of four labs, and a second load changes nothing', async () => {
  const before = await countSites(db.queries)
  assert.deepEqual(before.map(({ slug }) => slug).toSorted(), ['bioreference', 'labcorp', 'quest', 'sonora_quest'])
  assert.ok(before.reduce((sum, { active }) => sum + active, 0) >= 2000)
  const known = await versions()
  await loadSandboxSites(db)
  assert.equal(await versions(), known)
})

test("loading changed data updates the fictional sites once and keeps the operator's sites", async () => {
  const quest = await labId('quest', 'sandbox-eu')
  const before = await countSites(db.queries)
  const original = await findSite(db.queries, quest, 'SBQ0001')
  await insertSites('sandbox-eu', quest, [site('OWN', 1), { ...original!, name: 'Renamed' }])
  await db.queries.run(sql`update psc_directory_version set sandbox_data_revision = 'of other data'`)
  await Promise.all([loadSandboxSites(db), loadSandboxSites(db)])
  assert.deepEqual(await findSite(db.queries, quest, 'SBQ0001'), original)
  assert.ok(await findSite(db.queries, quest, 'OWN'))
  const sum = (labs: { active: number }[]) => labs.reduce((total, { active }) => total + active, 0)
  assert.equal(sum(await countSites(db.queries)), sum(before) + 1)
})

test('the checksum of the sites is the same each time', () => {
  assert.equal(sitesChecksum(), sitesChecksum())
})
