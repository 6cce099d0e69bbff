// The catalog by command, on the database and the server of the tests.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import type { CatalogFile } from '../../lab/catalog-exchange/file-schema.ts'
import { loadCatalog } from '../../lab/catalog/load.ts'
import type { CellName } from '../../settings/cells.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { cells, createTestTeam } from '../../../test/support/server.ts'
import { command } from '../../../test/support/commands.ts'

const folder = await mkdtemp(join(tmpdir(), 'catalog-'))
after(() => rm(folder, { recursive: true }))
const run = (...words: string[]) => command(cells, ['catalog', ...words])
const exportCatalog = async (cell: CellName): Promise<CatalogFile> => JSON.parse(await run('export', '--cell', cell))
let files = 0
async function writeCatalog(content: unknown): Promise<string> {
  const file = join(folder, `${++files}.json`)
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}
const importCatalog = async (content: unknown, cell: CellName) => run('import', await writeCatalog(content), '--cell', cell)
const refusal = async (content: unknown, cell: CellName = 'production-eu'): Promise<string[]> => {
  const error = await importCatalog(content, cell).then(
    () => assert.fail('it was imported'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof Error, String(error))
  const [first, ...lines] = error.message.split('\n')
  assert.equal(first, 'Nothing was imported.')
  return lines
}
const Text = T.Object({ text: T.String() })
/** Every row of the catalog, as one text. */
const readWholeCatalog = async (cell: CellName): Promise<string> =>
  (
    await cells.db(cell).queries.one(
      Text,
      sql`
      select concat_ws(' ',
        (select jsonb_agg(to_jsonb(l) order by id) from lab l), (select jsonb_agg(to_jsonb(a) order by id) from analyte a),
        (select jsonb_agg(to_jsonb(m) order by id) from marker m), (select jsonb_agg(to_jsonb(ma) order by ma) from marker_analyte ma),
        (select jsonb_agg(to_jsonb(c) order by part) from catalog_data_version c)) as text`,
    )
  ).text

const format = 'drawbridge-catalog-1'
const lab = {
  slug: 'fictional_lab',
  name: 'Fictional Lab',
  first_line_address: '9 Sample Way',
  city: 'Sampleton',
  state: 'NC',
  zipcode: '00099',
  collection_methods: ['walk_in_test'],
  sample_types: ['serum'],
}
const analyte = { slug: 'fictionine', name: 'Fictionine', loinc: '99999-9', definition: { type: 'numeric', unit: 'mg/dL' } }
const marker = {
  lab: 'fictional_lab',
  provider_id: 'F-1',
  name: 'Fictionine',
  slug: 'fictionine',
  type: 'biomarker',
  price: '12.50',
  a_la_carte_enabled: true,
  results: [{ analyte: 'fictionine' }, { analyte: 'glucose', required: false }],
}

describe('a catalog file', () => {
  test('that was exported is imported without changing anything, in any cell', async () => {
    for (const cell of ['sandbox-us', 'production-us'] as const) {
      const file = await exportCatalog(cell)
      assert.deepEqual([file.format, file.labs.length > 14, file.markers.length > 700], [format, true, true])
      const before = await readWholeCatalog(cell)
      const report = await importCatalog(file, cell)
      const count = (rows: unknown[]) => `0 added, 0 changed, ${rows.length} unchanged`
      assert.equal(report, `labs      ${count(file.labs)}\nanalytes  ${count(file.analytes)}\nmarkers   ${count(file.markers)}\n`)
      assert.equal(await readWholeCatalog(cell), before)
    }
    assert.equal(await run('export'), await run('export', '--cell', 'sandbox-us'))
  })

  test('brings new laboratories, analytes and markers, which teams then order from', async () => {
    const before = await exportCatalog('sandbox-eu')
    const report = await importCatalog({ format, labs: [lab], analytes: [analyte], markers: [marker] }, 'sandbox-eu')
    assert.match(report, /^labs +1 added, 0 changed, 0 unchanged\nanalytes +1 added.*\nmarkers +1 added/)
    const team = await createTestTeam('sandbox-eu')
    const { markers } = (await team.api.get('/v3/lab_tests/markers?lab_slug=fictional_lab')).body
    const most = Math.max(...before.markers.map(({ id }) => id!))
    assert.deepEqual(
      [markers[0].id, markers[0].price, markers[0].is_orderable, markers[0].aoe, markers[0].expected_results[0].loinc.code],
      [most + 1, '12.50', true, null, '99999-9'],
    )
    assert.deepEqual(
      markers[0].expected_results.map(({ required }: { required: boolean }) => required),
      [true, false],
    )
    const accounts = (await team.api.get('/v3/lab_test/lab_account')).body.data
    assert.equal(accounts.length, before.labs.length + 1)
    const made = { name: 'Fictional', method: 'walk_in_test', description: '', provider_ids: ['F-1'] }
    assert.equal((await team.api.post('/v3/lab_tests', made)).body.lab.slug, 'fictional_lab')
    const after = await exportCatalog('sandbox-eu')
    assert.deepEqual(after.markers.slice(0, -1), before.markers)
    assert.equal(after.labs.at(-1)!.id, Math.max(...before.labs.map(({ id }) => id!)) + 1)
  })

  test('replaces a row as a whole; its id stays, prices have their parts, rules of patients count', async () => {
    const before = await exportCatalog('production-us')
    const old = before.markers.find(({ provider_id }) => provider_id === 'Q55122')!
    const { id: _, pricing: __, ...rest } = old
    const pricing = {
      base_amount_minor: 1900,
      modifiers: [
        { delta_amount_minor: 250, conditions: { us_state: { any_of: ['NY', 'NJ'] } } },
        { delta_amount_minor: { minimum: 0, maximum: 4000 }, conditions: { reflex: {} } },
      ],
    }
    const quest = { ...before.labs.find(({ slug }) => slug === 'quest')!, allowed_genders: ['female', 'male'] }
    const file = { format, labs: [quest], markers: [{ ...rest, name: 'Thyrotropin', cpt_codes: ['84443'], pricing, aoe: null }] }
    assert.match(await importCatalog(file, 'production-us'), /labs +0 added, 1 changed.*\n.*\nmarkers +0 added, 1 changed/)
    const team = await createTestTeam('production-us')
    const { body } = await team.api.get('/v3/lab_tests/markers?name=Q55122&include_pricing=true')
    assert.deepEqual([body.markers[0].id, body.markers[0].name], [old.id, 'Thyrotropin'])
    assert.deepEqual(body.pricing.data[old.id!], {
      base_amount_minor: 1900,
      modifiers: [
        { delta_amount_minor: 250, conditions: { us_state: { any_of: ['NY', 'NJ'] }, reflex: null } },
        { delta_amount_minor: { minimum: 0, maximum: 4000 }, conditions: { us_state: null, reflex: {} } },
      ],
    })
    const after = await exportCatalog('production-us')
    assert.deepEqual(
      after.labs.find(({ slug }) => slug === 'quest'),
      quest,
    )
    assert.deepEqual(
      after.markers.filter(({ id }) => id !== old.id),
      before.markers.filter(({ id }) => id !== old.id),
    )
    const again = await readWholeCatalog('production-us')
    await importCatalog(file, 'production-us')
    assert.equal(await readWholeCatalog('production-us'), again)
  })

  test('an imported catalog is not overwritten by the bundled catalog', async () => {
    const db = cells.db('production-us')
    await importCatalog({ format, analytes: [{ ...analyte, name: 'Mine' }] }, 'production-us')
    await db.queries.run(sql`update catalog_data_version set checksum = 'of an older program' where part <> 'own'`)
    const before = await readWholeCatalog('production-us')
    await loadCatalog(db, { offers: true })
    assert.equal(await readWholeCatalog('production-us'), before)
  })
})

describe('a catalog file with faults', () => {
  test('is not imported, and each fault has a line that says where', async () => {
    const before = await readWholeCatalog('production-eu')
    const choice = { id: 1, required: true, code: 'A', value: 'A?', type: 'choice', sequence: 1 }
    const lines = await refusal({
      format,
      labs: [lab, lab, { ...lab, slug: 'another', id: 4 }],
      analytes: [{ ...analyte, definition: { type: 'numeric', low: 2, high: 1 } }],
      markers: [
        { ...marker, lab: 'nowhere' },
        { ...marker, results: [{ analyte: 'nothing' }, { analyte: 'glucose' }, { analyte: 'glucose' }] },
        { ...marker, provider_id: 'F-2', common_tat_days: 3, worst_case_tat_days: 1, is_orderable: false },
        {
          ...marker,
          provider_id: 'F-3',
          aoe: { questions: [choice, { ...choice, type: 'text', answers: [{ id: 1, code: 'Y', value: 'Y' }] }] },
        },
        { ...marker, lab: 'quest', provider_id: 'Q55122', id: 99 },
        { ...marker, provider_id: 'F-4', id: 4001 },
      ],
    })
    assert.deepEqual(
      lines,
      [
        'labs[1] (fictional_lab): duplicate slug',
        'labs[2] (another): id 4 is already in use',
        'analytes[0] (fictionine): low is greater than high',
        'markers[0] (nowhere F-1): lab "nowhere" does not exist',
        'markers[1] (fictional_lab F-1): analyte "nothing" does not exist',
        'markers[1] (fictional_lab F-1): duplicate analyte "glucose"',
        'markers[2] (fictional_lab F-2): common_tat_days is greater than worst_case_tat_days',
        'markers[2] (fictional_lab F-2): a_la_carte_enabled requires is_orderable',
        'markers[3] (fictional_lab F-3): duplicate question id',
        'markers[3] (fictional_lab F-3): choice question 1 has no answers',
        'markers[3] (fictional_lab F-3): question 1 of type text must not have answers',
        'markers[4] (quest Q55122): the id of an existing row cannot be changed (current id: 4017)',
        'markers[5] (fictional_lab F-4): id 4001 is already in use',
      ].toSorted((a, b) => lines.indexOf(a) - lines.indexOf(b)),
    )
    assert.equal(await readWholeCatalog('production-eu'), before)
  })

  test('reports an unknown format and misspelled keys', async () => {
    const before = await readWholeCatalog('production-eu')
    assert.deepEqual(await refusal('nonsense'), ['the file is not JSON'])
    assert.match((await refusal([]))[0]!, /^the file: Input should be/)
    assert.deepEqual(await refusal({ format: 'other' }), [`format: Input should be '${format}'`])
    const lines = await refusal({
      format,
      labs: [{ ...lab, color: 'red' }, 7],
      markers: [
        { ...marker, price: '$5', results: [{}] },
        { ...marker, pricing: { base_amount_minor: -1 } },
      ],
    })
    assert.deepEqual(lines, [
      'labs[0] (fictional_lab): color Extra inputs are not permitted',
      'labs[1]: Input should be a valid dictionary or object to extract fields from',
      'markers[0] (fictional_lab F-1): price must be dollars such as 12.50, or N/A',
      'markers[0] (fictional_lab F-1): results.0.analyte Field required',
      'markers[1] (fictional_lab F-1): pricing.base_amount_minor Input should be greater than or equal to 0',
    ])
    const many = await refusal({ format, labs: Array.from({ length: 300 }, () => 7) })
    assert.deepEqual([many.length, many.at(-1)], [201, 'and 100 more'])
    assert.equal(await readWholeCatalog('production-eu'), before)
  })

  test('an unknown subcommand is a usage error', async () => {
    const file = await writeCatalog({ format })
    const cases: [string[], RegExp][] = [
      [['import'], /Missing required argument 'file'/],
      [['import', file, '--cell', 'moon'], /--cell must be one of/],
      [['import', join(folder, 'none'), '--cell', 'sandbox-us'], /cannot be read \(ENOENT\)/],
      [['export', '--cell', 'nowhere'], /--cell must be one of/],
      [['export', '--color', 'red'], /color/],
    ]
    for (const [words, reason] of cases)
      await assert.rejects(
        run(...words),
        (error: unknown) => error instanceof Error && reason.test(error.message),
        words.join(' '),
      )
  })
})
