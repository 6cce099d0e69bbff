// How old the signature of a notice may be.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { CLIENT, plainHttp, readForm } from '../../../test/support/vendors/vendor-server.ts'
import { OuraPeer } from '../../../test/support/vendors/oura.ts'
import { WhoopPeer } from '../../../test/support/vendors/whoop.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'
import type { Connector } from './connector.ts'
import { oura } from './oura/oura.ts'
import { whoop } from './whoop/whoop.ts'

interface Notice {
  body: string
  headers: Record<string, string>
}
const outcome = async (connector: Connector, peer: OuraPeer | WhoopPeer, notice: Notice, later_ms = 0) => {
  const received_ms = peer.now_ms + later_ms
  return (await connector.receive!(peer.app(), { ...readForm(peer, notice), received_ms }, plainHttp)).outcome
}
const ouraPeer = await new OuraPeer().start()
const whoopPeer = await new WhoopPeer().start()
const ouraNotice: Notice = ouraPeer.notice({ event_type: 'update', data_type: 'workout', object_id: 'one', user_id: 'someone' })
const cases: [Connector, OuraPeer | WhoopPeer, Notice][] = [
  [oura, ouraPeer, ouraNotice],
  [whoop, whoopPeer, whoopPeer.notice('workout.updated', 'one')],
]

for (const [connector, peer, notice] of cases)
  describe(`a notice of ${connector.provider}`, () => {
    test('is taken until a day after it was signed, and five minutes before', async () => {
      for (const later_ms of [0, DAY_MS, -300_000])
        assert.equal(await outcome(connector, peer, notice, later_ms), 'verified', String(later_ms))
    })

    test('is refused when its signature is older than a day or more than five minutes ahead', async () => {
      for (const later_ms of [DAY_MS + 1000, 3 * DAY_MS, -301_000])
        assert.equal(await outcome(connector, peer, notice, later_ms), 'refused', String(later_ms))
    })
  })

test('a notice is refused if its signed time is invalid', async () => {
  const { body } = ouraNotice
  for (const timestamp of ['soon', '-1', '1e12', 'Infinity', '0', '9'.repeat(400)]) {
    const signature = createHmac('sha256', CLIENT.client_secret)
      .update(timestamp + body)
      .digest('hex')
    const headers = { 'x-oura-timestamp': timestamp, 'x-oura-signature': signature }
    assert.equal(await outcome(oura, ouraPeer, { body, headers }), 'refused', timestamp)
  }
})
