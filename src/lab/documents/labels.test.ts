import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { address, patient, createOrder, orderWithRequisition } from '../../../test/support/orders.ts'
import { readPdfReply, skipWithoutPdfTools } from '../../../test/support/pdf-reader.ts'
import { createTestTeam } from '../../../test/support/server.ts'

const COLLECTED = 'collection_date=2030-01-02T09:30:00-08:00'
const skip = skipWithoutPdfTools

describe('labels', () => {
  test(
    "labels have the size for label printers, the laboratory's required data, and a barcode with a printable resolution",
    { skip },
    async () => {
      const team = await createTestTeam()
      const order = await orderWithRequisition(team, 'walk_in_test')
      const { pages, size, barcodes } = readPdfReply(await team.api.get(`/v3/order/${order.id}/labels/pdf?${COLLECTED}`))
      assert.deepEqual([pages.length, size], [3, '162 x 90'])
      for (const [index, page] of pages.entries()) {
        for (const words of [
          'Fictional, Testa',
          'DOB 01/31/1990',
          'Acct 1234567890',
          order.sample_id!,
          'Coll 01/02/2030 10:30 MST',
          'Init',
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
      const [page] = readPdfReply(await team.api.get(`/v3/order/${order.id}/labels/pdf?${COLLECTED}`)).pages
      for (const name of [first_name, last_name]) assert(page!.includes(name), name)
      assert(!page!.includes('…'), page)
    }
  })

  test('labels print the collection time in the time zone of the collection site', { skip }, async () => {
    const team = await createTestTeam()
    const collectedAt = async (id: string) =>
      /Coll (.*?)(?: +Init.*)?$/m.exec(readPdfReply(await team.api.get(`/v3/order/${id}/labels/pdf?${COLLECTED}`)).pages[0]!)![1]
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

  test('a collection date without a time is a day at the collection site, not the evening before', { skip }, async () => {
    const team = await createTestTeam()
    const { id } = await orderWithRequisition(team, 'walk_in_test')
    for (const day of ['2030-01-02', '2030-01-02T00:00:00.000Z', '2030-01-02T00:00:00%2B00:00']) {
      const [page] = readPdfReply(await team.api.get(`/v3/order/${id}/labels/pdf?collection_date=${day}`)).pages
      assert.match(page!, /Coll 01\/02\/2030 +Init/, day)
    }
  })

  test('the number of labels is that of the request', { skip }, async () => {
    const team = await createTestTeam()
    const { id } = await orderWithRequisition(team, 'walk_in_test')
    const path = `/v3/order/${id}/labels/pdf?${COLLECTED}`
    for (const count of [1, 50])
      assert.equal(readPdfReply(await team.api.get(`${path}&number_of_labels=${count}`)).pages.length, count)
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
