// Labs, markers and lab tests through the SDK.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Junction } from '@junction-api/sdk'
import { fieldErrors, UNKNOWN_ID, assertRejected, type Customer } from '../client.ts'

export const catalog = ({ sdk, kitTest, order, leave }: Customer): void =>
  void describe('catalog', () => {
    test('labs say what they take', async () => {
      const labs = await sdk.labTests.getLabs()
      assert(labs.length > 0)
      assert.equal(new Set(labs.map(({ id }) => id)).size, labs.length)
      for (const { slug, name, collectionMethods, sampleTypes } of labs)
        assert(slug && name && collectionMethods.length && sampleTypes.length)
    })

    test('markers are listed page by page, with prices when asked for', async () => {
      const page = await sdk.labTests.getMarkers({ page: 2, size: 5, includePricing: true })
      assert.deepEqual([page.page, page.size, page.markers.length], [2, 5, 5])
      assert.equal(page.pages, Math.ceil(page.total! / 5))
      assert.equal(page.pricing?.currency, 'USD')
      const first = await sdk.labTests.getMarkers({ page: 1, size: 5 })
      assert.equal(first.pricing, null)
      const ids = new Set(first.markers.map(({ id }) => id))
      assert(page.markers.every(({ id }) => !ids.has(id)))
    })

    test('markers are found by lab and name', async () => {
      const [{ labId, name }] = (await sdk.labTests.getMarkers({ size: 1 })).markers as [Junction.ClientFacingMarkerComplete]
      const labs = await sdk.labTests.getLabs()
      const of = await sdk.labTests.getMarkers({ labId: labId!, name: name.toUpperCase() })
      assert(of.markers.some((marker) => marker.name === name))
      assert(of.markers.every((marker) => marker.labId === labId))
      const labSlug = labs.find(({ id }) => id === labId)!.slug
      assert((await sdk.labTests.getMarkers({ labSlug })).markers.every((marker) => marker.labId === labId))
      assert.equal((await sdk.labTests.getMarkers({ name: 'there is no such marker' })).total, 0)
    })

    test("a marker is read by the lab's own code", async () => {
      const [listed] = (await sdk.labTests.getMarkers({ size: 1 })).markers as [Junction.ClientFacingMarkerComplete]
      const read = await sdk.labTests.getMarkersByLabAndProviderId({ labId: listed.labId!, providerId: listed.providerId! })
      assert.equal(read.id, listed.id)
      const missing = sdk.labTests.getMarkersByLabAndProviderId({ labId: listed.labId!, providerId: 'no such/code' })
      assert.deepEqual((await assertRejected(missing, 404)).body, { detail: 'Marker not found' })
    })

    test('lab tests are filtered', async () => {
      const all = await sdk.labTests.get({})
      for (const collectionMethod of ['testkit', 'walk_in_test', 'at_home_phlebotomy', 'on_site_collection'] as const) {
        const some = await sdk.labTests.get({ collectionMethod })
        assert.deepEqual(
          some.map(({ id }) => id),
          all.filter(({ method }) => method === collectionMethod).map(({ id }) => id),
        )
      }
      const [{ markers, lab }] = all as [Junction.ClientFacingLabTest]
      const markerIds = markers!.map(({ id }) => id)
      const of = await sdk.labTests.get({ markerIds, labSlug: lab!.slug, orderKey: 'price', orderDirection: 'desc' })
      assert(of.length > 0)
      for (const test of of) assert(markerIds.every((id) => test.markers!.some((marker) => marker.id === id)))
      assert.deepEqual(
        of.map(({ price }) => price),
        of.map(({ price }) => price).sort((a, b) => b - a),
      )
    })

    test('lab tests are listed page by page until the end', async () => {
      const found: string[] = []
      let nextCursor: string | undefined
      do {
        const page = await sdk.labTests.getPaginated({ labTestLimit: 2, includePricing: true, ...(nextCursor && { nextCursor }) })
        assert.deepEqual(Object.keys(page.pricing!.data).sort(), page.data.map(({ id }) => id).sort())
        found.push(...page.data.map(({ id }) => id))
        nextCursor = page.nextCursor ?? undefined
      } while (nextCursor && found.length < 1000)
      assert.deepEqual(
        found,
        (await sdk.labTests.get({})).map(({ id }) => id),
      )
    })

    test('a cursor of another list is refused', async () => {
      const { nextCursor } = await sdk.labTests.getPaginated({ labTestLimit: 1 })
      await assertRejected(sdk.labTests.getPaginated({ nextCursor: nextCursor!, collectionMethod: 'testkit' }), 400)
      await assertRejected(sdk.labTests.getPaginated({ nextCursor: 'nonsense' }), 400)
    })

    test('a lab test is read with its markers', async () => {
      const labTestId = await kitTest()
      const read = await sdk.labTests.getById({ labTestId })
      assert.equal(read.id, labTestId)
      assert.equal(read.method, 'testkit')
      assert(read.lab && read.markers?.length)
      const { markers, total } = await sdk.labTests.getMarkersForLabTest({ labTestId })
      assert(total! >= read.markers.length)
      assert.deepEqual(
        markers.slice(0, read.markers.length).map(({ id }) => id),
        read.markers.map(({ id }) => id),
      )
    })

    test('lab accounts are listed, and one that is named takes the order', async () => {
      const labTestId = await kitTest()
      const { lab } = await sdk.labTests.getById({ labTestId })
      const { data } = await sdk.labAccount.getTeamLabAccounts({ status: 'active' })
      const account = data!.find((candidate) => candidate.lab === lab!.slug)!
      assert(account.allowedBilling.client_bill!.includes('AZ'))
      assert.deepEqual((await sdk.labAccount.getTeamLabAccounts({ labAccountId: account.id })).data, [account])
      assert((await order({ labAccountId: account.id })).id)
      await assertRejected(order({ labAccountId: UNKNOWN_ID }), 400)
      await leave()
    })

    test('a lab test that is not there is not found, and nonsense is refused', async () => {
      await assertRejected(sdk.labTests.getById({ labTestId: UNKNOWN_ID }), 404)
      await assertRejected(sdk.labTests.getMarkersForLabTest({ labTestId: UNKNOWN_ID }), 404)
      const malformed = await assertRejected(sdk.labTests.getMarkersForLabTest({ labTestId: 'nonsense', size: 500 }), 422)
      assert(malformed instanceof Junction.UnprocessableEntityError)
      assert.deepEqual(fieldErrors(malformed), ['path.lab_test_id'])
      const query = await assertRejected(sdk.labTests.getMarkers({ page: 0, size: 101, labAccountId: 'nonsense' }), 422)
      assert.deepEqual(fieldErrors(query), ['query.lab_account_id', 'query.page', 'query.size'])
    })
  })
