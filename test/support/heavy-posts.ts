// Posts of a phone of any size.
const FIRST_MS = Date.UTC(2026, 0, 1)

/** A post of so many heart rates, of a second each. */
export const samplesBody = (count: number) => ({
  stage: 'daily',
  time_zone: 'America/Phoenix',
  provider: 'apple_health_kit',
  data: Array.from({ length: count }, (_, i) => {
    const at = new Date(FIRST_MS + i * 1000).toISOString()
    return { value: 60 + (i % 50), unit: 'count/min', start_date: at, end_date: at, source_bundle: 'com.apple.health.FICTION' }
  }),
})
