import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { addSeconds } from '../../platform/runtime/clock.ts'
import { cursor } from '../../platform/http/list-pages.ts'
import { sql } from '../../platform/db/sql.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { seedSampleTests } from './lab-tests.ts'
import type { LabTest } from './schema.ts'

const idsOf = (list: { id: string }[]) => list.map(({ id }) => id)

interface Ages {
  created_s: number
  updated_s: number
}

describe('lists of lab tests', () => {
  let team: TestTeam
  let all: LabTest[]
  const ages = new Map<string, Ages>()

  /** The ids of both lists, which must agree. */
  async function listed(query: string): Promise<string[]> {
    const [bare, paged] = [
      await team.api.get(`/v3/lab_tests?${query}`),
      await team.api.get(`/v3/lab_test?lab_test_limit=500&${query}`),
    ]
    assert.equal(bare.status, 200)
    assert.deepEqual(paged.body, { data: bare.body, next_cursor: null, pricing: null })
    return idsOf(bare.body)
  }
  const manual = (keep: (test: LabTest) => boolean) => idsOf(all.filter((test) => !test.auto_generated && keep(test)))

  // Every third test is auto-generated, statuses alternate, and several tests share a price and a creation time.
  before(async () => {
    team = await createTestTeam()
    const { db, tenant } = team
    await db.tx(tenant, (tx) => seedSampleTests(tx))
    const seeded: LabTest[] = (await team.api.get('/v3/lab_tests')).body
    await db.tx(tenant, async (tx) => {
      for (const [i, { id }] of seeded.entries()) {
        const age = { created_s: (i % 7) * 60, updated_s: (i % 5) * 90 }
        ages.set(id, age)
        await tx.run(sql`
          update lab_test set auto_generated = ${i % 3 === 0}, status = ${['active', 'inactive', 'pending_approval'][i % 4] ?? 'active'},
            price = ${(i % 6) * 10.01}, created_at = ${addSeconds(tx.now, age.created_s)}, updated_at = ${addSeconds(tx.now, age.updated_s)}
          where id = ${id} and team_id = ${tx.team}`)
      }
    })
    all = (await team.api.get('/v3/lab_tests?generation_method=all')).body
    assert.equal(all.length, seeded.length)
  })

  test('the lists omit auto-generated tests unless the filter includes them', async () => {
    assert.deepEqual(
      await listed(''),
      manual(() => true),
    )
    assert.deepEqual(
      await listed('generation_method=manual'),
      manual(() => true),
    )
    assert.deepEqual(await listed('generation_method=auto'), idsOf(all.filter((test) => test.auto_generated)))
    assert.deepEqual(await listed('generation_method=all'), idsOf(all))
  })

  test('the lists filter by lab, collection method and status', async () => {
    assert.deepEqual(
      await listed('lab_slug=quest'),
      manual(({ lab }) => lab?.slug === 'quest'),
    )
    assert.deepEqual(await listed('lab_slug=nowhere'), [])
    for (const method of ['testkit', 'walk_in_test', 'at_home_phlebotomy', 'on_site_collection'])
      assert.deepEqual(
        await listed(`collection_method=${method}`),
        manual((test) => test.method === method),
      )
    for (const status of ['active', 'inactive', 'pending_approval']) {
      assert.deepEqual(
        await listed(`status=${status}`),
        manual((test) => test.status === status),
      )
      assert.ok((await listed(`status=${status}`)).length > 0)
    }
    assert.deepEqual(
      await listed('status=active&lab_slug=labcorp'),
      manual((test) => test.is_active && test.lab?.slug === 'labcorp'),
    )
  })

  test('the lists filter by markers or test codes, all of which a test must contain', async () => {
    const several = all.find((test) => !test.auto_generated && test.markers!.length > 2)!
    const [first, second] = several.markers!
    const elsewhere = all.flatMap((test) => test.markers!).find((marker) => marker.lab_id !== first!.lab_id)!
    const having = (...ids: number[]) => manual(({ markers }) => ids.every((id) => markers!.some((marker) => marker.id === id)))
    assert.ok(having(first!.id, second!.id).includes(several.id))
    assert.deepEqual(await listed(`marker_ids=${first!.id}`), having(first!.id))
    assert.deepEqual(await listed(`marker_ids=${first!.id}&marker_ids=${second!.id}`), having(first!.id, second!.id))
    assert.deepEqual(await listed(`marker_ids=${first!.id}&marker_ids=${first!.id}`), having(first!.id))
    assert.deepEqual(await listed(`marker_ids=${first!.id},${elsewhere.id}`), [])
    assert.deepEqual(
      await listed(`provider_ids=${first!.provider_id}&provider_ids=${second!.provider_id}`),
      having(first!.id, second!.id),
    )
    assert.deepEqual(await listed(`provider_ids=${first!.provider_id}&provider_ids=nothing`), [])
  })

  test('the lists filter by part of the name in any case, and treat wildcards literally', async () => {
    for (const text of ['kit', 'KIT', '%', '_', '\\', ''])
      assert.deepEqual(
        await listed(`name=${encodeURIComponent(text)}`),
        manual(({ name }) => name.toLowerCase().includes(text.toLowerCase())),
        text,
      )
  })

  test('the lists reject invalid filter values', async () => {
    for (const query of [
      'generation_method=both',
      'collection_method=mail',
      'status=gone',
      'marker_ids=x',
      'order_key=name',
      'order_direction=up',
    ])
      for (const path of ['/v3/lab_tests', '/v3/lab_test'])
        assert.equal((await team.api.get(`${path}?${query}`)).status, 422, query)
    for (const limit of [0, 501]) assert.equal((await team.api.get(`/v3/lab_test?lab_test_limit=${limit}`)).status, 422)
  })

  const keys: Record<string, (test: LabTest) => number> = {
    price: ({ price }) => price,
    created_at: ({ id }) => ages.get(id)!.created_s,
    updated_at: ({ id }) => ages.get(id)!.updated_s,
  }
  for (const [order_key, key] of Object.entries(keys))
    for (const order_direction of ['asc', 'desc'])
      test(`pages sorted by ${order_key} ${order_direction} contain every test once, including tests with equal sort values`, async () => {
        const sign = order_direction === 'asc' ? 1 : -1
        const sorted = all.toSorted((a, b) => sign * (key(a) - key(b) || (a.id < b.id ? -1 : 1)))
        const query = `generation_method=all&order_key=${order_key}&order_direction=${order_direction}`
        assert.deepEqual(await listed(query), idsOf(sorted))
        const seen: string[] = []
        let next: string | null = ''
        while (next !== null) {
          const { body } = await team.api.get(`/v3/lab_test?${query}&lab_test_limit=5&next_cursor=${next}`)
          assert.ok(body.data.length === 5 || body.next_cursor === null)
          seen.push(...idsOf(body.data))
          next = body.next_cursor
        }
        assert.deepEqual(seen, idsOf(sorted))
      })

  test('the last page has no cursor', async () => {
    const { body } = await team.api.get(`/v3/lab_test?generation_method=all&lab_test_limit=${all.length}`)
    assert.deepEqual([body.data.length, body.next_cursor], [all.length, null])
  })

  test('a cursor is rejected if it was altered, or used with another list, filter, order or team', async () => {
    const first = (await team.api.get('/v3/lab_test?lab_test_limit=2')).body
    const given_for = first.next_cursor as string
    assert.match(given_for, /^[\w-]+$/)
    const same = await team.api.get(`/v3/lab_test?lab_test_limit=3&include_pricing=true&next_cursor=${given_for}`)
    assert.equal(same.status, 200)
    const [tag, place, id] = JSON.parse(Buffer.from(given_for, 'base64url').toString())
    const altered = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url')
    for (const query of [
      `next_cursor=${given_for}&status=active`,
      `next_cursor=${given_for}&order_direction=desc`,
      `next_cursor=${given_for}&order_key=price`,
      `next_cursor=${given_for}&generation_method=all`,
      `next_cursor=${cursor('another list', [place, id])}`,
      `next_cursor=${altered(tag, 'soon', id)}`,
      `next_cursor=${altered(tag, '-1', id)}`,
      `next_cursor=${altered(tag, place, 'x')}`,
      `next_cursor=${altered(tag, place)}`,
      'next_cursor=1',
      'next_cursor=%00',
    ]) {
      const { status, body } = await team.api.get(`/v3/lab_test?${query}`)
      assert.equal(status, query.includes('%00') ? 422 : 400, query)
      if (status === 400) assert.deepEqual(body, { detail: 'The cursor does not belong to this list' })
    }
    const theirs = await createTestTeam()
    assert.equal((await theirs.api.get(`/v3/lab_test?next_cursor=${given_for}`)).status, 400)
  })

  test('the lists return prices of tests and their markers on request', async () => {
    const { body } = await team.api.get('/v3/lab_test?lab_test_limit=10&include_pricing=true')
    const expected = (body.data as LabTest[]).map(({ id, price, markers }) => [
      id,
      {
        pricing: { base_amount_minor: Math.round(price * 100), modifiers: null },
        marker_breakdown: Object.fromEntries(
          markers!.map((marker) => [
            marker.id,
            marker.price === 'N/A'
              ? { unspecified: 'price_unavailable' }
              : { base_amount_minor: Math.round(Number(marker.price) * 100), modifiers: null },
          ]),
        ),
      },
    ])
    assert.deepEqual(body.pricing, { currency: 'USD', data: Object.fromEntries(expected) })
  })

  test("a team's lists contain its own tests only", async () => {
    const theirs = await createTestTeam()
    const { body } = await theirs.api.get('/v3/lab_test?generation_method=all')
    assert.equal(body.data.length, 4)
    assert.ok(!idsOf(body.data).some((id) => idsOf(all).includes(id)))
  })
})
