// What the clouds of vendors answer about one fictional day, with every number that the connectors read.
import { ouraActivity, ouraNight, ouraScore, ouraTag, ouraWorkout } from './oura.ts'
import { whoopCycle, whoopRecovery, whoopSleep, whoopWorkout } from './whoop.ts'

const DAY = '2026-01-31'
const START_S = Date.parse(`${DAY}T06:00:00Z`) / 1000
export const NOW_MS = Date.parse(`${DAY}T20:00:00Z`)
const tokens = { access_token: 'a', refresh_token: 'b', expires_in: 3600, token_type: 'bearer', athlete: { id: 7 } }
const interval = { startTime: `${DAY}T06:00:00Z`, startUtcOffset: '0s', endTime: `${DAY}T07:00:00Z`, endUtcOffset: '0s' }
const sampleTime = { physicalTime: `${DAY}T06:00:00Z`, utcOffset: '0s' }
const civil = { date: { year: 2026, month: 1, day: 31 } }
const point = (field: string, values: object) => ({ name: 'users/1/dataPoints/p', [field]: { interval, sampleTime, ...values } })

export type Answers = readonly [path: RegExp, answer: unknown][]

/** Answers with every number that the connectors read, by provider and path. */
export const answersOf: Record<string, Answers> = {
  oura: [
    [/token/, tokens],
    [/personal_info/, { id: 'u', weight: 70.5, height: 1.75, age: 34 }],
    [/daily_activity/, { data: [ouraActivity(DAY, 4000)] }],
    [/daily_sleep/, { data: [ouraScore(DAY, 80)] }],
    [/daily_spo2/, { data: [{ id: 's', day: DAY, spo2_percentage: { average: 97.5 } }] }],
    [/vO2_max/, { data: [{ id: 'v', day: DAY, timestamp: `${DAY}T06:00:00Z`, vo2_max: 41 }] }],
    [/enhanced_tag/, { data: [ouraTag('t', `${DAY}T06:00:00Z`, { comment: 'x' })] }],
    [/heartrate/, { data: [{ timestamp: `${DAY}T17:00:00Z`, bpm: 61 }] }],
    [/workout/, { data: [ouraWorkout(DAY)] }],
    [/sleep/, { data: [ouraNight(DAY)] }],
  ],
  whoop_v2: [
    [/token/, tokens],
    [/measurement/, { height_meter: 1.8, weight_kilogram: 80.2, max_heart_rate: 190 }],
    [/profile/, { user_id: 10_129 }],
    [/recovery/, { records: [whoopRecovery('n', 1, `${DAY}T01:00:00Z`, 66)] }],
    [/stream/, { heart_rate: [{ timestamp: `${DAY}T02:00:00Z`, value: 50 }], values: [{ time: START_S, data: 50 }] }],
    [/sleep/, { records: [whoopSleep('n', 1, `${DAY}T01:00:00Z`, `${DAY}T08:00:00Z`)] }],
    [/workout/, { records: [whoopWorkout('w', `${DAY}T09:00:00Z`, `${DAY}T10:00:00Z`)] }],
    [/cycle/, { records: [whoopCycle(1, `${DAY}T01:00:00Z`, `${DAY}T19:00:00Z`)] }],
  ],
  strava: [
    [/token/, tokens],
    [/athlete\/activities/, [{ id: 1 }]],
    [
      /streams/,
      {
        time: { data: [0, 1, 2] },
        heartrate: { data: [60, 61, 62] },
        latlng: {
          data: [
            [1.5, 2.5],
            [1.6, 2.6],
          ],
        },
        altitude: { data: [1, 2, 3] },
      },
    ],
    [
      /activities/,
      {
        id: 1,
        athlete: { id: 7 },
        sport_type: 'Run',
        start_date: `${DAY}T06:00:00Z`,
        start_date_local: `${DAY}T06:00:00Z`,
        elapsed_time: 1800,
        moving_time: 1700,
        distance: 5000.5,
        total_elevation_gain: 20,
        elev_high: 350,
        elev_low: 330,
        average_speed: 2.9,
        max_speed: 4,
        average_watts: 170,
        max_watts: 500,
        weighted_average_watts: 180,
        average_heartrate: 140,
        max_heartrate: 160,
        calories: 410,
      },
    ],
    [/athlete/, { id: 7, weight: 68.5 }],
  ],
  dexcom_v3: [
    [/token/, tokens],
    [/dataRange/, { userId: 'u', egvs: { start: { systemTime: `${DAY}T00:00:00` }, end: { systemTime: `${DAY}T19:00:00` } } }],
    [/egvs/, { records: [{ systemTime: `${DAY}T06:00:00`, displayTime: `${DAY}T06:00:00`, value: 120, transmitterId: 5 }] }],
  ],
  polar: [
    [/token/, tokens],
    [/account-data/, { userId: 475 }],
    [
      /activity/,
      {
        activities: {
          activityDays: [
            {
              date: DAY,
              activitiesPerDevice: [
                {
                  deviceReference: { uuid: 'd' },
                  activitySamples: { stepSamples: { interval: 60_000, startTime: '06:00:00', steps: [10, 20] } },
                },
              ],
            },
          ],
        },
      },
    ],
    [
      /sleeps/,
      {
        nightSleeps: [
          {
            sleepDate: DAY,
            sleepResult: { hypnogram: { sleepStart: `${DAY}T00:00:00+00:00`, sleepEnd: `${DAY}T06:30:00+00:00` } },
            sleepScore: { sleepScore: 81.4 },
            sleepEvaluation: { phaseDurations: { wake: '1800s', rem: '5400s' } },
          },
        ],
      },
    ],
    [
      /recharge/,
      {
        nightlyRechargeResults: [
          { sleepResultDate: DAY, meanNightlyRecoveryRmssd: 44, meanNightlyRecoveryRespirationInterval: 4000 },
        ],
      },
    ],
    [
      /continuous/,
      { continuousSamples: { heartRateSamplesPerDay: [{ date: DAY, samples: [{ heartRate: 61, offsetMillis: 300_500 }] }] } },
    ],
    [/sports/, { sports: [{ id: { id: 27 }, name: 'run' }] }],
    [
      /training/,
      {
        trainingSessions: [
          {
            identifier: { id: 's' },
            startTime: `${DAY}T06:00:00`,
            timezoneOffsetMinutes: 120,
            durationMillis: 1_800_000,
            sport: { id: 27 },
            calories: 410,
            distanceMeters: 5012.4,
            hrAvg: 141,
            hrMax: 164,
          },
        ],
      },
    ],
  ],
  withings: [
    [/oauth2/, { status: 0, body: { ...tokens, userid: 363 } }],
    [
      /getmeas/,
      {
        status: 0,
        body: {
          measuregrps: [
            {
              grpid: 1,
              attrib: 0,
              date: START_S,
              category: 1,
              measures: [1, 5, 6, 9, 10, 11, 54, 71, 73, 76, 77, 88, 123, 170].map((type) => ({ type, value: 701, unit: -1 })),
            },
          ],
        },
      },
    ],
    [
      /getintraday/,
      {
        status: 0,
        body: {
          series: {
            [START_S]: {
              steps: 10,
              distance: 5.5,
              calories: 1.5,
              elevation: 1,
              heart_rate: 70,
              hrv1: 40,
              rmssd: 40,
              duration: 60,
              model_id: 93,
            },
          },
        },
      },
    ],
    [
      /getactivity/,
      {
        status: 0,
        body: {
          activities: [
            {
              date: DAY,
              timezone: 'UTC',
              is_tracker: true,
              steps: 4000,
              distance: 3000.5,
              elevation: 2,
              calories: 300,
              totalcalories: 2000,
              soft: 600,
              moderate: 600,
              intense: 60,
              hr_average: 70,
              hr_min: 50,
              hr_max: 150,
            },
          ],
        },
      },
    ],
    [
      /getworkouts/,
      {
        status: 0,
        body: {
          series: [
            {
              id: 5,
              category: 2,
              timezone: 'UTC',
              startdate: START_S,
              enddate: START_S + 1800,
              data: {
                calories: 100,
                distance: 2000,
                hr_average: 120,
                hr_min: 80,
                hr_max: 160,
                steps: 3000,
                elevation: 3,
                pause_duration: 10,
              },
            },
          ],
        },
      },
    ],
    [
      /getsummary/,
      {
        status: 0,
        body: {
          series: [
            {
              id: 21,
              timezone: 'UTC',
              model: 16,
              startdate: START_S - 20_000,
              enddate: START_S,
              date: DAY,
              data: {
                lightsleepduration: 9000,
                remsleepduration: 4000,
                deepsleepduration: 5000,
                wakeupduration: 900,
                hr_average: 55,
                hr_min: 48,
                hr_max: 80,
                rr_average: 14,
                sleep_score: 80,
                sleep_latency: 300,
                sleep_efficiency: 0.9,
              },
            },
          ],
        },
      },
    ],
    [
      /heart list/,
      { status: 0, body: { series: [{ timestamp: START_S, model: 44, heart_rate: 70, ecg: { signalid: 9, afib: 0 } }] } },
    ],
    [/heart get/, { status: 0, body: { signal: [1, 2, 3], sampling_frequency: 300 } }],
    [
      /sleep get/,
      {
        status: 0,
        body: {
          series: [
            { startdate: START_S - 20_000, enddate: START_S, state: 1, hr: { [START_S - 100]: 55 }, rr: { [START_S - 100]: 14 } },
          ],
        },
      },
    ],
  ],
  google_health: [
    [/token/, tokens],
    [/identity/, { healthUserId: 'h' }],
    [/Tcx/, ''],
    [
      /dailyRollUp/,
      {
        rollupDataPoints: [
          {
            civilStartTime: civil,
            steps: { countSum: '4000' },
            distance: { millimetersSum: '3000500' },
            floors: { countSum: 3 },
            activeEnergyBurned: { kcalSum: 300.5 },
            totalCalories: { kcalSum: 2000 },
            sedentaryPeriod: { durationSum: '3600s' },
            heartRate: { beatsPerMinuteAvg: 70, beatsPerMinuteMin: 50, beatsPerMinuteMax: 150 },
          },
        ],
      },
    ],
    [
      /dataPoints/,
      {
        dataPoints: [
          point('heartRate', { beatsPerMinute: '61' }),
          point('heartRateVariability', { rootMeanSquareOfSuccessiveDifferencesMilliseconds: 40 }),
          point('oxygenSaturation', { percentage: 97 }),
          point('respiratoryRateSleepSummary', { fullSleepStats: { breathsPerMinute: 14 } }),
          point('bloodGlucose', { bloodGlucoseMilligramsPerDeciliter: 90.5 }),
          point('coreBodyTemperature', { temperatureCelsius: 36.6 }),
          point('vo2Max', { vo2Max: 41 }),
          point('weight', { weightGrams: 70_000 }),
          point('bodyFat', { percentage: 20 }),
          point('height', { heightMillimeters: '1750' }),
          point('steps', { count: '44' }),
          point('distance', { millimeters: '30500' }),
          point('activeEnergyBurned', { kcal: 30 }),
          point('basalEnergyBurned', { kcal: 30 }),
          point('floors', { count: 2 }),
          point('sleep', {
            summary: { minutesAsleep: '400', minutesToFallAsleep: '10' },
            stages: [{ ...interval, type: 'LIGHT' }],
          }),
          point('exercise', {
            exerciseType: 'RUNNING',
            activeDuration: '1800s',
            metricsSummary: {
              caloriesKcal: 300,
              distanceMillimeters: 5_000_000,
              steps: '4000',
              averageHeartRateBeatsPerMinute: '140',
            },
          }),
          point('dailyRestingHeartRate', { date: civil.date, beatsPerMinute: '55' }),
          point('dailySleepTemperatureDerivations', {
            date: civil.date,
            nightlyTemperatureCelsius: 34.1,
            baselineTemperatureCelsius: 34,
          }),
          point('hydrationLog', { amountConsumed: { milliliters: 250 } }),
          point('nutritionLog', {
            energy: { kcal: 500 },
            totalCarbohydrate: { grams: 60 },
            totalFat: { grams: 10 },
            nutrients: [{ nutrient: 'CAFFEINE', quantity: { grams: 0.08 } }],
          }),
          point('electrocardiogram', {
            samplingFrequencyHertz: 250,
            waveformSamples: [1, 2, 3],
            averageHeartRate: 70,
            leadNumber: 1,
          }),
        ],
      },
    ],
  ],
}
