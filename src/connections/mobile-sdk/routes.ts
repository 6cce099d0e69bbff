import { operation } from '../../platform/http/operation.ts'
import { resourceNameOf } from '../../wearables/resources/timeseries.ts'
import { postActivity, postBody, postProfile, postSleep, postWorkouts } from './summary-posts.ts'
import { ActivityPost, BodyPost, ProfilePost, SleepPost, WorkoutPost } from './summary-schema.ts'
import { envelope, createHandlers, post, recordRejectedPost, toReply } from './post-operation.ts'
import { postBloodPressures, postSamples } from './posts.ts'
import { BloodPressurePost, PostParams, resourceOf, SamplePost } from './schema.ts'
import { postCycles, postElectrocardiograms, postMeals } from './record-posts.ts'
import { ElectrocardiogramPost, MealPost, MenstrualCyclePost } from './record-schema.ts'

const at = { start_date: '2026-01-31T09:30:00Z', end_date: '2026-01-31T09:30:00Z' }

const night = { start_date: '2026-01-30T22:30:00-07:00', end_date: '2026-01-31T06:30:00-07:00' }
const quantity = { start_date: '2026-01-31T12:30:00Z', end_date: '2026-01-31T12:30:00Z' }

export const mobileSdkRoutes = [
  operation({
    ...post,
    id: 'post_meal',
    path: '/v2/summary/meal/{user_id}',
    summary: 'Store meals that a phone sends',
    description: `${post.description} Nutrients of Apple Health are a meal for each app and instant; records of Health Connect are one for each app, day and \`meal_type\`, and their caffeine is a timeseries, too.`,
    body: MealPost,
    example: {
      ...envelope,
      data: [
        {
          healthkit: {
            source_bundle: 'com.example.food',
            energy_total: [{ value: 420, unit: 'kcal', ...quantity }],
            carbohydrates: [{ value: 45, unit: 'g', ...quantity }],
          },
        },
      ],
    },
    ...createHandlers('meal', postMeals),
  }),
  operation({
    ...post,
    id: 'post_menstrual_cycle',
    path: '/v2/summary/menstrual_cycle/{user_id}',
    summary: 'Store menstrual cycles that a phone sends',
    description: `${post.description} A cycle is known by its app and \`period_start\`.`,
    body: MenstrualCyclePost,
    example: {
      ...envelope,
      data: [
        {
          source_bundle: 'com.example.cycles',
          cycle: { period_start: '2026-01-05', menstrual_flow: [{ date: '2026-01-05', flow: 'medium' }] },
        },
      ],
    },
    ...createHandlers('menstrual_cycle', postCycles),
  }),
  operation({
    ...post,
    id: 'post_electrocardiogram',
    path: '/v2/summary/electrocardiogram/{user_id}',
    summary: 'Store electrocardiograms that a phone sends, and their voltages',
    body: ElectrocardiogramPost,
    example: {
      ...envelope,
      data: [
        {
          electrocardiogram: {
            id: 'ecg-0001',
            session_start: '2026-01-31T09:30:00Z',
            session_end: '2026-01-31T09:30:30Z',
            voltage_sample_count: 3,
            classification: 'sinus_rhythm',
          },
          voltage_data: { session_start_offset_millisecond: [0, 2, 4], lead1: [0.01, 0.02, 0.01] },
        },
      ],
    },
    ...createHandlers('electrocardiogram', postElectrocardiograms),
  }),
  operation({
    ...post,
    id: 'post_activity',
    path: '/v2/summary/activity/{user_id}',
    summary: 'Store days of activity that a phone sends, and their samples',
    body: ActivityPost,
    example: {
      ...envelope,
      data: [{ day_summary: { calendar_date: '2026-01-31', steps_sum: 8412, active_energy_burned_sum: 480 } }],
    },
    ...createHandlers('activity', postActivity),
  }),
  operation({
    ...post,
    id: 'post_body',
    path: '/v2/summary/body/{user_id}',
    summary: 'Store measurements of the body that a phone sends',
    body: BodyPost,
    example: { ...envelope, data: { body_mass: [{ value: 71.5, unit: 'kg', ...at }] } },
    ...createHandlers('body', postBody),
  }),
  operation({
    ...post,
    id: 'post_profile',
    path: '/v2/summary/profile/{user_id}',
    summary: 'Store the profile that a phone sends',
    body: ProfilePost,
    example: { ...envelope, data: { biological_sex: 'female', height: 168 } },
    ...createHandlers('profile', postProfile),
  }),
  operation({
    ...post,
    id: 'post_sleep',
    path: '/v2/summary/sleep/{user_id}',
    summary: 'Store nights that a phone sends, and their stages',
    body: SleepPost,
    example: {
      ...envelope,
      data: [{ id: 'night-0001', ...night, sleep_stages: { deep_sleep_samples: [{ value: 1, unit: '', ...night }] } }],
    },
    ...createHandlers('sleep', postSleep),
  }),
  operation({
    ...post,
    id: 'post_workouts',
    path: '/v2/summary/workouts/{user_id}',
    summary: 'Store workouts that a phone sends, and their streams',
    description: `${post.description} A stream replaces the one that the workout has.`,
    body: WorkoutPost,
    example: {
      ...envelope,
      data: [
        {
          id: 'workout-0001',
          sport: 'Running',
          start_date: at.start_date,
          end_date: '2026-01-31T10:00:00Z',
          stream: {
            components: {
              distance_walking_running: [{ anchor: at.start_date, value: [12, 14], start_offset: [0, 5], end_offset: [5, 10] }],
            },
          },
        },
      ],
    },
    ...createHandlers('workouts', postWorkouts),
  }),
  operation({
    ...post,
    id: 'post_timeseries',
    path: '/v2/timeseries/{user_id}/{resource}',
    summary: 'Store samples that a phone sends',
    description:
      'At most 16 MiB of JSON and 100,000 samples; the body may be compressed with gzip. A sample replaces the one at its instant from the same source; a repeated post changes nothing. The reply counts what was accepted, and as `rejected` what is faulty: a unit that is not known, a value that cannot be. A post of which nothing is good answers 422.',
    params: PostParams,
    body: SamplePost,
    example: {
      ...envelope,
      data: [
        {
          value: 61,
          unit: 'bpm',
          ...at,
          source_bundle: 'com.apple.health.0000',
          product_type: 'Watch6,1',
          metadata: { _DMA: 'Fictional', _DMO: 'One', _DSV: '1.0' },
        },
      ],
    },
    async run(tx, { params: { user_id, resource }, body, bytes }) {
      const name = resourceNameOf(resourceOf(resource))
      const stored = await postSamples(tx, user_id, resource, body)
      return toReply(tx, { user_id, provider: body.provider, resource: name, bytes }, stored)
    },
    onRejected: (tx, { params: { user_id, resource }, ...rejected }) =>
      recordRejectedPost(tx, resourceNameOf(resourceOf(resource)), { user_id, ...rejected }),
  }),
  operation({
    ...post,
    id: 'post_blood_pressure',
    path: '/v2/timeseries/{user_id}/blood_pressure',
    summary: 'Store blood pressures that a phone sends',
    description: 'As for other timeseries. Pulses are stored as heart rates.',
    body: BloodPressurePost,
    example: {
      ...envelope,
      stage: 'historical',
      data: [{ systolic: { value: 118, unit: 'mmHg', ...at }, diastolic: { value: 76, unit: 'mmHg', ...at } }],
    },
    ...createHandlers('blood_pressure', postBloodPressures),
  }),
]
