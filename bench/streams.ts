// Reading the stream of a workout of three hours with a value of each component in every second.
import { medianMs, report, WARM_UPS } from './measure.ts'
import { sampleProcessorTime } from './processor-time.ts'
import type { Bench } from './program.ts'

const SECONDS = 3 * 3600
const COMPONENTS = ['heart_rate', 'cadence', 'power', 'speed', 'altitude', 'latitude', 'longitude', 'distance_cycling']
const READS = 40
const START = '2025-01-01T09:00:00Z'

export async function readStream(bench: Bench): Promise<void> {
  const { url, headers, api } = bench
  const { user_id } = await api('POST', '/v2/user', { client_user_id: `stream ${performance.now()}` })
  const offsets = Array.from({ length: SECONDS }, (_, i) => i)
  const part = (name: string, n: number) => ({
    anchor: START,
    value: offsets.map((i) => (name.endsWith('itude') ? 30 + n + i / 100_000 : 50 + ((i * 7 + n) % 90))),
    start_offset: offsets,
    end_offset: offsets.map((i) => i + 1),
  })
  const stream = { components: Object.fromEntries(COMPONENTS.map((name, n) => [name, [part(name, n)]])) }
  const workout = { id: 'bench', sport: 'Cycling', start_date: START, end_date: '2025-01-01T12:00:00Z', stream }
  await api('POST', `/v2/summary/workouts/${user_id}`, { stage: 'daily', provider: 'apple_health_kit', data: [workout] })
  const { workouts } = await api('GET', `/v2/summary/workouts/${user_id}?start_date=2025-01-01&end_date=2025-01-01`)
  const path = `${url}/v2/timeseries/workouts/${workouts[0].id}/stream`
  const { time } = await api('GET', path.slice(url.length))
  if (time.length < SECONDS) throw new Error(`a stream of ${time.length} seconds`)
  // The bytes alone: parsing them here would be measured as well.
  const read = async () => void (await (await fetch(path, { headers })).arrayBuffer())
  let ms = 0
  const { server_us, database_us } = await sampleProcessorTime(bench, async () => {
    ms = await medianMs(read, READS)
    return READS + WARM_UPS
  })
  const processor = `${(server_us / 1000).toFixed(1)} + ${(database_us / 1000).toFixed(1)} ms`
  report('stream of a workout of three hours', `${ms.toFixed(0)} ms median`, processor, '', 'under 30 ms; limit: processor time')
}
