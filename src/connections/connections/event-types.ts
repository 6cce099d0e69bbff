// The events of connections with providers and of their devices, with samples. Source: events.md 4.
import { EXAMPLE_OBJECT, EXAMPLE_USER, type EventType } from '../../platform/queue/event-type.ts'
import { SAMPLE_PROVIDER, sampleProvider } from '../../wearables/resources/sample-source.ts'

const device = () => ({
  id: EXAMPLE_OBJECT,
  user_id: EXAMPLE_USER,
  provider: SAMPLE_PROVIDER,
  source_type: 'watch',
  app_id: null,
  device_manufacturer: 'Fictional',
  device_model: 'One',
  device_version: '1.0',
  device_id: null,
})

export const eventTypes: readonly EventType[] = [
  {
    name: 'provider.connection.created',
    family: 'provider',
    example: () => ({
      user_id: EXAMPLE_USER,
      source: sampleProvider,
      provider: sampleProvider,
      external_user_id: null,
      resource_availability: {},
    }),
  },
  {
    name: 'provider.connection.error',
    family: 'provider',
    example: () => ({
      user_id: EXAMPLE_USER,
      provider: SAMPLE_PROVIDER,
      error_type: 'token_refresh_failed',
      message: 'The provider refused the token',
      error_details: '',
    }),
  },
  { name: 'provider.device.created', family: 'provider', example: device },
  { name: 'provider.device.updated', family: 'provider', example: device },
]
