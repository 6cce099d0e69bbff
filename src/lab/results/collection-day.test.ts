// Days, times and ages of results are those of the place of collection.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { address, createOrder, patient } from '../../../test/support/orders.ts'
import { readPdf, skipWithoutPdfTools } from '../../../test/support/pdf-reader.ts'
import { atLab, deliver, numeric, report, getResult, unorderedResult } from '../../../test/support/reports.ts'
import { createTestTeam } from '../../../test/support/server.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'
import { updateOrder } from '../orders/change-order.ts'

const skip = skipWithoutPdfTools
/** An evening in Phoenix, the day before a birthday; the next day in UTC. */
const evening = { collected_at: '2026-11-20T03:30:00+00:00', received_at: null, reported_at: '2026-11-22T05:00:00+00:00' }
const born = { ...patient, dob: '1990-11-20' }

test('the age of a result is that on the day of collection at the place of collection', async () => {
  const ageIn = async (patient_address: Record<string, unknown>, times: Parameters<typeof report>[1] = evening) => {
    const { team, order, expected } = await atLab({ patient_details: born, patient_address })
    await deliver(
      team,
      order.id,
      report(
        expected.map((item) => numeric(item)),
        times,
      ),
    )
    return (await getResult(team, order.id)).body.metadata.age
  }
  assert.equal(await ageIn(address), '35')
  assert.equal(await ageIn(address, { ...evening, collected_at: '2026-11-20T07:00:00Z' }), '36')
  assert.equal(
    await ageIn(
      { ...address, city: 'Honolulu', state: 'HI', zip: '96813' },
      { ...evening, collected_at: '2026-11-20T09:30:00Z' },
    ),
    '35',
  )
  // Of a place that is not known, the offset of the laboratory's time tells the day.
  const unknown = { ...address, zip: '00000' }
  assert.equal(await ageIn(unknown, { ...evening, collected_at: '2026-11-19T20:30:00-07:00' }), '35')
})

test('results are expected on days that are counted from the day of collection there', async () => {
  const expectedIn = async (patient_address: Record<string, unknown>) => {
    const team = await createTestTeam()
    const { id, lab_test } = await createOrder(team, { patient_address })
    await team.db.tx(team.tenant, (tx) => updateOrder(tx, id, (order) => order.setCollectedAt(new Date(evening.collected_at))))
    const { expected_result_by_date: common, worst_case_result_by_date: worst } = (await team.api.get(`/v3/order/${id}`)).body
    const days = (text: string) => (Date.parse(text) - Date.parse('2026-11-19')) / DAY_MS
    return [days(common) - lab_test.common_tat_days!, days(worst) - lab_test.worst_case_tat_days!]
  }
  assert.deepEqual(await expectedIn(address), [0, 0])
  // Nothing is known of this place: it is a day in UTC.
  assert.deepEqual(await expectedIn({ ...address, zip: '00000' }), [1, 1])
})

test('of ranges by age the one counts that holds on the day of collection there', async () => {
  const { team, order } = await atLab({ patient_details: { ...patient, dob: '1966-11-20' } })
  const reference_range = '18-59 years: 40-120; 60 years and above: 40-150'
  await deliver(team, order.id, report([unorderedResult('phosphatase', { result: '130', reference_range })], evening))
  const { body } = await getResult(team, order.id)
  assert.deepEqual([body.metadata.age, body.results[0].max_range_value, body.results[0].interpretation], ['59', 120, 'abnormal'])
})

test('the PDF of a result has days and times of the place of collection, with its zone', { skip }, async () => {
  const { team, order, expected } = await atLab({ patient_details: born })
  await deliver(
    team,
    order.id,
    report(
      expected.map((item) => numeric(item)),
      evening,
    ),
  )
  const { text } = readPdf((await team.api.get(`/v3/order/${order.id}/result/pdf`)).body as Uint8Array)
  for (const words of [/Collected +Nov 19, 2026 20:30 MST/, /Reported +Nov 21, 2026 22:00 MST/, /Nov 20, 1990 \(age 35\)/])
    assert.match(text, words)
  assert.doesNotMatch(text, /UTC/)
  const whole = await team.api.get(`/v3/order_transaction/${order.order_transaction.id}/result/pdf`)
  assert.match(readPdf(whole.body as Uint8Array).text, /Collected +Nov 19, 2026 20:30 MST/)
})
