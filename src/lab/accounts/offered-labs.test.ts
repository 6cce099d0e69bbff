// Laboratories of production cells: the fictional ones that come with the program are named nowhere, and an identity of the operator is
// printed everywhere.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { command } from '../../../test/support/commands.ts'
import { assertOk, finalReport, orderAtLab, production, staffAction, createTestWith } from '../../../test/support/fulfillment.ts'
import { createOrder, orderBody, shipping } from '../../../test/support/orders.ts'
import { readPdf, skipWithoutPdfTools } from '../../../test/support/pdf-reader.ts'
import { labId } from '../../../test/support/psc-sites.ts'
import { cells, type TestTeam } from '../../../test/support/server.ts'
import { contents } from '../../app/contents.ts'
import { sql } from '../../platform/db/sql.ts'
import { T } from '../../platform/schema/schema.ts'
import { labRows } from '../catalog/data-files.ts'
import { writeLabs } from '../catalog/load.ts'

const CELL = 'production-us'
const folder = mkdtempSync(join(tmpdir(), 'offered-labs-'))
after(() => rmSync(folder, { recursive: true }))
const db = cells.db(CELL)
const lab = (...words: string[]) => command(cells, ['lab', ...words, '--cell', CELL])
const identityOptions = [
  '--name=Harbor Light Laboratory',
  '--address=7 Beacon Road',
  '--city=Fictionville',
  '--state=arizona',
  '--zip=85004',
  '--clia=99d0000017',
  '--director=Dora Example, MD',
]
const setManual = () => lab('identity', 'set', 'manual', ...identityOptions)
const refusal = {
  detail:
    'The identity of laboratory manual is not set. The operator sets it with: bin/drawbridge lab identity set manual --cell production-us --name NAME --address STREET --city CITY --state STATE --zip ZIP --clia NUMBER --director NAME',
}
/** The laboratories of the catalog, after a start. */
async function loadWithoutIdentities(): Promise<void> {
  await db.plainTx((tx) => writeLabs(tx, labRows()))
  await contents.loadReferenceData(db, true)
}
const Everything = T.Object({ text: T.String() })

/** A team caches the laboratories for seconds. */
const forgetLabs = ({ team }: TestTeam) => db.plainTx(async (tx) => tx.invalidate(team, 'labs'))

describe('a production cell without identities', () => {
  let team: TestTeam
  let lab_test_id: string
  before(async () => {
    team = await production()
    lab_test_id = await createTestWith(team, 'testkit')
    await loadWithoutIdentities()
    await forgetLabs(team)
  })

  test('stores nothing of the fictional laboratories', async () => {
    const { text } = await db.queries.one(
      Everything,
      sql`
      select concat_ws(' ', (select jsonb_agg(to_jsonb(l)) from lab l), (select jsonb_agg(to_jsonb(s)) from psc_site s),
                            (select jsonb_agg(to_jsonb(d)) from psc_directory_version d)) as text`,
    )
    assert.match(text, /"manual"/)
    for (const word of ['sandbox)', 'Handwritten', 'Nobody', '00D00']) assert(!text.includes(word), word)
  })

  test('offers no laboratory: not in lists, the compendium and areas, and not for lab tests', async () => {
    const get = async (path: string) => assertOk(await team.api.get(path)).body
    assert.deepEqual(await get('/v3/lab_tests/labs'), [])
    assert.equal((await get('/v3/lab_tests/markers')).total, 0)
    assert.deepEqual(await get('/v3/lab_tests'), [])
    assert.deepEqual((await get('/v3/lab_test')).data, [])
    const quest = await labId('quest', CELL)
    assert.equal((await team.api.get(`/v3/lab_tests/${quest}/markers/Q55122`)).status, 404)
    assert.deepEqual((await get('/v3/order/area/info?zip_code=85004&labs=quest&labs=labcorp')).central_labs, {})
    assert.equal((await team.api.get(`/v3/order/psc/info?zip_code=85004&lab_id=${quest}`)).status, 422)
    const search = assertOk(await team.api.post('/v3/compendium/search', { mode: 'canonical', query: 'TSH' })).body
    assert.deepEqual(search.canonical_candidates, [])
    const body = { name: 'Sugar', method: 'testkit', description: 'One marker.', lab_slug: 'manual', provider_ids: ['MAN-A1C'] }
    const created = await team.api.post('/v3/lab_tests', body)
    assert.deepEqual([created.status, created.body], [400, refusal])
  })

  test('refuses orders, kits and imports with the command that sets the identity, and accepts them once it is set', async () => {
    const order = await orderBody(team, { lab_test_id })
    const rejected = await team.api.post('/v3/order', order)
    assert.deepEqual([rejected.status, rejected.body], [400, refusal])
    const kit = { user_id: order.user_id, lab_test_id, shipping_details: shipping }
    assert.deepEqual((await team.api.post('/v3/order/testkit', kit)).body, refusal)
    const imported = await team.api.post('/v3/order/import', {
      user_id: order.user_id,
      billing_type: 'client_bill',
      order_set: { lab_test_ids: [lab_test_id] },
      collection_method: 'testkit',
      patient_details: order.patient_details,
      patient_address: { ...(order.patient_address as object), receiver_name: 'Testa' },
      sample_id: 'FICTIONAL-0009',
    })
    assert.deepEqual([imported.status, imported.body], [400, refusal])
    assert.deepEqual(await team.events(), [])

    assert.match(await setManual(), /^Harbor Light Laboratory: identity set/)
    // Another process has set it: the cached state rejects no order.
    assert.equal((await createOrder(team, { lab_test_id })).lab_test.lab!.name, 'Harbor Light Laboratory')
    await forgetLabs(team)
    const labs = assertOk(await team.api.get('/v3/lab_tests/labs')).body
    assert.deepEqual(labs, [{ ...labs[0], slug: 'manual', name: 'Harbor Light Laboratory', first_line_address: '7 Beacon Road' }])
  })

  test('refuses a report of an order from before, which would be printed without a laboratory', async () => {
    await setManual()
    const order = await orderAtLab(team)
    await db.queries.run(sql`update lab set medical_director = null where slug = 'manual'`)
    await forgetLabs(team)
    const rejected = await staffAction(team, order, 'result', finalReport)
    assert.deepEqual([rejected.status, rejected.body], [400, refusal])
    await setManual()
    assertOk(await staffAction(team, order, 'result', finalReport))
  })
})

describe('the identity of a laboratory', () => {
  const rejected = async (words: string[], reason: RegExp) =>
    assert.rejects(lab('identity', 'set', ...words), (error: unknown) => error instanceof Error && reason.test(error.message))
  const ihd = ['ihd', ...identityOptions]

  test('must be whole, real, and written as its country writes it', async () => {
    await loadWithoutIdentities()
    await rejected(
      ['ihd', '--name', 'IHD', '--city', 'Fictionville'],
      /needs --address, --zip, --clia or --accreditation, --director/,
    )
    await rejected(['ihd', ...identityOptions.slice(2)], /needs --name/)
    await rejected([...ihd, '--director', 'Kay Makebelieve, PhD'], /medical_director of laboratory ihd is that of the fictional/)
    await rejected([...ihd, '--name', 'Anything (sandbox)'], /name of laboratory ihd is that of the fictional/)
    await rejected([...ihd, '--clia', '99D00'], /--clia must be/)
    await rejected([...ihd, '--state', 'Bavaria'], /--state must be a US state/)
    await rejected([...ihd, '--zip', '8500'], /--zip must be a postal code of United States/)
    await rejected([...ihd, '--country', 'Atlantis'], /--country must be/)
    await rejected([...ihd, '--name', 'Two\nLines'], /in one line/)
    await rejected(['ihd'], /At least one part/)
    await rejected(['no_such_lab', ...identityOptions], /Lab not found/)
    await assert.rejects(command(cells, ['lab', 'identity', 'set', ...ihd, '--cell', 'sandbox-us']), /must be a production cell/)
    assert.match(await lab('list'), /^ihd +identity not set +1 accounts +IHD$/m)
    const german = [
      '--country',
      'DE',
      '--state',
      'none',
      '--zip',
      '10115',
      '--clia',
      'none',
      '--accreditation',
      'DAkkS D-ML-00000-00-00',
    ]
    await lab('identity', 'set', ...ihd, ...german)
    const shown = JSON.parse(await lab('identity', 'show', 'ihd'))
    assert.deepEqual(
      [shown.country, shown.state, shown.clia, shown.accreditation],
      ['Germany', '', null, 'DAkkS D-ML-00000-00-00'],
    )
    assert.match(await lab('list'), /^ihd +identity set +1 accounts +Harbor Light Laboratory$/m)
    await lab('identity', 'set', 'ihd', '--director', 'Edda Example, MD')
    assert.equal(JSON.parse(await lab('identity', 'show', 'ihd')).name, 'Harbor Light Laboratory')
  })

  test('is printed on every document and named in results', { skip: skipWithoutPdfTools }, async () => {
    await setManual()
    await lab('identity', 'set', 'manual', '--accreditation', 'CAP 0000000')
    const team = await production()
    const order = await orderAtLab(team)
    assertOk(await staffAction(team, order, 'result', finalReport))
    const pdf = async (path: string) =>
      readPdf(assertOk(await team.api.get(`/v3/order/${order.id}/${path}`)).body as Uint8Array).text
    const head = ['Harbor Light Laboratory', '7 Beacon Road, Fictionville, AZ 85004']
    const accredited = /CLIA 99D0000017 +\| +CAP 0000000/
    const [requisition, report] = [await pdf('requisition/pdf'), await pdf('result/pdf')]
    for (const text of [requisition, report]) {
      for (const words of head) assert(text.includes(words), text)
      assert.match(text, accredited)
    }
    assert.match(report, /Medical director: Dora Example, MD/)
    const { metadata, sample_information } = assertOk(await team.api.get(`/v3/order/${order.id}/result`)).body
    assert.deepEqual([metadata.laboratory, metadata.clia_number], ['Harbor Light Laboratory', '99D0000017'])
    const [sample] = Object.values(sample_information) as { performing_laboratories: Record<string, object> }[]
    assert.deepEqual(sample!.performing_laboratories.manual, {
      name: 'Harbor Light Laboratory',
      phone_number: null,
      medical_director: 'Dora Example, MD',
      clia_number: '99D0000017',
      accreditation: 'CAP 0000000',
      address: {
        first_line: '7 Beacon Road',
        second_line: null,
        city: 'Fictionville',
        state: 'AZ',
        zip: '85004',
        country: 'United States',
        access_notes: null,
      },
    })
  })
})

describe('a production order at a laboratory without an account', () => {
  test('is refused with the command that creates the account, or links an account of the organization', async () => {
    await setManual()
    const team = await production()
    const lab_test_id = await createTestWith(team, 'testkit')
    await db.queries.run(
      sql`delete from lab_account where org_id is null and lab_id = (select id from lab where slug = 'manual')`,
    )
    const other = await production()
    const accounts = (...words: string[]) => command(cells, ['lab-account', ...words, '--cell', CELL])
    const attempt = async () => (await team.api.post('/v3/order', await orderBody(team, { lab_test_id }))).body
    const create = 'bin/drawbridge lab-account create --cell production-us --lab manual --account NUMBER'
    await db.plainTx(async (tx) => tx.invalidate(team.team, 'lab accounts'))
    assert.deepEqual(await attempt(), { detail: `No lab account exists for this lab. The operator creates one with: ${create}` })
    assert.deepEqual(
      (await other.api.get('/v3/lab_tests/labs')).body.filter(({ slug }: { slug: string }) => slug === 'manual'),
      [],
    )
    const printed = await accounts('create', '--lab', 'manual', '--account', 'F-1', '--org', team.org_id)
    const id = /[0-9a-f-]{36}/.exec(printed)![0]
    const link = `bin/drawbridge lab-account update ${id} --cell production-us --team ${team.team}`
    assert.deepEqual(await attempt(), {
      detail: `No lab account for this lab is linked to the team. The operator links one with: ${link}`,
    })
    await accounts('update', id, '--team', team.team)
    assert.equal((await attempt()).order.lab_account_id, id)
  })
})
