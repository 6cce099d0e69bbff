import assert from 'node:assert/strict'
import { test } from 'node:test'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { asOwner, cells } from '../../../test/support/server.ts'
import { catalogChecksum, loadCatalog } from './load.ts'

const Rows = T.Object({ labs: T.Integer(), analytes: T.Integer(), markers: T.Integer(), links: T.Integer() })
const Name = T.Object({ name: T.String() })

const count = (db: ReturnType<typeof cells.db>) =>
  db.queries.one(
    Rows,
    sql`
    select (select count(*) from lab) as labs, (select count(*) from analyte) as analytes, (select count(*) from marker) as markers,
           (select count(*) from marker_analyte) as links`,
  )

test('a cell without demo data gets the labs only, and their offers when a later load includes them', async () => {
  const db = cells.db('sandbox-eu')
  const full = await count(db)
  const tables = ['marker_analyte', 'marker', 'analyte', 'lab', 'catalog_data_version'].map((name) => `sandbox_eu.${name}`)
  await asOwner(`truncate ${tables.join()} cascade`)
  await loadCatalog(db, { offers: false })
  assert.deepEqual(await count(db), { labs: 15, analytes: 0, markers: 0, links: 0 })
  await loadCatalog(db, { offers: true })
  assert.deepEqual(await count(db), full)
  assert.ok(full.analytes > 0 && full.markers > 0 && full.links > full.markers)
})

test('a repeated load changes nothing, and a load of changed data updates rows without deleting any', async () => {
  const db = cells.db('sandbox-us')
  const full = await count(db)
  const read = () => db.queries.one(Name, sql`select name from marker where provider_id = 'Q55122'`)
  const { name } = await read()
  await db.queries.run(sql`update marker set name = 'Renamed' where provider_id = 'Q55122'`)
  await db.queries.run(sql`
    insert into marker_analyte (marker_id, analyte_id, position, required)
    select m.id, a.id, 99, true from marker m, analyte a where m.provider_id = 'Q55122' and a.slug = 'glucose'`)
  await db.queries.run(sql`
    insert into analyte (slug, name, definition) values ('not-in-the-files', 'Not in the files', '{}')`)

  await loadCatalog(db, { offers: true })
  assert.equal((await read()).name, 'Renamed')

  await db.queries.run(sql`update catalog_data_version set checksum = 'of other data'`)
  await Promise.all([loadCatalog(db, { offers: true }), loadCatalog(db, { offers: true })])
  assert.equal((await read()).name, name)
  assert.deepEqual(await count(db), { ...full, analytes: full.analytes + 1 })
})

test('the checksum of the catalog is deterministic', () => {
  assert.equal(catalogChecksum(), catalogChecksum())
  assert.match(catalogChecksum(), /^[0-9a-f]{64}$/)
})
