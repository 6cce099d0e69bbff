// Reviews: who can read them, and the effect of a decision. Source: lab-testing.md 14.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { SECONDS_PER_DAY, getOrder, advanceClock, patient, createOrder } from '../../../test/support/orders.ts'
import {
  receiveResult,
  deliveryFor,
  reportedPatient,
  createReport,
  acceptedOrder,
  advanceOrder,
} from '../../../test/support/results.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { item, accept, resolve, read, createReview, reviewWithoutPatient } from '../../../test/support/reviews.ts'

const [CREATED, UPDATED] = ['labtest.match_review.created', 'labtest.match_review.updated']

const Body = T.Object({ body: T.String() })
const listReviewEvents = async ({ db, team }: TestTeam, id: string) =>
  (await db.queries.many(Body, sql`select body from event where team_id = ${team} and object_id = ${id} order by id`)).map(
    ({ body }) => JSON.parse(body),
  )

describe('accepting a result', () => {
  test('accepting a result for a completed order corrects the order', async () => {
    const team = await createTestTeam()
    const order = await acceptedOrder(team)
    await receiveResult(team, await deliveryFor(team, order))
    const id = await createReview(team, order)
    const { status, body } = await accept(team, id, { note: 'The laboratory sent it again' })
    assert.deepEqual([status, body.id, body.last_event.status], [200, order.id, 'completed.walk_in_test.corrected'])
    const review = await read(team, id)
    assert.deepEqual(
      [review.status, review.resolution_action, review.resolved_order_id, review.resolved_user_id, review.note],
      ['resolved', 'accept', order.id, order.user_id, 'The laboratory sent it again'],
    )
    assert.deepEqual(review.allowed_actions, [])
    assert(review.reviewed_at)
    const events = await listReviewEvents(team, id)
    assert.deepEqual(
      events.map(({ event_type }) => event_type),
      [CREATED, UPDATED],
    )
    assert.deepEqual(Object.keys(events[1]), ['event_type', 'data', 'team_id'])
    assert.deepEqual(events[1].data, {
      id,
      status: 'resolved',
      decision_code: 'match_completed',
      sub_reason_codes: [],
      resolution_action: 'accept',
      resolved_user_id: order.user_id,
      resolved_order_id: order.id,
    })
  })

  test('accepting a result for a cancelled order creates a new order in its transaction, and later results of the sample match that order', async () => {
    const team = await createTestTeam()
    const order = await advanceOrder(team, await acceptedOrder(team), 'cancelled')
    const report = await createReport(team, order.lab_test.id, { status: 'partial' })
    const id = await createReview(team, order, { report })
    const { status, body } = await accept(team, id)
    assert.equal(status, 200)
    assert.notEqual(body.id, order.id)
    assert.deepEqual([body.origin, body.last_event.status], ['recreation', 'sample_with_lab.walk_in_test.partial_results'])
    assert.deepEqual(body.patient_details, order.patient_details)
    const own = body.order_transaction.orders.find((memberOrder: { id: string }) => memberOrder.id === body.id)
    assert.deepEqual([own.parent_id, body.order_transaction.id], [order.id, order.order_transaction.id])
    assert.equal((await team.api.get(`/v3/order/${body.id}/result`)).body.metadata.status, 'partial')
    assert.deepEqual((await getOrder(team, order.id)).order_transaction, body.order_transaction)
    const further = await receiveResult(team, await deliveryFor(team, order))
    assert.deepEqual([further.status, further.order_id], ['matched', body.id])
    assert.equal((await getOrder(team, body.id)).last_event.status, 'completed.walk_in_test.completed')
  })

  test('accepting a result for an order without a reported draw records the draw', async () => {
    const team = await createTestTeam()
    const order = await acceptedOrder(team, 'at_home_phlebotomy')
    const { body } = await accept(team, await createReview(team, order))
    assert.equal(body.id, order.id)
    assert.deepEqual(
      body.events.slice(-2).map(({ status }: { status: string }) => status),
      ['collecting_sample.at_home_phlebotomy.appointment_scheduled', 'completed.at_home_phlebotomy.completed'],
    )
  })

  test('accepting a result for an order at another laboratory creates an order at the right laboratory and cancels the other', async () => {
    const team = await createTestTeam()
    const order = await acceptedOrder(team)
    const labcorp = (await team.api.get('/v3/lab_tests/labs')).body.find(({ slug }: { slug: string }) => slug === 'labcorp')
    const [marker] = (await team.api.get(`/v3/lab_tests/markers?size=1&lab_id=${labcorp.id}`)).body.markers
    const report = await createReport(team, order.lab_test.id)
    const id = await createReview(team, order, {
      lab_slug: 'labcorp',
      sample_id: 'LABCORPS-OWN',
      report: {
        ...report,
        results: report.results.map((result) => ({ ...result, source_markers: null, provider_id: marker.provider_id })),
      },
    })
    const { status, body } = await accept(team, id)
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual([body.origin, body.lab_test.lab.slug, body.status], ['recreation', 'labcorp', 'completed'])
    const before = await getOrder(team, order.id)
    assert.equal(before.status, 'cancelled')
    assert.deepEqual(before.order_transaction, body.order_transaction)
    assert.equal(body.order_transaction.status, 'completed')
  })

  test('accepting a result without candidates requires a user or an order, and creates an order for a user without one', async () => {
    const team = await createTestTeam()
    const order = await acceptedOrder(team)
    const nobody = { ...reportedPatient, first_name: 'Nobody', last_name: 'Anywhere' }
    const id = await createReview(team, order, { sample_id: null, patient: nobody })
    const refused = await accept(team, id)
    assert.deepEqual([refused.status, refused.body.detail[0].loc], [422, ['body', 'order_id']])
    const user_id = await team.user()
    const { status, body } = await accept(team, id, { user_id })
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual([body.user_id, body.origin, body.status], [user_id, 'initial', 'completed'])
    assert.deepEqual([body.patient_details.last_name, body.patient_details.dob], ['Anywhere', patient.dob])
    assert.deepEqual(await team.events(body.id), ['labtest.order.created', 'labtest.order.updated', 'labtest.order.updated'])
  })

  test('accepting a result with several candidate orders requires order_id, which must belong to the user', async () => {
    const team = await createTestTeam()
    const order = await acceptedOrder(team)
    const second = await acceptedOrder(team, 'walk_in_test', { user_id: order.user_id })
    const id = await createReview(team, order, { sample_id: null })
    assert.equal((await accept(team, id)).status, 422)
    assert.equal((await accept(team, id, { user_id: order.user_id })).status, 422)
    const other = await team.user()
    const foreign = await accept(team, id, { user_id: other, order_id: second.id })
    assert.deepEqual([foreign.status, foreign.body.detail[0].loc], [422, ['body', 'order_id']])
    const { body } = await accept(team, id, { user_id: order.user_id, order_id: second.id })
    assert.deepEqual([body.id, body.status], [second.id, 'completed'])
    assert.equal((await getOrder(team, order.id)).status, 'received')
  })

  test('accepting a result for a user with one candidate order needs no order_id', async () => {
    const team = await createTestTeam()
    const order = await acceptedOrder(team)
    const id = await createReview(team, order, { sample_id: null })
    assert.equal((await accept(team, id, { user_id: order.user_id })).body.id, order.id)
  })

  test('concurrent requests to accept a result succeed once', async () => {
    const team = await createTestTeam()
    const order = await advanceOrder(team, await acceptedOrder(team), 'cancelled')
    const id = await createReview(team, order)
    const replies = await Promise.all([accept(team, id), accept(team, id), accept(team, id)])
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 404, 404])
    assert.equal((await getOrder(team, order.id)).order_transaction.orders.length, 2)
    assert.equal((await resolve(team, id, { action: 'reject' })).status, 404)
  })

  test('accepting an unknown review or one of another team is rejected and changes nothing', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const order = await acceptedOrder(team)
    const id = await createReview(team, order, { sample_id: null })
    const before = await read(team, id)
    assert.equal((await accept(other, id, { order_id: order.id })).status, 404)
    assert.equal((await accept(team, randomUUID())).status, 404)
    assert.equal((await accept(team, id, { order_id: (await createOrder(other)).id })).status, 404)
    assert.equal((await accept(team, id, { user_id: await other.user() })).status, 404)
    assert.equal((await accept(team, id, { order_id: 'nonsense', user_id: 1 })).body.detail.length, 2)
    await team.api.delete(`/v2/user/${order.user_id}`)
    assert.equal((await accept(team, id, { order_id: order.id })).status, 404)
    await team.api.post(`/v2/user/undo_delete?user_id=${order.user_id}`)
    assert.deepEqual(await read(team, id), before)
  })

  test('accepting a partial result for a completed order is rejected', async () => {
    const team = await createTestTeam()
    const order = await acceptedOrder(team)
    await receiveResult(team, await deliveryFor(team, order))
    const report = await createReport(team, order.lab_test.id, { status: 'partial' })
    const id = await createReview(team, order, { report })
    const { status, body } = await accept(team, id)
    assert.equal(status, 422)
    assert.match(body.detail[0].msg, /cannot be applied/)
    assert.equal((await read(team, id)).status, 'pending_customer_review')
  })
})

describe('rejecting a result or referring it to the operator', () => {
  test('rejecting resolves a review, referring it passes it to the operator, and neither can be repeated', async () => {
    const team = await createTestTeam()
    const [first, second] = [await reviewWithoutPatient(team), await reviewWithoutPatient(team)]
    const rejected = await resolve(team, first, { action: 'reject', note: 'Not ours' })
    assert.deepEqual(
      [rejected.body.status, rejected.body.resolution_action, rejected.body.note, rejected.body.allowed_actions],
      ['resolved', 'reject', 'Not ours', []],
    )
    const unsure = await resolve(team, second, { action: 'unsure' })
    assert.deepEqual([unsure.body.status, unsure.body.allowed_actions], ['pending_ops_review', []])
    assert.deepEqual(await team.events(second), [CREATED, UPDATED])
    for (const id of [first, second]) assert.equal((await resolve(team, id, { action: 'reject' })).status, 404)
    assert.equal((await resolve(team, first, { action: 'accept' })).status, 422)
  })
})

describe('the list of reviews', () => {
  const listed = async (team: TestTeam, query = '') => {
    const { status, body } = await team.api.get(`/v3/unmatched_result${query}`)
    assert.equal(status, 200, JSON.stringify(body))
    return body as { data: { id: string }[]; total: number; next_cursor: string | null }
  }
  const ids = async (team: TestTeam, query = '') => (await listed(team, query)).data.map(({ id }) => id)

  test('the list contains open reviews, newest first, in pages, and resolved ones if the status filter asks for them', async () => {
    const team = await createTestTeam()
    const all: string[] = []
    for (let n = 0; n < 4; n++) all.unshift(await reviewWithoutPatient(team))
    await resolve(team, all[0]!, { action: 'reject' })
    await resolve(team, all[1]!, { action: 'unsure' })
    assert.deepEqual(await ids(team), all.slice(1))
    assert.deepEqual(await ids(team, '?status=resolved'), all.slice(0, 1))
    assert.deepEqual(await ids(team, '?status=pending_ops_review'), all.slice(1, 2))
    assert.deepEqual(await ids(team, '?status=pending_customer_review'), all.slice(2))
    const first = await listed(team, '?limit=2')
    assert.deepEqual([first.data.length, first.total], [2, 3])
    const second = await listed(team, `?limit=2&next_cursor=${first.next_cursor}`)
    assert.deepEqual(
      [...first.data, ...second.data].map(({ id }) => id),
      all.slice(1),
    )
    assert.equal(second.next_cursor, null)
    assert.equal((await team.api.get(`/v3/unmatched_result?status=resolved&next_cursor=${first.next_cursor}`)).status, 400)
    assert.equal((await team.api.get('/v3/unmatched_result?status=matched')).status, 422)
  })

  test('the list filters by decision, laboratory, day and patient', async () => {
    const team = await createTestTeam()
    const order = await acceptedOrder(team)
    const known = await createReview(team, order, { sample_id: null })
    const unknownPatient = { ...reportedPatient, first_name: 'Nobody', last_name: 'Any_where', dob: '1970-01-01' }
    const unknown = await createReview(team, order, { sample_id: null, patient: unknownPatient, lab_slug: 'labcorp' })
    assert.deepEqual(await ids(team, '?decision_code=match_demo'), [known])
    assert.deepEqual(await ids(team, '?lab_slug=labcorp'), [unknown])
    for (const [text, found] of Object.entries({
      fictional: [known],
      'TESTA FICTIONAL': [known],
      '1990-01': [known],
      any_w: [unknown],
      anyXw: [],
      '%': [],
      a: [unknown, known],
    }))
      assert.deepEqual(await ids(team, `?search_input=${encodeURIComponent(text)}`), found, text)
    const today = (await read(team, known)).created_at.slice(0, 10)
    assert.deepEqual(await ids(team, `?created_at_start=${today}&created_at_end=${today}`), [unknown, known])
    assert.deepEqual(await ids(team, '?created_at_end=2020-01-01'), [])
    assert.deepEqual(await ids(team, '?created_at_start=2100-01-01'), [])
  })

  test('the list shows candidates with their present status, without erased orders', async () => {
    const team = await createTestTeam()
    const order = await acceptedOrder(team)
    const other = await acceptedOrder(team)
    const id = await createReview(team, order, { sample_id: null })
    assert.equal((await read(team, id)).candidate_groups.length, 2)
    await team.api.post(`/v3/order/${order.id}/cancel`)
    const group = (await read(team, id)).candidate_groups.find(({ user_id }: { user_id: string }) => user_id === order.user_id)
    assert.equal(group.candidates[0].last_status, 'cancelled')
    await team.api.delete(`/v2/user/${other.user_id}`)
    await advanceClock(team, 8 * SECONDS_PER_DAY)
    assert.deepEqual(
      (await read(team, id)).candidate_groups.map(({ user_id }: { user_id: string }) => user_id),
      [order.user_id],
    )
    await team.api.delete(`/v2/user/${order.user_id}`)
  })
})

test('incoming results of a deleted user are erased after the grace period and not before', async () => {
  const team = await createTestTeam()
  const order = await acceptedOrder(team)
  await receiveResult(team, await deliveryFor(team, order))
  const id = await createReview(team, order)
  const other = await reviewWithoutPatient(team)
  const rows = async () =>
    (
      await team.db.queries.one(
        T.Object({ n: T.Integer() }),
        sql`select count(*) as n from raw_result where team_id = ${team.team}`,
      )
    ).n
  await team.api.delete(`/v2/user/${order.user_id}`)
  await advanceClock(team, 6 * SECONDS_PER_DAY)
  assert.equal(await rows(), 3)
  await advanceClock(team, 2 * SECONDS_PER_DAY)
  assert.equal(await rows(), 1)
  assert.equal((await team.api.get(item(id))).status, 404)
  assert.equal((await team.api.get(item(other))).status, 200)
})
