// Incoming results: matching, reviews, and that each result is applied once. Source: lab-testing.md 13.1, 14.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { labAccount } from '../../../test/support/lab-accounts.ts'
import { kit, getOrder, patient, createOrder } from '../../../test/support/orders.ts'
import {
  receiveOverLink,
  receiveResult,
  deliveryFor,
  createReport,
  acceptedOrder,
  advanceOrder,
} from '../../../test/support/results.ts'
import { cells, createTestTeam, guard, type TestTeam } from '../../../test/support/server.ts'
import { assignToTeam, listUnassigned } from './operator-reviews.ts'
import { erase } from '../../../test/contract/operations/erased-users.ts'
import { command } from '../../../test/support/commands.ts'

const CREATED = 'labtest.match_review.created'
const reviews = async ({ api }: TestTeam) => (await api.get('/v3/unmatched_result')).body.data
const candidateReasons = (
  review: { candidate_groups: { candidates: { order_id: string; reasons: string[] }[] }[] },
  id: string,
) => review.candidate_groups.flatMap(({ candidates }) => candidates).find(({ order_id }) => order_id === id)?.reasons

describe('results whose sample id, patient and order agree', () => {
  test('partial results and the final result are applied to the order', async () => {
    const team = await createTestTeam()
    const order = await acceptedOrder(team)
    const report = await createReport(team, order.lab_test.id, { status: 'partial' })
    const first = await receiveResult(team, await deliveryFor(team, order, { report }))
    assert.deepEqual([first.status, first.order_id, first.isDuplicate], ['matched', order.id, false])
    assert.equal((await getOrder(team, order.id)).last_event.status, 'sample_with_lab.walk_in_test.partial_results')
    await receiveResult(team, await deliveryFor(team, order))
    assert.equal((await getOrder(team, order.id)).last_event.status, 'completed.walk_in_test.completed')
    assert.equal((await team.api.get(`/v3/order/${order.id}/result`)).body.metadata.status, 'final')
    assert.deepEqual(await reviews(team), [])
    assert.deepEqual(await team.events(first.raw_result_id), [])
  })

  test('a message that arrives repeatedly is applied once', async () => {
    const team = await createTestTeam()
    const order = await acceptedOrder(team)
    const delivery = await deliveryFor(team, order)
    const receipts = await Promise.all([
      receiveResult(team, delivery),
      receiveResult(team, delivery),
      receiveResult(team, delivery),
    ])
    assert.deepEqual(receipts.map(({ isDuplicate }) => isDuplicate).sort(), [false, true, true])
    assert.equal(new Set(receipts.map(({ raw_result_id }) => raw_result_id)).size, 1)
    assert.equal((await receiveResult(team, delivery)).status, 'matched')
    assert.equal((await getOrder(team, order.id)).last_event.status, 'completed.walk_in_test.completed')
  })

  test('a different message with the id of an earlier one is a message of its own', async () => {
    const team = await createTestTeam()
    const [order, later] = [await acceptedOrder(team), await acceptedOrder(team)]
    const delivery = await deliveryFor(team, order)
    const [first, second] = [
      await receiveResult(team, delivery),
      await receiveResult(team, await deliveryFor(team, later, { message_id: delivery.message_id })),
    ]
    assert.deepEqual(
      [first, second].map(({ status, order_id, isDuplicate }) => [status, order_id, isDuplicate]),
      [
        ['matched', order.id, false],
        ['matched', later.id, false],
      ],
    )
  })

  test("a message with a message id of another team's message is a message of its own", async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const delivery = await deliveryFor(team, await acceptedOrder(team))
    await receiveResult(team, delivery)
    const theirs = await receiveResult(other, {
      ...(await deliveryFor(other, await acceptedOrder(other))),
      message_id: delivery.message_id,
    })
    assert.deepEqual([theirs.status, theirs.isDuplicate], ['matched', false])
  })

  test('a result for a kit in transit advances the kit to delivered_to_lab', async () => {
    const team = await createTestTeam()
    const order = await advanceOrder(
      team,
      await acceptedOrder(team, 'testkit'),
      'transit_customer',
      'with_customer',
      'transit_lab',
    )
    await receiveResult(team, await deliveryFor(team, order))
    assert.deepEqual(
      (await getOrder(team, order.id)).events.slice(-2).map(({ status }) => status),
      ['sample_with_lab.testkit.delivered_to_lab', 'completed.testkit.completed'],
    )
  })

  test('an amended result corrects the order', async () => {
    const team = await createTestTeam()
    const order = await acceptedOrder(team)
    await receiveResult(team, await deliveryFor(team, order))
    const report = await createReport(team, order.lab_test.id, { amended: true })
    assert.equal((await receiveResult(team, await deliveryFor(team, order, { report }))).status, 'matched')
    assert.equal((await getOrder(team, order.id)).last_event.status, 'completed.walk_in_test.corrected')
  })

  for (const [what, first_name, last_name] of [
    ['capitals and accents', 'TESTA', 'Fíctional'],
    ['a second first name', 'Testa Maria', 'Fictional'],
    ['no first name', null, 'Fictional'],
  ] as const)
    test(`a result matches a patient written with ${what}`, async () => {
      const team = await createTestTeam()
      const order = await acceptedOrder(team)
      const reported = { first_name, last_name, dob: patient.dob, gender: 'F' }
      assert.equal((await receiveResult(team, await deliveryFor(team, order, { patient: reported }))).status, 'matched')
    })
})

describe('results that need a review', () => {
  const doubted = async (team: TestTeam, delivery: Parameters<typeof receiveResult>[1]) => {
    const receipt = await receiveResult(team, delivery)
    assert.deepEqual([receipt.status, receipt.order_id], ['pending_customer_review', null])
    assert.deepEqual(await team.events(receipt.raw_result_id), [CREATED])
    const { status, body } = await team.api.get(`/v3/unmatched_result/${receipt.raw_result_id}`)
    assert.equal(status, 200)
    assert.equal(body.decision_code, receipt.decision_code)
    assert.deepEqual(body.allowed_actions, ['accept', 'reject', 'unsure'])
    return body
  }

  test('a result for an order that has a result opens a review', async () => {
    const team = await createTestTeam()
    const order = await acceptedOrder(team)
    await receiveResult(team, await deliveryFor(team, order))
    const review = await doubted(team, await deliveryFor(team, order))
    assert.equal(review.decision_code, 'match_completed')
    assert(candidateReasons(review, order.id)!.includes('matched_completed_order'))
    const [candidate] = review.candidate_groups[0].candidates
    assert.deepEqual([candidate.candidate_type, candidate.last_status], ['provenance_order', 'completed'])
    assert.deepEqual(review.markers.length > 0 && review.interpretation, 'normal')
  })

  test('a result for a cancelled order opens a review', async () => {
    const team = await createTestTeam()
    const order = await advanceOrder(team, await acceptedOrder(team), 'cancelled')
    const review = await doubted(team, await deliveryFor(team, order))
    assert.equal(review.decision_code, 'match_cancelled')
    assert(candidateReasons(review, order.id)!.includes('matched_cancelled_order'))
  })

  test('a result for an order without a reported draw opens a review', async () => {
    const team = await createTestTeam()
    const order = await acceptedOrder(team, 'at_home_phlebotomy')
    const review = await doubted(team, await deliveryFor(team, order))
    assert.equal(review.decision_code, 'wrong_collection')
    assert(candidateReasons(review, order.id)!.includes('invalid_collection_state'))
  })

  test('a result for an unregistered kit opens a review', async () => {
    const team = await createTestTeam()
    const review = await doubted(team, await deliveryFor(team, await kit(team)))
    assert.equal(review.decision_code, 'wrong_collection')
    assert.equal((await team.api.post(`/v3/unmatched_result/${review.id}/accept`, {})).status, 422)
  })

  const strangers: [string, object][] = [
    ['another name', { last_name: 'Imaginary' }],
    ['another first name', { first_name: 'Guarda' }],
    ['another date of birth', { dob: '1991-01-31' }],
    ['another gender', { gender: 'male' }],
    ['no date of birth', { dob: null }],
    ['no family name', { last_name: null }],
  ]
  for (const [what, change] of strangers)
    test(`a result whose patient has ${what} opens a review`, async () => {
      const team = await createTestTeam()
      const order = await acceptedOrder(team)
      const reported = { first_name: 'Testa', last_name: 'Fictional', dob: patient.dob, gender: 'female', ...change }
      const review = await doubted(team, await deliveryFor(team, order, { patient: reported }))
      assert.equal(review.decision_code, 'match_sample_id_mismatch_demo')
      assert(candidateReasons(review, order.id)!.includes('demographic_mismatch'))
      assert.equal((await getOrder(team, order.id)).interpretation, null)
    })

  test('a result with a different lab account opens a review', async () => {
    const team = await createTestTeam()
    const lab_account_id = await labAccount(team, { lab: 'quest', provider_account_id: 'FICTIONAL-7' })
    const order = await acceptedOrder(team, 'walk_in_test', { lab_account_id })
    const review = await doubted(team, await deliveryFor(team, order, { account_number: 'FICTIONAL-8' }))
    assert.deepEqual([review.decision_code, review.sub_reason_codes], ['match_sample_id', ['lab_account_mismatch']])
    const same = await deliveryFor(team, order, { account_number: 'FICTIONAL-7' })
    assert.equal((await receiveResult(team, same)).status, 'matched')
  })

  test('a result for a patient with an order at another laboratory opens a review', async () => {
    const team = await createTestTeam()
    const order = await acceptedOrder(team)
    const review = await doubted(team, await deliveryFor(team, order, { lab_slug: 'labcorp', sample_id: 'NOBODYS' }))
    assert.equal(review.decision_code, 'wrong_lab')
    assert(candidateReasons(review, order.id)!.includes('possible_wrong_lab'))
  })

  test('a result opens a review if users share name and date of birth, if a user has several orders, and if no patient matches', async () => {
    const team = await createTestTeam()
    const order = await acceptedOrder(team)
    const unknown = await deliveryFor(team, order, { sample_id: 'NOBODYS' })
    const codeOf = async () => (await receiveResult(team, { ...unknown, message_id: randomUUID() })).decision_code
    assert.equal(await codeOf(), 'match_demo')
    await createOrder(team, { user_id: order.user_id, lab_test_id: order.lab_test.id })
    assert.equal(await codeOf(), 'match_demo')
    await createOrder(team, { lab_test_id: order.lab_test.id })
    assert.equal(await codeOf(), 'multiple_demo_match')
    const nobody = { first_name: 'Nobody', last_name: 'Anywhere', dob: '1970-01-01', gender: null }
    const receipt = await receiveResult(team, { ...unknown, message_id: randomUUID(), patient: nobody })
    assert.equal(receipt.decision_code, 'no_match')
    assert.equal((await receiveResult(team, { ...unknown, message_id: randomUUID(), patient: null })).decision_code, 'no_match')
  })

  test('the review of a team without the reviews feature is visible to the operator only', async () => {
    const team = await createTestTeam()
    const order = await acceptedOrder(team)
    await command(cells, ['team', 'feature', team.team, 'unmatched_results', 'off'])
    guard.invalidate(team.team)
    const receipt = await receiveResult(team, await deliveryFor(team, order, { sample_id: null }))
    assert.equal(receipt.status, 'pending_ops_review')
    assert.deepEqual(await team.events(receipt.raw_result_id), [])
    assert.equal((await team.api.get('/v3/unmatched_result')).status, 400)
  })
})

describe('results that arrive over a link', () => {
  const teamOf = async (id: string) =>
    (
      await cells
        .db('sandbox-us')
        .queries.one(T.Object({ team_id: T.Union([T.String(), T.Null()]) }), sql`select team_id from raw_result where id = ${id}`)
    ).team_id
  const named = (order: Awaited<ReturnType<typeof acceptedOrder>>, sample_id: string, team: TestTeam) =>
    team.db.queries.run(
      sql`
      update lab_order set sample_id = ${sample_id}, document = replace(document, ${order.sample_id}, ${sample_id}) where id = ${order.id}`,
    )

  test('a link result is applied once, to the team with its sample id and patient', async () => {
    const team = await createTestTeam()
    const order = await acceptedOrder(team)
    const delivery = await deliveryFor(team, order)
    const [first, second] = [await receiveOverLink(delivery), await receiveOverLink(delivery)]
    assert.deepEqual([first.status, first.order_id, first.isDuplicate], ['matched', order.id, false])
    assert.deepEqual(second, { ...first, isDuplicate: true })
  })

  test('messages of two links, or of two senders on one link, with one message id are messages of their own', async () => {
    const team = await createTestTeam()
    const account_id = await labAccount(team, { lab: 'quest', provider_account_id: `FICTIONAL-${randomUUID()}` })
    const delivery = await deliveryFor(team, await acceptedOrder(team, 'walk_in_test', { lab_account_id: account_id }))
    const receipts = [
      await receiveOverLink(delivery, { account_id }),
      await receiveOverLink(delivery, { account_id, sender: 'OTHER-LIS' }),
      await receiveOverLink(delivery),
      await receiveOverLink(delivery, { account_id }),
    ]
    assert.deepEqual(
      receipts.map(({ isDuplicate }) => isDuplicate),
      [false, false, false, true],
    )
    assert.equal(receipts[3]!.raw_result_id, receipts[0]!.raw_result_id)
  })

  test("a result over the link of an organization's account reaches no team without this account", async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const account_id = await labAccount(team, { lab: 'quest', provider_account_id: `FICTIONAL-${randomUUID()}` })
    const theirs = await deliveryFor(other, await acceptedOrder(other))
    const receipt = await receiveOverLink(theirs, { account_id })
    assert.deepEqual([receipt.status, await teamOf(receipt.raw_result_id)], ['pending_ops_review', null])
    const unlinked = await labAccount(team, { lab: 'quest', provider_account_id: `FICTIONAL-${randomUUID()}`, team_ids: [] })
    const mine = await deliveryFor(team, await acceptedOrder(team))
    assert.equal(await teamOf((await receiveOverLink(mine, { account_id: unlinked })).raw_result_id), null)
    const numbered = { ...mine, account_number: 'FICTIONAL-OTHER' }
    assert.equal(await teamOf((await receiveOverLink(numbered, { account_id })).raw_result_id), null)
  })

  test('a result over the link of another account of the team than that of its order opens a review', async () => {
    const team = await createTestTeam()
    const [lab_account_id, account_id] = [
      await labAccount(team, { lab: 'quest', provider_account_id: `FICTIONAL-${randomUUID()}` }),
      await labAccount(team, { lab: 'quest', provider_account_id: `FICTIONAL-${randomUUID()}` }),
    ]
    const delivery = await deliveryFor(team, await acceptedOrder(team, 'walk_in_test', { lab_account_id }))
    const receipt = await receiveOverLink(delivery, { account_id })
    const review = (await team.api.get(`/v3/unmatched_result/${receipt.raw_result_id}`)).body
    assert.deepEqual([review.decision_code, review.sub_reason_codes], ['match_sample_id', ['lab_account_mismatch']])
    assert.equal((await receiveOverLink(delivery, { account_id: lab_account_id })).status, 'matched')
  })

  test('a link result whose sample id belongs to another patient is not shown to any team', async () => {
    const team = await createTestTeam()
    const order = await acceptedOrder(team)
    const someone = { first_name: 'Nobody', last_name: 'Anywhere', dob: '1970-01-01', gender: null }
    const receipt = await receiveOverLink(await deliveryFor(team, order, { patient: someone }))
    assert.deepEqual([receipt.status, await teamOf(receipt.raw_result_id)], ['pending_ops_review', null])
    assert.deepEqual(await reviews(team), [])
  })

  test('a link result with a sample id of several teams goes to the only team that knows the patient, or to no team', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const [order, theirs] = [await acceptedOrder(team), await acceptedOrder(other)]
    const sample_id = `SHARED-${randomUUID()}`
    await named(order, sample_id, team)
    await named(theirs, sample_id, other)
    const delivery = await deliveryFor(team, order, { sample_id })
    assert.equal(await teamOf((await receiveOverLink(delivery)).raw_result_id), null)
    await other.db.queries.run(
      sql`update lab_order set document = replace(document, '1990-01-31', '1991-01-31') where id = ${theirs.id}`,
    )
    const receipt = await receiveOverLink({ ...delivery, message_id: randomUUID() })
    assert.deepEqual([receipt.status, receipt.order_id], ['matched', order.id])
  })

  test("a link result with one team's lab account goes to that team, unless another team has the sample id", async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const account_number = `FICTIONAL-${randomUUID()}`
    await labAccount(team, { lab: 'quest', provider_account_id: account_number })
    const order = await acceptedOrder(team)
    const theirs = await acceptedOrder(other)
    const mine = await receiveOverLink(await deliveryFor(team, order, { account_number, sample_id: 'NOBODYS-NUMBER' }))
    assert.deepEqual([mine.decision_code, await teamOf(mine.raw_result_id)], ['match_demo', team.team])
    const foreign = await receiveOverLink(await deliveryFor(other, theirs, { account_number }))
    assert.equal(await teamOf(foreign.raw_result_id), null)
  })

  test("a message with the laboratory's numbers alone finds the order that an earlier message named", async () => {
    const team = await createTestTeam()
    const order = await acceptedOrder(team)
    const filler = `F-${randomUUID()}`
    const partial = await createReport(team, order.lab_test.id, { status: 'partial' })
    const numbers = [
      { kind: 'filler' as const, number: filler },
      { kind: 'group' as const, number: 'G-1' },
    ]
    assert.equal((await receiveOverLink(await deliveryFor(team, order, { numbers, report: partial }))).status, 'matched')
    const later = await deliveryFor(team, order, { sample_id: null, numbers: numbers.slice(0, 1) })
    const stranger = { first_name: 'Nobody', last_name: 'Anywhere', dob: '1970-01-01', gender: null }
    assert.equal(await teamOf((await receiveOverLink({ ...later, patient: stranger })).raw_result_id), null)
    const asOtherKind = { ...later, numbers: [{ kind: 'accession' as const, number: filler }] }
    assert.equal(await teamOf((await receiveOverLink(asOtherKind)).raw_result_id), null)
    const receipt = await receiveOverLink(later)
    assert.deepEqual([receipt.status, receipt.order_id], ['matched', order.id])
  })

  test('a number that names orders of several users decides nothing', async () => {
    const team = await createTestTeam()
    const number = `SHARED-${randomUUID()}`
    const numbers = [{ kind: 'accession' as const, number }]
    const orders = [await acceptedOrder(team), await acceptedOrder(team)]
    for (const order of orders) {
      const report = await createReport(team, order.lab_test.id, { status: 'partial' })
      await receiveOverLink(await deliveryFor(team, order, { numbers, report }))
    }
    const receipt = await receiveOverLink(await deliveryFor(team, orders[0]!, { sample_id: null, numbers }))
    assert.deepEqual([receipt.status, receipt.decision_code], ['pending_customer_review', 'multiple_demo_match'])
    const [own, of] = [{ kind: 'filler' as const, number: `F-${randomUUID()}` }, orders[1]!]
    const report = await createReport(team, of.lab_test.id, { status: 'partial' })
    await receiveOverLink(await deliveryFor(team, of, { numbers: [own], report }))
    const named = await receiveOverLink(await deliveryFor(team, of, { sample_id: null, numbers: [...numbers, own] }))
    assert.deepEqual([named.status, named.order_id], ['matched', of.id])
  })

  test('the numbers of an accepted message find its order for later messages, and are erased with the user', async () => {
    const team = await createTestTeam()
    const order = await acceptedOrder(team)
    const account_id = await labAccount(team, { lab: 'quest', provider_account_id: `FICTIONAL-${randomUUID()}` })
    const numbers = [{ kind: 'filler' as const, number: `F-${randomUUID()}` }]
    const unknown = await deliveryFor(team, order, { sample_id: null, numbers })
    const { raw_result_id } = await receiveOverLink(unknown, { account_id })
    const accepted = await team.api.post(`/v3/unmatched_result/${raw_result_id}/accept`, { order_id: order.id })
    assert.equal(accepted.status, 200)
    const receipt = await receiveOverLink({ ...unknown, message_id: randomUUID() }, { account_id })
    assert.deepEqual([receipt.decision_code, receipt.status], ['match_completed', 'pending_customer_review'])
    const count = async () =>
      (
        await team.db.queries.many(
          T.Object({ id: T.String() }),
          sql`select order_id as id from lab_order_number where order_id = ${order.id} and team_id = ${team.team}`,
        )
      ).length
    assert.equal(await count(), 1)
    await erase(team, [order.user_id])
    assert.equal(await count(), 0)
  })

  test('an unassigned link result waits until the operator assigns it to a team', async () => {
    const team = await createTestTeam()
    const order = await acceptedOrder(team)
    const receipt = await receiveOverLink(await deliveryFor(team, order, { sample_id: `NOBODYS-${randomUUID()}` }))
    const db = cells.db('sandbox-us')
    assert((await listUnassigned(db.queries)).some(({ id }) => id === receipt.raw_result_id))
    const assigned = await db.txOnWholeCell(team.tenant, (tx) => assignToTeam(tx, receipt.raw_result_id))
    assert.equal(assigned!.decision_code, 'match_demo')
    assert.equal((await reviews(team)).length, 1)
    assert.equal(await db.txOnWholeCell(team.tenant, (tx) => assignToTeam(tx, receipt.raw_result_id)), undefined)
  })

  test('a link result of an unknown laboratory or without a message id is rejected', async () => {
    const team = await createTestTeam()
    const delivery = await deliveryFor(team, await acceptedOrder(team))
    await assert.rejects(receiveOverLink({ ...delivery, lab_slug: 'nowhere' }, { account_id: randomUUID() }), { status: 400 })
    await assert.rejects(receiveOverLink(delivery, { account_id: randomUUID() }), { status: 400 })
    await assert.rejects(receiveOverLink({ ...delivery, message_id: '' }), { status: 400 })
    await assert.rejects(receiveOverLink({ ...delivery, patient: { ...delivery.patient!, dob: '31.01.1990' } }), { status: 400 })
    await assert.rejects(receiveOverLink({ ...delivery, sample_id: 'x'.repeat(201) }), { status: 400 })
  })
})
