import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readCatalogRows } from '../catalog/data-files.ts'
import { updateAccount } from '../accounts/accounts.ts'
import { updateOrder } from '../orders/change-order.ts'
import { collectedSpecimens, printedSpecimen } from './containers.ts'
import { labAccount } from '../../../test/support/lab-accounts.ts'
import { address, patient, createOrder, orderWithRequisition, proxy } from '../../../test/support/orders.ts'
import { readPdfReply, skipWithoutPdfTools } from '../../../test/support/pdf-reader.ts'
import { client, createTestTeam } from '../../../test/support/server.ts'

const COLLECTED = 'collection_date=2030-01-02T09:30:00-08:00'
const skip = skipWithoutPdfTools

const physician = { first_name: 'Ada', last_name: 'Example', npi: '1234567893', email: 'ada@example.com' }

describe('requisitions', { skip }, () => {
  test('a requisition names patient, tests, physician and account, and its barcode is the sample id', async () => {
    const team = await createTestTeam()
    const order = await orderWithRequisition(team, 'walk_in_test', {
      physician,
      priority: true,
      icd_codes: ['E11.9', 'R73.03'],
      clinical_notes: 'Veins are hard to find.\nPrefers the left arm.',
    })
    const reply = await team.api.get(`/v3/order/${order.id}/requisition/pdf`)
    assert.equal(reply.headers.get('content-disposition'), `attachment; filename="${order.sample_id}.pdf"`)
    const { pages, text, size, barcodes } = readPdfReply(reply)
    assert.deepEqual([pages.length, size], [1, '612 x 792'])
    for (const words of [
      'LABORATORY REQUISITION',
      order.lab_test.lab!.name,
      'STAT',
      'Fictional, Testa',
      /Date of birth +01\/31\/1990/,
      /Phone +\+15550100199/,
      '1 Sample Way, Phoenix, AZ 85004',
      /Account +1234567890/,
      /Physician +Ada Example/,
      /NPI +1234567893/,
      /E-mail +ada@example\.com/,
      /Collection +Walk in test/,
      /Fasting +Required/,
      /Bill to +Client \(account\)/,
      /Insurance +None given/,
      'A: E11.9 Type 2 diabetes mellitus without complications',
      'B: R73.03 Prediabetes',
      'Signature of the ordering physician',
      'Veins are hard to find.',
      'Prefers the left arm.',
      'Collection date (MM/DD/YYYY)',
      'Sandbox: not for clinical use',
    ])
      assert(typeof words === 'string' ? text.includes(words) : words.test(text), String(words))
    const { markers } = (await team.api.get(`/v3/lab_tests/${order.lab_test.id}`)).body
    const lines = pages[0]!.split('\n').map((line) => line.trim().split(/ {2,}/))
    for (const { name, provider_id } of markers) {
      const [, test, collected, pointers] = lines.find(([code]) => code === provider_id) ?? assert.fail(name)
      assert(name.startsWith(test), name)
      assert.match(collected!, /^(Serum: gold \(SST\)|Whole blood: lavender \(EDTA\))$/)
      assert.equal(pointers, 'A, B')
    }
    assert.deepEqual(barcodes(1, 150), [`CODE-128:${order.sample_id}`])
  })

  test('a requisition says for each test which specimen and container it needs, and names an ordering physician', async () => {
    const team = await createTestTeam()
    const { markers } = (await team.api.get('/v3/lab_tests/markers?size=100&lab_slug=quest')).body
    const named = [
      'hemoglobin-a1c',
      'lipid-panel-standard',
      'comprehensive-metabolic-panel',
      'cbc-with-differential-and-platelets',
    ]
    const marker_ids = named.map((slug) => markers.find((marker: { slug: string }) => marker.slug === slug).id)
    const order_set = { add_on: { marker_ids } }
    const created = await createOrder(team, { order_set, collection_method: 'walk_in_test' })
    await team.api.post(`/v3/order/${created.id}/test?final_status=received.walk_in_test.requisition_created`)
    await team.settle()
    const { text } = readPdfReply(await team.api.get(`/v3/order/${created.id}/requisition/pdf`))
    assert.match(text, /Hemoglobin A1c +Whole blood: lavender \(EDTA\)/)
    assert.match(text, /CBC with Differential and \S* *Whole blood: lavender \(EDTA\)/)
    assert.match(text, /Lipid Panel, Standard +Serum: gold \(SST\)/)
    assert.match(text, /Sample +(Whole blood, serum|Serum, whole blood)/)
    assert.match(text, /Physician +Medica Fictional/)
    assert.match(text, /NPI +0000000000/)
  })

  test('every analyte of the catalog has a container, and a kit has its own', () => {
    const walkIn = { method: 'walk_in_test', sample_type: 'serum' } as const
    for (const { slug, definition } of readCatalogRows().analytes) {
      const expected = [{ slug, definition, name: slug, loinc: null, loinc_name: null, required: true }]
      assert.match(printedSpecimen(collectedSpecimens({ expected }, walkIn)[0]!), /^[A-Z][a-z ]+: .+/, slug)
      const kit = { method: 'testkit', sample_type: 'dried_blood_spot' } as const
      assert.deepEqual(collectedSpecimens({ expected }, kit).map(printedSpecimen), ['Dried blood spot: from the kit'])
    }
    assert.deepEqual(collectedSpecimens({ expected: [] }, walkIn), [])
  })

  test('a requisition prints both names of the patient, even if they are long, and the guardian of a minor', async () => {
    const team = await createTestTeam()
    const names = { first_name: 'M'.repeat(50), last_name: 'W'.repeat(50) }
    const patient_details = { ...patient, ...names, dob: '2020-01-31', medical_proxy: proxy }
    const order = await orderWithRequisition(team, 'walk_in_test', { patient_details })
    const { pages } = readPdfReply(await team.api.get(`/v3/order/${order.id}/requisition/pdf`))
    const [box] = pages[0]!.split('Date of birth')
    for (const run of [/W{3,}/g, /M{3,}/g]) assert.equal(box!.match(run)!.join('').length, 50, box)
    assert.match(pages[0]!, /Guardian +Guarda Fictional, \+15550100198/)
  })

  test('a requisition prints the notes of the account, then the notes of the order', async () => {
    const team = await createTestTeam()
    const account = await labAccount(team, { lab: 'quest', provider_account_id: 'FICTIONAL-77' })
    await team.db.plainTx((tx) => updateAccount(tx, account, { default_clinical_notes: 'Call with critical values.' }))
    const { id } = await orderWithRequisition(team, 'walk_in_test', { clinical_notes: 'First visit.' })
    const { text } = readPdfReply(await team.api.get(`/v3/order/${id}/requisition/pdf`))
    assert.match(text, /Call with critical values\.\s+First visit\./)
    assert.match(text, /Account +FICTIONAL-77/)
  })

  test('a requisition has no notes for a laboratory that does not accept notes', async () => {
    const team = await createTestTeam()
    const { id } = await orderWithRequisition(team, 'testkit', { clinical_notes: 'First visit.' })
    assert.doesNotMatch(readPdfReply(await team.api.get(`/v3/order/${id}/requisition/pdf`)).text, /First visit/)
  })

  test("a requisition prints every answer in the laboratory's words", async () => {
    const team = await createTestTeam()
    const { markers } = (await team.api.get('/v3/lab_tests/markers?size=100&lab_slug=quest')).body
    const questions = (m: { aoe: { questions: unknown[] } | null }) => m.aoe?.questions ?? []
    assert(markers.some((m: never) => questions(m).length))
    const lab_test_id = await team.test('walk_in_test')
    const asked = (await team.api.get(`/v3/lab_tests/${lab_test_id}`)).body.markers.find((m: never) => questions(m).length)
    const { id: question_id } = asked.aoe.questions[0]
    const aoe_answers = [{ marker_id: asked.id, question_id, answer: 'N' }]
    const { id } = await orderWithRequisition(team, 'walk_in_test', { aoe_answers })
    assert.match(readPdfReply(await team.api.get(`/v3/order/${id}/requisition/pdf`)).text, /Fasting\? +No /)
  })

  test('a long requisition continues on more pages, each with the patient and the sample id', async () => {
    const team = await createTestTeam()
    const lines = Array.from({ length: 58 }, (_, i) => `Remark ${i}.`)
    const order = await orderWithRequisition(team, 'walk_in_test', { clinical_notes: lines.join('\n') })
    const { pages, text } = readPdfReply(await team.api.get(`/v3/order/${order.id}/requisition/pdf`))
    assert.equal(pages.length, 2)
    for (const line of lines) assert(text.includes(line), line)
    for (const [index, page] of pages.entries()) {
      assert(page.includes(`Page ${index + 1} of 2`))
      assert(page.includes('Fictional, Testa') && page.includes(order.sample_id!))
    }
  })

  test('a requisition prints the longest names and addresses in full, the names on each page', async () => {
    const team = await createTestTeam()
    const first_name = 'Maximiliana-Alexandrina-Theodora-Wilhelmina-Testa'
    const last_name = 'Wolfeschlegelsteinhausenbergerdorff-Fictional-Test'
    const order = await orderWithRequisition(team, 'walk_in_test', {
      clinical_notes: Array.from({ length: 58 }, (_, i) => `Remark ${i}.`).join('\n'),
      patient_details: { ...patient, first_name, last_name },
      patient_address: {
        ...address,
        first_line: '12345 Extraordinarily Long Boulevard of the Fictional Settlers, Northwest',
        second_line: 'Building 1234, Apartment 56789, Second Floor',
      },
    })
    const { pages } = readPdfReply(await team.api.get(`/v3/order/${order.id}/requisition/pdf`))
    assert.equal(pages.length, 2)
    const joined = pages.map((page) => page.replace(/ {3,}.*$/gm, '').replaceAll(/\s+/g, ''))
    assert(joined[1]!.includes(`${last_name},${first_name}`), pages[1])
    assert(pages[1]!.split('Remark')[0]!.includes(order.sample_id!), pages[1])
    assert(pages[0]!.includes(`${address.state} ${address.zip}`), pages[0])
  })

  test('the document properties of a requisition do not name the patient', async () => {
    const team = await createTestTeam()
    const { id } = await orderWithRequisition(team, 'walk_in_test')
    assert.doesNotMatch(readPdfReply(await team.api.get(`/v3/order/${id}/requisition/pdf`)).properties, /Testa|1990/)
  })
})

test('an order has no requisition before it is created, if it was imported, or if it is unknown', async () => {
  const team = await createTestTeam()
  const { id } = await createOrder(team)
  const none = { detail: 'This order has no requisition' }
  assert.deepEqual((await team.api.get(`/v3/order/${id}/requisition/pdf`)).body, none)
  const imported = await team.api.post('/v3/order/import', {
    user_id: await team.user(),
    billing_type: 'client_bill',
    order_set: { lab_test_ids: [await team.test()] },
    collection_method: 'testkit',
    patient_details: patient,
    patient_address: { ...address, receiver_name: 'Testa Fictional' },
    sample_id: 'FICTIONAL-77',
  })
  const reply = await team.api.get(`/v3/order/${imported.body.order.id}/requisition/pdf`)
  assert.deepEqual([reply.status, reply.body], [404, none])
  assert.equal((await team.api.get(`/v3/order/${imported.body.order.id}/labels/pdf?${COLLECTED}`)).status, 200)
  const nobody = await team.api.get('/v3/order/01890000-0000-7000-8000-000000000000/requisition/pdf')
  assert.deepEqual([nobody.status, nobody.body], [404, { detail: 'Order not found' }])
})

describe('collection instructions', () => {
  test('the instructions of a kit explain how to take and send the sample', { skip }, async () => {
    const team = await createTestTeam()
    const { text } = readPdfReply(await team.api.get(`/v3/lab_test/${await team.test()}/collection_instruction_pdf`))
    for (const words of [
      'Heart and Metabolic Kit',
      'Fasting',
      'Before you begin',
      'Blood spots from the finger',
      'Sending it back',
    ])
      assert(text.includes(words), words)
  })

  test('the instructions of an order are the instructions of its test, with the sample id', { skip }, async () => {
    const team = await createTestTeam()
    const order = await orderWithRequisition(team, 'testkit')
    const { text, barcodes } = readPdfReply(await team.api.get(`/v3/order/${order.id}/collection_instruction_pdf`))
    assert(text.includes('Blood spots from the finger'))
    assert.deepEqual(barcodes(1, 150), [`CODE-128:${order.sample_id}`])
  })

  test('a test without collection instructions returns 404', async () => {
    const team = await createTestTeam()
    const lab_test_id = await team.test('walk_in_test')
    const { id } = await createOrder(team, { lab_test_id })
    for (const path of [`lab_test/${lab_test_id}`, `order/${id}`]) {
      const reply = await team.api.get(`/v3/${path}/collection_instruction_pdf`)
      assert.deepEqual([reply.status, reply.body], [404, { detail: 'There are no collection instructions' }])
    }
  })
})

describe('advance beneficiary notices', () => {
  test("a notice has the form's fields for each test", { skip }, async () => {
    const team = await createTestTeam()
    const { id } = await createOrder(team, { icd_codes: ['E11.9'] })
    await team.db.tx(team.tenant, (tx) => updateOrder(tx, id, (lockedOrder) => void (lockedOrder.order.has_abn = true)))
    const { text, pages } = readPdfReply(await team.api.get(`/v3/order/${id}/abn_pdf`))
    assert.equal(pages.length, 1)
    for (const words of ['A. Notifier: ', 'B. Patient name: Testa Fictional', `C. Identification number: ${id}`, 'D. TESTS'])
      assert(text.includes(words), words)
    for (const words of ['OPTION 1.', 'OPTION 2.', 'OPTION 3.', 'I. Signature', 'J. Date', 'diagnosis E11.9'])
      assert(text.includes(words), words)
    const { markers } = (await team.api.get(`/v3/lab_tests/${await team.test()}`)).body
    for (const { price } of markers) assert(text.includes(`$${Number(price).toFixed(2)}`), price)
  })

  test('an order has no notice unless the laboratory requires one', async () => {
    const team = await createTestTeam()
    const reply = await team.api.get(`/v3/order/${(await createOrder(team)).id}/abn_pdf`)
    assert.deepEqual([reply.status, reply.body], [404, { detail: 'This order has no advance beneficiary notice' }])
  })
})

test(
  'documents are tagged, say their language and title, embed their fonts, and print Greek and Cyrillic',
  { skip },
  async () => {
    const team = await createTestTeam()
    const order = await orderWithRequisition(team, 'walk_in_test', {
      physician: { ...physician, first_name: 'Ελένη', last_name: 'Жукова' },
      patient_address: { ...address, first_line: 'Łódź Straße 1' },
      clinical_notes: 'β-blocker, ≤ 5 µg; 10⁹ cells',
    })
    const { text, properties, structure, fonts, language } = readPdfReply(
      await team.api.get(`/v3/order/${order.id}/requisition/pdf`),
    )
    for (const words of ['Ελένη Жукова', 'Łódź Straße 1', 'β-blocker, ≤ 5 µg; 10⁹ cells']) assert(text.includes(words), words)
    assert.match(properties, /Title: +Laboratory requisition/)
    assert.match(properties, /Tagged: +yes/)
    assert.equal(language, 'en-US')
    for (const name of ['Figure', 'H1', 'H2', 'L', 'LI', 'Lbl', 'LBody', 'P', 'Table', 'TD', 'TH', 'TR'])
      assert(structure.includes(name), name)
    assert(fonts.every(({ name, embedded }) => /^[A-Z]{6}\+Arimo-/.test(name) && embedded))
  },
)

test('documents of a cell in the European Union are printed on A4', { skip }, async () => {
  const team = await createTestTeam('sandbox-eu')
  const patient_address = { first_line: 'Musterstraße 1', city: 'Köln', zip: '50667', country: 'DE' }
  const order = await orderWithRequisition(team, 'walk_in_test', { patient_address })
  const { size, text, barcodes } = readPdfReply(await team.api.get(`/v3/order/${order.id}/requisition/pdf`))
  assert.equal(size, '595.28 x 841.89')
  for (const words of ['Musterstraße 1, Köln, 50667', '1990-01-31 (age', 'Collection date (YYYY-MM-DD)'])
    assert(text.includes(words), words)
  const label = readPdfReply(await team.api.get(`/v3/order/${order.id}/labels/pdf?${COLLECTED}`)).text
  assert.match(label, /DOB 1990-01-31[^]*Coll 2030-01-02 \d\d:30/)
  assert.deepEqual(barcodes(1, 150), [`CODE-128:${order.sample_id}`])
})

test('documents of another team return 404', async () => {
  const [mine, theirs] = [await createTestTeam(), await createTestTeam()]
  const { id } = await orderWithRequisition(theirs, 'walk_in_test')
  for (const path of ['requisition/pdf', `labels/pdf?${COLLECTED}`, 'abn_pdf', 'collection_instruction_pdf'])
    assert.equal((await mine.api.get(`/v3/order/${id}/${path}`)).status, 404)
  assert.equal((await client(undefined).get(`/v3/order/${id}/requisition/pdf`)).status, 401)
})
