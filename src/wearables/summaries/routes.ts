import type { Tx } from '../../platform/db/transaction.ts'
import { operation, PreserializedJson } from '../../platform/http/operation.ts'
import { Fields, T, Uuid } from '../../platform/schema/schema.ts'
import { providerFilter, rangeQuery, type RangeQuery } from '../resources/range-query.ts'
import { workoutFor } from '../resources/mobile-clients.ts'
import {
  Activity,
  Body,
  Electrocardiogram,
  Meal,
  MenstrualCycle,
  Profile,
  Sleep,
  SleepCycle,
  Workout,
  type SummaryKind,
} from './schema.ts'
import { listSummaries, readProfile } from './summaries.ts'

const params = Fields({ user_id: Uuid })
const limits = 'A range has at most 20,000 summaries (2,000 lists of stages) and 16 MB; 422 asks for a shorter range.'
const description = `By local day, oldest first; \`start_date\` and \`end_date\` are days, both included. ${limits}`
const ofUser = { logsAccess: true, method: 'GET', params, userTokens: 'path' } as const
const range = { ...ofUser, query: Fields(rangeQuery), description } as const

/** The fields of summaries follow from their kind; tests check them against the schema of the operation. */
const toJson = (body: unknown) => new PreserializedJson<never>(JSON.stringify(body))
const listKind =
  (kind: SummaryKind, name: string = kind) =>
  async (tx: Tx, { params, query }: { params: { user_id: string }; query: RangeQuery }) =>
    toJson({ [name]: await listSummaries(tx, params.user_id, kind, query) })

export const summariesRoutes = [
  operation({
    ...range,
    id: 'get_activity',
    path: '/v2/summary/activity/{user_id}',
    summary: 'List the activity of days',
    reply: Fields({ activity: T.Array(Activity) }, { title: 'ActivityList' }),
    run: listKind('activity'),
  }),
  operation({
    ...range,
    id: 'get_sleep',
    path: '/v2/summary/sleep/{user_id}',
    summary: 'List sleep sessions',
    reply: Fields({ sleep: T.Array(Sleep) }, { title: 'SleepList' }),
    run: listKind('sleep'),
  }),
  operation({
    ...range,
    id: 'get_sleep_cycle',
    path: '/v2/summary/sleep_cycle/{user_id}',
    summary: 'List the stages of sleep sessions',
    reply: Fields({ sleep_cycle: T.Array(SleepCycle) }, { title: 'SleepCycleList' }),
    run: listKind('sleep_cycle'),
  }),
  operation({
    ...range,
    id: 'get_workouts',
    path: '/v2/summary/workouts/{user_id}',
    summary: 'List workouts',
    reply: Fields({ workouts: T.Array(Workout) }, { title: 'WorkoutList' }),
    run: async (tx, { params, query, headers }) => {
      const workouts = await listSummaries(tx, params.user_id, 'workouts', query)
      return toJson({ workouts: workouts.map((workout) => workoutFor(headers, workout)) })
    },
  }),
  operation({
    ...range,
    id: 'get_body',
    path: '/v2/summary/body/{user_id}',
    summary: 'List body measurements',
    reply: Fields({ body: T.Array(Body) }, { title: 'BodyList' }),
    run: listKind('body'),
  }),
  operation({
    ...range,
    id: 'get_meal',
    path: '/v2/summary/meal/{user_id}',
    summary: 'List meals',
    reply: Fields({ meals: T.Array(Meal) }, { title: 'MealList' }),
    run: listKind('meal', 'meals'),
  }),
  operation({
    ...range,
    id: 'get_menstrual_cycle',
    path: '/v2/summary/menstrual_cycle/{user_id}',
    summary: 'List menstrual cycles',
    description: `By first day, oldest first; \`start_date\` and \`end_date\` are days, both included. ${limits}`,
    reply: Fields({ menstrual_cycle: T.Array(MenstrualCycle) }, { title: 'MenstrualCycleList' }),
    run: listKind('menstrual_cycle'),
  }),
  operation({
    ...range,
    id: 'get_electrocardiogram',
    path: '/v2/summary/electrocardiogram/{user_id}',
    summary: 'List electrocardiograms',
    description: `${description} Their voltages are the timeseries \`electrocardiogram_voltage\`.`,
    reply: Fields({ electrocardiogram: T.Array(Electrocardiogram) }, { title: 'ElectrocardiogramList' }),
    run: listKind('electrocardiogram'),
  }),
  operation({
    ...ofUser,
    id: 'get_profile',
    path: '/v2/summary/profile/{user_id}',
    summary: 'Read the profile of a user',
    description: 'The newest, if several providers have one.',
    query: Fields({ provider: providerFilter }),
    reply: Profile,
    run: async (tx, { params, query }) => toJson(await readProfile(tx, params.user_id, query.provider || undefined)),
  }),
]
