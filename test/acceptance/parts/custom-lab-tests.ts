// Making lab tests, sets of what is ordered together, and the compendium, through the SDK.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Junction } from '@junction-api/sdk'
import { fieldErrors, UNKNOWN_ID, assertRejected, type Customer } from '../client.ts'

export const customLabTests = ({ sdk, kitTest, order }: Customer): void =>
  void describe('making lab tests', () => {
    /** Two markers of one lab that collects in this way. */
    const pair = async (method: Junction.LabTestCollectionMethod): Promise<Junction.ClientFacingMarkerComplete[]> => {
      const lab = (await sdk.labTests.getLabs()).find(({ collectionMethods }) => collectionMethods.includes(method))!
      return (await sdk.labTests.getMarkers({ labId: lab.id, aLaCarteEnabled: true, size: 2 })).markers
    }
    const idsOf = (list: { id: number }[]) => list.map(({ id }) => id)

    test('a lab test is made of markers, renamed, deactivated and activated', async () => {
      const markers = await pair('testkit')
      const request = {
        name: 'Fictional Check',
        method: 'testkit' as const,
        description: 'Two markers.',
        markerIds: idsOf(markers),
      }
      const made = await sdk.labTests.create({ ...request, fasting: true })
      assert.deepEqual(idsOf(made.markers!), idsOf(markers))
      assert.deepEqual([made.name, made.method, made.status, made.fasting], ['Fictional Check', 'testkit', 'active', true])
      assert.deepEqual(await sdk.labTests.getById({ labTestId: made.id }), made)
      const away = await sdk.labTests.updateLabTest({ labTestId: made.id, name: 'Renamed Check', active: false })
      assert.deepEqual([away.name, away.status], ['Renamed Check', 'inactive'])
      await assertRejected(order({ labTestId: made.id }), 400)
      assert.equal((await sdk.labTests.updateLabTest({ labTestId: made.id, active: true })).status, 'active')
      assert.equal((await order({ labTestId: made.id })).labTest.name, 'Renamed Check')
      await sdk.labTests.updateLabTest({ labTestId: made.id, active: false })
    })

    test('a lab test of markers that do not go together is refused', async () => {
      const request = { name: 'x', method: 'testkit' as const, description: 'x' }
      await assertRejected(sdk.labTests.create(request), 400)
      await assertRejected(sdk.labTests.create({ ...request, markerIds: [2147483647] }), 400)
      await assertRejected(sdk.labTests.create({ ...request, markerIds: idsOf(await pair('walk_in_test')) }), 400)
      await assertRejected(sdk.labTests.updateLabTest({ labTestId: UNKNOWN_ID, name: 'x' }), 404)
    })

    test('the markers of a set are those of its lab tests and its add-ons, each once', async () => {
      const labTestId = await kitTest()
      const { markers, lab } = await sdk.labTests.getById({ labTestId })
      const singles = (await sdk.labTests.getMarkers({ labId: lab!.id, aLaCarteEnabled: true })).markers
      const body = { labTestIds: [labTestId], addOn: { markerIds: idsOf(singles) } }
      const listed = await sdk.labTests.getMarkersForOrderSet({ size: 100, body })
      assert.deepEqual(idsOf(listed.markers), [...new Set([...idsOf(markers!), ...idsOf(singles)])])
      assert.equal(listed.total, listed.markers.length)
      await assertRejected(sdk.labTests.getMarkersForOrderSet({ body: { labTestIds: [UNKNOWN_ID] } }), 404)
      await assertRejected(sdk.labTests.getMarkersForOrderSet({ body: { addOn: {} } }), 400)
    })

    test('the compendium finds what laboratories call by other names, and walks to each of them', async () => {
      const { selectedCanonical, canonicalCandidates } = await sdk.compendium.search({
        mode: 'canonical',
        query: 'TSH',
        limit: 2,
      })
      assert.deepEqual(canonicalCandidates![0], selectedCanonical)
      const { loincSetHash } = selectedCanonical!
      const walked = await sdk.compendium.search({ mode: 'crosswalk', loincSetHash, labs: ['quest', 'labcorp'] })
      assert.deepEqual(Object.keys(walked.perLab!).sort(), ['labcorp', 'quest'])
      const [exact] = walked.perLab!.quest!
      assert.deepEqual([exact!.relation, exact!.loincSetHash, exact!.confidence], ['exact', loincSetHash, 1])
      const nonsense = await assertRejected(sdk.compendium.search({ mode: 'crosswalk' }), 422)
      assert.deepEqual(fieldErrors(nonsense), ['body.query'])
    })

    test('the compendium translates codes and lab tests to those of another laboratory', async () => {
      const markers = (await sdk.labTests.getMarkers({ labSlug: 'quest', name: 'TSH' })).markers
      const providerIds = [markers[0]!.providerId!, 'NO-SUCH']
      const converted = await sdk.compendium.convert({ providerIds, targetLab: 'labcorp' })
      assert.deepEqual([converted.targetLabSlug, converted.unresolvedProviderIds], ['labcorp', ['NO-SUCH']])
      const { candidates } = await sdk.compendium.searchOrderableTests({ providerIds, targetLab: 'labcorp' })
      assert.equal(candidates![providerIds[0]!]![0]!.providerId, converted.convertedProviderIds![0])
      const labTestId = await kitTest()
      assert.equal((await sdk.compendium.convert({ labTestId, targetLab: 'quest' })).sourceLabTestId, labTestId)
      await assertRejected(sdk.compendium.convert({ targetLab: 'quest' }), 422)
    })
  })
