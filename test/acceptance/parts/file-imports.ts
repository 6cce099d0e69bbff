// A user brings a file along: it is sent in one request or in parts, through the passthrough, for the SDK has no methods for that.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Customer } from '../client.ts'

interface Import {
  id: string
  status: string
  created: number
  received_bytes: number
}

const PART_BYTES = 256 * 1024
const ENDED_MS_MAX = 60_000
/** A ride of a fictional person. */
const track =
  '<gpx creator="Fictional"><trk><type>cycling</type><trkseg><trkpt lat="0" lon="0"><time>2026-01-31T09:30:00Z</time></trkpt><trkpt lat="0" lon="0.01"><time>2026-01-31T09:35:00Z</time></trkpt></trkseg></trk></gpx>'

export const fileImports = ({ sdk, user, passthrough }: Customer): void =>
  void describe('files that a user brings along', () => {
    const send = async (method: string, path: string, file: string): Promise<Import> => {
      const headers = { 'content-type': 'application/octet-stream' }
      const { status, body } = await passthrough(path, { method, headers, body: file })
      assert.equal(status, 202, JSON.stringify(body))
      return body as Import
    }

    /** The import once it has ended. */
    const ended = async (path: string): Promise<Import> => {
      const until = performance.now() + ENDED_MS_MAX
      for (;;) {
        const { status, body } = await passthrough(path)
        assert.equal(status, 200)
        const shown = body as Import
        if (['completed', 'partial', 'failed'].includes(shown.status)) return shown
        assert(performance.now() < until, `the import is still ${shown.status}`)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }

    test('are imported, and listed', async () => {
      const { userId } = await user()
      const path = `/v2/user/${userId}/file_import`
      const { id } = await send('POST', path, track)
      assert.equal((await ended(`${path}/${id}`)).status, 'completed')
      const { workouts } = await sdk.workouts.get({ userId, startDate: '2026-01-30', endDate: '2026-02-01' })
      assert.equal(workouts.length, 1)
      const { data } = (await passthrough(path)).body as { data: Import[] }
      assert.deepEqual(
        data.map((sample) => sample.id),
        [id],
      )
    })

    test('are sent in parts', async () => {
      const { userId } = await user()
      const path = `/v2/user/${userId}/file_import`
      const file = track.replace('<trk>', `<!--${' '.repeat(PART_BYTES)}--><trk>`)
      const { id, status, received_bytes } = await send('POST', `${path}?is_last=false`, file.slice(0, PART_BYTES))
      assert.deepEqual([status, received_bytes], ['uploading', PART_BYTES])
      await send('PUT', `${path}/${id}?offset=${PART_BYTES}`, file.slice(PART_BYTES))
      assert.equal((await ended(`${path}/${id}`)).status, 'completed')
    })
  })
