import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { updateAccount } from '../accounts/accounts.ts'
import { updateOrder } from '../orders/change-order.ts'
import { labAccount } from '../../../test/support/lab-accounts.ts'
import { address, patient, createOrder, orderWithRequisition } from '../../../test/support/orders.ts'
import { readPdf, skipWithoutPdfTools, type ReadPdf } from '../../../test/support/pdf-reader.ts'
import { client, createTestTeam, type Reply } from '../../../test/support/server.ts'

const COLLECTED = 'collection_date=2030-01-02T09:30:00-08:00'
const skip = skipWithoutPdfTools

const pdfOf = (reply: Reply): ReadPdf => {
  assert.equal(reply.status, 200)
  assert.equal(reply.headers.get('content-type'), 'application/pdf')
  return readPdf(reply.body as Uint8Array)
}

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
    const { pages, text, size, barcodes } = pdfOf(reply)
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
      'E11.9, R73.03',
      'Veins are hard to find.',
      'Prefers the left arm.',
      'Collection date (MM/DD/YYYY)',
      /Fasting\? +Yes/,
      'Sandbox: not for clinical use',
    ])
      assert(typeof words === 'string' ? text.includes(words) : words.test(text), String(words))
    const { markers } = (await team.api.get(`/v3/lab_tests/${order.lab_test.id}`)).body
    const lines = pages[0]!.split('\n').map((line) => line.trim().split(/ {2,}/))
    for (const { name, provider_id } of markers)
      assert(
        lines.some(([code, test]) => code === provider_id && test === name),
        name,
      )
    assert.deepEqual(barcodes(1, 150), [`CODE-128:${order.sample_id}`])
  })

  test('a requisition prints the notes of the account, then those of the order', async () => {
    const team = await createTestTeam()
    const account = await labAccount(team, { lab: 'quest', provider_account_id: 'FICTIONAL-77' })
    await team.db.plainTx((tx) => updateAccount(tx, account, { default_clinical_notes: 'Call with critical values.' }))
    const { id } = await orderWithRequisition(team, 'walk_in_test', { clinical_notes: 'First visit.' })
    const { text } = pdfOf(await team.api.get(`/v3/order/${id}/requisition/pdf`))
    assert.match(text, /Call with critical values\.\s+First visit\./)
    assert.match(text, /Account +FICTIONAL-77/)
  })

  test('a requisition has no notes for a laboratory that does not accept notes', async () => {
    const team = await createTestTeam()
    const { id } = await orderWithRequisition(team, 'testkit', { clinical_notes: 'First visit.' })
    assert.doesNotMatch(pdfOf(await team.api.get(`/v3/order/${id}/requisition/pdf`)).text, /First visit/)
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
    assert.match(pdfOf(await team.api.get(`/v3/order/${id}/requisition/pdf`)).text, /Fasting\? +No /)
  })

  test('a long requisition continues on more pages, each with the patient and the sample id', async () => {
    const team = await createTestTeam()
    const lines = Array.from({ length: 58 }, (_, i) => `Remark ${i}.`)
    const order = await orderWithRequisition(team, 'walk_in_test', { clinical_notes: lines.join('\n') })
    const { pages, text } = pdfOf(await team.api.get(`/v3/order/${order.id}/requisition/pdf`))
    assert.equal(pages.length, 2)
    for (const line of lines) assert(text.includes(line), line)
    for (const [index, page] of pages.entries()) {
      assert(page.includes(`Page ${index + 1} of 2`))
      assert(page.includes('Fictional, Testa') && page.includes(order.sample_id!))
    }
  })

  test('the document properties of a requisition do not name the patient', async () => {
    const team = await createTestTeam()
    const { id } = await orderWithRequisition(team, 'walk_in_test')
    assert.doesNotMatch(pdfOf(await team.api.get(`/v3/order/${id}/requisition/pdf`)).properties, /Testa|1990/)
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

describe('labels', () => {
  test(
    "labels have the size for label printers, the laboratory's required data, and a barcode with a printable resolution",
    { skip },
    async () => {
      const team = await createTestTeam()
      const order = await orderWithRequisition(team, 'walk_in_test')
      const { pages, size, barcodes } = pdfOf(await team.api.get(`/v3/order/${order.id}/labels/pdf?${COLLECTED}`))
      assert.deepEqual([pages.length, size], [3, '162 x 90'])
      for (const [index, page] of pages.entries()) {
        for (const words of [
          'Fictional, Testa',
          'DOB 01/31/1990',
          'Acct 1234567890',
          order.sample_id!,
          'Coll 01/02/2030 10:30 MST',
        ])
          assert(page.includes(words), words)
        assert(page.includes(`${index + 1}/3`))
        assert.deepEqual(barcodes(index + 1, 203), [`CODE-128:${order.sample_id}`])
      }
    },
  )

  test('labels print both names in full, even if they are long', { skip }, async () => {
    const team = await createTestTeam()
    for (const [first_name, last_name] of [
      ['Testa', 'Fictional-Placeholderson-Sampleton-Exampleby'],
      ['W'.repeat(50), 'M'.repeat(50)],
      ['Testa Annabella Placeholderina Sampletonia', 'Fictional'],
    ] as const) {
      const patient_details = { ...patient, first_name, last_name }
      const order = await orderWithRequisition(team, 'walk_in_test', { patient_details })
      const [page] = pdfOf(await team.api.get(`/v3/order/${order.id}/labels/pdf?${COLLECTED}`)).pages
      for (const name of [first_name, last_name]) assert(page!.includes(name), name)
      assert(!page!.includes('…'), page)
    }
  })

  test('labels print the collection time in the time zone of the collection site', { skip }, async () => {
    const team = await createTestTeam()
    const collectedAt = async (id: string) =>
      /Coll (.*?)(?: +\d\/\d)?$/m.exec(pdfOf(await team.api.get(`/v3/order/${id}/labels/pdf?${COLLECTED}`)).pages[0]!)![1]
    const newYork = { ...address, state: 'NY', city: 'New York', zip: '10001' }
    const { id } = await orderWithRequisition(team, 'walk_in_test', { patient_address: newYork })
    assert.equal(await collectedAt(id), '01/02/2030 12:30 EST')
    const nowhere = await orderWithRequisition(team, 'walk_in_test', { patient_address: { ...address, zip: '00000' } })
    assert.equal(await collectedAt(nowhere.id), '01/02/2030 17:30 UTC')
    const { slots } = (await team.api.post('/v3/order/psc/appointment/availability?lab=quest&zip_code=85004')).body
    const { booking_key } = slots.find((day: { slots: unknown[] }) => day.slots.length).slots[0]
    const booked = await team.api.post(`/v3/order/${id}/psc/appointment/book`, { booking_key })
    assert.equal(booked.status, 200)
    const { iana_timezone: timeZone } = booked.body
    const there = new Date('2030-01-02T17:30:00Z').toLocaleTimeString('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' })
    assert.match((await collectedAt(id))!, new RegExp(`^01/02/2030 ${there} `))
  })

  test('the number of labels is that of the request', { skip }, async () => {
    const team = await createTestTeam()
    const { id } = await orderWithRequisition(team, 'walk_in_test')
    const path = `/v3/order/${id}/labels/pdf?${COLLECTED}`
    for (const count of [1, 50]) assert.equal(pdfOf(await team.api.get(`${path}&number_of_labels=${count}`)).pages.length, count)
  })

  test('labels require a valid number and date, with all field errors at once, and a sample id', async () => {
    const team = await createTestTeam()
    const { id } = await createOrder(team)
    for (const count of [0, 51, -1, 'many']) {
      const { status, body } = await team.api.get(`/v3/order/${id}/labels/pdf?number_of_labels=${count}`)
      assert.equal(status, 422)
      assert.deepEqual(body.detail.map(({ loc }: { loc: string[] }) => loc.join('.')).toSorted(), [
        'query.collection_date',
        'query.number_of_labels',
      ])
    }
    const early = await team.api.get(`/v3/order/${id}/labels/pdf?${COLLECTED}`)
    assert.deepEqual([early.status, early.body], [404, { detail: 'This order has no sample id yet' }])
  })
})

describe('collection instructions', () => {
  test('the instructions of a kit explain how to take and send the sample', { skip }, async () => {
    const team = await createTestTeam()
    const { text } = pdfOf(await team.api.get(`/v3/lab_test/${await team.test()}/collection_instruction_pdf`))
    for (const words of [
      'Heart and Metabolic Kit',
      'Fasting',
      'Before you begin',
      'Blood spots from the finger',
      'Sending it back',
    ])
      assert(text.includes(words), words)
  })

  test('the instructions of an order are those of its test, with the sample id', { skip }, async () => {
    const team = await createTestTeam()
    const order = await orderWithRequisition(team, 'testkit')
    const { text, barcodes } = pdfOf(await team.api.get(`/v3/order/${order.id}/collection_instruction_pdf`))
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
    const { text, pages } = pdfOf(await team.api.get(`/v3/order/${id}/abn_pdf`))
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

test('documents of another team return 404', async () => {
  const [mine, theirs] = [await createTestTeam(), await createTestTeam()]
  const { id } = await orderWithRequisition(theirs, 'walk_in_test')
  for (const path of ['requisition/pdf', `labels/pdf?${COLLECTED}`, 'abn_pdf', 'collection_instruction_pdf'])
    assert.equal((await mine.api.get(`/v3/order/${id}/${path}`)).status, 404)
  assert.equal((await client(undefined).get(`/v3/order/${id}/requisition/pdf`)).status, 401)
})
