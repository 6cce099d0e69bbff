import { operation } from '../../platform/http/operation.ts'
import { postBloodPressures, postSamples } from './posts.ts'
import { BloodPressurePost, PostParams, PostReply, SamplePost, UserParams } from './schema.ts'

const BODY_BYTES_MAX = 16 * 1024 * 1024
const at = { start_date: '2026-01-31T09:30:00Z', end_date: '2026-01-31T09:30:00Z' }
const envelope = { stage: 'daily', time_zone: 'America/Phoenix', provider: 'apple_health_kit' }

export const routes = [
  operation({
    id: 'post_timeseries',
    patients: true,
    method: 'POST',
    path: '/v2/timeseries/{user_id}/{resource}',
    summary: 'Store samples that a phone sends',
    description:
      'At most 16 MiB of JSON and 100,000 samples; the body may be compressed with gzip. A sample replaces the one at its instant from the same source; a repeated post changes nothing. The reply counts what was accepted.',
    params: PostParams,
    body: SamplePost,
    body_bytes_max: BODY_BYTES_MAX,
    reply: PostReply,
    example: {
      ...envelope,
      data: [{ value: 61, unit: 'bpm', ...at, source_bundle: 'com.apple.health.0000', product_type: 'Watch6,1' }],
    },
    run: (tx, { params, body }) => postSamples(tx, params.user_id, params.resource, body),
  }),
  operation({
    id: 'post_blood_pressure',
    patients: true,
    method: 'POST',
    path: '/v2/timeseries/{user_id}/blood_pressure',
    summary: 'Store blood pressures that a phone sends',
    description: 'As for other timeseries. Pulses are stored as heart rates.',
    params: UserParams,
    body: BloodPressurePost,
    body_bytes_max: BODY_BYTES_MAX,
    reply: PostReply,
    example: {
      ...envelope,
      stage: 'historical',
      data: [{ systolic: { value: 118, unit: 'mmHg', ...at }, diastolic: { value: 76, unit: 'mmHg', ...at } }],
    },
    run: (tx, { params, body }) => postBloodPressures(tx, params.user_id, body),
  }),
]
