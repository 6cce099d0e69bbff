import { operation } from '../../platform/http/operation.ts'
import { postCycles, postElectrocardiograms, postMeals } from './record-posts.ts'
import { ElectrocardiogramPost, MealPost, MenstrualCyclePost } from './record-schema.ts'
import { envelope, handlersOf, post } from './post-operation.ts'

const quantity = { start_date: '2026-01-31T12:30:00Z', end_date: '2026-01-31T12:30:00Z' }

export const recordRoutes = [
  operation({
    ...post,
    id: 'post_meal',
    path: '/v2/summary/meal/{user_id}',
    userTokens: 'path',
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
    ...handlersOf('meal', postMeals),
  }),
  operation({
    ...post,
    id: 'post_menstrual_cycle',
    path: '/v2/summary/menstrual_cycle/{user_id}',
    userTokens: 'path',
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
    ...handlersOf('menstrual_cycle', postCycles),
  }),
  operation({
    ...post,
    id: 'post_electrocardiogram',
    path: '/v2/summary/electrocardiogram/{user_id}',
    userTokens: 'path',
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
    ...handlersOf('electrocardiogram', postElectrocardiograms),
  }),
]
