// Areas and patient service centers through the SDK.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { home, UNKNOWN_ID, fieldErrors, assertRejected, type Customer } from '../client.ts'

export const places = ({ sdk, order, kit }: Customer): void =>
  void describe('areas and patient service centers', () => {
    const idOf = async (slug: string): Promise<number> => (await sdk.labTests.getLabs()).find((lab) => lab.slug === slug)!.id

    test('an area tells which labs are near, and whether their sites can be booked', async () => {
      const area = await sdk.labTests.getAreaInfo({ zipCode: home.zip, radius: '50' })
      assert.equal(area.zipCode, home.zip)
      assert.equal(area.phlebotomy.isServed, area.phlebotomy.providers.length > 0)
      const quest = area.centralLabs.quest!
      assert.equal(quest.labId, await idOf('quest'))
      assert.equal(quest.patientServiceCenters.radius, '50')
      assert.equal(quest.patientServiceCenters.appointmentWithVital, true)
      assert(quest.patientServiceCenters.withinRadius > 0)
      const asked = await sdk.labTests.getAreaInfo({ zipCode: '10001', labs: ['quest', 'labcorp'] })
      assert.deepEqual(Object.keys(asked.centralLabs).toSorted(), ['labcorp', 'quest'])
      assert.deepEqual((await sdk.labTests.getAreaInfo({ zipCode: '00000' })).centralLabs, {})
    })

    test('sites of a lab are listed nearest first, and narrowed to what they can do', async () => {
      const labId = await idOf('quest')
      const { slug, patientServiceCenters: all } = await sdk.labTests.getPscInfo({ zipCode: home.zip, labId })
      assert.equal(slug, 'quest')
      assert(all.length > 1 && all.length <= 30)
      const distances = all.map(({ distance }) => distance)
      assert.deepEqual(
        distances.toSorted((a, b) => a - b),
        distances,
      )
      assert(distances.every((distance) => Number.isInteger(distance) && distance <= 25))
      const capabilities = ['appointment_scheduling_via_junction' as const]
      const { patientServiceCenters: bookable } = await sdk.labTests.getPscInfo({ zipCode: home.zip, labId, capabilities })
      assert(bookable.length > 0)
      assert(bookable.every((site) => site.capabilities.includes(capabilities[0]!)))
      assert.deepEqual(fieldErrors(await assertRejected(sdk.labTests.getPscInfo({ zipCode: '8500', labId }), 422)), [
        'query.zip_code',
      ])
    })

    test("sites near an order's patient are those of its lab", async () => {
      const { id, labTest } = await order()
      const info = await sdk.labTests.getOrderPscInfo({ orderId: id, radius: '100' })
      assert.deepEqual([info.labId, info.slug], [labTest.lab!.id, labTest.lab!.slug])
      await assertRejected(sdk.labTests.getOrderPscInfo({ orderId: (await kit()).id }), 400)
      await assertRejected(sdk.labTests.getOrderPscInfo({ orderId: UNKNOWN_ID }), 404)
    })
  })
