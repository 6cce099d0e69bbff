// The source of the data in samples. Source: events.md 4.

/** A name that generated clients know: clients generated from the OpenAPI document reject others in some places. */
export const SAMPLE_PROVIDER = 'apple_health_kit'

/** The provider, as events about it name it. */
export const sampleProvider = { name: 'Apple HealthKit', slug: SAMPLE_PROVIDER, logo: '' }

/** The source, as events with data name it. */
export const sampleSource = {
  ...sampleProvider,
  provider: SAMPLE_PROVIDER,
  type: 'watch',
  app_id: null,
  device_id: null,
  sport: null,
  workout_id: null,
}
